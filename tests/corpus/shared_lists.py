"""Two names of one list, lists of the caller, and lists that functions keep, change and return."""

import itertools

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])


@case(1.3)
def two_names_of_one_list(x):
    a = [x]
    b = a
    b.append(x * x)
    a[0] = a[0] * 3.0
    return b[0] * b[1]


@case(1.3)
def appended_through_two_names(x):
    a = [x]
    b = a
    a.append(x * x)
    b.append(x * a[1])
    return a[2] * b[0] + len(a) * x


@case(1.3)
def written_through_two_names(x):
    a = [x, x * x]
    b = a
    for _ in range(3):
        a[0] = b[1] * x
        b[1] = a[0] + 1.0
    return a[1] * b[0]


@case(1.3)
def update_in_place_is_seen_by_the_other_name(x):
    a = [x]
    b = a
    a += [x * x]
    c = b + [x**3]
    b.append(4.0)
    return c[1] * b[1] * len(c) + c[2]


@case(1.3)
def list_in_a_closure(x):
    log = []

    def f(v):
        log.append(v)
        return v * v

    y = f(x) + f(2.0 * x)
    return y * log[1] + len(log)


@case(1.3)
def list_that_a_function_returns_is_written(x):
    def powers(v):
        out = []
        for k in range(3):
            out.append(v**k)
        return out

    ps = powers(x)
    ps[0] = ps[1] * ps[2]
    return sum(ps) * ps[0]


def pushed(stack, v):
    stack.append(v)
    return stack


@case(1.3)
def list_given_to_a_helper_that_appends(x):
    s = pushed([x], x * x)
    s = pushed(s, s[1] * 2.0)
    return s[2] * s[0]


@case(1.3)
def default_list_is_shared_by_the_calls(x):
    def f(v, kept=[]):  # noqa: B006
        kept.append(v)
        return sum(kept)

    a = f(x)
    return a * f(x * x)


@case(1.3, [1.0, 2.0, 3.0])
def list_of_the_caller_stays_as_it_is(x, ws):
    ws.append(x)
    ws[0] = ws[1] * x
    return sum(ws) * ws[0]


@case(1.3, [1.0, 2.0, 3.0])
def list_of_the_caller_holds_constants(x, ws):
    ws.append(4.0)
    ws[0] = 5.0
    return x * sum(ws)


@case(1.3, [[1.0], [2.0]])
def rows_of_the_caller(x, rows):
    return sum(r[0] * x**k for k, r in enumerate(rows))


@case(1.3)
def two_lists_change_places(x):
    a, b = [x], [x * x]
    for _ in range(3):
        a.append(b[-1] * x)
        a, b = b, a
    return a[-1] + b[-1] * a[0]


@case(1.3)
def list_comes_back_from_a_function(x):
    def f(a):
        a.append(x)
        return a

    a = [2.0 * x]
    b = f(a)
    b[0] = b[0] * x
    return a[0] * a[1]


@case(np.array([0.3, 0.7, 1.1]))
def appended_to_under_another_name_and_asked_by_the_first(v):
    d = {"a": [v[0], v[2]], "b": v[1] * v[2]}
    d["b"] = v[0] * 0.5
    ws = d["a"]
    ws.append(d["a"][0] * 0.5)
    return v[1] * ws[1] + ws[0] * ws[0]


@case(VECTOR)
def iterators_see_what_is_stored_meanwhile(v):
    xs = [v[0], v[1], v[2]]
    backwards = reversed(xs)
    again = itertools.cycle(xs)
    total = next(backwards) * next(again)
    xs[1] = v[0] * v[2]
    total = total + next(backwards) * next(again) ** 2
    xs[0] = 0.5
    return total * next(again) * next(again) * next(backwards)


@case(VECTOR, None)
def slices_of_an_iterator_up_to_a_bound_that_may_be_none(v, n):
    total = 0.0
    for bound in (1, n):
        items = iter(v)
        for t in itertools.islice(items, bound):
            total = total * 2.0 + t * t
    return total


@case(VECTOR)
def iterators_that_ended_see_nothing_new(v):
    xs = [v[0], v[1], v[2]]
    ys = xs
    items = iter(xs)
    backwards = reversed(xs)
    total = next(backwards)
    for t in items:
        total = total * 2.0 + t
    ys.append(v[0] ** 2)
    total = total + next(items, 5.0) * v[1]
    ys.pop()
    ys.pop()
    ys.pop()
    total = total + next(backwards, 7.0) * v[2]
    ys.append(v[2])
    return total + next(backwards, 0.5) * v[0]


@case(VECTOR)
def list_that_a_closure_gives_is_drawn_from(v):
    out = [v[0], v[1]]

    def handed():
        return out

    ys = handed()
    items = iter(ys)
    total = 0.0
    for t in items:
        total = total * 2.0 + t
    out.append(v[2] ** 2)
    return total * next(items, v[2])


@case(1.3)
def rows_are_written_where_a_sorted_list_has_them(x):
    rows = [[x, x * x], [x + 1.0, 2.0 * x], [0.5 * x, x]]
    for row in sorted(rows, key=lambda r: r[0]):
        row[1] = row[0] * x
    return rows[0][1] * rows[1][1] + rows[2][1]


