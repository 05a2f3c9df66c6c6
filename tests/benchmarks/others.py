"""Gradients here and by autograd: `python tests/benchmarks/others.py --write` writes the table of docs/benchmarks.md, and
`--plot` draws it.

Both run the same text, over `numpy` and over `autograd.numpy`; gradients are compared before they are timed.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np

import s2sgrad

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
TEXT = """
def loss(W, b, v, x, y):
    h = np.tanh(np.dot(x, W) + b)
    e = np.dot(h, v) - y
    return np.mean(e ** 2)


def pendulum(x, n):
    p, q, k = x[0], x[1], x[2]
    for _ in range(n):
        q = q - 0.01 * k * np.sin(p)
        p = p + 0.01 * q
    return p * p


def diffusion(u, n):
    for _ in range(n):
        u = u + 0.1 * (np.roll(u, 1) + np.roll(u, -1) - 2.0 * u)
    return np.sum(u ** 2)
"""


def modules(folder):
    """The functions over NumPy and over autograd's, as files in a folder."""
    for name in ("numpy", "autograd.numpy"):
        file = Path(folder) / f"over_{name.partition('.')[0]}.py"
        file.write_text(f"import {name} as np\n{TEXT}", encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        yield module


def medians(calls, rounds=40):
    """The median time of each call; they take turns, so that what else the machine does meets all of them."""
    numbers = [max(1, int(0.02 / min(timeit.repeat(call, number=1, repeat=3)))) for call in calls]
    times = [[timeit.timeit(call, number=n) / n for call, n in zip(calls, numbers, strict=True)] for _ in range(rounds)]
    return np.median(times, axis=0)


def in_words(seconds):
    """Three digits and a unit."""
    unit, name = next((u, n) for u, n in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= u or u == 1e-6)
    return f"{seconds / unit:.3g} {name}"


def table(folder):
    """The rows."""
    import autograd

    rng = np.random.default_rng(0)

    def network(k, n, m):
        return tuple(rng.standard_normal(shape) for shape in ((n, m), m, m, (k, n), k))

    cases = [
        ("a network, 9 rows of 4 numbers", "loss", network(9, 4, 3), (0, 1, 2)),
        ("a network, 1,000 rows of 50", "loss", network(1000, 50, 30), (0, 1, 2)),
        ("a pendulum, 1,000 steps of a loop over numbers", "pendulum", (np.array([1.0, 0.2, 3.0]), 1000), 0),
        ("diffusion, 100 steps over 1,000 places", "diffusion", (rng.standard_normal(1000), 100), 0),
    ]
    ours, theirs = modules(folder)
    yield "| program | function | gradient here | gradient by autograd |"
    yield "|---|---|---|---|"
    for title, name, args, argnums in cases:
        mine, other = s2sgrad.grad(getattr(ours, name), argnums), autograd.grad(getattr(theirs, name), argnums)
        for a, b in zip(mine(*args), other(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        calls = [lambda f=f: f(*args) for f in (getattr(ours, name), mine, other)]
        yield f"| {title} | {' | '.join(map(in_words, medians(calls)))} |"


def plot():
    """Draw the table: times as multiples of that of the function."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "others"}
    from matplotlib import pyplot

    rows = [row.split(" | ") for row in re.findall(r"^\| (a .*|diffusion.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)]
    units = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
    times = np.array([[float(t.split()[0]) * units[t.split()[1]] for t in row[1:]] for row in rows])
    figure, axes = pyplot.subplots(figsize=(6.4, 2.6))
    places = np.arange(len(rows))
    axes.barh(places - 0.2, times[:, 1] / times[:, 0], 0.4, label="here")
    axes.barh(places + 0.2, times[:, 2] / times[:, 0], 0.4, label="autograd")
    axes.set_yticks(places, [row[0] for row in rows])
    axes.set(xscale="log", xlabel="gradient / function, time")
    axes.invert_yaxis()
    axes.legend()
    picture = PAGE.parent / "pictures" / "speed.svg"
    figure.savefig(picture, metadata={"Date": None, "Creator": None}, facecolor="white", bbox_inches="tight")


if __name__ == "__main__":
    if "--plot" in sys.argv:
        plot()
        raise SystemExit
    with tempfile.TemporaryDirectory() as folder:
        rows = "\n".join(table(folder))
    print(rows)
    if "--write" in sys.argv:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- others -->\n")
        rest = rest[rest.index("<!-- end of others -->") :]
        PAGE.write_text(f"{head}<!-- others -->\n{rows}\n{rest}", encoding="utf-8")
