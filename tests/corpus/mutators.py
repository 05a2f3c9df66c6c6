"""Library functions and methods that write: `out=`, `copyto`, `putmask`, `place`, `fill`, `fill_diagonal`, `sort`."""

import operator

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
POSITIVE = np.array([0.8, 1.3, 0.6, 1.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.3, -0.6], [0.7, 1.6, -0.4]])
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])
TABLE = np.cos(np.arange(9.0)).reshape(3, 3)


@case(VECTOR, POSITIVE)
def out_by_keyword(x, y):
    t = np.empty(5)
    np.multiply(x, y, out=t)
    np.sin(t, out=t)
    np.subtract(t, x, out=y)
    np.negative(y[1:], out=x[:-1])
    np.power(t, 2, out=t)
    return np.sum(WEIGHTS * t * y * x)


@case(VECTOR, POSITIVE)
def out_by_position(x, y):
    np.multiply(x, y, y)
    np.exp(y, y)
    np.add(x, y[0], x)
    np.divide(x, y, x)
    np.tanh(x[1:], y[:-1])
    np.square(x, x)
    return np.sum(WEIGHTS * x * y)


@case(VECTOR)
def out_in_a_tuple_and_where(x):
    t = x * 2.0
    np.multiply(x, x[1], out=(t,))
    np.sqrt(t, out=x, where=t > 0.0)
    np.multiply(t, x, out=t, where=x > 1.0)
    np.add(x, t, where=x < 1.0, out=x)
    return np.sum(WEIGHTS * x * t)


@case(VECTOR, POSITIVE)
def result_of_out_is_the_buffer(x, y):
    t = np.multiply(x, y, out=y)
    t[0] *= x[1]
    s = np.add(t, x, out=x[::-1])
    s[1:3] = y[:2] * s[3:]
    y = np.cos(s, out=t)
    y *= x
    return np.sum(WEIGHTS * x * t) + np.sum(s * s)


@case(VECTOR)
def out_overlaps_what_is_read(x):
    np.multiply(x[1:], x[:-1], out=x[1:])
    np.subtract(x[::-1], 2.0 * x, out=x)
    np.maximum(x, 0.2 * x[1], out=x)
    np.subtract(x[:-1], x[0], x[1:])
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, 0.9)
def out_broadcasts_and_repeats(x, s):
    t = np.ones((3, 5))
    for k in range(3):
        np.multiply(x, s, out=t[k])
        np.multiply(t[k - 1], t[k], out=x)
        np.add(s, k, out=t[:, k])
    np.multiply(t[0], x[:3, None], out=t)
    return np.sum(t * t * WEIGHTS) + np.sum(x)


@case(MATRIX, MATRIX.T.copy() * 0.5)
def out_of_matrix_products(a, b):
    c, d = np.empty((3, 3)), np.zeros(3)
    np.matmul(a, b, out=c)
    np.dot(c, a, out=b)
    np.matmul(b, c, c)
    np.dot(c, a[0], d)
    a[1] *= d
    np.matmul(a, b, out=a)
    a[0].dot(c, out=d)
    return np.sum(TABLE * a * b * c) + d @ d


@case(MATRIX)
def out_of_reductions(m):
    s = np.zeros(3)
    np.sum(m, axis=0, out=s)
    m[0] *= s
    np.sum(m * m, 1, None, s)
    m[:, 1] -= s
    m.sum(axis=1, out=m[2])
    np.prod(m[:2], axis=0, out=s)
    np.mean(m, axis=1, out=m[:, 0])
    return np.sum(TABLE * m * m) + s @ s


@case(VECTOR, MATRIX)
def out_of_cumulative_sums(x, m):
    y = np.zeros(5)
    np.cumsum(x * x, out=y)
    x *= y
    np.cumsum(x, out=x)
    y.cumsum(out=y)
    np.cumsum(m, axis=1, out=m)
    np.cumsum(m[0] * m[2], 0, float, m[1])
    np.cumprod(m[1], out=m[:, 2])
    return np.sum(WEIGHTS * x * y) + np.sum(TABLE * m * m)


@case(VECTOR, POSITIVE)
def out_of_clip_take_and_others(x, y):
    np.clip(x, -1.0, y[0], out=x)
    np.take(x * y, [3, 0, 0, 2, 1], out=y, mode="clip")
    y.clip(-0.3, 0.9, out=x)
    x += y * y
    np.concatenate([x[:2], y[2:] * x[2:]], out=y)
    c = np.empty((5, 5))
    np.outer(x, y * y, out=c)
    c[2] *= x
    return WEIGHTS @ c @ x


@case(VECTOR, POSITIVE)
def copied_to(x, y):
    np.copyto(x[1:3], x[2:4] * y[0])
    np.copyto(y, x * y, where=x > 0.0)
    np.copyto(x, y[1])
    np.copyto(dst=x[::2], src=y[:3] * y[2:], where=[True, False, True])
    x[1] *= x[0]
    return np.sum(WEIGHTS * x * y)


@case(MATRIX, POSITIVE)
def copied_to_with_broadcasting(m, v):
    np.copyto(m, v[:3], where=m < 0.0)
    np.copyto(m[:, 1:], m[:, :1] * m[:, :2])
    np.copyto(m.T, m * m)
    np.copyto(v[1:], m[0, 0])
    return np.sum(TABLE * m * m) + np.sum(WEIGHTS * v * v)


