"""Views and copies: writes through one name seen by another, views of views, views in loops, names rebound."""

import numpy as np

from s2sgrad import checkpointed

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7, -1.1])
TABLE = np.cos(np.arange(12.0)).reshape(3, 4)
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


@case(VECTOR)
def view_written(u):
    v = u[1:-1]
    v *= 2.0 * v
    v[0] = v[1] * u[0]
    return np.sum(WEIGHTS * u * u)


@case(VECTOR)
def view_and_base_written_in_turn(u):
    v = u[1:-1]
    u[2] = u[0] * u[2]
    v[2:] *= v[1]
    u[1:3] = v[2:] * u[1:3]
    s = v @ v
    v[0] = s * u[4]
    return np.sum(WEIGHTS * u * u) + s * np.sum(v)


@case(FIELD)
def view_sees_a_later_store(u):
    v = u[1]
    u[1] = u[0] * 3.0
    return np.sum(BOARD * u) + np.sum(v * v)


@case(FIELD)
def copy_does_not_see_a_later_store(u):
    v = u[1].copy()
    u[1] = u[0] * 3.0
    return np.sum(BOARD * u) + np.sum(v * v)


@case(FIELD)
def value_read_before_and_after(u):
    v = u[:, 2]
    a = v * v
    u[2] *= v
    b = a * v
    v[3] = b[3] * a[2]
    return np.sum(a * b * v) + np.sum(BOARD * u)


@case(MATRIX)
def transpose_written(m):
    t = m.T
    t[0] *= t[1]
    m[1] = m[0] * m[2]
    t[1:3, 0] = t[2:, 1] * m[0, 1:3]
    np.transpose(m)[3] -= m[:, 0] * t[3]
    return np.sum(TABLE * m * m)


@case(MATRIX)
def reshape_and_ravel_written(m):
    r = m.reshape(4, 3)
    flat = m.ravel()
    r[1] *= r[0]
    flat[2:5] = flat[7:4:-1] * m[0, :3]
    m[2] = flat[:4] * r[3, 1]
    m.reshape(-1)[::5] += m[0, 1] * flat[1]
    return np.sum(TABLE * m * m)


@case(FIELD)
def views_of_views(u):
    v = u[1:5, ::2]
    w = v.T[1:]
    z = w[0][::-1]
    z[1:] *= w[1, :-1]
    v[0] = z[:3] * u[0, :3]
    u[2, 2] *= z[0]
    return np.sum(BOARD * u * u) + np.sum(z * z)


@case(MATRIX)
def diagonal_through_a_strided_view(m):
    a = 0.3 * (m @ m.T)
    d = a.reshape(-1)[::4]
    d *= d
    a[1] -= d * a[0, 0]
    d[2] = a[1, 2] * d[1]
    return np.sum(TABLE[:, :3] * a * a)


@case(MATRIX)
def rows_of_a_loop_written(u):
    for row in u:
        row *= 2.0 * row[0]
        row[1:] += row[:-1] * u[0, 1:]
    return np.sum(TABLE * u * u)


@case(MATRIX, VECTOR[:4])
def rows_enumerated_and_zipped(u, v):
    for i, row in enumerate(u):
        row[i] = row[i + 1] * v[i]
        u[i - 1] *= row
    for row, e in zip(u.T, v, strict=True):
        row *= e
        v *= row[0]
    return np.sum(TABLE * u * v)


@case(FIELD)
def view_bound_in_a_loop_body(u):
    for k in range(1, 4):
        v = u[k]
        v[1:] *= u[k - 1, :-1]
        u[k + 1] -= v * v
        w = u[:, k]
        w[::2] = v[:3] * w[1::2]
    return np.sum(BOARD * u) + np.sum(v * w)


@case(FIELD)
def view_carried_to_the_next_trip(u):
    r = u[0]
    for k in range(1, 4):
        r[1:] = r[:-1] * u[k, 1:]
        r = u[k]
    r *= r[0]
    return np.sum(BOARD * u)


