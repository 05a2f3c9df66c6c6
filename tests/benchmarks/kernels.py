"""Gradients of whole programs, timed and weighed, as a table: `python3 tests/benchmarks/kernels.py [names] [--json]`.

Each gradient is compared with central differences along a random direction before it is timed.  A ratio is the median over
rounds that time the function and the gradient one after the other.  What is recorded is counted in four ways: the lines of
the text that push and the lines that keep an old content (`x_old = ..`), both as they stand; the bytes, when the text is run
with stacks that count what is pushed (an array whose memory was pushed before adds 8 bytes, like a number); and by how much
the peak of the memory is higher in the gradient than in the function (tracemalloc; cotangents and temporaries are in it).
Numbers in brackets after a name: the function was so short, or so long, that the ratio says little.  `--json` prints ratios
alone, of fewer rounds.
"""

from __future__ import annotations

import ast
import gc
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time
import tracemalloc

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # other programs use the machine too

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]  # this file is called `kernels` too
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from differences import directional, inner, random_directions  # noqa: E402
from kernels import KERNELS  # noqa: E402

from s2sgrad import grad  # noqa: E402

ROUNDS = 9
SECONDS = 4.0  # for one kernel: fewer rounds where they would take longer
STEPS = (1e-6, 1e-7)  # a mask may flip within the first among a hundred thousand numbers, and digits be lost in the second


# --- is it right -------------------------------------------------------------------------------------------------------


def weights_of(value):
    """Random weights of the structure of a result."""
    rng = np.random.default_rng(3)
    if isinstance(value, tuple):
        return tuple(rng.uniform(0.5, 1.5, np.shape(leaf)) for leaf in value)
    return rng.uniform(0.5, 1.5, np.shape(value)) if np.ndim(value) else float(rng.uniform(0.5, 1.5))


def assert_right(entry, df, weights):
    """The gradient is what central differences say along a random direction in all arguments, with one of the steps."""
    args = entry.bench_args()
    directions = random_directions(np.random.default_rng(1), args, entry.places)
    ours = inner(df(*entry.bench_args(), seed=weights), directions)
    slopes = [directional(entry.result, args, entry.places, directions, weights, step) for step in STEPS]
    if not any(np.isclose(ours, slope, rtol=1e-4, atol=1e-7) for slope in slopes):
        raise AssertionError(f"the gradient says {ours:.8g}, the differences {' or '.join(f'{s:.8g}' for s in slopes)}")


# --- how long it takes -------------------------------------------------------------------------------------------------


def once(f, entry, **seed):
    """Seconds of processor time of one call, on fresh arguments: the function may write them."""
    args = entry.bench_args()
    begun = time.process_time()
    f(*args, **seed)
    return time.process_time() - begun


def times(entry, df, weights, seconds=SECONDS):
    """Median seconds of the function and of the gradient, and the median of the ratios."""
    f = entry.function
    warm = once(f, entry) + once(df, entry, seed=weights)
    count = max(3, min(ROUNDS, int(seconds / warm)))
    gc.collect()
    rounds = [(once(f, entry), once(df, entry, seed=weights)) for _ in range(count)]
    return (
        statistics.median(a for a, _ in rounds),
        statistics.median(b for _, b in rounds),
        statistics.median(b / a for a, b in rounds),
    )


# --- what it records ---------------------------------------------------------------------------------------------------

PUSHES = re.compile(r"^(?=.*(?:_stack\w*\.append\(|\bpush\()).*$", re.M)
OLDS = re.compile(r"^\s*\w+_old\w* = ", re.M)


class Meter:
    """Counts the bytes of what is kept; the memory of an array once."""

    def __init__(self):
        self.bytes = 0
        self.owners = {}

    def kept(self, value):
        if isinstance(value, (tuple, list)):
            for item in value:
                self.kept(item)
        elif isinstance(value, np.ndarray) and value.ndim:
            owner = value
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            self.bytes += 8 if id(owner) in self.owners else owner.nbytes
            self.owners[id(owner)] = owner
        else:
            self.bytes += 8
        return value

    def stack(self):
        meter = self

        class Stack(list):
            def append(self, value):
                super().append(meter.kept(value))

        return Stack()


