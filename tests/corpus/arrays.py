"""Functions of NumPy on arrays: broadcasting, reductions, joining, linear algebra."""

import numpy as np

from .case import case

SCALAR = 0.7
ZERO_D = np.array(0.7)
VECTOR = np.array([0.3, -0.7, 1.1])
PAIR = np.array([0.4, -0.9])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])
OTHER = np.array([[0.9, 0.1, -0.4], [0.3, 1.2, 0.7]])
COLUMN = np.array([[0.4], [-0.9]])
ROW = np.array([[0.3, -0.7, 1.1]])
CUBE = np.linspace(-1.0, 1.2, 12).reshape(2, 2, 3)
SQUARE = np.array([[2.0, 0.3], [-0.4, 1.5]])


@case(SCALAR, VECTOR)
def number_with_a_vector(s, v):
    return s * v + v / s - s


@case(SCALAR, MATRIX)
def number_with_a_matrix(s, m):
    return (m - s) * s / (2.0 + m * m)


@case(VECTOR, MATRIX)
def vector_with_a_matrix(v, m):
    return v * m + m / (2.0 + v * v) - v


@case(COLUMN, ROW)
def column_with_a_row(c, r):
    return c * r + c - r * r


@case(COLUMN, VECTOR, MATRIX)
def column_with_a_vector_and_a_matrix(c, v, m):
    return np.sin(c + v) * m - c * (v * m)


@case(CUBE, MATRIX, VECTOR, COLUMN)
def cube_with_everything(t, m, v, c):
    return t * m + t * v - c * t


@case(ZERO_D, VECTOR, SCALAR)
def zero_dimensional_array(z, v, s):
    return z * v + z * s * np.sin(z)


@case(ZERO_D)
def zero_dimensional_result(z):
    return np.exp(z) * z


@case(VECTOR, SCALAR)
def array_result(v, s):
    return np.sin(v) * s


@case(MATRIX, VECTOR)
def products_by_operator(m, v):
    return m @ v, v @ m.T, m.T @ m, v @ v


@case(CUBE, VECTOR)
def batched_product(t, v):
    return t @ v + t @ t[0].T @ np.array([1.0, 2.0])


@case(MATRIX, OTHER, VECTOR)
def products_by_name(m, n, v):
    return np.dot(m, v) + np.matmul(n, v), np.outer(v, v), np.vdot(m, n), np.inner(m, n)


@case(MATRIX, OTHER, second=False)  # einsum's rule calls with `*operands`: once differentiable (docs/limits.md)
def products_by_subscripts(m, n):
    return np.einsum("ij,kj->ik", m, n), np.tensordot(m, n), np.einsum("ij,ij->", m, n)


@case(MATRIX)
def reductions(m):
    return np.sum(m, axis=0) * np.mean(m, axis=0) + np.prod(m, axis=0) + np.max(m, axis=0) * np.min(m)


@case(MATRIX)
def reductions_with_keepdims(m):
    return m * np.sum(m, axis=1, keepdims=True) + np.mean(m, keepdims=True) * np.max(m, axis=0, keepdims=True)


@case(CUBE)
def reductions_over_several_axes(t):
    return np.sum(t * t, axis=(0, 2)) * np.mean(t, axis=(0, 2)) + np.sum(t, axis=-1)[0]


@case(MATRIX)
def spread(m):
    return np.var(m) + np.std(m, axis=0) * np.var(m, axis=0, ddof=1)


@case(VECTOR)
def running_sums(v):
    return np.cumsum(v) * v + np.diff(v)[0]


@case(VECTOR, PAIR, SCALAR)
def joined(v, p, s):
    a = np.concatenate([v, p, np.array([s])])
    b = np.stack((v, v * s))
    return np.sum(a * a) + np.sum(np.sin(b)) + np.sum(np.vstack([b, v])[1:] ** 2) + np.hstack((p, v))[1]


@case(MATRIX)
def shapes(m):
    a = np.reshape(m, (3, 2)) @ np.expand_dims(m[0], 1)[:2]
    b = np.transpose(m) * np.swapaxes(m, 0, 1)
    return np.sum(a) + np.sum(b * b) + np.squeeze(m[:1])[0] * np.ravel(m)[3]


