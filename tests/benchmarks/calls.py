"""What a call costs beyond the generated function: `python tests/benchmarks/calls.py [--json]`.

Microseconds: the shortest of many rounds for the gradient, less that for the function that it calls.  Also how much longer a
network takes with its parameters in a dict than with each as an argument: the median over rounds in turn.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2])]

from s2sgrad import grad  # noqa: E402


def number(x):
    return x * x


def array(x):
    return x @ x


def four(x, a, b, c):
    return x @ x * a * b * c


CALLS: dict[str, tuple[Callable, tuple]] = {
    "a number": (number, (0.5,)),
    "an array": (array, (np.ones(3),)),
    "four arguments": (four, (np.ones(3), 1.0, 2.0, 3.0)),
}


def beyond(f: Callable, args: tuple) -> float:
    """Microseconds of a call of the gradient, less those of the generated function."""
    df = grad(f)
    df(*args)
    inner = df.generated_for(args, {})
    times = [(timeit.timeit(lambda: df(*args), number=2000), timeit.timeit(lambda: inner(*args), number=2000))
             for _ in range(60)]  # fmt: skip
    return (min(t[0] for t in times) - min(t[1] for t in times)) / 2000 * 1e6


def network(p, X, y):
    h = np.tanh(X @ p["W1"] + p["b1"])
    h = np.tanh(h @ p["W2"] + p["b2"])
    e = h @ p["W3"] + p["b3"] - y
    return np.sum(e * e)


def flat_network(W1, b1, W2, b2, W3, b3, X, y):
    h = np.tanh(X @ W1 + b1)
    h = np.tanh(h @ W2 + b2)
    e = h @ W3 + b3 - y
    return np.sum(e * e)


def dict_to_flat() -> float:
    """The gradient of a network in a dict of arrays, over that in the arrays: time."""
    rng = np.random.default_rng(0)
    shapes = {"W1": (8, 32), "b1": 32, "W2": (32, 32), "b2": 32, "W3": (32, 3), "b3": 3}
    in_dict, flat = grad(network), grad(flat_network, tuple(range(6)))
    ratios = []
    for _ in range(41):
        p = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        X, y = rng.normal(size=(64, 8)), rng.normal(size=(64, 3))
        one, other = in_dict(p, X, y), flat(*p.values(), X, y)
        assert all(np.allclose(a, b) for a, b in zip(one.values(), other, strict=True))
        times = []
        for call in (lambda p=p, X=X, y=y: in_dict(p, X, y), lambda p=p, X=X, y=y: flat(*p.values(), X, y)):
            start = time.process_time()
            for _ in range(40):
                call()
            times.append(time.process_time() - start)
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)


def main() -> None:
    """Print what was measured."""
    figures: dict[str, Any] = {name: beyond(*call) for name, call in CALLS.items()}
    figures["dict / flat"] = dict_to_flat()
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:16}{value:6.2f}")


if __name__ == "__main__":
    main()