class Metered(ast.NodeTransformer):
    """Every new empty list is a stack that counts, and so is every old content that is kept in a name."""

    def visit_Assign(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.List) and not node.value.elts:
            node.value = ast.parse("meter_.stack()", mode="eval").body
        elif isinstance(node.targets[0], ast.Name) and re.search(r"_old\d*$", node.targets[0].id):
            node.value = ast.Call(ast.parse("meter_.kept", mode="eval").body, [node.value], [])
        return node


def recorded_bytes(entry, df, weights):
    """The bytes that the text keeps when it runs; None where it does not run by itself."""
    args = entry.bench_args()
    meter = Meter()
    space = {**df.generated_for(args, {}).__globals__, "meter_": meter}
    tree = ast.fix_missing_locations(Metered().visit(ast.parse(df.source_for(*args))))
    exec(compile(tree, "<metered>", "exec"), space)
    try:
        space[df.generated_for(args, {}).__name__](*args, seed=weights)
    except NameError:
        return None
    return meter.bytes


def peak(f, args, **seed):
    """The most bytes in use during a call, above those before."""
    gc.collect()
    tracemalloc.start()
    try:
        f(*args, **seed)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- the table ---------------------------------------------------------------------------------------------------------


def unit(seconds):
    return f"{seconds * 1e3:.3g} ms"


def size(count):
    if count is None:
        return "-"
    for name in ("B", "KB", "MB"):
        if abs(count) < 1000 or name == "MB":
            return f"{count:.3g} {name}" if name != "B" else f"{count} B"
        count /= 1000
    raise AssertionError


def row(entry):
    """The line of the table, and the ratio."""
    df = grad(entry.function, **entry.options)
    weights = weights_of(entry.result(*entry.bench_args()))
    assert_right(entry, df, weights)
    function, gradient, ratio = times(entry, df, weights)
    text = df.source_for(*entry.bench_args())
    memory = peak(df, entry.bench_args(), seed=weights) - peak(entry.function, entry.bench_args())
    name = entry.name if 0.3e-3 < function < 60e-3 else f"{entry.name} ({unit(function)})"
    cells = [name, unit(function), unit(gradient), f"{ratio:.2f}", len(PUSHES.findall(text)), len(OLDS.findall(text)),
             size(recorded_bytes(entry, df, weights)), size(memory)]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |", ratio


def ratios_alone(names):
    """By name: the time of the gradient over that of the function, and an error in its place."""
    found = {}
    for entry in KERNELS:
        if names and entry.name not in names:
            continue
        df = grad(entry.function, **entry.options)
        weights = weights_of(entry.result(*entry.bench_args()))
        try:
            assert_right(entry, df, weights)
        except AssertionError as error:
            found[entry.name] = str(error)
        else:
            found[entry.name] = times(entry, df, weights, 0.7)[2]
    return found


def main(words):
    names = [word for word in words if not word.startswith("-")]
    unknown = set(names) - {entry.name for entry in KERNELS}
    if unknown:
        raise SystemExit(f"there is no kernel {', '.join(sorted(unknown))}")
    if "--json" in words:
        print(json.dumps(ratios_alone(names)))
        return 0
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}; medians of up to {ROUNDS} rounds\n")
    print("| kernel | function | gradient | ratio | pushes | olds | recorded | peak |\n|---|---|---|---|---|---|---|---|")
    ratios, refused = {}, []
    for entry in KERNELS:
        if names and entry.name not in names:
            continue
        try:
            line, ratios[entry.name] = row(entry)
            print(line, flush=True)
        except Exception as error:  # the others are measured all the same
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
            refused.append((entry.name, type(error).__name__, lines[0] if isinstance(error, AssertionError) else lines[-1]))
    if ratios:
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
        worst = max(ratios, key=ratios.get)
        print(f"\n{len(ratios)} kernels: geometric mean {mean:.2f}, largest {ratios[worst]:.2f} ({worst})")
    for name, kind, message in refused:
        print(f"\nnot measured: {name}: {kind}: {message[:160]}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
