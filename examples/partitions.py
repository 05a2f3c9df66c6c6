"""A logistic regression on more rows than memory holds: the rows lie in files, and each process reads one file at a time.

    python examples/partitions.py 16 250000             16 files of 250,000 rows (512 MB), on all cores, by joblib
    python examples/partitions.py 16 250000 tcp://..    on the machines of a Dask scheduler that see the same folder
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from s2sgrad.parallel import partition_sum

COLUMNS = 15
TRUE = np.linspace(-1.0, 1.0, COLUMNS)


def write(folder: Path, files: int, rows: int) -> list[Path]:
    """Files with rows of measurements, the last column of which is the label, -1 or 1."""
    names = []
    for k in range(files):
        rng = np.random.default_rng(k)
        x = rng.standard_normal((rows, COLUMNS))
        y = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-x @ TRUE)), 1.0, -1.0)
        names.append(folder / f"rows-{k}.npy")
        np.save(names[-1], np.column_stack([x, y]))
    return names


def loss(w, rows):
    """The negative log likelihood of some rows."""
    x, y = rows[:, :-1], rows[:, -1]
    return np.sum(np.logaddexp(0.0, -y * (x @ w)))


def fit(total, rows: int):
    """The weights that are most likely, from the mean over all rows."""

    def mean(w):
        value, w_bar = total(w)
        return value / rows, w_bar / rows

    return minimize(mean, np.zeros(COLUMNS), jac=True, method="L-BFGS-B").x


def descent(total, steps: int, rows: int, rng):
    """The same by steps along the gradient of one file each."""
    w = np.zeros(COLUMNS)
    for k in range(steps):
        _, w_bar = total[rng.integers(len(total))](w)
        w = w - 4.0 / (1.0 + 0.3 * k) * w_bar / rows
    return w


def largest_worker() -> float:
    """What the largest of joblib's processes has held, in MB; they are ended for that."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main(files: int = 8, rows: int = 2_000, backend=None) -> tuple[float, float]:
    """The errors of both fits."""
    with tempfile.TemporaryDirectory() as folder:
        names = write(Path(folder), files, rows)
        total = partition_sum(loss, names, read=np.load, backend=backend)
        begun = time.perf_counter()
        weights = fit(total, files * rows)
        print(f"{sum(map(os.path.getsize, names)) / 1e6:.0f} MB in {files} files: {time.perf_counter() - begun:.1f} s")
        steps = descent(total, 40, rows, np.random.default_rng(0))
    print("weights", np.round(weights, 2), "by steps", np.round(steps, 2), sep="\n")
    return float(np.max(np.abs(weights - TRUE))), float(np.max(np.abs(steps - TRUE)))


if __name__ == "__main__":
    files, rows = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (8, 2_000)
    if len(sys.argv) > 3:
        from distributed import Client

        with Client(sys.argv[3]):
            main(files, rows, "dask")
    else:
        main(files, rows, "joblib")
        print(f"the largest worker held {largest_worker():.0f} MB")
