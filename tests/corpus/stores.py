"""Stores into parts of arrays, `op=` on them, several targets at once, and the places where stores may stand."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
POSITIVE = np.array([0.8, 1.3, 0.6, 1.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])
TABLE = np.cos(np.arange(12.0)).reshape(3, 4)
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


def energies(x, v):
    return 0.5 * v * v, 1.0 - np.cos(x * v)


@case(VECTOR)
def store_into_a_slot(x):
    x[1] = x[0] * x[1]
    x[0] = x[1] * x[1] * x[2]
    x[2] = 0.5
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, 1)
def store_at_negative_and_computed_indices(x, i):
    x[-1] = x[i] * x[-1]
    x[-i - 1] *= x[2 * i] + x[i - 3]
    x[i + 2] = np.sin(x[-1] * x[3])
    return np.sum(WEIGHTS * x * x)


@case(MATRIX)
def store_into_an_element(m):
    m[1, 2] = m[0, 1] * m[1, 2]
    m[0][1] *= m[1, 2] + m[2][3]
    m[2][3] = m[0, 1] ** 2
    m[-1, -2] -= m[2, 3] * m[0][-3]
    return np.sum(TABLE * m * m)


@case(VECTOR)
def store_into_slices_with_steps(x):
    x[::2] = x[::2] * x[::-2] + x[1]
    x[3:0:-2] *= x[:2] - x[4]
    x[-2:] = x[1::2] * x[-1]
    return np.sum(WEIGHTS * x * x)


@case(VECTOR)
def store_in_reverse_order(x):
    x[::-1] = x * x[2]
    x[::-1] = x
    x[4:1:-1] += x[:3] * x[2:]
    return np.sum(WEIGHTS * x * x)


@case(MATRIX)
def store_into_rows_and_columns(m):
    m[0] = m[1] * m[2]
    m[:, 1] = m[:, 0] * m[:, 1]
    m[1:, ::2] *= m[:-1, 1::2]
    m[-1, 1:] = m[0, :-1] * m[1, 0]
    return np.sum(TABLE * m * m)


@case(MATRIX, VECTOR)
def store_with_ellipsis_and_newaxis(m, x):
    x[...] = x * x[::-1]
    m[..., 0] *= x[1:4]
    m[:, None, 1] = m[:, None, 2] * m[:, None, 1]
    m[None, 2] = m[None, 0] * x[:4]
    x[..., None] += x[:, None] * x[2]
    return np.sum(TABLE * m * m) + np.sum(WEIGHTS * x)


@case(FIELD)
def store_through_a_mask_of_itself(u):
    u[u > 0.7] = u[u > 0.7] ** 2
    u[u > 0.7] = 1.0
    return np.sum(BOARD * u * u)


@case(VECTOR, POSITIVE)
def store_through_a_mask_from_before(x, y):
    m = x > 0.0
    x[m] = -x[m] * y[m]
    x[~m] *= x[~m] + y[~m]
    y[m] -= x[m] * x[m]
    return np.sum(WEIGHTS * x * y)


@case(VECTOR, 0.8)
def augmented_stores_through_masks(x, s):
    x[x < 0.0] *= -0.5 * s
    x[x > 0.6] -= np.sum(x[x < 0.6]) * s
    x[(x < 0.5) & (x > -2.0)] **= 2
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, POSITIVE)
def chained_stores(a, b):
    a[0] = b[1] = a[0] * b[1] + a[2]
    c = a[3] = b[0] * a[3]
    a[1:3] = a[2:4] = a[1:3] * b[3:]
    a[1:] = b[1:] = a[:-1]
    return np.sum(WEIGHTS * a * b) * c


@case(VECTOR)
def chained_store_whose_index_is_bound_first(x):
    i = 0
    i = x[i] = 2
    x[i + 1] = x[0] * x[i] * x[3]
    return np.sum(WEIGHTS * x * x) + i


@case(VECTOR)
def tuple_target_whose_index_is_bound_before_and_after(x):
    i = 0
    x[i], i = x[1] * x[0], 3
    i, x[i] = 4, x[i] * x[0]
    return np.sum(WEIGHTS * x * x) * x[i]


@case(0.7, 1.3)
def results_of_a_call_stored_into_two_arrays(x, v):
    kinetic, potential = np.zeros(4), np.zeros(4)
    kinetic[0], potential[0] = energies(x, v)
    for i in range(3):
        kinetic[i + 1], potential[i + 1] = energies(potential[i], kinetic[i] + v)
    return np.sum(WEIGHTS[:4] * kinetic * potential) + kinetic[1]


@case(VECTOR)
def elements_swapped(a):
    a[0], a[1] = a[1] * a[2], a[0]
    for i in range(3):
        a[i], a[i + 1] = a[i + 1], a[i]
    (a[2], a[3]), s = (a[3] * a[4], a[2]), a[0]
    return np.sum(WEIGHTS * a * a) * s


@case(FIELD)
def rows_swapped_through_views(u):
    u[0], u[1] = u[1] * 2, u[0]
    u[2], u[3] = u[3], u[2]
    return np.sum(BOARD * u * u)


@case(MATRIX)
def columns_swapped_wrongly_and_rightly(m):
    m[:, 0], m[:, 1] = m[:, 1], m[:, 0]
    m[:, 2], m[:, 3] = m[:, 3].copy(), m[:, 2].copy()
    m[0], m[1] = m[1] * m[0], m[0] * m[2]
    return np.sum(TABLE * m * m)


@case(VECTOR)
def whole_array_stored_again_and_again(x):
    x[:] = x * x[::-1]
    x[:] = np.sin(x) + x * x
    x[::] = x[1] * x
    return np.sum(WEIGHTS * x * x)


@case(FIELD)
def overlapping_sections(u):
    u[1:] = u[:-1] * u[1:]
    u[:-1] *= u[1:]
    return np.sum(BOARD * u)


@case(VECTOR)
def overlapping_sections_shifted(x):
    x[1:] = x[:-1]
    x[1:4] += x[:3] * x[2:]
    x[:-1] = x[1:] * x[0]
    x[:3] -= x[2:]
    return np.sum(WEIGHTS * x * x)


@case(POSITIVE, 1.4)
def every_operator_on_slots(x, y):
    x[0] += x[1] * y
    x[1] -= x[0] * x[1]
    x[2] *= x[2] * x[0]
    x[3] /= x[3] + x[2] * y
    x[4] **= x[0]
    x[0] **= 3
    x[0] %= 0.31 * y
    x[2] //= 0.2 * y
    return np.sum(WEIGHTS * x * x)


@case(FIELD)
def every_operator_on_sections(u):
    u[0] += u[1] * u[0]
    u[:, 1] -= u[:, 0] * u[:, 2]
    u[2:4] *= u[3:5]
    u[::2, 3] /= u[1::2, 3] + u[::2, 3] ** 2
    u[5, 2:] **= u[3, :4]
    u[4] **= 2
    u[1, 2:] %= 0.4 * u[2, 2:]
    u[3, :3] //= 0.15 * u[4, :3]
    return np.sum(BOARD * u * u)


@case(POSITIVE, VECTOR)
def every_operator_on_whole_arrays(x, y):
    z = x.copy()
    x += y * x
    x *= x
    z -= x * y
    y /= x + 2.0
    x **= 1.5
    z %= 0.71 * x + 0.2
    y //= 0.13
    return np.sum(WEIGHTS * x * z + y * z * z)


@case(MATRIX[:, :3], 0.6 * FIELD[:3, :3])
def matrix_product_in_place(a, b):
    a @= b
    b @= a * b
    a[:2] @= b + np.eye(3)
    return np.sum(TABLE[:, :3] * a * (b + 2.0))


@case(VECTOR, 0.6)
def stores_in_branches(x, s):
    for k in range(4):
        if x[k] * x[k + 1] < s - 1.0:
            x[k] = x[k + 1] * s
            x[2:4] *= x[k]
        else:
            x[1] = x[0] * x[k]
        if x[k] > 0.6:
            x[k + 1 :] *= 0.5 * s
        elif x[k + 1] < 0.0:
            s = s * x[3]
            x[4] *= x[3] * s
    return np.sum(WEIGHTS * x * x) * s


@case(VECTOR, 5)
def stores_with_break_and_continue(x, n):
    for i in range(n):
        if x[i] < -1.0:
            x[i - 1] *= x[i]
            continue
        x[i] = x[i] * x[i - 1]
        if x[i] * x[0] < -0.4 and i > 1:
            x[0] = x[i] * x[1]
            break
        x[i - 2] += x[i] ** 2
    return np.sum(WEIGHTS * x * x)


@case(POSITIVE)
def stores_in_a_while_loop(x):
    i = 0
    while x[i] < 4.0:
        x[i] = x[i] * x[i + 1] + x[4]
        i = i + 1
        if i == 4:
            x[1:i] *= x[: i - 1]
            i = 0
    return np.sum(WEIGHTS * x * x) * (i + 1)


@case(MATRIX)
def stores_under_a_condition_in_nested_loops(m):
    for i in range(3):
        for j in range(1, 4):
            if m[i, j] * m[i, j - 1] < 0.0:
                m[i, j] *= m[i, j - 1]
            elif j < 3:
                m[i - 1, j] = m[i, j + 1] * m[i, j]
                j = j - 1
            m[i, j] += 0.1 * m[i, j] * i
    return np.sum(TABLE * m * m)


@case(MATRIX, VECTOR, 0.8)
def broadcast_values_stored(m, x, s):
    m[:2] = x[:4] * m[2]
    x[1:3] = s * x[0]
    m[:, 1:3] *= x[2]
    m[:2, 2:] = x[3:]
    m[1:, :2] += (x[:2] * s)[:, None]
    m[0, 1:] = s
    m[0, ::3] *= m[0, 1]
    return np.sum(TABLE * m * m) + np.sum(WEIGHTS * x * x)


@case(VECTOR)
def constants_rounded_by_a_float32_array(x):
    c = np.zeros(5, dtype=np.float32)
    c[:] = 0.1
    c[1:3] *= 1.7
    c[4] = 1.0 / 3.0
    return np.sum(c * x * x)


@case(VECTOR)
def active_value_dropped_by_a_float32_array(x):
    c = np.ones(5, dtype=np.float32)
    c[1:3] = x[:2] * x[2]
    x[0] = x[1] * x[0]
    c[1:3] = 0.3
    return np.sum(c * WEIGHTS * x * x)


@case(MATRIX)
def maximum_rounded_by_the_array_that_stores_it(m):
    wide = m.astype(np.longdouble) / 3.0
    m[0, 0] = np.amax(wide)
    return np.sum(TABLE * m * m)


@case(VECTOR)
def annotated_store(x):
    x[1]: float = x[0] * x[1]
    y: np.ndarray = x
    y[0] *= x[1]
    return np.sum(WEIGHTS * x * x)


@case(MATRIX)
def rows_bound_to_a_name_and_stored_again(x):
    y = x.copy()
    row = y[1]
    for i in range(len(y)):
        w = y[i] * 2.0
        y[i] = w
    return np.sum(row * row)


@case(MATRIX)
def rows_replaced_by_their_copies(x):
    y = x.copy()
    first = y[0]
    for row in y:
        kept = row.copy()
        row[:] = kept
    return np.sum(first * first)


def pair_of(a, b):
    return a, b


@case(VECTOR)
def index_bound_behind_the_store_of_one_tuple(x):
    i = 0
    x[i], i = pair_of(x[1] * x[0], 3)
    i, x[i] = pair_of(4, x[i] * x[0])
    return np.sum(x * x) * x[i]


@case(VECTOR, 1, 4)
def one_item_of_a_list_for_a_whole_section(x, a, b):
    y = x * 2.0
    y[a:b] = [x[0] * x[1]]
    y[b - 1 :] = (y[a] * x[2],)
    return np.sum(WEIGHTS * y * y)


@case(MATRIX)
def lists_for_rows_and_columns(m):
    m[:] = [m[0, 0], m[1, 1] ** 2, m[0, 2], m[2, 3]]
    m[:, 1:] = [[m[0, 0]], [m[1, 1] * 2.0], [m[2, 2]]]
    m[1:] = [m[0] * m[0, 3]]
    return np.sum(TABLE * m * m)


@case(VECTOR)
def a_list_for_what_a_mask_or_indices_pick(x):
    y = x * x
    y[x > 0.0] = [x[1]]
    y[[0, 2, 2]] = [x[3] * y[1]]
    np.copyto(y[3:], [y[0]])
    np.add.at(y, [1, 1, 4], [x[2]])
    return np.sum(WEIGHTS * y * y)


@case(VECTOR)
def lists_that_are_stored_under_other_names(x):
    parts = {"head": [x[0]], "tail": [x[1], x[2]]}
    y = np.zeros(5)
    y[1:] = parts["head"]
    v = y if x[0] > 0.0 else y[::-1]
    v[:2] = parts["tail"]
    v[3:] = [v[0] * x[4]]
    return np.sum(WEIGHTS * y * y)


@case(MATRIX, 0.7, argnums=(0, 1))
def rows_stored_where_two_comparisons_hold(m, s):
    y = m * s
    for k in range(3):
        y[k][(y[k] > -0.6) & (y[k] < 0.5)] = s * y[k, 0]
        small = y[k] < 0.9
        y[k][small | (y[k] > 1.02)] = y[k - 1, 3] * s
    return np.sum(y * y) * s


@case(MATRIX, VECTOR, 1)
def updates_by_slice_objects(m, x, i):
    K = np.zeros((2 * len(x), 2 * len(x)))
    for e in range(3):
        a, b = slice(2 * e, 2 * e + 2), slice(2 * e + i, 2 * e + i + 2)
        k = x[e] * np.outer(m[e, :2], m[i, 1:3])
        K[a, a] += k
        K[b, a] -= k
        K[a] *= x[e + 1]
        K[e + i : e + i + 1, b] += m[e, 2:]
    return np.sum(BOARD * K[:6, 1:7] ** 2) + K[3, 2]


@case(MATRIX, VECTOR, 1)
def slice_objects_of_one_element_are_broadcast(m, x, i):
    a, b = slice(i, i + 1), slice(2 * i, 3 * i + 1)
    y = m[a, 0] * x + m[1, b][:1] - m[2:, i : i + 1][0]
    y[a] *= y[3:4] * m[a, 1]
    y[b] -= x[a]
    return np.sum(WEIGHTS * y * y)


@case(np.array([0.9, 1.1, 1.4, -1.2]), np.array([0.6, 1.1, -0.9, 0.5]), argnums=(1,))
def a_restore_outside_of_the_loop_beside_one_inside(u, v):
    w, z = u * v, np.sin(u)
    xs = [u]
    u[0] += v[0]
    for k in range(1):
        u = u.reshape(2, 2).ravel()
        u[k] = z[k]
    return np.sum(w * z * z) + np.sum(xs[0])
