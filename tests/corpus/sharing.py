"""Names of which only the run tells whether they share memory: views chosen by branches, buffers bound anew."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


@case(VECTOR)
def one_of_two(x):
    y, z = x * 2.0, x * 3.0
    if x[0] > 0.0:
        v = y[1:]
    else:
        v = z[1:]
    v[0] = x[1]
    return np.sum(y * z)


@case(VECTOR, second=False)
def swap_by_a_third_name(x):
    u, un = x * 1.0, x * 2.0
    for k in range(3):
        un[1:] *= u[:-1]
        t = u
        u = un
        un = t
        t[k] = u[k] * 3.0
    return np.sum(u * un)


@case(VECTOR, OTHER)
def array_or_its_copy(x, w):
    y = x * w
    v = y if w[0] > 1.0 else y.copy()
    v *= w
    return np.sum(y * v * v)


@case(BOARD, second=False)
def diagonal_seen_through_a_store(m):
    y = m @ m
    v = np.diagonal(y)
    y[2] = 2.0 * m[1]
    return np.sum(v * v * y[0])


@case(VECTOR, 4, second=False)
def buffer_and_the_one_before(x, n):
    u = x * 2.0
    before = u
    for k in range(n):
        v = u * x
        before[k] += v[k] * u[k + 1]
        before, u = u, v
    return np.sum(u * before)


@case(VECTOR, second=False)
def bound_to_a_copy_in_a_while(u):
    n = 0
    while n < 3:
        v = u.copy()
        v[2] = u[0] * v[n]
        u = v
        v[0], v[1] = v[1], v[0] * u[4]
        n += 1
    return u * v


@case(VECTOR, OTHER)
def view_of_an_argument_or_of_its_square(x, w):
    y = w * w
    v = x[1:4] if w[1] > 0.0 else y[1:4]
    for k in range(3):
        y[k] = v[k] * x[k + 1]
    return np.sum(v * y[:3])


@case(VECTOR)
def rows_in_turn(x):
    m = np.outer(x, x)
    row = m[0]
    for k in range(1, 4):
        other = m[k]
        row[k:] = other[k:] * x[k]
        other *= row
        if x[k] > 0.0:
            row = other
    return np.sum(m * m) + np.sum(row)


@case(VECTOR)
def halves_that_overlap(x):
    y = x * 2.0
    low = y[:3]
    high = y[2:] if x[1] < 0.0 else y[1:4]
    low += high
    high *= low
    return np.sum(y * x) + low @ high
