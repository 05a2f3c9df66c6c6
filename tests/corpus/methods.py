"""Methods and attributes of arrays, and built-in functions on them."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(MATRIX)
def sums(m):
    return m.sum() * m.sum(axis=0) + m.sum(axis=1)[0] * m.sum(0)


@case(MATRIX)
def sum_with_keepdims(m):
    return m / (5.0 + m.sum(axis=1, keepdims=True)) + m.sum(axis=-1, keepdims=True)


@case(MATRIX)
def means(m):
    centred = m - m.mean(axis=0)
    return (centred * centred).mean() + m.mean()


@case(MATRIX)
def transposes(m):
    return m.T @ m + m.transpose() @ np.sin(m)


@case(MATRIX, 0.7)
def shape_attributes(m, x):
    rows, columns = m.shape
    return m.sum() / m.shape[0] * x * rows + columns * x + m.ndim * m.size


@case(MATRIX)
def reshapes(m):
    return m.reshape(3, 2) * m.reshape((3, 2)) + m.reshape(-1)[0] * m.reshape(3, -1)


@case(MATRIX, VECTOR)
def products(m, x):
    return m @ x + m.dot(x) * x.dot(x) + x @ x


@case(MATRIX)
def ravels(m):
    return m.ravel() * np.sin(m.flatten())


@case(VECTOR)
def copies(x):
    y = x.copy()
    y += x
    return y * x


@case(VECTOR, 0.7)
def length(x, y):
    return len(x) * y + x.sum() / len(x)


@case(MATRIX)
def extremes(m):
    return m.max() * m.min() + m.max(axis=0) * m.min(axis=0)


@case(VECTOR)
def prods_and_cumsums(x):
    return x.prod() * x.cumsum()


@case(MATRIX)
def chained_methods(m):
    return (m * 2.0).T.reshape(2, 3).sum(axis=1).max() * m.T.sum()


@case(MATRIX)
def method_on_a_row(m):
    total = 0.0
    for row in m:
        total = total + row.sum() * row.max() + row[1:].mean()
    return total


@case(VECTOR)
def index_of_the_maximum(x):
    return x[x.argmax()] * x[x.argmin()] + np.sum(x)


@case(VECTOR)
def builtin_functions(x):
    return sum(x) * abs(x[1]) + max(x) * min(x[0], x[2]) + pow(x[0], 2) + float(x[2])


@case(1.37, 0.7)
def rounded_and_truncated_numbers(x, y):
    return x * int(x) + round(x, 1) * y + round(x) * y + int(3.7 * y)


@case(VECTOR)
def absolute_array(x):
    return abs(x) * x


@case(VECTOR, 0.7)
def methods_of_numbers(x, y):
    return x[0].sum() * y + x.sum().item() * y


@case(MATRIX)
def like_functions_use_only_the_shape(m):
    return np.zeros_like(m) + m * np.ones_like(m) + np.full(m.shape, 2.0) * m


@case(VECTOR)
def conversions(x):
    y = x.astype(float)
    z = np.asarray(x)
    return y * np.array(z) + np.array([x[0], 1.0, x[1] * x[2]])


@case(VECTOR, 2)
def dtype_and_size(x, n):
    a = np.zeros(x.size, dtype=x.dtype)
    a += x * n
    return a * a
