"""Generated gradients against adjoints written by hand: `python tests/benchmarks/by_hand.py [NAMES] [--json]`.

The workloads and their adjoints stand in workloads.py.  Each is measured in a process of its own, by processor time.  Both
gradients are compared before they are timed.  A ratio is the median over rounds that time one after the other, on new
arguments each.  Memory is the peak of a call above what was in use before; faults are pages that the system has to find.
"""

from __future__ import annotations

import gc
import inspect
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent)]

from counting import statements  # noqa: E402
from workloads import WORKLOADS, Workload  # noqa: E402

from s2sgrad import grad  # noqa: E402

ROUNDS, ENOUGH = 21, 2e-3  # seconds that one measurement takes at least


def same(a: Any, b: Any) -> bool:
    """Whether two gradients are equal, to rounding."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.allclose(a, b, rtol=1e-8, atol=1e-9 * (1.0 + float(np.max(np.abs(b))))))


def cost(function: Callable, arguments: list[tuple]) -> tuple[float, float]:
    """Processor time and page faults of a call, by the number of arguments."""
    faults, start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time()
    for args in arguments:
        function(*args)
    took = time.process_time() - start
    return took / len(arguments), (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults) / len(arguments)


def peak(function: Callable, args: tuple) -> int:
    """The most bytes in use during a call, above those before; not the first call."""
    for _ in range(3):
        function(*args)
    gc.collect()
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def gradient_of(w: Workload) -> Callable:
    """The generated gradient of a workload."""
    return grad(w.function, w.argnums if len(w.argnums) > 1 else w.argnums[0])


def measured(w: Workload) -> dict[str, Any]:
    """What is measured of one workload; AssertionError where the gradients differ."""
    rng = np.random.default_rng(1)
    gradient = gradient_of(w)
    args = w.draw(rng)
    assert same(gradient(*args), w.by_hand(*args)), w.function.__name__
    memory = peak(gradient, args) / max(1, peak(w.by_hand, args))
    functions = w.by_hand, gradient, w.function
    once = min(cost(w.by_hand, [args])[0] for _ in range(3))
    times = max(1, min(500, int(ENOUGH / max(once, 1e-7))))
    rounds = []
    for _ in range(ROUNDS):
        arguments = [w.draw(rng) for _ in range(times)]
        rounds.append([cost(f, arguments) for f in functions])
    texts = inspect.getsource(w.function), inspect.getsource(w.by_hand), gradient.source
    return {
        "name": w.function.__name__.replace("_", " "),
        "small": w.small,
        "to hand": statistics.median(ours[0] / hand[0] for hand, ours, _ in rounds),
        "to function": statistics.median(ours[0] / plain[0] for _, ours, plain in rounds),
        "memory": memory,
        "faults": [statistics.median(r[k][1] for r in rounds) for k in (0, 1)],
        "statements": list(map(statements, texts)),
    }


def alone(script: str, *words: str) -> Any:
    """What a script prints as JSON in a process of its own."""
    command = [sys.executable, str(HERE / script), *words, "--json"]
    env = os.environ | {"PYTHONPATH": str(HERE.parent.parent)}
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{run.stderr}")
    return json.loads(run.stdout)


def mean(values: Any) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a markdown table, with means."""
    out = [
        "| workload | generated / by hand, time | gradient / function, time | generated / by hand, peak memory "
        "| page faults a call: by hand, generated | statements: function, by hand, generated |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        faults, lines = (", ".join(f"{v:.0f}" for v in row[k]) for k in ("faults", "statements"))
        values = " | ".join(f"{row[k]:.2f}" for k in ("to hand", "to function", "memory"))
        out.append(f"| {row['name']} | {values} | {faults} | {lines} |")
    means = " | ".join(f"{mean(r[k] for r in rows):.2f}" for k in ("to hand", "to function", "memory"))
    sums = ", ".join(str(sum(r["statements"][k] for r in rows)) for k in range(3))
    out.append(f"| *geometric mean; sum* | {means} | | {sums} |")
    return "\n".join(out)


def main() -> None:
    """Print the table, or the figures; of one workload only in this process, of several each in its own."""
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    chosen = [w for w in WORKLOADS if not names or w.function.__name__ in names]
    if len(chosen) == 1:
        rows = [measured(chosen[0])]
    else:
        rows = [row for w in chosen for row in alone("by_hand.py", w.function.__name__)]
    print(json.dumps(rows) if "--json" in sys.argv else table(rows))


if __name__ == "__main__":
    main()
