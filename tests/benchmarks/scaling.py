"""A sum over parts on 1 to 8 processes: `python tests/benchmarks/scaling.py --write` writes the table of docs/parallel.md,
and `--plot` draws it.  With OPENBLAS_NUM_THREADS=1 a process is a core.

Counted is processor time, which other programs on the machine change little.  On idle cores a step takes its share of what
all processes compute, and what the caller does: it sends parameters, and adds up.  The rest of the processes' time, waiting
and starting, is not counted.  The memory of a process is the most that it has ever held.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from distributed import Client, LocalCluster

from s2sgrad.parallel import partition_sum

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parallel.md"
WORKERS, PARTS, STEPS = (1, 2, 4, 8), 16, 4
TEXT = """
import numpy as np


def loss(k, rows):
    x, y = rows
    for _ in range(1000):
        x = x - 0.001 * k * x ** 3
    return np.sum((x - y) ** 2)
"""
K = 0.5


def held(process: int) -> float:
    """The most memory that a process has held, in MB."""
    return int(re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))[1]) / 1024


def used(process: int) -> float:
    """The processor time of a process, in seconds."""
    times = psutil.Process(process).cpu_times()
    return times.user + times.system


def measured(step: Callable[[], Any], processes: Callable[[], Iterable[int]]) -> tuple[float, float, float]:
    """The processor time of a step in all processes and in the caller, in ms; the most that a process held, in MB."""
    for _ in range(2):  # starts the processes, and compiles
        step()
    workers, caller = list(processes()), os.getpid()
    before = {process: used(process) for process in (*workers, caller)}
    for _ in range(STEPS):
        step()
    spent = {process: 1e3 * (used(process) - before[process]) / STEPS for process in before}
    return sum(spent[w] for w in workers), spent[caller], max(map(held, workers or [caller]))


def pool() -> list[int]:
    """The processes of joblib."""
    return [p.pid for p in psutil.Process().children(recursive=True) if any("popen_loky" in word for word in p.cmdline())]


def by_joblib(loss: Any, parts: list[Any], workers: int) -> tuple[float, float, float]:
    total = partition_sum(loss, parts, backend="joblib", workers=workers)
    return measured(lambda: total(K), pool)


def by_dask(loss: Any, parts: list[Any], workers: int) -> tuple[float, float, float]:
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        total = partition_sum(loss, parts, backend="dask")
        return measured(lambda: total(K), lambda: client.run(os.getpid).values())


def table(loss: Any) -> Iterator[str]:
    """The rows: a number of processes; times, speed and memory with each backend."""
    parts = [np.random.default_rng(k).random((2, 4000)) for k in range(PARTS)]
    total = partition_sum(loss, parts, backend="serial")
    _, serial, most = measured(lambda: total(K), lambda: ())
    yield "| backend | processes | all processes | the caller | speed-up | a process held |"
    yield "|---|---|---|---|---|---|"
    yield f"| serial | 0 | | {serial:.0f} ms | 1 | {most:.0f} MB |"
    for name, run in (("joblib", by_joblib), ("dask", by_dask)):
        for workers in WORKERS[name == "joblib" :]:  # joblib with one is this process
            all_, caller, most = run(loss, parts, workers)
            speed = serial / (all_ / workers + caller)
            yield f"| {name} | {workers} | {all_:.0f} ms | {caller:.0f} ms | {speed:.1f} | {most:.0f} MB |"


def plot() -> None:
    """Draw the table."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "scaling"}
    from matplotlib import pyplot

    text = PAGE.read_text(encoding="utf-8").partition("<!-- scaling -->")[2]
    rows = [row.split(" | ") for row in re.findall(r"^\| ((?:joblib|dask) .*) \|$", text.partition("<!-- end")[0], re.M)]
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6))
    axes.plot(WORKERS, WORKERS, "--", color="0.6", label="nothing lost")
    for name in ("joblib", "dask"):
        axes.plot(*np.array([[row[1], row[4]] for row in rows if row[0] == name], float).T, "o-", label=name)
    axes.set(xlabel="processes", ylabel="speed-up, by processor time", xticks=WORKERS, ylim=(0, None))
    axes.legend()
    picture = PAGE.parent / "pictures" / "scaling.svg"
    figure.savefig(picture, metadata={"Date": None, "Creator": None}, facecolor="white", bbox_inches="tight")


if __name__ == "__main__":
    if "--plot" in sys.argv:
        plot()
        raise SystemExit
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parts_of_a_loss.py").write_text(TEXT, encoding="utf-8")
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])  # for the processes
        rows = "\n".join(table(importlib.import_module("parts_of_a_loss").loss))
    print(rows)
    if "--write" in sys.argv:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- scaling -->\n")
        rest = rest[rest.index("<!-- end of scaling -->") :]
        PAGE.write_text(f"{head}<!-- scaling -->\n{rows}\n{rest}", encoding="utf-8")
