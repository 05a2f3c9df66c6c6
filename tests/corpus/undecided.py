"""In-place programs of which only the run tells which names share memory: conversions, swaps, arguments returned."""

import operator

import numpy as np

from .case import case
from .writers import scan, squared

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3, 0.9])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7, -1.1])
TABLE = np.cos(np.arange(12.0)).reshape(3, 4)
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


@case(MATRIX)
def axes_swapped_and_flipped(m):
    s = np.swapaxes(m, 0, 1)
    f = np.flip(m, axis=1)
    s[1:] *= s[:-1]
    f[0] = f[1] * m[2]
    m[::-1][0] *= s[0, 0]
    return np.sum(TABLE * m * m) + np.sum(f[0] * m[1])


@case(FIELD)
def transposed_ravel_is_a_copy(u):
    v, w = u.T.ravel(), u.T.ravel(order="F")
    v[:6] *= u[1]
    w[:6] *= u[2]
    u[0] *= v[:6] * w[6:12]
    return np.sum(BOARD.ravel() * v * w) + np.sum(BOARD * u)


@case(VECTOR)
def aliases_and_copies_by_conversion(x):
    a, b = np.asarray(x), np.array(x)
    c, d = x.astype(float, copy=False), x.astype(float)
    a[0] = x[1] * x[0]
    b[1] *= a[0]
    c[1] *= b[1] * c[0]
    d[2] *= a[1]
    x[2] += d[2] * x[0]
    np.atleast_1d(a)[3] *= x[2]
    np.ascontiguousarray(x[:])[4] = a[3] * x[4]
    return np.sum(WEIGHTS * a * b * c * d)


@case(VECTOR)
def whole_slice_is_a_view(x):
    a, b = x[:], x[...]
    a *= x[0]
    b[1:3] = a[3:5] * b[0]
    c = b.view()
    c -= a * a
    a = a[:]
    a[4] = x[5] * c[3]
    return np.sum(WEIGHTS * x * b)


@case(MATRIX)
def views_in_a_tuple(m):
    pair = (m[0], m[2])
    pair[1][:] *= pair[0]
    m[0] = m[1] * pair[1]
    first, last = pair
    first[1:] -= last[:-1] * pair[0][0]
    return np.sum(TABLE * m * m) + pair[0] @ pair[1]


@case(MATRIX)
def views_given_by_the_library(m):
    t = np.einsum("ij->ji", m)
    d = np.einsum("ii->i", t[:3])
    t[0] *= t[1]
    d -= m[0, :3] * d[0]
    np.rot90(m)[0] *= np.moveaxis(m, 0, 1)[1]
    np.expand_dims(m.real, 0)[0, 1] += d[2] * m[1]
    return np.sum(TABLE * m * m)


@case(MATRIX)
def put_into_a_matrix_by_flat_positions(m):
    np.put(m, [1, 7, 7], m[2, :3] * m[0, 0])
    m.flat[5] = m[0, 1] * m.flat[6]
    m.flat[::4] *= m[:, 3]
    m.put([[1, 4], [6, 11]], m[:2, 1:3] ** 2)
    return np.sum(TABLE * m * m)


@case(VECTOR)
def indices_and_masks_of_a_view(x):
    v = x[::-1]
    v[[0, 2]] = v[1] * x[:2]
    v[v > 0.5] *= x[0]
    w = x[1:5].reshape(2, 2)
    w[[0, 1], [1, 0]] += w[0] * v[0]
    np.add.at(w, [0, 0], v[:2] * w)
    return np.sum(WEIGHTS * x * x)


def smoothed(u, un):
    un[1:] = u[:-1] * u[1:]
    un[0] = u[0]
    return un, u


@case(VECTOR)
def argument_swapped_by_a_third_name(u):
    un = u.copy()
    for k in range(3):
        un[1:] *= u[:-1]
        t = u
        u = un
        un = t
        t[k] = u[k] * u[k + 1]
    return np.sum(WEIGHTS * u * un) + t[0] * t[1]


@case(FIELD)
def swap_with_views_of_both(u):
    un = u * 0.5
    inner, inner_new = u[1:-1, 1:-1], un[1:-1, 1:-1]
    for _ in range(3):
        inner_new[:] = inner * u[:-2, 1:-1]
        un[:, 0] = u[:, 1] * un[:, 0]
        u, un = un, u
        inner, inner_new = inner_new, inner
    return np.sum(BOARD * u) + np.sum(inner_new * inner_new)


@case(VECTOR)
def first_name_of_a_swapped_argument(u):
    first = u
    un = u + 1.0
    for k in range(3):
        un *= u
        u, un = un, u
        first[k] += un[k + 1] * u[k]
    return np.sum(WEIGHTS * u * first) + np.sum(un * first)


@case(FIELD)
def swap_in_a_helper(u):
    un = np.zeros_like(u)
    for k in range(3):
        un[k] = u[k] * u[k + 1]
        u, un = smoothed(u, un)
    return np.sum(BOARD * u) + un[1] @ un[2]


