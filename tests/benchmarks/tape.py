"""A training step on a tape: a compiled function as one record, against the same operations recorded one by one.

PYTHONPATH=. python tests/benchmarks/tape.py      Medians over rounds that time both one after the other.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from s2sgrad import GradientTape, Variable, differentiable

ROUNDS = 41


def pendulum(angle, speed, stiffness, n):
    """A damped pendulum by Euler's method: nine operations a step."""
    for _ in range(n):
        force = -stiffness * np.sin(angle) - 0.1 * speed
        speed = speed + 0.01 * force
        angle = angle + 0.01 * speed
    return angle * angle


def recurrent(w, h, n):
    """A recurrence of small vectors: two operations a step."""
    for _ in range(n):
        h = np.tanh(w @ h)
    return np.sum(h * h)


def elementwise(x, c, n):
    """Two hundred operations on a small array."""
    y = x
    for _ in range(n):
        y = np.sin(y) + c
    return np.sum(y)


CASES = {
    "elementwise, 200 operations": (elementwise, [np.linspace(0.0, 1.0, 8), 0.5], 100),
    "recurrent, 200 operations": (recurrent, [0.1 * np.arange(16.0).reshape(4, 4) - 0.7, np.ones(4)], 100),
    "pendulum, 200 operations on numbers": (pendulum, [0.5, 0.1, 9.81], 22),
}


def step(f, variables, n):
    """The whole step: recorded, differentiated, assigned."""
    with GradientTape() as t:
        y = f(*variables, n)
    count = len(t._tape.entries)
    gradients = t.gradient(y, variables)
    for v in variables:
        v.assign_sub(0.0)
    return gradients, count


def compared(name):
    """(records of the node, records one by one, seconds of the node, seconds one by one, median ratio)."""
    f, values, n = CASES[name]
    node, variables = differentiable(f), [Variable(v) for v in values]
    (ours, few), (theirs, many) = step(node, variables, n), step(f, variables, n)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        step(node, variables, n)
        between = time.perf_counter()
        step(f, variables, n)
        times.append((between - start, time.perf_counter() - between))
    ratio = statistics.median(b / a for a, b in times)
    return few, many, statistics.median(a for a, _ in times), statistics.median(b for _, b in times), ratio


def main():
    print("| step | records | one by one | node | one by one | times faster |\n|---|---|---|---|---|---|")
    for name in CASES:
        few, many, node, single, ratio = compared(name)
        print(f"| {name} | {few} | {many} | {1e6 * node:.0f} us | {1e6 * single:.0f} us | {ratio:.0f} |")


if __name__ == "__main__":
    main()
