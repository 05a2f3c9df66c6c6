"""Stores through arrays of integers, masks along an axis, and mixtures; repeated indices; `ufunc.at`, `take` and `put`."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3, -0.9])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7, -1.1])
TABLE = np.cos(np.arange(12.0)).reshape(3, 4)
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)
ROWS = np.array([2, 0])
REPEATED = np.array([0, 2, 0, 5, 2, 0])
EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 1], [1, 4]])


@case(VECTOR)
def store_through_unique_indices(x):
    x[[4, 0, 2]] = x[[1, 4, 3]] * x[:3]
    x[np.array([5, 1])] = x[5] * x[ROWS]
    x[[-1]] *= x[0]
    return np.sum(WEIGHTS * x * x)


@case(FIELD)
def store_of_rows_with_a_repeated_index(u):
    u[[0, 0, 2]] = u[[3, 4, 5]] * 2.0
    return np.sum(BOARD * u)


@case(VECTOR, OTHER)
def last_writer_of_repeated_indices(x, y):
    x[REPEATED] = y * x
    y[REPEATED] = x[1]
    x[REPEATED[::-1]] = y * x
    return np.sum(WEIGHTS * x * y)


@case(VECTOR, OTHER)
def augmented_store_with_repeated_indices(x, y):
    x[REPEATED] += y * x
    x[REPEATED] *= y + x[REPEATED]
    y[REPEATED] -= x[1] * y[0]
    x[[1, 1, 1]] **= 2
    return np.sum(WEIGHTS * x * y)


@case(VECTOR, OTHER)
def ufunc_at_with_repeated_indices(x, y):
    np.add.at(x, REPEATED, y * x)
    np.subtract.at(y, REPEATED[:4], x[2:] * y[0])
    np.add.at(x, [3, 3, 3], x[0])
    np.add.at(y, 1, x[3])
    return np.sum(WEIGHTS * x * y)


@case(MATRIX, VECTOR)
def ufunc_at_along_rows_and_pairs(m, v):
    np.add.at(m, [0, 2, 0], m[[1, 1, 2]] * v[:4])
    np.add.at(m, ([0, 1, 0], [3, 2, 3]), v[:3])
    np.subtract.at(m, (slice(None), [1, 1]), m[:, :2] * m[:, 2:])
    np.multiply.at(m, ([0, 2], [1, 3]), v[4:])
    return np.sum(TABLE * m * m)


@case(VECTOR)
def forces_between_neighbours(x):
    force = np.zeros(6)
    first, second = EDGES[:, 0], EDGES[:, 1]
    stretch = (x[second] - x[first]) ** 3
    np.add.at(force, first, stretch)
    np.subtract.at(force, second, stretch * x[first])
    x[first] += force[second]
    return np.sum(WEIGHTS * force * x)


@case(VECTOR)
def indices_computed_at_run_time(x):
    order = np.argsort(x)
    x[order] = x * x[order[0]]
    x[order[:3]] -= x[order[3:]] ** 2
    x[np.argmax(x)] *= x[np.argmin(x)]
    x[np.nonzero(x < 0.0)] *= x[0]
    return np.sum(WEIGHTS * x * x)


@case(VECTOR)
def indices_changed_after_their_use(x):
    idx = np.array([1, 3, 4])
    for k in range(3):
        x[idx] *= x[idx - 1] + 0.5
        idx[k] = (idx[k] + 2) % 6
        x[idx[k]] = x[k] * x[idx[k - 1]]
    return np.sum(WEIGHTS * x * x)


@case(VECTOR)
def rank_and_permutation_filled_by_stores(x):
    order, rank = np.argsort(x), np.empty(6, dtype=int)
    rank[order] = np.arange(6)
    y = np.empty(6)
    y[rank] = x * WEIGHTS
    y[rank[0]] *= y[rank[1]]
    return np.sum(y[1:] * y[:-1]) + y[0] ** 2


@case(MATRIX)
def rows_permuted_through_indices(m):
    m[[0, 1]] = m[[1, 0]]
    m[:, [0, 3]] = m[:, [3, 0]] * m[2, 1]
    m[[2, 0], :2] *= m[:2, 2:]
    return np.sum(TABLE * m * m)


@case(MATRIX)
def integers_mixed_with_slices(m):
    m[ROWS, 1:3] = m[[1, 2], :2] * m[0, 0]
    m[1:, [3, 0]] *= m[:2, [0, 1]]
    m[1, [0, 2, 3]] += m[ROWS[0], 1:] * m[1, 1]
    m[ROWS[:, None], [0, 2]] -= m[ROWS][:, :2]
    return np.sum(TABLE * m * m)


@case(MATRIX)
def pairs_of_indices(m):
    i, j = np.array([0, 1, 2, 0]), np.array([3, 0, 2, 1])
    m[i, j] = m[0] * m[i, j]
    m[i, j - 1] *= m[j % 3, i]
    m[[0, 0], [2, 2]] = m[1, :2]
    m[range(3), range(3)] += m[:, 3] ** 2
    return np.sum(TABLE * m * m)


@case(FIELD)
def open_mesh(u):
    mesh = np.ix_([0, 3, 5], [1, 2])
    u[mesh] *= u[:3, 4:]
    u[np.ix_([1, 0], [5, 1])] = u[np.ix_([0, 2], [1, 3])] * u[0, 0]
    u[np.ix_(u[:, 0] > 0.8, [2, 4])] -= u[5, [4, 2]] ** 2
    return np.sum(BOARD * u)


@case(MATRIX, VECTOR)
def mask_along_one_axis(m, v):
    rows, columns = m[:, 1] > 0.0, v[:4] > 0.0
    m[rows] *= m[0] * v[0]
    m[:, columns] = m[:, columns] ** 2 + v[4]
    m[rows, 1:] -= v[:3]
    m[1, columns] *= v[v > 0.5][:3]
    m[m[:, 0] < 0.5, 3] = m[0, 1] * v[5]
    return np.sum(TABLE * m * m)


@case(MATRIX)
def upper_triangle_stored(m):
    a = m @ m.T
    i, j = np.triu_indices(3, 1)
    a[j, i] = a[i, j] * a[0, 0]
    a[np.tril_indices(3)] *= m.ravel()[:6]
    a[np.diag_indices(3)] **= 2
    return np.sum(TABLE[:, :3] * a * a)


@case(VECTOR)
def histogram_with_weights(x):
    bins = np.floor((x + 2.0) * 1.5).astype(int)
    heights, counts = np.zeros(6), np.zeros(6, dtype=int)
    np.add.at(heights, bins, x * x)
    np.add.at(counts, bins, 1)
    for k in range(6):
        heights[bins[k] - 1] += heights[bins[k]] * x[k]
    return np.sum(WEIGHTS * heights**2 / (1.0 + counts))


@case(VECTOR, OTHER)
def taken_and_put(x, y):
    t = x.take([0, 0, 3])
    t *= y[:3]
    np.put(x, [1, 4], t[1:] * x[:2])
    x.put([2, 2, -1], y[3:] * x[0])
    np.put(y, [5, 0, 2], x[1])
    y[np.take(REPEATED, [1, 3])] *= t[0]
    return np.sum(WEIGHTS * x * y)


@case(MATRIX)
def along_an_axis_taken_and_put(m):
    order = np.argsort(m, axis=1)
    s = np.take_along_axis(m, order, axis=1)
    s[:, 1:] *= s[:, :-1]
    np.put_along_axis(m, order[:, :2], s[:, 2:] * m[0, 0], axis=1)
    return np.sum(TABLE * m * s)


@case(VECTOR, OTHER)
def sparse_product_and_its_buffer(values, x):
    y = np.zeros(6)
    for row, column in EDGES:
        y[row] += values[column] * x[row]
        values[column] *= y[row]
    y[EDGES[:2]] *= x[EDGES[3:]]
    return np.sum(WEIGHTS * y * values)


@case(VECTOR, VECTOR)
def positions_added_to_themselves(x, y):
    total = 0.0
    for i in range(2):
        total = total + x[i + i] * np.sin(y[i]) + x[2 * i + 1 - i] * y[3 * i - i]
        total = total + np.sum(x[i - 1 + i :] * y[3 * i - 1 - i :]) ** 2
    return total


@case(MATRIX, 0.7)
def grids_of_coordinates(m, s):
    n = m.shape[0]
    y, x = np.mgrid[:n, : m.shape[1]] - (n - 1) / 2
    rows, columns = np.ogrid[0:n, 0:4]
    turned = x * np.cos(s) + y * np.sin(s) + m * (rows - columns)
    return np.sum(turned**2 * np.mgrid[0:1:3j, 1:5][0])
