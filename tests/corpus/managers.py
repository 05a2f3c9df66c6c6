"""`with` of context managers of the user's, and what stands in `finally`."""

import contextlib
import io
import time

import numpy as np

from .case import case

FOUR = np.array([0.7, 0.4, -0.6, 1.2])
VECTOR = np.array([0.3, 0.7, 1.1])


@contextlib.contextmanager
def timed(stream):
    start = time.perf_counter()
    yield
    print(time.perf_counter() - start >= 0.0, file=stream)


@contextlib.contextmanager
def twice(value):
    yield value * 2.0


class Timer:
    def __init__(self):
        self.start = self.elapsed = 0.0

    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.elapsed = time.perf_counter() - self.start


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        return self

    def __call__(self, t):
        return self.factor * t

    def __exit__(self, kind, value, traceback):
        return False


@case(VECTOR)
def context_of_a_generator(v):
    with timed(None):
        y = np.sin(v) * v
    return np.sum(y**2)


@case(VECTOR)
def value_of_a_context(v):
    with twice(1.5) as factor:
        y = v * factor
    return np.sum(y * y)


@case(VECTOR)
def context_of_a_class(v):
    with Timer() as timer:
        y = v**3
    if timer.elapsed > 1000.0:
        y = y * 2.0
    return np.sum(y)


@case(VECTOR)
def context_that_holds_what_is_differentiated(v):
    with Scaled(v) as scaled:
        y = scaled(v) * 2.0
    return np.sum(y) * scaled.factor[0]


@case(VECTOR)
def contexts_in_a_loop_that_is_continued(v):
    total = 0.0
    for k in range(3):
        with timed(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            if k == 1:
                continue
            total = total + v[k] ** 2
    return total


@case(VECTOR)
def return_from_a_context(v):
    with timed(io.StringIO()):
        return np.sum(v**2)


@case(VECTOR)
def finally_that_binds(v):
    count = 0
    y = 0.0
    try:
        y = np.sum(v**2)
    finally:
        count += 1
        y = y * 2.0
    return y * count


@case(VECTOR)
def finally_that_reads_a_clock(v):
    start = time.perf_counter()
    try:
        y = np.sum(v**2)
    finally:
        elapsed = time.perf_counter() - start
    return y if elapsed < 1000.0 else 2.0 * y


@case(FOUR)
def return_from_a_loop_in_a_context(v):
    with np.errstate(all="ignore"):
        for k in range(4):
            if v[k] > 0.3 and k > 0:
                return v[k] * v[0]
    return np.sum(v)


@case(FOUR)
def exits_from_loops_in_a_context(v):
    total = 0.0
    for j in range(3):
        with np.errstate(all="ignore"):
            for k in range(3):
                if v[k] < 0.0:
                    break
                total += v[k] * v[j]
            else:
                continue
            if j == 1:
                break
            total = total * v[1]
        total += 1.0
    return total


class Doubled:
    def __init__(self, a):
        self.a, self.log = a, []

    def __enter__(self):
        self.a += 1.0
        return self

    def __exit__(self, *raised):
        self.a *= 2.0
        self.log.append(self.a)

    def run(self, v):
        with self as s:
            y = s.a * v
            if y > 1.0:
                return y
        return y + self.a


@case(np.array([0.3, 0.9, 0.45]), second=False)
def objects_that_are_contexts_of_their_own(x):
    d = Doubled(x[0])
    total = 0.0
    for v in x:
        with d:
            total += d.a * v
    total += d.run(x[1]) * d.run(0.1 * x[2])
    u = d.a
    d = Doubled(x[1])
    with d as e, np.errstate(all="ignore"):
        total += d.a * u * e.a
    return total + sum(d.log)
