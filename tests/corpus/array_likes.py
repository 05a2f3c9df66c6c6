"""Lists and tuples where NumPy takes an array, arrays in lists where Python takes numbers, arrays without axes, draws."""

import math
import random

import numpy as np

from .case import case

VECTOR = np.array([0.5, 1.5, 0.7])
MATRIX = np.array([[1.2, 0.3, -0.7], [0.4, 1.9, 0.6]])
ALONE = np.array(0.8)


@case(VECTOR)
def array_times_list(x):
    return np.sum(x * [1, 2, 3])


@case(VECTOR)
def list_times_array(x):
    return np.sum([1, 2, 3] * x)


@case(VECTOR)
def every_operator_with_a_list(x):
    a = x + [1.0, 2.0, 3.0] - (0.5, 0.25, 2)
    b = [1.0, 2.0, 3.0] - a / [2, 3, 4]
    c = (1.0, 2.0, 3.0) / x + x ** [1.0, 2.0, 3.0] + [1.0, 2.0, 3.0] ** x
    return np.sum(a * b) + np.sum(c % [10.0, 20.0, 30.0]) + x @ [1.0, 2.0, 3.0] + [0.5, 0.25, 2.0] @ b


@case(VECTOR)
def list_of_differentiated_numbers_times_array(x):
    weights = [x[0] * k for k in range(3)]
    return np.sum(weights * x) + np.sum(x - [x[1], 2.0, x[0] ** 2])


@case(VECTOR)
def list_added_in_place(x):
    y = x * 1.0
    y *= [1, 2, 3]
    y += (x[0], x[1], 1.0)
    return np.sum(y * y)


@case(VECTOR)
def array_added_to_a_list_in_place(x):
    y = [x[0], x[1], 3.0]
    z = y
    y += x  # an array, and `z` stays what it was
    return np.sum(y * x) + z[0] * z[2]


def others(x):
    return [x[1], x[0] * x[2]]


@case(VECTOR)
def list_added_to_a_list_in_place(x):
    y = [x[0]]
    y += others(x)
    for k in range(2):
        y += [x[k] * k]
    return y[0] * y[2] + y[4] * y[1]


@case(VECTOR)
def array_added_to_a_list_where_a_test_says(x):
    y = [x[0], x[1], x[2]]
    if x[0] > 0:
        y += x
    return y[0] * y[1]


@case(VECTOR)
def numbers_of_numpy_added_to_a_list_in_place(x):
    y = [x[0], 1.0, 2.0]
    y += x[1]
    z = [x[0], x[1]]
    z += np.int64(2)
    return np.sum(y * y) * z[1]


@case(VECTOR)
def integer_of_numpy_added_to_a_list(x):
    y = [x[0], x[1]] + np.int64(2)
    return y[0] * y[1]


@case(VECTOR)
def nested_list_broadcasts(x):
    return np.sum((x * [[1.0], [2.0]]) ** 2)


@case(VECTOR)
def ufuncs_of_lists(x):
    a = np.maximum([x[0], 0.7, x[2]], 0.65) + np.maximum([0.6, 0.7, 0.8], x)
    b = np.arctan2(x, [1, 2, 3]) + np.power([1.0, 2.0, 3.0], x) + np.multiply([1, 2, 3], [x[0], x[1], x[2]])
    return np.sum(a * b) + np.dot([1.0, 2.0, 3.0], x) + np.sum(np.where([True, False, True], [x[0], 2.0, x[2]], x))


@case(VECTOR)
def reductions_of_lists(x):
    return np.sum([x, x * x]) * np.mean([x[0], 2.0 * x[1], 3.0]) + np.max([x, x * x]) + np.linalg.norm([x[0], x[1], 2.0])


@case(VECTOR)
def product_of_arrays(x):
    return np.sum(math.prod([x, x * x])) + np.sum(math.prod((x, x[0], 3.0, x[1:2]), start=x[2]))


@case(MATRIX)
def product_of_rows(m):
    return np.sum(math.prod(m)) + np.sum(math.prod([m, m[0]], start=m[:, :1]))


@case(VECTOR)
def product_of_arrays_with_zeros(x):
    return math.prod([x - x[0], x])[0] + math.prod([x - 0.5, x, x])[1]


@case(VECTOR)
def product_of_a_generator(x):
    return np.sum(math.prod(v * x for v in x))


@case(ALONE)
def product_of_arrays_without_axes(x):
    return math.prod([x, x, 2.0])


@case(VECTOR)
def sum_from_a_start(x):
    return np.sum(sum([x, x[0], 2.0], x * x) ** 2) + sum(list(x), x[0])


@case(MATRIX)
def sum_of_rows_from_a_column(m):
    return np.sum(sum(m, m[:, :1]) ** 2) + np.sum(sum(m, np.ones((2, 1))) * m)


@case(VECTOR)
def hypot_of_a_star(x):
    return math.hypot(*x) + math.hypot(*x, 1.0) * math.hypot(*[x[0], x[1]])


@case(VECTOR)
def largest_of_a_star(x):
    return max(*x, 0.1) ** 3 + min(*x) * max(*x)


@case(MATRIX)
def einsum_with_axis_numbers(m):
    a = np.einsum(m, [0, 1], m * m, [2, 1], [0, 2])
    b = np.einsum(m, [0, 1], m[0], [1]) + np.einsum(a, [0, 0, ...], [...])
    return np.sum(a * a) + np.sum(b * b) + np.sum(np.einsum(m, [..., 5], m, [..., 3]) ** 2)


@case(VECTOR)
def stores_into_an_array_without_axes(x):
    z = np.zeros(())
    z[()] = x[0] * 2.0
    z += x[1]
    z[...] = z * z
    for v in x:
        z += v * z
    return z * x[2]


@case(ALONE)
def argument_without_axes(x):
    z = np.zeros(())
    z[()] = x
    z[()] += x * x
    return z * x


@case(VECTOR)
def draw_times_sorted(x):
    rng = np.random.default_rng(3)
    np.random.seed(3)
    random.seed(3)
    return np.sum(np.sort(x) * np.random.randn(3)) + np.sum(np.sort(x) * rng.normal(size=3)) + random.random() * x[0]


@case(np.array([[0.2], [0.6]]))
def bounds_in_a_list_of_columns(x):
    data = np.array([0.3, 0.4, 0.9])
    kept = np.where(data > 0.35, [[x[0, 0]], [x[1, 0]]], 2.0)
    return np.sum(np.clip(data, 0.0, [[x[0, 0]], [x[1, 0]]]) * data) + np.sum(kept)


@case(np.array([0.3, 0.7, 1.1]))
def weights_of_a_histogram_in_a_list(x):
    counts = np.histogram(np.array([0.1, 0.5, 0.9]), bins=2, weights=[x[0], x[1] * x[2], 2.0])[0]
    return np.sum(counts * counts) + np.average(np.array([1.0, 3.0]), weights=(x[0], x[1]))
