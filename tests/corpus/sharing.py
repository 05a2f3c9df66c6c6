"""Names of which only the run tells whether they share memory: views chosen by branches, buffers bound anew."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
SIX = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7, -1.1])
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


@case(VECTOR)
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


@case(BOARD)
def diagonal_seen_through_a_store(m):
    y = m @ m
    v = np.diagonal(y)
    y[2] = 2.0 * m[1]
    return np.sum(v * v * y[0])


@case(VECTOR, 4)
def buffer_and_the_one_before(x, n):
    u = x * 2.0
    before = u
    for k in range(n):
        v = u * x
        before[k] += v[k] * u[k + 1]
        before, u = u, v
    return np.sum(u * before)


@case(VECTOR)
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


@case(VECTOR)
def kept_in_a_list(x):
    y = x * 2.0
    ys = [y, x]
    y[0] = x[1]
    return np.sum(ys[0] * ys[1])


@case(VECTOR[:3])
def parts_of_a_split(x):
    y = np.outer(x, x)
    a, b, c = np.split(y, 3)
    a *= 2.0
    b[0] = a[0] * c[0]
    return np.sum(y * y)


@case(VECTOR)
def arrays_pushed_and_written(x):
    ys = []
    y = x * 2.0
    for k in range(3):
        ys.append(y)
        y = y * x if k % 2 else y
        y[k] = x[1] * y[0]
    z = ys.pop()
    z *= x
    return np.sum(ys[0] * ys[1] * z)


@case(VECTOR)
def numbers_and_views_in_a_list(x):
    y = x * 2.0
    parts = [y, x[0] * x[1], y[1:]]
    parts[1] = parts[1] * x[2]
    parts[2][0] = parts[1]
    y *= x
    return np.sum(parts[0]) * parts[1] + parts[2][1]


@case(VECTOR)
def array_in_two_dicts(x):
    y = x * 2.0
    d = {"a": y, "b": x[0]}
    e = {"c": y}
    e["c"][1] = d["b"] * x[1]
    d["b"] = x[2] * x[2]
    d["a"] = e["c"] * x
    return np.sum(d["a"]) * d["b"] + np.sum(y * y)


@case(VECTOR)
def items_that_take_turns(x):
    y, z = x * 2.0, x * x
    pair = [y, z]
    for k in range(3):
        pair[k % 2] = pair[1 - k % 2]
        y[k] = x[0] * pair[0][1]
        pair[1][0] = x[1]
    return np.sum(pair[0] * pair[1]) + y @ z


@case(VECTOR)
def list_of_views_joined(x):
    y = x * 2.0
    parts = [y, y[::-1]]
    y[0] = x[1] * x[1]
    return np.sum(np.stack(parts) ** 2) + np.concatenate(parts) @ np.concatenate([x, x])


@case(VECTOR)
def update_of_an_item_within_an_item(x):
    y = x * 1.5
    rows = [[y]]
    rows[0][0] *= x
    return np.sum(y * y * x)


@case(VECTOR)
def one_list_in_two_dicts(x):
    row = [x[0], 1.0]
    a, b = {"row": row}, {"row": row}
    a["row"][1] = x[2]
    return b["row"][1]


def with_its_double(v):
    return [v, v * 2.0]


@case(VECTOR)
def item_of_a_list_that_a_helper_returns(x):
    a = x * 1.5
    w = with_its_double(a)
    z = w[0] if x[0] > 0.0 else w[1]
    z[1] = x[0] * x[2]
    return np.sum(a * a) + np.sum(w[1] * x) + z @ x


@case(VECTOR)
def element_by_element_under_another_name(u):
    w = u[:]
    held = [w]
    for _ in u:
        for i in reversed(range(3)):
            c = held[0][i]
            u[0] = c * 0.9
    return np.sum(held[0] * held[-1]) + np.sum(np.sin(u))


@case(SIX)
def new_axes_written(u):
    column, row = u[:, None], u[np.newaxis]
    column[1:3] *= row[0, 3] * column[0]
    row[:, 4:] = row[:, :2] * column[2]
    table = row[0, :3].reshape(1, 3)
    table -= table * column[5, 0]
    return np.sum(WEIGHTS * u * u)


@case(FIELD)
def halves_of_a_split(u):
    top, bottom = np.split(u, 2)
    left, right = np.hsplit(top, 2)
    left *= right
    bottom[0] = u[1] * u[2]
    right[:, 0] = left[0] * bottom[0, :3]
    return np.sum(BOARD * u)


@case(SIX, 0.6)
def view_or_copy_by_branch(x, s):
    if s < 1.0:
        v = x[1:4]
    else:
        v = x[:3].copy()
    if v[0] < 0.0:
        w = v
    else:
        w = v * s
    v *= w
    w[1] = v[0] * x[2]
    x[2] *= w[1]
    return np.sum(WEIGHTS * x * x) + np.sum(v * w)


@case(FIELD)
def swap_with_views_left_behind(u):
    un = np.ones_like(u)
    edge = u[0]
    for k in range(3):
        un[1:] = u[:-1] * u[1:]
        u, un = un, u
        edge[1:] *= u[k + 1, 1:]
        un[2] -= edge
    return np.sum(BOARD * u) + edge @ un[2]


@case(FIELD)
def section_rebound_after_its_rows_are_swapped(u):
    v = u[:2]
    for k in range(3):
        v[:, k + 1] *= v[::-1, k]
        u[k + 2], v[0] = v[1], u[k + 2]
        v = u[k + 1 : k + 3]
    return np.sum(BOARD * u)


@case(SIX)
def new_buffer_in_each_trip(u):
    kept = u
    for k in range(3):
        un = np.empty_like(u)
        kept[k] *= kept[k + 1]
        un[:-1] = u[1:] * u[:-1]
        un[-1] = u[0] * kept[k]
        kept[k] *= un[k]
        u = un
    u[0] *= kept[0]
    return np.sum(WEIGHTS * u * kept)


@case(SIX)
def rebound_to_a_view_of_itself(x):
    t = x
    for k in range(3):
        t[0] *= t[1] * t[-1]
        t = t[1:]
        t *= x[k]
    return np.sum(WEIGHTS * x * x) + t @ t


@case(VECTOR)
def array_in_two_lists_written_through_one(x):
    u = x * 1.0
    a, b = [u], [u]
    a[0][1:] = x[:-1] * x[0]
    return np.sum(b[0] * x)


@case(FIELD)
def row_of_one_of_two_that_lie_by_columns(u):
    y, z = np.asfortranarray(u * u), np.asfortranarray(u * 2.0)
    row = y[0] if u[0, 0] > 0.0 else z[0]
    for k in range(3):
        row *= u[1]
        y[:, k] *= row[k]
    return np.sum(y * z, axis=0)


@case(VECTOR)
def pair_of_names_of_which_one_was_written(x):
    w, z = x * 1.0, x * 2.0
    v = w if x[0] > 0.0 else z
    if x[1] < 0.0:
        v[0] = 3.0 * x[1]
    return w, v


@case(VECTOR)
def pair_of_an_array_and_a_view_of_it(x):
    a, b = array_and_part(x)
    a[2] = x[0] * 3.0
    return np.sum(b * b) + a[0]


def array_and_part(x):
    a = x * 2.0
    a[0] = x[1] ** 2
    b = a
    if x[0] > 0:
        b = a[1:]
    a[1] *= x[0]
    return a, b


@case(VECTOR)
def parts_beside_the_whole(x):
    whole = x * 3.0
    held = {"whole": whole, "parts": [whole[:1], whole[1:]]}
    held["parts"][0][0] = x[1] * x[2]
    held["parts"][1][1] *= x[0]
    return np.sum(held["whole"] ** 2)


@case(VECTOR, second="recorded")
def matrix_and_its_rows_from_a_helper(x):
    m, rows = matrix_and_rows(x)
    for i, row in enumerate(rows):
        row[i] *= x[0]
    return np.sum(m * m)


def matrix_and_rows(x):
    m = np.outer(x, x)
    return m, list(m)


@case(VECTOR)
def helper_with_shadows_squared(x):
    return written_through_one_of_two(x) ** 2


def written_through_one_of_two(x):
    y, z = x * 2.0, x * x
    v = y[1:] if x[0] > 0.0 else z[1:]
    v[0] = x[0] * x[2]
    v[1] *= x[1] * v[0]
    return np.sum(y * z * y)


@case(VECTOR)
def helper_with_a_list_that_takes_turns_squared(x):
    return written_in_turns(x) ** 2


def written_in_turns(x):
    y, z = x * 2.0, x * x
    pair = [y, z]
    for k in range(3):
        pair[k % 2][k] *= x[0] * pair[1 - k % 2][1]
        w = pair[0]
        pair[0] = pair[1]
        pair[1] = w
        w[0] *= x[1]
    return np.sum(y * z * y)


def whole_and_parts(u, k):
    a = u * k
    return {"whole": a, "parts": [a[:2], a[2:]]}


@case(VECTOR)
def whole_updated_beside_its_parts_from_a_helper(x):
    d = whole_and_parts(x, 0.7)
    d["whole"] *= x[0]
    return np.sum(d["whole"] ** 2) * 5.0 + np.sum(d["parts"][0] ** 2) * 6.0 + np.sum(d["parts"][1] ** 2) * x[1]


def one_beside_its_beginning(u):
    a = u * u
    return [a, [a[:2], u * 2.0]]


def written_in_one_branch(x):
    d = one_beside_its_beginning(np.sin(x))
    if x[0] > 0.2:
        d[1][0][1] *= 1.5
    return np.sum(d[0] ** 2) + np.sum(d[1][0] ** 2) * 3.0 + np.sum(d[1][1] ** 2) * 4.0


@case(VECTOR)
def parts_from_a_helper_written_in_a_callee(x):
    return written_in_one_branch(x) ** 2 * written_in_one_branch(x * 0.5)


@case(VECTOR)
def views_in_a_list_stacked_into_their_array(x):
    m = np.outer(x, x) * 0.7
    row = m[1]
    rows = [x, m[2]]
    m[:3] = np.stack([rows[0], row, row]) * 0.5
    return np.sum(m * m) + np.sum(rows[0] * rows[-1])


def one_row_in_two_places(x):
    y = x * 0.5
    rows = [y, y[1:]]
    for k in range(2):
        rows[0][k] *= x[0] + rows[1][0]
    return np.sum(y * y) + np.sum(rows[0] * rows[1][0])


@case(VECTOR)
def stack_of_numbers_beside_a_list_of_views_in_one_record(x):
    return np.sin(one_row_in_two_places(x))


def list_in_a_list_beside_a_list(x):
    d = one_beside_its_beginning(x)
    d[1][0][:2] += x[1:][0]
    return np.sum(d[0] ** 2) + np.sum(d[1][0] ** 2) * 5.0 + np.sum(d[1][1] ** 2) * 6.0


@case(VECTOR)
def lists_of_different_depth_in_one_record(x):
    return np.sin(list_in_a_list_beside_a_list(x))


def _one_array_twice(u):
    a = u * 1.5
    return a, a


def _written_by_one_name(u, c):
    left, right = _one_array_twice(u)
    right[0] *= c
    return np.sum(left * left) * 2.0 + np.sum(right * right) * 3.0


@case(np.array([-0.4, 0.3, 1.0]), -0.7)
def records_of_one_array_twice(x, c):
    return _written_by_one_name(x * c, c) + _written_by_one_name(x, 0.3)
