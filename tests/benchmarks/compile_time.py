"""How the time of compiling grows with the function: PYTHONPATH=. python tests/benchmarks/compile_time.py [FAMILY ..]

Seconds of processor time for `grad(f).source_for(x)`, the best of three, for functions that repeat a few statements; the
last column is the exponent between the two largest sizes (1: linear, 2: by the square).
"""

from __future__ import annotations

import itertools
import linecache
import math
import sys
import time
from collections.abc import Callable

import numpy as np

from s2sgrad import grad

X = np.array([0.5, 0.7, 1.1, 0.2, 0.9])
_numbers = itertools.count()


def new_arrays(n: int) -> list[str]:
    four = "a{k} = np.sin(y) * {k}.5", "b{k} = a{k} + x", "y = y * 0.9 + b{k}", "y = np.tanh(y)"
    return [line.format(k=k) for k in range(n // 4) for line in four]


def statements(n: int) -> str:
    """Assignments of new arrays."""
    return function(new_arrays(n))


def loop_body(n: int) -> str:
    """The same in one loop."""
    return function(["for i in range(3):", *(f"    {line}" for line in new_arrays(n))])


def loops(n: int) -> str:
    """Loops over the elements, one behind the other."""
    return function(line for k in range(n) for line in ("for i in range(5):", f"    y[i] = y[i] * x[i] + {k}.0"))


def stores(n: int) -> str:
    """Stores into one array."""
    return function(f"y[{k % 5}] = np.sin(y[{(k + 1) % 5}]) * x[{k % 4}]" for k in range(n))


def views(n: int) -> str:
    """Views that are written."""
    return function(line for k in range(n) for line in (f"v{k} = y[{k % 3}:]", f"v{k}[:] = np.sin(v{k}) * {k + 1}.0"))


def writers(n: int) -> str:
    """Calls of a function that writes its argument."""
    return "def put(a, k):\n    a[k] = a[k] * 1.5\n\n" + function(f"put(y, {k % 5})" for k in range(n))


def function(lines) -> str:
    return "\n".join(["def f(x):", "    y = x * 1.0", *(f"    {line}" for line in lines), "    return np.sum(y)"])


FAMILIES: dict[str, tuple[Callable[[int], str], tuple[int, ...], int]] = {
    "statements": (statements, (50, 200, 800), 1),
    "statements in a loop": (loop_body, (50, 200, 800), 1),
    "loops": (loops, (25, 100), 1),
    "stores": (stores, (25, 100), 1),
    "views that are written": (views, (25, 100), 1),
    "calls that write": (writers, (25, 100), 1),
    "statements, second order": (statements, (50, 200), 2),
}


def seconds(text: str, order: int) -> float:
    """The time of compiling the function of a text."""
    name = f"<compile {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict = {"np": np, "__name__": "compile_time"}
    exec(compile(text, name, "exec"), space)
    derivative = space["f"]
    for _ in range(order):
        derivative = grad(derivative)
    start = time.process_time()
    derivative.source_for(X)
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    seconds(statements(8), 2)
    wanted = sys.argv[1:] or list(FAMILIES)
    for name in wanted:
        make, sizes, order = FAMILIES[name]
        taken = [min(seconds(make(n), order) for _ in range(3)) for n in sizes]
        exponent = math.log(taken[-1] / taken[-2]) / math.log(sizes[-1] / sizes[-2])
        shown = " / ".join(f"{t:.2f}" for t in taken)
        print(f"{name:26} {' / '.join(map(str, sizes)):14} {shown:20} s   {exponent:.2f}", flush=True)


if __name__ == "__main__":
    main()