@case(MATRIX, VECTOR)
def repeated(m, v):
    return np.broadcast_to(v, (2, 3)) * m + np.tile(v, (2, 1)) * np.repeat(v, 2).reshape(2, 3)


@case(MATRIX, SCALAR)
def selected_by_where(m, s):
    return np.where(m > 0.3, m * m, s * m) + np.where(m < 0.0, s, 0.0)


@case(MATRIX, OTHER)
def elementwise_extremes(m, n):
    return np.maximum(m, n) * np.minimum(m, 0.3) + np.clip(m, -0.5, 0.7)


@case(MATRIX)
def exponentials_and_logarithms(m):
    return np.exp(-m * m) + np.log(2.0 + m * m) + np.sqrt(1.0 + m * m) + np.log1p(m * m) * np.expm1(m)


@case(MATRIX)
def trigonometry(m):
    return np.sin(m) * np.cos(m) + np.tan(0.5 * m) + np.arctan(m) + np.arcsin(0.5 * m) + np.arccos(0.3 * m)


@case(MATRIX)
def hyperbolic_functions(m):
    return np.tanh(m) * np.sinh(m) + np.cosh(m) + np.arcsinh(m) + np.arctanh(0.5 * m)


@case(MATRIX, OTHER)
def two_argument_functions(m, n):
    return np.hypot(m, n) + np.arctan2(m, n) + np.logaddexp(m, n) + np.power(2.0 + m, n)


@case(MATRIX)
def absolute_values_and_signs(m):
    return np.abs(m) * np.sign(m) + np.square(m) * np.negative(m) + np.reciprocal(3.0 + m)


@case(MATRIX, 3)
def powers_of_arrays(m, n):
    return m**2 + m**n + (3.0 + m) ** 1.5 + 2.0**m - m**0 + np.float_power(2.0 + m, 0.5)


@case(SQUARE, PAIR)
def linear_algebra(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x * x) + np.sum(np.linalg.inv(a) @ b) * np.linalg.det(a) + np.linalg.norm(b)


@case(MATRIX)
def diagonals(m):
    a = m @ m.T
    return np.trace(a) + np.sum(np.diag(a) ** 2) + np.sum(np.triu(a) * np.eye(2))


@case(VECTOR)
def flipped_and_rolled(v):
    return np.flip(v) * v + np.roll(v, 1) * v * v


@case(VECTOR)
def sorted_values(v):
    return np.sort(v) * np.array([1.0, 2.0, 3.0])


@case(VECTOR)
def new_array_from_elements(v):
    a = np.array([v[0] * v[1], v[2], 1.0])
    b = np.array([[v[0], 0.0], [v[1], v[2] * v[2]]])
    return a * a, b @ b


@case(MATRIX)
def constant_arrays(m):
    return m * np.ones((2, 3)) + np.arange(3) * m + np.linspace(0.0, 1.0, 3) - np.eye(3)[:2] * m


@case(MATRIX, OTHER)
def comparisons_as_factors(m, n):
    return m * (m > n) + n * (m <= n) * (n > 0.0)


@case(MATRIX)
def decided_by_all_and_any(m):
    if np.all(m < 2.0) and np.any(m < 0.0):
        return m * m
    return m


@case(VECTOR, SCALAR)
def at_least_two_axes_of_several(v, s):
    a, b = np.atleast_2d(v, s)
    c, d, e = np.atleast_1d(s, v * s, a)
    return a * b + c * d + sum(np.sum(x * x) for x in np.atleast_3d(e, s))


@case(VECTOR, SCALAR)
def grids_beside_values_in_an_index_trick(v, s):
    return np.r_[v, s, 1:4] * np.r_[0:1:7j], np.c_[v * s, 1:4], np.r_[0:1:0.25, s]


@case(VECTOR, PAIR)
def joins_with_a_dtype(v, w):
    return np.hstack([v, w], dtype=float) * np.concatenate((v * v, w), casting="same_kind"), np.vstack([w, w], dtype=None)
