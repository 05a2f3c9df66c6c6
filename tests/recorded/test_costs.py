"""What a recording costs: time and entries grow with the operations, memory with what the sweep needs."""

from __future__ import annotations

import gc
import time
import tracemalloc

import numpy as np
import pytest

from s2sgrad.recorded.derivatives import grad, vjp


def items(n):
    """A loop over items, which writes others."""

    def f(x):
        y = np.zeros(n)
        for i in range(n):
            y[i] = x[0] * y[i - 1] + 0.1
        return y[n - 1]

    return f


def snapshots(n):
    """A buffer that is written while products of it are kept."""

    def f(x):
        buffer, kept = np.zeros(4), []
        for i in range(n):
            kept.append(buffer * x)
            buffer[i % 4] = x[i % 4] * 0.5
        return np.sum(kept[-1]) + np.sum(kept[n // 2])

    return f


def parts(n):
    """Parts of one long array, read and written in turn."""

    def f(x):
        y, total = np.zeros(n), 0.0
        y[0] = x[0]
        for i in range(1, n):
            y[i] = np.sin(y[i - 1])
            total = total + np.dot(y[i - 1 : i + 1], x[:2])
        return total

    return f


def lists(n):
    """A long list of handles, joined in the end."""

    def f(x):
        found = [x * 0.1]
        for _ in range(n):
            found.append(found[-1] * 0.9 + x)
        return np.sum(np.concatenate(found)) + np.sum(np.array([v[0] for v in found]))

    return f


def stacks(n):
    """A stack that grows and shrinks."""

    def f(x):
        stack = [x[0]]
        for _ in range(n):
            stack.append(x[1])
        while len(stack) > 1:
            stack.append(stack.pop() * 0.5 + stack.pop())
        return stack[0]

    return f


def seconds(f):
    """The least processor time of a gradient, of three."""
    gradient, x, found = grad(f), np.linspace(0.2, 0.9, 4), []
    gc.disable()  # what it costs depends on the other tests
    try:
        for _ in range(3):
            start = time.process_time()
            gradient(x)
            found.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(found)


@pytest.mark.parametrize("made", [items, snapshots, parts, lists, stacks])
def test_nothing_grows_by_the_square(made):
    assert seconds(made(2000)) < 35 * seconds(made(200))


def idle(x):
    for i in range(3000):
        array = np.ones(1000) * i
        if array[0] < 0.0:
            return x
    return x * 2.0


def test_what_carries_nothing_is_not_kept():
    tracemalloc.start()
    _, _, recorded = vjp(idle, (1.5,), {}, (0,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6e6 and len(recorded.record.entries) == 2  # of the 24 MB that the arrays take


def test_a_second_derivative_costs_a_few_first_ones():
    def f(x):
        y = x
        for _ in range(50):
            y = np.sin(y) * x
        return np.sum(y)

    gradient = grad(f)
    assert seconds(lambda x: np.sum(gradient(x))) < 12 * seconds(f)


def test_nothing_waits_for_the_garbage_collector():
    def f(x):
        y = np.sin(x) * x
        y[0] = x[1]
        y[1:] = x[:-1] * y[1:]
        y += 1.0
        return np.sum(np.tanh(y)) + sum(v * v for v in x)

    gradient = grad(f)
    twice = grad(lambda x: np.sum(gradient(x)))
    for each in (gradient, twice):
        each(np.ones(4))
        gc.collect()
        gc.freeze()  # only what the call makes is counted, and nothing that earlier tests have left
        gc.disable()
        try:
            each(np.ones(4))
            assert gc.collect() == 0
        finally:
            gc.enable()
            gc.unfreeze()


def test_garbage_is_collected_seldom_while_a_run_is_open():
    """The thresholds are those of the program before and after, also where it raises; what it sets itself stays."""
    of_tests, before, seen = gc.get_threshold(), (700, 10, 10), []

    def looks(x):
        seen.append(gc.get_threshold())
        if x[0] > 1.0:
            raise KeyError("large")
        return np.sum(x * x)

    def sets(x):
        gc.set_threshold(600, 10, 10)
        return np.sum(x * x)

    try:
        gc.set_threshold(*before)
        grad(looks)(np.array([0.5]))
        with pytest.raises(KeyError):
            grad(looks)(np.array([2.0]))
        assert gc.get_threshold() == before and all(t[0] > before[0] for t in seen)
        grad(sets)(np.array([0.5]))
        assert gc.get_threshold() == (600, 10, 10)
    finally:
        gc.set_threshold(*of_tests)