@case(FIELD)
def swap_of_row_views(u):
    a, b = u[0], u[1]
    for k in range(2, 5):
        a *= b
        a, b = b, a
        b = u[k] if k == 3 else b
        a[k] = b[k] * b[0]
    return np.sum(BOARD * u)


@case(VECTOR, OTHER)
def kept_best_by_reference_and_by_copy(x, y):
    best, saved = x, x.copy()
    for k in range(4):
        x[k] *= y[k]
        if x[k] > 0.0:
            best = y
            saved = x.copy()
        y *= 0.5 + y[k] * y[k + 1]
        best[k + 1] += saved[k]
    return np.sum(WEIGHTS * best * saved) + np.sum(x * y)


def absorb(a, b):
    a[1:] *= b[:-1]
    a[0] = np.sum(b) * a[1]


@case(VECTOR, 0.9)
def writer_in_branches(x, s):
    for k in range(2):
        if x[k] < 0.0:
            scan(x[1:])
        else:
            scan(x)
    y = squared(x) if x[0] > s else squared(x[1:])
    if np.sum(y) > 0.0:
        absorb(x, WEIGHTS * s)
    return np.sum(y * y) * x[0]


def longer_of(a, b):
    a[0] *= b[0]
    if np.sum(a * a) > np.sum(b * b):
        return a
    return b


@case(VECTOR, OTHER)
def one_of_two_arguments_returned(a, b):
    c = longer_of(a, b)
    c[1:] *= a[:-1]
    c = longer_of(c[1:], b[1:])
    b[2] += c[0] * c[2]
    return np.sum(WEIGHTS * a * b) + np.sum(c * c)


def scale(u, v):
    """Multiply the first in place."""
    u *= v


@case(VECTOR)
def writer_called_with_a_star(x):
    both = (x * 2.0, x)
    scale(*both)
    return np.sum(both[0])


@case(VECTOR)
def part_of_a_split_scaled(x):
    y = np.outer(x, x)
    a, b, c = np.split(y, 3)
    a *= b
    return np.sum(y) + np.sum(c * a)


def longer_or_twice(u, v):
    """A view of the first, or new memory."""
    return u[1:] if u[0] > 0.5 else v * 2.0


@case(VECTOR)
def views_that_a_function_gives_bound_over_what_it_was_given(x):
    y = x * 1.2
    w = y
    for k in range(2):
        y = longer_or_twice(y, x)
        w = y
        w[0] = x[0] * x[1]
        y[-1] *= x[k]
    return np.sum(w * w) + np.sum(y * x[0])


@case(VECTOR)
def mask_of_a_view_in_a_callee_beside_one_that_is_written(x):
    def placed(rows):
        z = rows[0] + 0.0
        v = z[:]
        np.place(v, v > 0.5, [0.4])
        return v.sum()

    def filled(rows):
        z = rows[0].astype(float, copy=False)
        z[1:] = 0.3
        return np.sum(z)

    a = x * 1.5
    b = x * x
    return filled([a[:], b]) * np.sum(a * b) + placed((a[:], 2.0))


@case(VECTOR)
def buffers_of_arrays(x):
    y = x * 2.0
    v = np.frombuffer(y)
    y[1:] *= x[0]
    w = operator.getitem(y, slice(0, 6))
    return np.sum(v * v) + np.sum(np.frombuffer(x * x) * w)


@case(VECTOR)
def item_of_a_dict_that_a_loop_fills(x):
    b = x * 1.2
    held = dict(enumerate([b]))
    z = held[0]
    z[1:] *= x[0]
    return np.sum(held[0]) * np.sum(b * b)


@case(VECTOR)
def item_that_takes_the_place_of_an_array(x):
    a = x * 1.5
    held = [a, x * 2.0]
    held[0] = held[0] * x[1]
    z = held[0]
    z[0] = x[2] * x[2]
    view = {"u": a}["u"][1:]
    view[:] = 2.0 * x[0]
    return np.sum(z * z) * np.sum(a * a * x)


@case(VECTOR)
def item_of_a_dict_beside_a_list_that_is_read_later(x):
    a = x * 1.5
    held = {"u": a}
    rows = list(zip([held["u"]], strict=True))
    parts = dict(enumerate([rows[0][0]]))
    z = parts[0]
    z[1] = x[0] * x[0]
    return np.sum(a * a) + np.sum(rows[0][0] * x)


@case(VECTOR)
def last_item_of_a_mixed_list_is_updated(x):
    a = x * 1.5
    w = [x[0], a]
    w[-1] *= 1.5
    w[-2] = x[0] * x[1]
    return np.sum(w[-1]) * np.sum(a * a) * w[0]


@case(VECTOR)
def items_sorted_into_one_of_two_empty_lists(x):
    small, large = [], []
    for v in x:
        (small if v < 0.5 else large).append(v * v)
    return x[0] + sum(small) * sum(large)


@case(VECTOR)
def lists_that_trade_names_while_they_grow(x):
    a, b = [], []
    p, q = a, b
    for v in x[:4]:
        p.append(v * v)
        p, q = q, p
    return sum(a) * sum(b) * p[0]