@case(MATRIX, POSITIVE, 0.6)
def diagonal_filled(m, v, s):
    np.fill_diagonal(m, v[:3] * m[0, 1])
    m *= m.T
    np.fill_diagonal(m[1:, :2], s * m[0, 0])
    m[0] -= m[1] * m[2]
    tall = np.ones((5, 2)) * s
    np.fill_diagonal(tall, v[:2], wrap=True)
    return np.sum(TABLE * m * m) + np.sum(tall * v[:, None] * v[3])


@case(VECTOR, 1.2)
def filled(x, s):
    t = np.zeros(5)
    t.fill(s * x[0])
    x[1:3].fill(x[1] * s)
    t *= x
    x.fill(t[3] * x[4])
    t[::2].fill(2.0)
    x[0] *= t[1]
    return np.sum(WEIGHTS * x * t)


@case(VECTOR, MATRIX)
def sorted_in_place(x, m):
    y = x * x[0]
    x.sort()
    y[1:].sort()
    x[0] *= x[4]
    m.sort(axis=0)
    m[1].sort()
    m.T.sort()
    return np.sum(WEIGHTS * x * y) + np.sum(TABLE * m * m)


@case(VECTOR)
def sorted_twice_with_a_store_between(x):
    x.sort()
    x[2] = x[0] * x[4]
    x[::-1].sort()
    x[1:] *= x[:-1]
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, POSITIVE)
def put_through_a_mask(x, y):
    np.putmask(x, x > 0.0, y * x)
    np.putmask(y, y > 1.0, x[:2] * y[0])
    x *= y
    np.putmask(y, x < 0.0, 0.5)
    return np.sum(WEIGHTS * x * y)


@case(VECTOR, POSITIVE)
def placed_through_a_mask(x, y):
    np.place(x, x > 0.0, y[1:3] * x[1])
    np.place(y, y > 1.0, x)
    y[0] *= x[0]
    np.place(x, x < -5.0, y[2:])
    return np.sum(WEIGHTS * x * y)


@case(VECTOR, POSITIVE)
def put_and_added_at(x, y):
    np.put(x, [0, 3, 0], y[1:4] * x[0])
    np.add.at(y, [4, 4, 0], x[[0, 0, 3]] * y[4])
    np.put(y, 2, x[1] * y[2])
    np.multiply.at(x, [1, 1], y[2])
    return np.sum(WEIGHTS * x * y)


@case(VECTOR)
def combined_with_what_was_there(x):
    y = x * x
    np.arctan2.at(y, [1, 1, 0, 3], y[1:])
    np.multiply.at(y, [2, 2, 1], y[::-1][:3])
    return np.sum(WEIGHTS * x * y)


@case(VECTOR)
def writers_of_the_library_in_a_loop(x):
    t = np.zeros(5)
    for k in range(3):
        np.multiply(x, x[k], out=t)
        np.add(t[1:], t[:-1], out=x[1:])
        np.copyto(x[:2], t[k : k + 2], where=t[:2] < 0.0)
        t.fill(t[k])
        np.subtract(x, t, out=x)
    return np.sum(WEIGHTS * x * t)


@case(VECTOR)
def operators_as_functions_with_a_buffer(x):
    a, b = np.empty(5), np.empty(5)
    for k in range(3):
        np.multiply(x, 1.0 + 0.2 * k, out=a)
        np.cos(a, out=b)
        np.multiply(a, b, out=a)
        np.add(x, a, out=x)
        a, b = b, a
    b[0] *= a[0]
    return np.sum(WEIGHTS * x * a * b)


@case(MATRIX, POSITIVE)
def shape_changed_before_a_write(m, v):
    flat = m.reshape(9)
    np.multiply(flat[:5], v, out=flat[4:])
    np.add(m[0], m.T[1], out=m[:, 2])
    m.ravel()[:4].sort()
    np.einsum("ij,j->i", m, v[:3], out=v[1:4])
    return np.sum(TABLE * m * m) + np.sum(WEIGHTS * v * v)


@case(VECTOR, POSITIVE)
def operators_in_place(x, y):
    t = x * 1.0
    operator.imul(t, y)
    operator.iadd(t[1:], t[:-1])
    y.__itruediv__(t[0] * t[0] + 1.0)
    operator.ipow(y, 2)
    return np.sum(WEIGHTS * t * y)


@case(VECTOR, MATRIX, second="recorded")
def shuffled_in_place(x, m):
    rng = np.random.default_rng(3)
    y = x * x
    rng.shuffle(y)
    rng.shuffle(y[1:4])
    rng.shuffle(m.T)
    np.random.RandomState(5).shuffle(m)
    return np.sum(WEIGHTS * y) + np.sum(TABLE * m * m) + rng.random() * x[0]


@case(VECTOR, MATRIX, "mode: fast")
def partitioned_in_place(x, m, text):
    y = x * 1.0
    y.partition(2)
    y[1:].partition((0, 1))
    m.partition(1, axis=0)
    head, _, tail = text.partition(": ")
    return np.sum(WEIGHTS * y) * len(head) + np.sum(TABLE * m * m) * len(tail)


@case(np.array([0.3, 0.7, 1.1]), 0.4, second=False)
def item_of_a_tuple_that_is_written_later(x, s):
    y = x * 1.0
    q = (y, s * s)
    y[0] = s * 3.0
    k, w = q
    r = (k, w) if s > 0.0 else (w, k)
    a, b = r
    return np.sum(a * a) * b + np.sum(q[0])


@case(VECTOR, 3.0)
def buffer_that_may_be_none(x, k):
    """`out=` that a condition gives: a new array where it is None."""
    t = x * 1.5
    y = np.multiply(t, 2.0, out=t if k > 1.0 else None)
    held = None if k > 2.0 else x * 0.5
    z = np.sin(t, out=held)
    return np.sum(y * z) + np.sum(t)
