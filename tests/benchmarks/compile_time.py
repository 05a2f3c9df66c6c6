"""How the time of compiling grows with the function: PYTHONPATH=. python tests/benchmarks/compile_time.py [FAMILY ..]

Seconds of processor time for `grad(f).source_for(x)`, the best of three, for functions that repeat a few statements; the
last column is the exponent between the two largest sizes (1: linear, 2: by the square).  "start" is what a user waits for
in a new process: importing the package besides NumPy, and the first gradient of a function of twelve lines, compiled and
called; the median of five processes that find compiled modules.  "first" is the first gradient, in such a process, of
programs of 10 to 800 lines: arrays, branches, loops, sections.  `--json` prints the figures of "first" alone.
"""

from __future__ import annotations

import itertools
import json
import linecache
import math
import os
import statistics
import subprocess
import sys
import tempfile
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


def loop_stores(n: int) -> str:
    """Stores into one array, in one loop."""
    return function(["for i in range(1, 5):", *(f"    y[i] = np.sin(y[i - 1]) * x[i] + {k}.0" for k in range(n))])


def loop_branches(n: int) -> str:
    """Branches in one loop."""
    four = "    if x[i] > {k}.0:", "        y[i] = y[i] * {k}.5", "    else:", "        y[i] += np.sin(x[i])"
    return function(["for i in range(5):", *(line.format(k=k) for k in range(n) for line in four)])


def sections(n: int) -> str:
    """Stores into rows of a matrix, of which others are read."""
    rows = (f"a[{k % 5}, :] = a[{(k + 1) % 5}, :] * {k}.0 + a[:, {k % 4}]" for k in range(n))
    return function(["a = np.outer(x, x)", *rows, "y = y + a[0]"])


def items(n: int) -> str:
    """Items of a dict, each made of the first."""
    two = "d['k{k}'] = np.sin(d['a']) * {k}.0", "y = y + d['k{k}']"
    return function(["d = {'a': x}", *(line.format(k=k) for k in range(n) for line in two)])


def numbers(n: int) -> str:
    """Numbers, each made of the one before."""
    first = "s0 = x[0] * 2.0"
    return function([first, *(f"s{k} = x[{k % 5}] * {k}.0 + s{k - 1}" for k in range(1, n)), f"y = y + s{n - 1}"])


def comprehensions(n: int) -> str:
    """Comprehensions, one behind the other."""
    return function(f"y = y + np.array([v * {k}.0 for v in x])" for k in range(n))


def nested(n: int) -> str:
    """A program of nested loops, branches, sections and rows, n times one behind the other."""
    lines = """
for step in range(3):
    for i in range(1, len(y) - 1):
        left = y[i - 1]
        right = y[i + 1]
        if left > right:
            flux = left * y[i]
        else:
            flux = np.sin(right) - y[i]
        y[i] = y[i] + 0.1 * flux
        for k in range(4):
            w[k, i] = w[k, i] * 0.5 + y[i] * (k + 1.0)
    y[0] = y[len(y) - 2]
    y[-1] = y[1]
    total = 0.0
    for k in range(4):
        row = w[k]
        total += np.sum(row * row)
        row[0] = total * 0.1
    y = y * np.exp(-0.01 * total)
    energy = energy + total * np.tanh(y[2])
"""
    return function(["w = np.zeros((4, len(x)))", "energy = 0.0", *lines.strip().splitlines() * n, "y = y * energy"])


def function(lines) -> str:
    return "\n".join(["def f(x):", "    y = x * 1.0", *(f"    {line}" for line in lines), "    return np.sum(y)"])


