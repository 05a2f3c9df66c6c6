"""Hessians: all columns at once, one after the other, and those of autograd and JAX where these are installed.

    python tests/benchmarks/hessian.py                  prints milliseconds a Hessian, the best of several runs

Rosenbrock's function, and a logistic regression on 500 rows, in 10, 100 and 300 variables.
"""

from __future__ import annotations

import importlib
import math
import time
import types

import numpy as np

from s2sgrad import hessian
from s2sgrad.api.columns import Columns

SIZES = (10, 100, 300)
SECONDS = 0.5


def rosenbrock(x, np=np):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic(w, X, y, np=np):
    return np.mean(np.log(1.0 + np.exp(-y * (X @ w)))) + 0.01 * np.sum(w * w)


def arguments(function, n):
    rng = np.random.default_rng(0)
    if function is rosenbrock:
        return (rng.standard_normal(n),)
    return rng.standard_normal(n), rng.standard_normal((500, n)), np.sign(rng.standard_normal(500))


def one_by_one(function):
    """The Hessian by a loop over its columns."""
    made = hessian(function)
    made._columns.run = lambda *asked: Columns._one_by_one(made._columns, *asked)
    return made


def bound(function, module):
    """The function over another NumPy."""
    spaces = {**function.__globals__, "np": module}
    return types.FunctionType(function.__code__, spaces, function.__name__, (module,))


def by_autograd(function):
    autograd = importlib.import_module("autograd")
    return autograd.hessian(bound(function, importlib.import_module("autograd.numpy")))


def by_jax(function):
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    run = jax.jit(jax.hessian(bound(function, jax.numpy)))
    return lambda *args: run(*args).block_until_ready()


WAYS = {"at once": hessian, "loop": one_by_one, "autograd": by_autograd, "jax, jit": by_jax}


def best(run, args) -> float:
    """Seconds of the fastest of several runs, the first, which compiles, left out."""
    run(*args)
    fastest, end = math.inf, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run(*args)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def main() -> None:
    ways = {}
    for way, make in WAYS.items():
        try:
            make(rosenbrock)
        except ImportError:
            print(f"{way}: not installed")
        else:
            ways[way] = make
    print(f"{'ms':<22}" + "".join(f"{way:>12}" for way in ways))
    for function in (rosenbrock, logistic):
        for n in SIZES:
            args = arguments(function, n)
            expected = hessian(function)(*args)
            row = []
            for make in ways.values():
                run = make(function)
                assert np.allclose(run(*args), expected, rtol=1e-8, atol=1e-8)
                row.append(1e3 * best(run, args))
            print(f"{function.__name__ + f', n = {n}':<22}" + "".join(f"{t:12.3f}" for t in row), flush=True)


if __name__ == "__main__":
    main()
