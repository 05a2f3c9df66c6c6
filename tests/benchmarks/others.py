"""Gradients here and by autograd, in seconds: `python tests/benchmarks/others.py [--json]`.

Both run the same text, over `numpy` and over `autograd.numpy`; gradients are compared before they are timed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
import timeit
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

import s2sgrad  # noqa: E402

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


def medians(calls, rounds=21):
    """The median processor time of each call; they take turns, so that what else the machine does meets all of them."""
    numbers = [max(1, int(0.02 / min(timeit.repeat(call, number=1, repeat=3)))) for call in calls]
    times = [
        [timeit.timeit(call, number=n, timer=time.process_time) / n for call, n in zip(calls, numbers, strict=True)]
        for _ in range(rounds)
    ]
    return np.median(times, axis=0)


def in_words(seconds):
    """Three digits and a unit."""
    unit, name = next((u, n) for u, n in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= u or u == 1e-6)
    return f"{seconds / unit:.3g} {name}"


def table(rows):
    """The rows as a markdown table."""
    lines = ["| program | function | gradient here | gradient by autograd |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {title} | {' | '.join(map(in_words, times))} |" for title, times in rows)])


def measured(folder):
    """The title, and the times of the function, of our gradient and of autograd's, of each program."""
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
    for title, name, args, argnums in cases:
        mine, other = s2sgrad.grad(getattr(ours, name), argnums), autograd.grad(getattr(theirs, name), argnums)
        for a, b in zip(mine(*args), other(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        calls = [lambda f=f: f(*args) for f in (getattr(ours, name), mine, other)]
        yield title, list(medians(calls))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        figures = list(measured(folder))
    print(json.dumps(figures) if "--json" in sys.argv else table(figures))