FAMILIES: dict[str, tuple[Callable[[int], str], tuple[int, ...], int]] = {
    "statements": (statements, (50, 200, 800), 1),
    "statements in a loop": (loop_body, (50, 200, 800), 1),
    "loops": (loops, (25, 100), 1),
    "stores": (stores, (25, 100), 1),
    "views that are written": (views, (25, 100), 1),
    "calls that write": (writers, (25, 100), 1),
    "stores in a loop": (loop_stores, (40, 160), 1),
    "branches in a loop": (loop_branches, (20, 80), 1),
    "sections of a matrix": (sections, (40, 160), 1),
    "items of a dict": (items, (40, 160), 1),
    "numbers": (numbers, (100, 400), 1),
    "comprehensions": (comprehensions, (20, 80), 1),
    "statements, second order": (statements, (50, 200), 2),
    "nested, second order": (nested, (1, 2), 2),
}

START = """
import time
import numpy as np
begun = time.process_time()
from s2sgrad import grad
imported = time.process_time()

def loss(b, x, y):
    top = b[0] + x * (b[1] + x * (b[2] + x * b[3]))
    bottom = 1.0 + x * (b[4] + x * (b[5] + x * b[6]))
    r = y - top / bottom
    total = 0.0
    for i in range(3):
        total = total + np.sum(r ** 2) * b[i]
    return total

x = np.linspace(0.0, 1.0, 9)
grad(loss)(np.ones(7), x, x * 2.0)
print(imported - begun, time.process_time() - imported)
"""


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


BLOCK = """
    a{k} = np.sin(y) * w
    b{k} = a{k} + x
    if np.sum(b{k}) > {k}.5:
        y = y * 0.9 + b{k}
    else:
        y = y - a{k}
    for i in range(3):
        y = np.tanh(y * w + a{k})
    y[1:] += 0.1 * b{k}[:-1]
    total = total + np.sum(y * y)
"""
FIRST = """
import time
import numpy as np
from s2sgrad import grad

def f(x, w):
    y = x * 1.0
    total = 0.0
{body}
    return total

begun = time.process_time()
grad(f, (0, 1))(np.linspace(0.1, 0.9, 5), 1.1)
print(time.process_time() - begun)
"""
LINES = (10, 50, 200, 800)


def medians(script: str, runs: int) -> list[float]:
    """What a script prints, each the median over so many processes that find compiled modules."""
    with tempfile.TemporaryDirectory() as home:
        file = os.path.join(home, "start.py")
        with open(file, "w") as opened:
            opened.write(script)
        there = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPYCACHEPREFIX": home}
        there["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        said = [
            subprocess.run([sys.executable, file], env=there, capture_output=True, text=True, check=True).stdout
            for _ in range(runs + 1)
        ]
    return list(map(statistics.median, zip(*(map(float, run.split()) for run in said[1:]), strict=True)))


def first(runs: int = 5) -> dict[int, float]:
    """The time of the first gradient of programs of so many lines."""
    return {n: medians(FIRST.format(body="".join(BLOCK.format(k=k) for k in range(n // 10))), runs)[0] for n in LINES}


def main() -> None:
    """Print the table."""
    if "--json" in sys.argv:
        print(json.dumps(first(3)))
        return
    if not sys.argv[1:] or "start" in sys.argv[1:]:
        print("start: import {:.3f}, first gradient {:.3f} s".format(*medians(START, 5)), flush=True)
    if not sys.argv[1:] or "first" in sys.argv[1:]:
        print("first:", ", ".join(f"{n} lines {taken:.2f} s" for n, taken in first().items()), flush=True)
    seconds(statements(8), 2)
    wanted = [name for name in sys.argv[1:] if name not in ("start", "first")] if sys.argv[1:] else list(FAMILIES)
    for name in wanted:
        make, sizes, order = FAMILIES[name]
        taken = [min(seconds(make(n), order) for _ in range(3)) for n in sizes]
        exponent = math.log(taken[-1] / taken[-2]) / math.log(sizes[-1] / sizes[-2])
        shown = " / ".join(f"{t:.2f}" for t in taken)
        print(f"{name:26} {' / '.join(map(str, sizes)):14} {shown:20} s   {exponent:.2f}", flush=True)


if __name__ == "__main__":
    main()
