"""A loop that keeps 30 states instead of 10,000 records: PYTHONPATH=. python tests/benchmarks/checkpoints.py [TRIPS] [SLOTS]

For each loop: seconds of processor time for its gradient with records of every trip and with states, their ratio, the memory
at the peak in arrays of the size of the state (80 kB), and whether the gradients are the same to the last bit.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import checkpointed, grad

U = np.random.default_rng(0).uniform(0.1, 0.2, 10_000)


def heat(u: Any, c: float, n: int) -> Any:
    for _ in range(n):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_with_states(u: Any, c: float, n: int, slots: int) -> Any:
    for _ in checkpointed(range(n), slots=slots):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def step(u: Any, c: float) -> Any:
    return u + c * np.sin(u) * np.roll(u, 1)


def steps(u: Any, c: float, n: int) -> Any:
    for _ in range(n):
        u = step(u, c)
    return np.sum(u * u)


def steps_with_states(u: Any, c: float, n: int, slots: int) -> Any:
    for _ in checkpointed(range(n), slots=slots):
        u = step(u, c)
    return np.sum(u * u)


def timed(df: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """Seconds of processor time, and what comes out."""
    gc.collect()
    start = time.process_time()
    out = df(*args)
    return time.process_time() - start, out


def peak(df: Callable[..., Any], *args: Any) -> float:
    """The most memory that is taken, in arrays like the state."""
    gc.collect()
    tracemalloc.start()
    df(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / U.nbytes


def main(trips: int = 10_000, slots: int = 30) -> None:
    print(f"{trips} trips, {slots} states      records   states    ratio    memory of both      equal")
    for plain, kept in ((heat, heat_with_states), (steps, steps_with_states)):
        with_records, with_states = grad(plain, ("u", "c")), grad(kept, ("u", "c"))
        with_records(U, 0.1, 3), with_states(U, 0.1, 3, 2)
        before, wanted = timed(with_records, U, 0.1, trips)
        after, got = timed(with_states, U, 0.1, trips, slots)
        same = all(np.array_equal(a, b) for a, b in zip(wanted, got, strict=True))
        much, little = peak(with_records, U, 0.1, trips), peak(with_states, U, 0.1, trips, slots)
        print(f"{plain.__name__:24} {before:8.2f} {after:8.2f} {after / before:8.2f} {much:10.0f} {little:8.0f}   {same}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
