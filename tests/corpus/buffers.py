"""Buffers: where they come from, when they become active, how they are filled and read, recurrences and tables."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
POSITIVE = np.array([0.8, 1.3, 0.6, 1.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
DEFINITE = np.array([[2.5, 0.4, -0.3], [0.6, 1.9, 0.2], [-0.5, 0.7, 2.2]])
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])


@case(VECTOR)
def buffer_of_zeros(x):
    y = np.zeros(5)
    for i in range(1, 4):
        y[i] = x[i - 1] * x[i + 1]
    y[0] = y[1] * y[3]
    return np.sum(WEIGHTS * y * y)


@case(VECTOR)
def buffer_of_anything(x):
    y = np.empty((2, 5))
    y[0] = x * x
    y[1, ::2] = y[0, ::2] * x[::-2]
    y[1, 1::2] = x[0]
    return WEIGHTS @ y[1] * np.sum(y[0])


@case(VECTOR, 0.6)
def buffers_of_ones_and_of_a_value(x, s):
    p = np.ones(5)
    q = np.full(5, s)
    for i in range(4):
        p[i + 1] = p[i] * x[i]
        q[i] *= q[i + 1] + p[i]
    return np.sum(WEIGHTS * p * q)


@case(VECTOR)
def buffer_from_the_constructor(x):
    y = np.ndarray((5,))
    y[:] = np.sin(x)
    z = np.ndarray(shape=(5,), dtype=float)
    z.fill(2.0)
    z[1:] -= y[:-1] * x[1:]
    return np.sum(WEIGHTS * z * z * y)


@case(VECTOR, 1.3)
def buffers_like_another(x, s):
    a, b = np.zeros_like(x), np.empty_like(x)
    c, d = np.ones_like(x), np.full_like(x, s)
    a[1:] = x[:-1] * x[1:]
    b[:] = a * s
    c[:2] -= b[1:3]
    d *= c
    d[-1] = d[0] * a[1]
    return np.sum(WEIGHTS * d * x) + b @ c


@case(VECTOR)
def copies_are_not_the_argument(x):
    a, b, c, d = x.copy(), np.array(x), np.copy(x), x.astype(float)
    e = +x
    a[0] = b[1] * x[0]
    b *= x
    c[1:] += a[:-1] * c[1:]
    d[::2] = c[::2] * b[::2]
    e[3] = x[3] * d[2]
    x[3] = 2.0 * e[3]
    return np.sum(WEIGHTS * a * b + c * d * e) + x[3] * x[0]


@case(VECTOR)
def argument_is_the_buffer_and_the_result(x):
    for i in range(1, 5):
        x[i] = x[i] * x[i - 1]
    return x


@case(VECTOR, POSITIVE)
def arguments_returned_with_others(x, y):
    s = np.sum(x * x)
    x[1:] *= y[:-1]
    y[0] = s * x[1]
    return x, s * y[0], y


@case(VECTOR, 6)
def active_late(x, n):
    t = np.zeros(5)
    t[0] = 0.4
    for i in range(n):
        t[i % 5] += 0.5 * i
        t[1:] = t[:-1] * 0.7 + t[1:] * t[0]
    t[2] = t[2] * x[0] + t[1]
    t[3:] *= t[2] * x[3:]
    return np.sum(WEIGHTS * t * x)


@case(VECTOR)
def active_only_between_constants(x):
    t = np.ones(3)
    t[0] = 3.0
    a = t * 2.0
    t[0] = x[0] * x[1]
    b = t * t[0]
    t[0] = 3.0
    c = t[0] * x[2]
    return a @ b * c


@case(VECTOR)
def overwritten_many_times(x):
    y = np.zeros(2)
    s = 0.0
    for k in range(5):
        y[0] = x[k] * y[1] + 1.0
        y[1] = y[0] * x[k]
        y[0] = np.sin(y[0])
        s = s + y[0] * y[1] * WEIGHTS[k]
        y[0] = s * s
    return s + y[0] * y[1]


@case(VECTOR)
def recurrence_of_first_order(x):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, 5):
        y[i] = y[i - 1] * x[i] + np.cos(x[i])
    return WEIGHTS @ y


@case(VECTOR, 0.4, -0.3)
def recurrence_of_second_order(x, a, b):
    y = x.copy()
    y[1] += a * y[0]
    for i in range(2, 5):
        y[i] += a * y[i - 1] + b * y[i - 2] * y[i - 1]
    return np.sum(WEIGHTS * y * y)


@case(DEFINITE, VECTOR[:3])
def triangular_solve(a, b):
    x = np.zeros(3)
    for i in range(3):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(WEIGHTS[:3] * x * x)


@case(DEFINITE, VECTOR[:3])
def elimination_in_place(a, b):
    n = len(b)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
            b[i] -= a[i, k] * b[k]
    for i in range(n - 1, -1, -1):
        b[i] -= a[i, i + 1 :] @ b[i + 1 :]
        b[i] /= a[i, i]
    return b, a[2, 0] * a[0, 2]


@case(DEFINITE)
def cholesky_in_place(a):
    for j in range(3):
        a[j, j] = np.sqrt(a[j, j] - a[j, :j] @ a[j, :j])
        for i in range(j + 1, 3):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
    return a


@case(POSITIVE)
def prefix_sums_and_products(x):
    total, product = np.zeros(6), np.ones(6)
    for i in range(5):
        total[i + 1] = total[i] + x[i]
        product[i + 1] = product[i] * x[i]
    return (total[4] - total[1]) * product[5] + (total[1:] * WEIGHTS) @ product[:-1]


@case(VECTOR[:3], POSITIVE[:4])
def table_of_alignments(a, b):
    d = np.zeros((4, 5))
    d[1:, 0] = np.arange(1.0, 4.0)
    d[0, 1:] = np.arange(1.0, 5.0)
    for i in range(1, 4):
        for j in range(1, 5):
            match = d[i - 1, j - 1] + (a[i - 1] - b[j - 1]) ** 2
            d[i, j] = -np.log(np.exp(-match) + np.exp(-d[i - 1, j] - 1.0) + np.exp(-d[i, j - 1] - 1.0))
    return d[3, 4] * d[2, 2]


@case(VECTOR)
def rebound_in_the_middle(x):
    x[0] = x[1] * x[2]
    x = x * x[0]
    x[1] = x[0] * x[3]
    x = x[::-1].copy()
    x[:2] *= x[3]
    return np.sum(WEIGHTS * x * x)


@case(MATRIX)
def buffer_born_in_each_trip(m):
    s = 0.0
    for i in range(3):
        t = np.zeros(4)
        t[0] = s + m[i, 0]
        for j in range(1, 4):
            t[j] = t[j - 1] * m[i, j] + 0.5
        t[::2] *= t[1::2]
        s = s * t[0] + t[2]
    return s * t[3] * t[0]


@case(MATRIX)
def scratch_used_again_in_each_trip(m):
    t = np.empty(4)
    s = 0.0
    for i in range(3):
        t[:] = m[i] * m[i]
        t[1:] *= t[:-1]
        s += t @ m[i - 1] * t[3]
    return s * t[2]


@case(VECTOR, 0)
def loop_without_trips(x, n):
    y = x * x
    for i in range(n):
        y[i] = 0.0
        x[i] = y[i]
    y[1] = y[0] * x[2]
    while n > 0:
        y[:] *= 2.0
        n = n - 1
    return np.sum(WEIGHTS * y * x)


@case(POSITIVE)
def integer_buffer(x):
    power = np.zeros(5, dtype=int)
    for i in range(5):
        power[i] = 1 + i % 3
        power[i - 1] += x[i] > 1.2
    power[2:] *= power[:3]
    return np.sum(WEIGHTS * x**power)


@case(VECTOR)
def boolean_buffer(x):
    seen = np.zeros(5, dtype=bool)
    for i in range(5):
        seen[i] = x[i] * x[i - 1] < 0.0
    x[seen] *= x[~seen].sum()
    seen[0] = not seen[0]
    seen &= x > -1.0
    x[seen] = x[seen] ** 2
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, POSITIVE[:3])
def convolution_by_accumulation(x, w):
    y = np.zeros(7)
    for i in range(5):
        for k in range(3):
            y[i + k] += x[i] * w[k] * w[k]
    for i in range(7):
        y[i] *= y[6 - i]
    return np.sum(np.cos(np.arange(7.0)) * y)


@case(MATRIX, DEFINITE)
def states_of_a_recurrent_network(x, w):
    h = np.zeros((5, 3))
    for t in range(4):
        h[t + 1] = np.tanh(w @ h[t] + x[:, t] * h[t, 0] + x[:, t])
    return np.sum(h[1:] * x.T) + h[2, 1] * h[4, 0]


@case(MATRIX)
def filled_in_one_loop_and_read_in_another(m):
    low, high = np.zeros(4), np.zeros(4)
    for i in range(3):
        low += m[i] * m[i - 1]
        high[i] = low[i] * low[i + 1]
    low *= high
    s = 0.0
    for j in range(4):
        s = s + low[j] * high[j - 1] * (j + 1)
    return s


@case(MATRIX)
def sweeps_of_gauss_and_seidel(u):
    for _ in range(2):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] * u[i, j - 1] + u[i, j + 1])
        u[0] = u[1] * u[2]
    return np.sum(u * u * u)


@case(VECTOR[:2], POSITIVE[:2])
def positions_and_velocities(q, p):
    path = np.zeros((4, 2))
    for k in range(4):
        p -= 0.05 * np.sin(q) * q[::-1]
        q += 0.1 * p
        path[k] = q * p
    return np.sum(WEIGHTS[:4, None] * path * path) + q[0] * p[1]


@case(VECTOR)
def array_without_dimensions(x):
    s = np.zeros(())
    t = s
    for i in range(4):
        s += x[i] * x[i + 1]
        s[...] = s * s + 0.5
    s[()] *= x[0]
    s = s + 1.0
    t -= x[1]
    return s * t * t


@case(VECTOR, 3)
def created_by_either_branch(x, n):
    if n > 2:
        y = np.zeros(5)
        y[1:n] = x[: n - 1]
    else:
        y = x.copy()
    y[0] = y[1] * x[0]
    y[2:] *= y[:3] + x[2:]
    return np.sum(WEIGHTS * y * x)


@case(VECTOR)
def type_of_the_buffer_from_the_argument(x):
    n = x.shape[0]
    y = np.zeros((n, n), dtype=x.dtype)
    for i in range(n):
        y[i, : i + 1] = x[: i + 1] * x[i]
        y[:i, i] = y[i, :i] * y[i, i]
    return WEIGHTS @ y @ x


@case(VECTOR)
def buffer_that_is_none_at_first(x):
    out = None
    for k in range(3):
        out = np.multiply(x, k + 1.0, out=out)
        x = x + np.sin(out)
    return np.sum(x * out)


@case(VECTOR)
def velocity_that_is_none_at_first(x):
    velocity, w = None, x * 0.5
    for _ in range(3):
        slope = w * x
        if velocity is None:
            velocity = np.zeros_like(slope)
        velocity *= 0.9
        velocity += slope * velocity + slope
        w = w - 0.1 * velocity
    return np.sum(w * w)


@case(VECTOR)
def row_before_updated_in_place_once_there_is_one(x):
    m, before = np.outer(x, x), None
    for row in m:
        if before is not None:
            before += row * row
        before = row
    return np.sum(m * m)
