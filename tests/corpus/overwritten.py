"""Sections stored into again and again, between reads of them and of their neighbours: which of the old values count."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
TABLE = 0.9 + 0.6 * np.sin(1.7 * np.arange(20.0)).reshape(4, 5)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])


@case(VECTOR, OTHER)
def section_stored_three_times(x, d):
    y = np.cos(x)
    for i in range(5):
        y[i] = x[i] * y[i]
        y[i] += d[i] * x[i]
        y[i] /= 2.0 + d[i] ** 2
    return np.sum(WEIGHTS * y * y)


@case(VECTOR)
def old_value_read_between_two_stores(x):
    y = x * x
    for i in range(5):
        y[i] = x[i] * y[i]
        y[i] = y[i] * y[i] + x[i]
        y[i] = np.sin(y[i])
    return np.sum(y)


@case(VECTOR)
def neighbour_from_the_other_end_read_between(x):
    y = x * x
    for i in range(5):
        y[i] = y[i - 1] * x[i]
        y[i] = y[i - 1] * y[i]
        y[i] += y[i - 1]
    return np.sum(y)


@case(VECTOR[:1])
def neighbour_that_is_the_section_itself(x):
    y = x * x
    for i in range(1):
        y[i] = y[i - 1] * x[i]
        y[i] = 3.0 * x[i]
        y[i] += y[i - 1] * y[i - 1]
    return np.sum(y)


@case(VECTOR, (0, 2))
def second_store_in_a_loop_without_trips(x, trips):
    y = x * x
    total = 0.0
    for n in trips:
        y[1] = y[1] * x[1] + n
        total += y[1] * y[1]
        for _ in range(n):
            y[1] = 0.5 * x[2]
        total += y[1] * y[1]
    return total


@case(VECTOR, (True, False, True))
def second_store_in_one_branch(x, turns):
    y = x * x
    total = 0.0
    for turn in turns:
        y[1:3] *= y[1:3]
        if turn:
            y[1:3] = x[2:4]
        total += np.sum(y * y)
        y[1:3] *= x[1:3]
    return total


@case(VECTOR)
def index_bound_anew_between(x):
    y = x * x
    k = 0
    total = 0.0
    while k < 4:
        y[k] = y[k] * x[k]
        k += 1
        y[k] = y[k] * y[k]
        total += y[k] * y[k - 1]
    return total


@case(TABLE, VECTOR)
def rows_scaled_and_then_filled(a, x):
    for i in range(4):
        row = a[i, : i + 1]
        row *= x[0]
        for k in range(3):
            row += x[k] * x[: i + 1]
            row += x[k] * x[k] * x[1]
    return np.sum(a * a)


@case(TABLE)
def view_read_between_two_stores(a):
    total = 0.0
    for i in range(1, 4):
        above = a[i - 1]
        a[i] *= above
        total += np.sum(a[i] * above)
        a[i] = np.sin(a[i])
        a[i, 1:] += above[:-1] * a[i, 1:]
    return total + np.sum(a)


@case(TABLE, np.array([2, 0, 2]))
def places_from_an_array_stored_twice(a, places):
    for k in range(2):
        a[places] = a[places] * a[k]
        a[places] += np.cos(a[k])
    return np.sum(a * a)


@case(VECTOR)
def store_that_a_break_leaves(x):
    y = x * x
    total = 0.0
    for i in range(4):
        y[0] = y[0] * x[i]
        total += y[0] ** 2
        if i == 2:
            break
        y[0] = x[1] * y[1]
        total += y[0] ** 2
    return total + y[0] * y[0]


@case(np.outer(VECTOR, OTHER), 2)
def rows_that_a_loop_around_reads_again(a, trips):
    trip = 0
    while trip < trips:
        for i in range(2, 4):
            a[i + 1, i:] = 0.7 * a[i + 1, i:] + np.cos(a[i, i + 1])
        trip += 1
    return np.sum(a * a)


@case(TABLE, VECTOR)
def stored_by_an_inner_loop_up_to_the_outer(table, x):
    w = np.sin(x)
    s = 0.0
    for i in range(4):
        s += table[i, i] * w[i]
        for j in range(i):
            w[j] = table[i, j]
    return s + w @ w


@case(TABLE, VECTOR)
def stored_by_an_inner_loop_from_the_outer_on(table, x):
    w = np.sin(x)
    s = 0.0
    for i in range(3, -1, -1):
        s += table[i, i] * w[i]
        for j in range(i + 1, 5):
            w[j] = table[i, j] * w[j]
    return s + w @ w


@case(TABLE, VECTOR[:4])
def least_ways_counted_from_one(table, x):
    cost = np.zeros((5, 6))
    cost[0, 1:] = 3.0
    for i, y in enumerate(x, start=1):
        for j in range(5):
            k = j + 1
            cost[i, k] = (y - table[i - 1, j]) ** 2
            cost[i, k] += min(cost[i - 1, k], cost[i, k - 1], cost[i - 1, k - 1]) * y
    return np.sum(cost[1:] * cost[1:])


@case(TABLE, 0.7)
def row_before_read_through_a_view(table, c):
    for n in range(3):
        now = table[n]
        table[n + 1] = c * now * now[::-1] + now[0]
    return np.sum(table * table)


@case(VECTOR, 0.6, 3, 2)
def swept_between_two_reads(x, c, steps, sweeps):
    u = np.cos(x)
    total = 0.0
    for _ in range(steps):
        total += u @ u * u[2]
        for _ in range(sweeps):
            u[1:-1] = 0.5 * c * (u[2:] + u[:-2])
            u[0] = u[1]
    return total + np.sum(u)


@case(VECTOR, 0.6, (0, 2, 1))
def swept_as_often_as_told(x, c, often):
    u = np.cos(x)
    total = 0.0
    for n in often:
        total += u @ u
        while n > 0:
            u[1:] = c * u[:-1]
            n -= 1
        if total > 1.0:
            for _ in range(2):
                u[:-1] = c * u[1:]
    return total + np.sum(u)


@case(VECTOR, 0.6)
def changed_in_a_trip_before_it_is_swept(x, c):
    u = np.cos(x)
    total = u @ u
    for k in range(3):
        u[k] = c * u[k] * u[k]
        u[1:-1] = c * (u[2:] + u[:-2])
    return total + u @ u


@case(TABLE, 0.6)
def row_and_its_first_element_restored_in_one_loop(m, c):
    first = m[0] @ m[0] * m[0, 0]
    for i in range(1, 4):
        m[0] = c
        r = m[i - 1]
        r[0] += c
    return first + np.sum(m * m)


@case(VECTOR, 3)
def element_stored_by_the_trip_and_by_all(x, n):
    u = np.cos(x)
    s = u @ u * u[1]
    for i in range(n):
        u[1] = 2.0
        u[i] = 0.5
    return s


@case(VECTOR, 0)
def no_such_element_but_no_trip(x, n):
    u = np.cos(x[:2])
    s = u @ u
    for _ in range(n):
        u[3] = 1.0
    return s + np.sum(u)


@case(VECTOR, 0)
def no_such_array_but_no_trip(x, n):
    s = x @ x
    if n > 0:
        u = np.cos(x)
        s = s + u @ u
    for _ in range(n):
        u[1:-1] = s * u[2:]
    return s


@case(VECTOR, 3)
def copy_that_becomes_shorter(x, n):
    s = 0.0
    z = x.copy()
    for _ in range(n):
        t = x * x
        s += t[-1]
        z = z[:1]
    return s + z[0]


@case(VECTOR, 2)
def copy_made_behind_the_loop(x, n):
    s = x[0]
    for _ in range(n):
        t = np.zeros_like(x)
        for i in range(2):
            t[i] = s * x[i]
        s = t[0] + t[1]
    z = x.copy()
    z[0] = s
    return z @ z
