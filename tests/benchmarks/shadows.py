"""What shadows cost: gradients of functions in two spellings, of which one leaves open who shares memory.

    python tests/benchmarks/shadows.py

For each pair: milliseconds of a gradient where memory is known, and where it is not; their quotient.
"""

from __future__ import annotations

import timeit

import numpy as np

from s2sgrad import grad


def swapped(u, n):
    u, un = u * 1.0, u * 1.0
    for _ in range(n):
        un[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        u, un = un, u
    return np.sum(u**2)


def swapped_by_a_third_name(u, n):
    u, un = u * 1.0, u * 1.0
    for _ in range(n):
        un[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        t = u
        u = un
        un = t
    return np.sum(u**2)


def new_in_each_trip(u, n):
    for _ in range(n):
        v = np.zeros(len(u))
        v[1:] = u[1:] * u[:-1] * 0.9
        v[0] = u[0]
        u = v
    return np.sum(u**2)


def new_in_each_trip_and_seen(u, n):
    for _ in range(n):
        v = np.zeros(len(u))
        w = v if n > 0 else u
        v[1:] = u[1:] * u[:-1] * 0.9
        w[0] = u[0]
        u = v
    return np.sum(u**2)


def rows(u, n):
    m = np.outer(u[:10], u)
    for k in range(1, n):
        m[k % 10, 1:] *= m[k % 10 - 1, :-1] * 0.9
    return np.sum(m**2)


def rows_by_a_branch(u, n):
    m = np.outer(u[:10], u)
    for k in range(1, n):
        row = m[k % 10] if n > 0 else u
        row[1:] *= m[k % 10 - 1, :-1] * 0.9
    return np.sum(m**2)


def kept_by_name(u, n):
    a, b = u * 2.0, u * 0.5
    for k in range(n):
        a[k % 7] = b[k % 5] * a[1]
        b *= 0.99
    return np.sum(a * b)


def kept_in_a_list(u, n):
    a, b = u * 2.0, u * 0.5
    both = [a, b]
    for k in range(n):
        a[k % 7] = both[1][k % 5] * a[1]
        both[1] *= 0.99
    return np.sum(both[0] * b)


PAIRS = [(swapped, swapped_by_a_third_name), (new_in_each_trip, new_in_each_trip_and_seen), (rows, rows_by_a_branch),
         (kept_by_name, kept_in_a_list)]  # fmt: skip


def milliseconds(function, size: int, trips: int) -> float:
    u = 0.5 + 0.1 * np.sin(np.arange(size))
    gradient = grad(function)
    gradient(u, trips)
    number = max(1, int(2e5 // (size * trips + 4000)))
    return min(timeit.repeat(lambda: gradient(u, trips), number=number, repeat=5)) / number * 1e3


if __name__ == "__main__":
    for known, open_ in PAIRS:
        for size in (20, 20_000):
            one, other = milliseconds(known, size, 40), milliseconds(open_, size, 40)
            print(f"{open_.__name__:28} {size:6}  {one:8.3f} {other:8.3f}  {other / one:5.2f}")
