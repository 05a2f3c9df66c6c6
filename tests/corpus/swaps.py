"""Names that change arrays: pointers swapped in loops and branches, buffers that rotate, names rebound to new arrays."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


@case(FIELD)
def swap_in_an_odd_number_of_trips(u):
    un = np.zeros_like(u)
    for _ in range(3):
        un[1:] = u[:-1] * u[1:]
        un[0] = u[0]
        u, un = un, u
    return np.sum(BOARD * u)


@case(VECTOR, 4)
def swap_in_an_even_number_of_trips(u, n):
    un = u * u
    for k in range(n):
        un[1:-1] = u[:-2] * u[2:] + un[1:-1] * 0.5
        un[0] += u[k]
        u, un = un, u
    u[0] = un[1] * u[2]
    return np.sum(WEIGHTS * u * un * un)


@case(VECTOR, 0)
def swap_in_no_trip(u, n):
    un = u[::-1] * u
    for _ in range(n):
        u, un = un, u
        un *= u
    un[1] *= u[0]
    return np.sum(WEIGHTS * u * un)


@case(VECTOR, OTHER)
def swap_of_two_arguments(a, b):
    for k in range(3):
        a[k] = a[k + 1] * b[k]
        b *= a[k]
        a, b = b, a
    return a, np.sum(WEIGHTS * b * b)


@case(VECTOR)
def swap_in_a_while_loop(u):
    un = np.empty(5)
    error, trips = 1.0, 0
    while error > 0.02:
        un[:] = 0.5 * np.cos(u) + 0.2 * u[::-1] * u
        error = np.sum((un - u) ** 2)
        u, un = un, u
        trips += 1
    return np.sum(WEIGHTS * u * un) * trips + error


@case(VECTOR, OTHER)
def three_buffers_that_rotate(old, now):
    new = np.zeros(5)
    for _ in range(4):
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + 0.1 * now[2:] * now[:-2]
        new[0] = np.sin(now[0] * new[1])
        old, now, new = now, new, old
    return np.sum(WEIGHTS * old * now) + np.sum(new * new)


@case(VECTOR, OTHER)
def three_buffers_where_one_is_left_out(a, b):
    c = a * b
    for k in range(5):
        a[1:] *= c[:-1]
        if k % 2:
            a, c = c, a
        else:
            a, b, c = b, c, a
        b[k] = a[k] * c[k]
    return np.sum(WEIGHTS * a * b * c)


@case(VECTOR, OTHER)
def swap_under_a_condition(a, b):
    for k in range(4):
        a[k] *= b[k + 1]
        if a[k] > b[k]:
            a, b = b, a
        b[k + 1] += a[k] * a[k]
    return np.sum(WEIGHTS * a * b * b)


@case(VECTOR, OTHER)
def swap_before_a_break(a, b):
    for k in range(5):
        a[k] = a[k] * b[k] + b[k - 1]
        a, b = b, a
        if a[k] < 0.2:
            b[k] *= 2.0 * b[0]
            continue
        if k > 2:
            a *= b
            break
    a[2] *= b[1]
    return np.sum(WEIGHTS * a * a * b)


@case(VECTOR, 0.8)
def swap_next_to_numbers(u, a):
    b, un = a * a, np.zeros(5)
    for k in range(3):
        un[:] = a * u * u[k] + u
        a, b, u, un = b, a - un[1], un, u
        un[0] = a * b
    u[0], a = a, u[0]
    return np.sum(WEIGHTS * u * un) * a * b


@case(FIELD)
def swap_in_nested_loops(u):
    un = u.copy()
    for i in range(2):
        for j in range(3):
            un[j + 1] = u[j] * u[j + 2]
            u, un = un, u
        u[:, i] *= un[:, i + 1]
    return np.sum(BOARD * u * un)


@case(VECTOR)
def buffers_chosen_by_parity(x):
    buffers = np.zeros((2, 5))
    buffers[0] = x
    for k in range(3):
        buffers[(k + 1) % 2, 1:] = buffers[k % 2, :-1] * x[1:]
        buffers[(k + 1) % 2, 0] = buffers[k % 2, k] * x[0]
    return np.sum(WEIGHTS * buffers[1]) + buffers[0] @ buffers[1]


@case(VECTOR)
def new_buffer_in_some_trips(u):
    un = np.zeros(5)
    for k in range(5):
        un[k] += u[k] * u[k - 1]
        if k % 2:
            u = un
            un = u * 0.5
        un[k - 1] -= u[k]
    return np.sum(WEIGHTS * u * un)


@case(FIELD)
def rebound_to_a_product_after_a_store(u):
    t = u * 2.0
    for k in range(3):
        t[k] = t[k] * t[k + 1]
        t = t * u
    return np.sum(BOARD * t)



@case(VECTOR, OTHER)
def swap_in_a_nested_function_by_a_name_that_is_read_outside(u, v):
    kept = 0.0

    def swap():
        nonlocal kept, u, v
        kept = u
        u = v
        v = kept

    swap()
    return np.sum(WEIGHTS * u * u) + np.sum(v * kept * kept)


@case(VECTOR, OTHER, second=False)  # `w[k]` may be a row, of which the records hold views (docs/limits.md)
def elements_swapped_with_what_may_have_rows(u, v):
    k = 1
    w, z = u * v, np.sin(u)
    p = np.squeeze(z[:k]) * 0.5  # of an unknown number of axes, and so is `w` in later trips
    for k in range(3):
        w[k], u[k] = u[k], w[k]
        w = p * u
    z[k] = 0.5
    return np.sum(w * u) + np.sum(z * z)
