"""Reading elements, rows, slices, masks and index arrays."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1, 0.6, -0.2])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])
CUBE = np.array([[[0.5, -1.2], [0.8, 1.4]], [[0.2, -0.6], [0.9, -0.1]]])


@case(VECTOR)
def elements(x):
    return x[0] * x[1] + x[0] * x[4]


@case(VECTOR)
def negative_indices(x):
    return x[-1] * x[-2] + x[-5]


@case(VECTOR, 2)
def index_in_a_variable(x, i):
    return x[i] * x[i + 1] * x[i - 2]


@case(VECTOR)
def slices(x):
    return np.sum(x[1:3] * x[2:4]) + np.sum(x[:2]) * np.sum(x[3:])


@case(VECTOR)
def slices_with_negative_bounds(x):
    return np.sum(x[1:-1] * x[2:] * x[:-2])


@case(VECTOR)
def slices_with_steps(x):
    return np.sum(x[::2] * x[::-2]) + np.sum(x[3:0:-1] ** 2)


@case(VECTOR, 2)
def slices_with_computed_bounds(x, n):
    left, right = x[:n], x[n : 2 * n]
    return np.sum(left * right) * np.sum(x[n:])


@case(VECTOR)
def slices_that_are_empty(x):
    return np.sum(x[3:3]) + np.sum(x[10:]) * x[0] + x[1]


@case(MATRIX)
def elements_of_a_matrix(m):
    return m[0, 1] * m[1, -1] + m[0, 1]


@case(MATRIX)
def chained_subscripts(m):
    return m[0][1] * m[1][-1] + m[:, 1][0] * m[-1][:2][1]


@case(MATRIX)
def rows_and_columns(m):
    return np.sum(m[0] * m[1]) + np.sum(m[:, 0] * m[:, -1]) + np.sum(m[1, :])


@case(MATRIX)
def blocks(m):
    return np.sum(m[:, 1:] * m[:, :-1]) + np.sum(m[1:, ::2])


@case(MATRIX, CUBE)
def ellipsis(m, c):
    return np.sum(m[..., 0]) * c[..., 1][0, 0] + np.sum(c[0, ...] * c[1, ...])


@case(MATRIX, np.array([0.3, -0.7]))
def new_axes(m, x):
    return np.sum(m * x[:, None]) + np.sum(x[None, :] * x[:, np.newaxis])


@case(CUBE)
def three_dimensions(c):
    return c[0, 1, 0] * c[1, 0, 1] + np.sum(c[:, 0] * c[1]) + np.sum(c[0, :, 1])


@case(VECTOR, np.array([0, 3, 3, 1]))
def index_array_with_repeats(x, index):
    return np.sum(x[index] ** 2) + np.sum(x[index] * x[index[::-1]])


@case(VECTOR)
def index_list(x):
    return np.sum(x[[0, 0, 2]] ** 3) * x[1]


@case(MATRIX, np.array([1, 0, 1]), np.array([0, 2, 0]))
def two_index_arrays(m, rows, columns):
    return np.sum(m[rows, columns] ** 2)


@case(MATRIX, np.array([1, 0, 1]))
def index_array_of_rows(m, rows):
    return np.sum(np.sin(m[rows]) * m[rows][:, ::-1]) + np.sum(m[:, rows])


@case(VECTOR)
def boolean_mask(x):
    return np.sum(x[x > 0.0] ** 2)


@case(VECTOR, np.array([True, False, True, True, False]))
def boolean_mask_as_an_argument(x, mask):
    kept = x[mask]
    return np.prod(kept) + kept[0] * np.sum(x[~mask])


@case(MATRIX)
def boolean_mask_of_a_matrix(m):
    large = m > 0.3
    return np.sum(m[large] * m[large]) + np.sum(m[np.array([False, True])] ** 2)


@case(VECTOR)
def slice_of_a_result(x):
    y = np.sin(x)[1:4]
    z = (x * y[0])[-1]
    return np.sum(y * y) * z


@case(VECTOR)
def same_element_many_times(x):
    return x[0] * x[0] * x[0] + x[0]


@case(VECTOR)
def window_in_a_loop(x):
    total = 0.0
    for i in range(len(x) - 2):
        window = x[i : i + 3]
        total = total + np.sum(window * window) * window[1]
    return total


@case(VECTOR)
def index_that_depends_on_a_value(x):
    i = np.argmax(x)
    j = 0
    if x[1] < x[0]:
        j = 1
    return x[i] * x[j]


@case(VECTOR, 3)
def index_arithmetic_in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        total = total * x[i] + x[(2 * i + 1) % 5] * x[-i - 1]
    return total


@case(0.3, 0.7)
def subscripts_of_tuples_and_lists(x, y):
    pair = (x * y, y)
    rows = [[x, y], [x * x, y * y], pair]
    return pair[0] * pair[-1] + rows[1][0] * rows[0][1] + rows[2][1]


@case(0.3, 0.7, 1)
def subscript_of_a_list_by_a_variable(x, y, k):
    parts = [x, x * y, y * y, y]
    total = parts[k] * parts[k + 1]
    for i in range(len(parts)):
        total = total + parts[i] * parts[-1 - i]
    return total


@case(0.3, 0.7)
def slices_of_tuples_and_lists(x, y):
    parts = [x, x * y, y * y, y]
    first, second = parts[1:3]
    last = parts[::-1][0]
    return first * second + last * parts[:2][1]


@case(VECTOR)
def positions_of_a_mask_beside_a_sum_of_all(x):
    return np.where(x > -1.0)[0] * 1.0 + x.sum()


@case(VECTOR)
def positions_in_a_part_of_known_length(x):
    k = np.flatnonzero(x[:3] > 0.6)
    (m,) = np.nonzero(x[:2] * 1.0)
    return np.sum(x[k] * x[:2]) + len(k) * x[3] + np.sum(x[m] * x[3:])


@case(VECTOR)
def part_of_known_length_under_a_mask(x):
    y = x[:3]
    return np.sum(y[y > 0.6] * x[:2]) + np.sum(y[y < 0.6] * x[3:])


@case(CUBE)
def columns_of_stacks_of_matrices(x):
    return np.c_[x, x * x] * np.arange(16.0).reshape(2, 2, 4)