@case(FIELD)
def windows_that_move(u):
    for i in range(2):
        for j in range(2):
            w = u[2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
            w *= w[1, 1]
            w[1, 1] = np.sum(w * u[5, :3])
    return np.sum(BOARD * u)


@case(FIELD)
def name_alias(u):
    v = u
    v += 1.0
    v = v * u
    v += u
    return np.sum(u * u * BOARD) + np.sum(v * v)


@case(VECTOR)
def alias_of_a_buffer_bound_by_a_chain(x):
    a = b = np.zeros(3)
    a[0] = x[0] * x[1]
    b[1:] = a[0] * x[2:4]
    a *= b
    b = b * a
    b[0] = a[1] * x[4]
    return np.sum(WEIGHTS[:3] * a * b)


@case(VECTOR)
def base_rebound_under_a_view(u):
    v, first = u[2:], u
    u = u * u[0]
    v *= v
    u[2:4] += v[:2] * first[2]
    u, old = u[1:], u
    u[0] = old[2] * v[0]
    v[1] = u[0] * old[1]
    return np.sum(WEIGHTS * old * old) + np.sum(v * u[:4]) * first[3]


@case(FIELD)
def rows_unpacked(u):
    a, b, c, d, e, f = u
    a *= b
    u[1] = a * c
    c[:3], d = b[3:], b
    d[0] = e[1] * a[0]
    f -= d * c
    return np.sum(BOARD * u)


@case(FIELD)
def row_chosen_by_the_data(u):
    for k in range(4):
        r = u[k]
        if u[k, 0] > u[k + 1, 0]:
            r = u[k + 1]
        r *= u[5]
        r[k] = r[k + 1] * u[k, 2]
    return np.sum(BOARD * u)


def plus_one_squared(x):
    x += 1.0
    x *= x
    return x


@case(FIELD)
def number_rebound_where_an_array_is_written(u):
    s = u[0, 0]
    s += 2.0
    plus_one_squared(s)
    y = plus_one_squared(u[1])
    return np.sum(BOARD * u) * s + np.sum(y * y)


@case(VECTOR)
def element_held_over_a_store(a):
    for i in range(3):
        t = a[i]
        a[i] = a[i + 1] * a[4]
        a[i + 1] = t
        t *= a[i]
        a[i + 3] += t
    return np.sum(WEIGHTS * a * a)


@case(MATRIX)
def row_held_over_a_store(a):
    for i in range(2):
        t = a[i]
        a[i] = a[i + 1] * a[i]
        a[i + 1] = t
        t *= a[2]
    return np.sum(TABLE * a * a)


@case(MATRIX)
def index_arrays_and_masks_give_copies(m):
    a, b, c = m[[0, 2]], m[:, m[0] > 0.0], m[:2]
    a *= m[1]
    b[0] *= b[1]
    c *= a
    m[0] = a[1] * c[1]
    a[0] = m[0]
    a[0] *= 2.0
    return np.sum(TABLE * m * m) + np.sum(a * c) + np.sum(b * b)


@case(MATRIX)
def inner_row_of_a_deeper_array(m):
    a = np.empty((2, 3, 4))
    a[:] = m
    b = a[1]
    b *= a[0]
    for plane in a:
        for row in plane[:2]:
            row[1] *= row[0]
            row[:] = row[::-1] * a[0, 0]
    squeezed = a[:1].squeeze()
    squeezed[2] = b[1] * b[2]
    return np.sum(a * a * TABLE)


@case(MATRIX)
def copies_given_by_the_library(m):
    a, b, c = np.roll(m, 1, axis=0), np.triu(m), np.repeat(m, 1, axis=0)
    a[0] *= m[1]
    m[1] = b[0] * a[0]
    b *= m
    c[2] -= m[1] * c[1]
    return np.sum(TABLE * m * a * c) + np.sum(b * b)


@case(VECTOR)
def view_without_a_name_of_what_is_bound_again_in_a_loop(x):
    w = x * x
    y = np.sum(np.squeeze(w[::2]) * x[:3])
    w[::2] = 0.3
    for _ in range(2):
        w = w + 0.5 * w * w
    return y + w @ w


@case(VECTOR)
def view_without_a_name_of_what_is_bound_again_in_a_branch(x):
    w = x * x
    y = np.sum(np.asarray(w) * x)
    w += x
    if y > 0.0:
        w = w * np.sin(w)
    return y + w @ WEIGHTS


@case(FIELD)
def diagonal_of_what_is_bound_again_in_a_while(m):
    a = np.outer(m[0], m[1])
    y = np.sum(np.diagonal(a) * m[2])
    a[1:] *= 0.5
    while np.sum(np.abs(a)) < 30.0:
        a = a + 0.3 * a * a + 0.5
    return y + np.sum(a * m)


@case(VECTOR, second=False)  # refused: the record of the loop holds `w` itself
def trip_that_binds_again_what_a_view_without_a_name_is_of(x):
    y = 0.0
    w = x * x
    for k in range(3):
        y += np.sum(np.ravel(w)[1:] * x[1:])
        w[1:] *= x[:5]
        if k == 1:
            w = w * w
        y += np.sum(np.atleast_1d(w) * x)
        w[0] = np.tanh(y)
    return y


@case(VECTOR)
def view_by_an_index_that_moves_on(x):
    y = x * 1.5
    k = 1
    v = y[k:]
    k += 1
    v[0] = y[0] * x[k]
    return np.sum(v * v) + y[k]


@case(VECTOR)
def view_of_each_trip_by_an_index_that_moves_on(x):
    y = x * 1.5
    k = 0
    for _ in range(3):
        v = y[k : k + 2]
        k += 1  # noqa: SIM113
        v[0] *= y[k] * 0.5
        v *= 0.9
    return np.sum(y * y)


@case(VECTOR, 4)
def states_behind_an_update_by_a_view_of_what_they_bind_anew(u, n):
    v = u.copy()
    v[::-1] *= -0.8 * v.view()
    for k in checkpointed(range(n), slots=1):
        v[1] += np.mean(v)
        if k == 1:
            v = v[::-1] * v
    return np.sum(WEIGHTS * np.sin(v))


@case(MATRIX, VECTOR[:4])
def reshaped_items_of_dicts_and_lists_written(m, v):
    parts = {"grid": m * v[0], "row": v * 2.0}
    layers = [m * v[1], v * v[2]]
    flat = layers[0].reshape(-1)
    flat[2] *= v[0] * flat[3]
    parts["grid"].reshape(-1)[::3] = np.exp(v) * v[1]
    gram = (layers[0].T @ layers[0]).T
    return np.sum(parts["grid"].T ** 2 * TABLE.T) + np.sum(parts["row"]) + np.sum(gram * gram) + np.sum(layers[1] * v)


@case(MATRIX, VECTOR[:4], second=False)  # the index says which item gets its own array back: refused
def reshaped_items_written_in_a_loop(m, v):
    layers = [m * v[1], v * v[2]]
    for k in range(2):
        flat = layers[k].reshape(-1)
        flat[k] *= v[k] * flat[3]
        layers[k].reshape(-1)[2:] *= v[k]
    return np.sum(layers[0].T ** 2 * TABLE.T) + np.sum(layers[1] * v)


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def arrays_made_over_a_buffer(x):
    y = x * 2.0
    z = np.ndarray((2, 2), buffer=y)
    z[0] *= x[1]
    w = np.ndarray(2)
    w[:] = np.ndarray(3, buffer=y)[1:]
    return np.sum(y * y) * w[0] * w[1]


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def sections_of_flat_are_copies(x):
    y = x * x
    v, w, k = y.flat[1:], y.flat[::2], slice(0, 2)
    u = y.flat[k]
    y[2:] *= x[1]
    v *= 2.0
    return np.sum(v * v) + w[1] * y[2] + np.sum(u * y[:2]) + y.flat[3]


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def elements_of_flat_in_a_loop(x):
    m = np.outer(x, x[:2]).T
    total = 0.0
    for k in range(5):
        e = m.flat[k]
        m[0, 0] *= 1.5
        total += e * m.flat[k + 1]
    return total


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def complex_constants_beside_the_argument(x):
    phases = np.exp(-1j * np.arange(4.0))
    spectrum = np.fft.fft(np.eye(4)[1]) * -2j
    return np.sum(x * np.abs(phases + 1j)) + np.sum(x * x * spectrum.real) + x[0] * (3.0 - 4.0j).imag


@case(np.array([[0.3, -0.7], [1.1, 0.4]]))
def rows_of_the_transpose_are_scaled(q):
    y = q * 1.5
    y.T[0] *= 3.0
    np.transpose(y)[1] += y.T[0] * q[0, 1]
    np.swapaxes(y, 0, 1)[0, 1:] *= q[1, 1]
    return y * y


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def number_made_of_an_array_of_one_item(x):
    first = np.asarray(x[:1] * x[1:2]).flatten().item()
    return first * float(np.squeeze(x[2:3] * x[3])) + x[2:3].reshape(-1, 1).item() * first


def picked(v, n):
    return picked(v, n - 1) if n else v[0]


@case(np.array([0.3, -0.7, 1.1]))
def elements_from_helpers_before_the_array_is_written(x):
    y = x * x
    first, smallest = picked(y, 2), min(y, key=abs)
    y[:2] = y[1:] * x[1]
    return y * first + smallest * x


@case(MATRIX, 0.7)
def filled_through_a_view_turned_twice(x, c):
    y = np.outer(x[0], x[1])
    z = np.flip(np.flip(y))
    z.fill(c)
    w = x * x
    np.flip(w)[0] = c * x[0]
    return np.sum(y[0] * x[1]) + np.sum(w * w)


@case(MATRIX)
def items_at_several_places_of_a_view(x):
    windows = np.lib.stride_tricks.sliding_window_view(np.sin(x[0]), 2)
    repeated = np.broadcast_to(x[1], (3, *x[1].shape))
    chosen = repeated[(repeated > 0.0) & (np.arange(3) < 2)[:, None]]
    return np.sum(windows[[0, 1], [1, 1]] ** 2) + windows[1, 1] * np.sum(chosen**2)


@case(MATRIX)
def added_where_a_mask_says_from_a_row(x):
    y = x * 0.7
    np.add(y, np.sin(x[0]), out=y, where=y < 0.3)
    return np.sum(y * y)


@case(np.array([-1.12, -1.4, -1.37, -0.63]), np.array([-0.41, 1.41, -0.32, 0.87]), argnums=(0, 1))
def section_by_a_named_slice_while_a_name_goes_through_rows(u, v):
    k = 1
    B = np.concatenate((np.sin(u), u * v, v))
    M = np.outer(u, v) * 0.7
    w, z = M[1], B[2:6]
    rows, held, t = [u, M[2]], {"a": w, "b": [v, z]}, (v, w)
    M[slice(k, k + 2), k] -= 0.5
    for k in reversed(range(3)):
        v = M[k] if M[k, 0] < 0.3 else v[::-1]
    z = B[:8][k:][:4]
    return np.sum(held["a"] * z * z) + np.sum(rows[0] * rows[-1]) + 0.3 * np.sum(t[0] * t[1] * u)