@case(VECTOR)
def row_is_written_where_a_sorted_list_has_it_and_each_is_summed(x):
    rows = [[x[0], x[1] * x[2]], [x[2], 0.8], [x[1] * x[0], x[1]]]
    pick = sorted(rows, key=lambda r: r[0])
    pick[0][0] = x[1] * x[0]
    return pick[2][0] * rows[0][0] + sum([sum(r) for r in rows])


@case(1.3)
def entry_of_the_best_dict_is_written(x):
    rows = [{"k": x, "w": x * x}, {"k": x + 1.0, "w": 2.0 * x}]
    best = sorted(rows, key=lambda r: r["w"])[0]
    best["k"] = best["w"] * x
    return rows[0]["k"] * rows[1]["k"]


# An item of a list or dict keeps its memory when another takes its place, by whatever name of the list that is stored.


@case(VECTOR)
def item_kept_while_another_takes_its_place_in_the_row(x):
    rows = [[x * 1.5, x * x], [x + 1.0]]
    row = rows[0]
    kept = row[0]
    rows[0][0] = np.sin(x)
    kept *= x
    return np.sum(kept * x) + np.sum(row[0] * rows[0][0])


@case(VECTOR)
def item_kept_while_a_loop_over_rows_replaces_it(x):
    rows = [[x * 1.5, x * x], [x + 1.0]]
    row = rows[0]
    kept = row[0]
    for r in rows:
        r[0] = np.sin(x)
    kept *= x
    return np.sum(kept * x) + np.sum(row[0] * rows[0][0])


@case(VECTOR)
def item_kept_while_a_callee_replaces_it(x):
    rows = [[x * 1.5, x * x], [x + 1.0]]
    row = rows[0]
    kept = row[0]
    first_replaced(rows[0], np.sin(x))
    kept *= x
    return np.sum(kept * x) + np.sum(row[0] * rows[0][0])


def first_replaced(row, v):
    row[0] = v


@case(VECTOR)
def item_kept_while_it_is_replaced_by_a_second_name(x):
    d = {"b": [x * 1.5, x * 2.0]}
    one, other = d["b"], d["b"]
    kept = one[0]
    other[0] = np.sin(x)
    kept *= 0.8
    return np.sum(kept * x) + np.sum(one[0] * x)


@case(VECTOR, second=False)  # what puts the item back in `held["k"]` is seen by `d` (docs/limits.md)
def item_kept_while_it_is_replaced_in_a_dict_that_holds_the_dict(x):
    d = {"a": x * 1.5}
    held = {"k": d}
    kept = d["a"]
    held["k"]["a"] = np.sin(x)
    kept *= x
    return np.sum(kept * x) + np.sum(d["a"] * x)


@case(VECTOR)
def item_exchanged_with_a_name(x):
    m = np.outer(x, x) * 0.7
    w, z = x * x, m[:, 2]
    xs, d = [x * 1.0, m[2]], {"b": [x * 3.0, z]}
    d["b"][0], w = w, d["b"][0]
    xs[-1] *= 0.8
    return np.sum(w * z * z) + np.sum(m * m.T) + np.sum(m[0] * m[2])


# What is put into a list by one name of it is found, and written, by the others.


@case(VECTOR)
def put_into_a_row_and_written_by_its_rows(x):
    rows = [[x * 1.5]]
    row = rows[0]
    w = np.sin(x)
    row[0] = w
    rows[0][0] *= x
    return np.sum(w * x)


@case(VECTOR)
def put_into_rows_and_written_by_a_row(x):
    rows = [[x * 1.5]]
    row = rows[0]
    w = np.sin(x)
    rows[0][0] = w
    row[0] *= x
    return np.sum(w * x)


@case(VECTOR)
def put_into_one_of_two_lists_and_written_by_its_name(x):
    a, b = [x * 1.0, x], [x * 2.0, x]
    chosen = a if x[0] > 0.1 else b
    w = np.sin(x)
    chosen[1] = w
    a[1] *= x
    return np.sum(w * x) + np.sum(b[0])


@case(VECTOR)
def put_into_a_list_in_a_tuple(x):
    t = ([x * 1.0], x)
    first = t[0]
    w = np.sin(x)
    t[0][0] = w
    first[0] *= x
    return np.sum(w * t[1])


@case(VECTOR)
def last_item_kept_while_the_list_grows_in_a_tuple(x):
    z = x * 1.5
    q = [z, x * 1.0]
    t = (q, x)
    z *= np.sin(x[0])
    z = t[0][-1]
    t[0].append(x * x)
    return np.sum(q[-1] * x) + np.sum(q[0] * t[0][-1]) + np.sum(z * x)


@case(VECTOR, 0.4, second=False)
def array_and_list_in_a_list_of_which_one_grows(x, c):
    xs = [x[0], c, x[1] * c]
    parts = [x, xs]
    xs.append(c * 0.5)
    total = 0.0
    for part in parts:
        for item in part:
            total = total + item * item * c
    return total