@case(VECTOR)
def keys_stored_into_one_of_two_empty_dicts(x):
    a, b = {}, {}
    for k, v in enumerate(x):
        (a if v > 0.6 else b)[k % 2] = v * v
    return x[0] + sum(v**2 for v in a.values()) + sum(v**3 for v in b.values())


@case(VECTOR)
def appended_by_an_expression_that_chooses(x):
    a, b, seen = [], [1.0], []
    for v in x:
        a.append(v * v) if v > 0.6 else b.append(np.sin(v))
        v > 0.0 and v < 1.2 and seen.append(v * b[-1])
        len(a) > 1 or seen.append(v * v)
    return sum(a) * sum(b) + seen[0] * sum(seen)


@case(VECTOR)
def squeezed_beside_what_has_known_axes(x):
    z = np.sin(x)
    u = np.concatenate(np.split(x * 1.5, 2))
    for k in range(1, 4):
        if u[k] > 0.1:
            z = np.squeeze(u)
        else:
            z, u = u, z
        u[k] *= x[k]
        z[0] += 0.3 * u[1]
    return np.sum(z * u) + np.sum(u * x)


@case(VECTOR)
def swapped_in_a_list_beside_what_is_squeezed(x):
    u, w = np.sin(x), x * 1.5
    xs = [u, w]
    if x[0] > 0.0:
        w = np.squeeze(np.concatenate(np.split(u, 2)))
    xs[0], xs[-1] = xs[-1], xs[0]
    xs[0][1] = w[0] * x[2]
    return np.sum(xs[0] * xs[-1]) + np.sum(u * w)


@case(VECTOR)
def new_keys_in_one_of_two_dicts_that_are_undecided(x):
    d, e = {0: x[1]}, {}
    s = x[4]
    g = d if s > 0.4 else e
    for k in range(2):
        g[k] = x[k] * s
        if k in d:
            d[k] *= x[2]
    if "lacking" in d:
        d["lacking"] *= s
    return sum([v * v for v in d.values()]) + sum(e.values()) * s


@case(VECTOR)
def number_or_view_chosen_by_a_value(x):
    u = x * 1.5
    v = u[1:] if x[0] > 0.0 else 0.0
    w = v
    u[2] = x[0] * x[1]
    return np.sum(u * x) + np.sum(w * w) * np.sum(v)


@case(VECTOR)
def items_that_are_numbers_or_rows(x):
    m = np.outer(x, x + 1.0)
    parts = []
    for k in range(len(x)):
        parts.append(m[k] if k % 2 else m[k, 0])
    m[1] *= x[0]
    first = parts[0]
    parts[0] = parts[1]
    parts[0][2] = first * x[1]
    return np.sum(m * m) + sum(np.sum(p) for p in parts)


@case(VECTOR)
def total_that_begins_as_a_number(x):
    rows = [x * 2.0, np.sin(x)]
    total = 0
    for row in rows:
        total = total + row
        rows[0][1] = row[2] * 0.5
    kept = total
    kept[0] = x[1] * x[2]
    return np.sum(total * rows[0]) + np.sum(rows[1])


@case(VECTOR)
def index_arrays_of_a_grid(x):
    m = np.outer(x, x)
    part = m[np.ix_([0, 1], [2, 0])]
    seen = [part, m[..., [1, -1]]]
    m[0, 2] = x[1]
    seen[0][0] = part[1] * x[0]
    return np.sum(part * part) + np.sum(m) * np.sum(seen[1])


@case(VECTOR)
def squeezed_to_a_number_or_not_and_updated(x):
    total = 0.0
    for k in range(1, 4):
        v = np.squeeze(x[:k]) * 2.0
        w = v
        v += x[0]
        v *= np.sin(v)
        rows = [v, w]
        rows[0] *= 0.5
        total += np.sum(w * v * rows[0])
    return total


@case(VECTOR)
def number_that_an_update_makes_an_array(x):
    v = np.squeeze(x[:int(x[0] > 0.0)]) * 2.0
    w = v
    v += x
    return np.sum(w * v * v)


@case(1.3)
def store_into_a_row_that_stands_twice_in_a_list(x):
    row = [x, 1.0]
    rows = [row, row]
    rows[0][1] = x * x
    rows[1][0] += rows[0][1]
    return rows[1][1] * rows[0][0]


@case(VECTOR)
def updated_array_or_number_of_either_library(x):
    q, s = x * 2.0, 0.3
    for k in range(2):
        s = s + np.sin(x[k])
    p = q if x[1] > 0.5 else s
    p += 0.3 * x[0]
    return np.sum(q * x) + np.sum(p) * s


@case(MATRIX, second=False)
def row_before_that_is_none_at_first(m):
    m = m * 1.0
    before = None
    for row in m:
        row *= 1.5
        if before is not None:
            row += 0.5 * before
        before = row
    return np.sum(m * m)


@case(VECTOR)
def list_of_none_that_is_filled_and_updated(x):
    parts = [None] * 3
    for k in range(3):
        parts[k] = x * (k + 1.0)
    for part in parts:
        part += x
    parts[1][0] = x[1]
    return np.sum(parts[0] * parts[1] * parts[2])
