"""Lists, dicts and arrays that stand in lists and dicts, and are written there."""

from __future__ import annotations

import numpy as np

from .case import case


@case(0.6)
def table_filled_by_row_and_column(x):
    m = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            m[i][j] = x * (i + 2 * j) + 1.0
    return m[0][1] * m[1][1]


@case(np.array([0.3, 0.5, 0.7]))
def table_of_a_dynamic_program(x):
    n = len(x)
    best = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            best[i][j] = x[i] * x[j] + (best[i - 1][j] if i > 0 else 0.0)
    return best[2][1] * best[1][1]


@case(0.6)
def items_of_rows_updated(x):
    m = [[x, 1.0], [2.0, x]]
    for _ in range(3):
        m[0][1] += m[1][0] * x
        m[1][0] *= x
    return m[0][1]


@case(0.6)
def row_under_a_name(x):
    m = [[x, 1.0], [2.0, x]]
    row = m[1]
    row[0] = x * x
    row[1] = row[0] * 3.0
    return m[1][1] * m[1][0] + m[0][0]


@case(0.6)
def row_read_under_a_name_that_sees_the_store(x):
    m = [[x, 1.0], [2.0, x]]
    row = m[0]
    m[0][1] = x * x
    return row[1] * row[0]


@case(0.6)
def rows_written_in_a_for(x):
    m = [[x, 1.0], [2.0, x]]
    for row in m:
        row[0] = row[0] * x
    return m[0][0] * m[1][0]


@case(0.6)
def index_of_a_row_bound_anew(x):
    m = [[x, 1.0], [2.0, x]]
    i = 0
    row = m[i]
    i = 1
    row[0] = x * x
    return m[i - 1][0] * m[i][0]


@case(0.6)
def three_deep(x):
    m = [[[x, 1.0], [2.0, x]], [[x, x], [1.0, 1.0]]]
    m[0][1][0] = x * x
    m[1][0][1] = m[0][1][0] * x
    return m[1][0][1] * m[0][0][0]


@case(0.6)
def dict_of_dicts_with_a_new_key(x):
    d = {"a": {"u": x}, "b": {"u": 1.0}}
    d["a"]["u"] = x * x
    d["b"]["v"] = d["a"]["u"] * 3.0
    return d["a"]["u"] * d["b"]["v"]


@case(0.6)
def arrays_in_a_list_written(x):
    m = [np.zeros(2), np.ones(2)]
    m[0][1] = x
    m[1][0] = m[0][1] * x
    return np.sum(m[0]) * np.sum(m[1])


@case(0.6)
def array_in_a_dict_written_and_updated(x):
    d = {"a": np.zeros(2)}
    d["a"][0] = x * x
    d["a"] += x
    return np.sum(d["a"] ** 2)


@case(0.6)
def repeated_positions_in_an_array_of_a_list(x):
    m = [np.ones(3)]
    m[0][[0, 2, 0]] = np.array([x, x * x, 3.0 * x])
    return np.sum(m[0] ** 2)


@case(0.6)
def update_of_an_item_seen_by_another_name(x):
    d = {"a": np.array([1.0, 2.0]) * x}
    w = d["a"]
    d["a"] += x
    return np.sum(w**2)


@case(0.6)
def product_of_an_item_seen_by_another_name(x):
    m = [np.ones(2) * x]
    w = m[0]
    m[0] *= x
    return np.sum(w**2)


@case([[1.0, 2.0], [3.0, 4.0]], 0.7)
def rows_of_an_argument(m, x):
    m[0][1] = m[1][0] * x
    return m[0][1] * m[0][0]


@case(0.6)
def inserted_taken_and_turned(x):
    xs = [x, 2.0 * x]
    xs.insert(0, x * x)
    y = xs.pop(1)
    xs.reverse()
    xs.append(y)
    return xs[0] * xs[1] + xs.pop(-3)


@case(0.6)
def queue_of_a_search(x):
    queue, total, n = [x], 0.0, 0
    while queue and n < 6:
        v = queue.pop(0)
        total += v
        if n < 3:
            queue.append(v * x)
            queue.append(v * 0.5)
        n += 1
    return total


@case(0.6)
def defaults_of_a_dict(x):
    d = {}
    for i in range(5):
        d.setdefault(i % 2, x)
        d[i % 2] *= x
    if d.setdefault("c", 3.0 * x) > 0.0:
        return d[0] + d[1] * d["c"]
    return x


@case(0.6, second=False)
def dict_updated_and_joined(x):
    d = {"a": 1.0}
    e = d
    e.update(a=x * x, b=3.0 * x)
    e.update({k: v * 2.0 for k, v in d.items()})
    e.update(zip(["c"], [x], strict=True))
    joined = {**d, "b": x, **{"f": d["b"]}}
    return joined["a"] * joined["b"] + joined["f"] * d["c"]


@case(0.6)
def keyword_arguments_taken_off(x):
    def inner(**options):
        rate = options.pop("rate", 2.0)
        return rate * options.pop("weight") * x

    return inner(weight=x)


@case(0.6)
def groups_that_grow_in_a_dict(x):
    groups = {}
    for i in range(5):
        groups.setdefault(i % 2, []).append(x * i + x)
    return sum(groups[0]) * sum(groups[1])


@case(0.6)
def history_of_a_descent(x):
    history = {"loss": [], "w": []}
    w = x
    for _ in range(4):
        history["loss"].append((w - 1.0) ** 2)
        w = w - 0.2 * (w - 1.0)
        history["w"].append(w)
    return history["loss"][-1] + sum(history["w"])


@case(0.6)
def lists_of_neighbours(x):
    near = [[] for _ in range(3)]
    for i, j in [(0, 1), (1, 2), (0, 2)]:
        near[i].append(x * j)
        near[j].append(x * x * i)
    return sum(sum(a) for a in near)


@case(0.6)
def from_one_stack_to_another(x):
    stacks = [[x, x * x], [2.0]]
    v = stacks[0].pop()
    stacks[1].append(v * x)
    return stacks[1][1] * stacks[0][0]


@case(0.6)
def list_in_a_dict_extended_by_an_operator(x):
    d = {"a": [x]}
    d["a"] += [x * x, x]
    return d["a"][1] * d["a"][2]


def turned(values):
    values.reverse()


def turned_twice(values):
    turned(values)
    values.insert(0, values[0] * 2.0)
    turned(values)


def taken(options):
    return options.pop("a", 0.0)


@case(0.6)
def helper_that_turns_a_list(x):
    a = [x, x * x]
    turned(a)
    b = [x, 2.0, a[0]]
    turned_twice(b)
    return a[0] * b[0] + b[3]


@case(0.6)
def helper_that_takes_from_a_dict(x):
    d = {"a": x, "b": x * x}
    total = taken(d)
    for k in d:
        total = total + d[k] * 2.0
    return total


@case(0.6, second=False)
def empty_list_in_dicts_that_grows(x):
    d = {"a": {"b": []}}
    d["a"]["b"].append(x)
    e = {}
    e.setdefault("a", {}).setdefault("b", []).append(x * x)
    f = {"a": {}}
    f["a"]["b"] = []
    f["a"]["b"].append(x)
    return d["a"]["b"][0] * e["a"]["b"][0] + f["a"]["b"][0]


@case(0.6)
def update_with_what_the_dict_holds(x):
    d = {"a": x, "b": x * x}
    d.update(a=d["b"], b=d["a"])
    d.update({"a": d["b"], "b": d["a"] * 3.0})
    d.update({"a": d["b"]}, b=d["a"])
    d.update([(k, d["a"]) for k in ("a", "c")])
    return d["a"] + 3.0 * d["b"] * d["c"]


@case(0.6)
def dict_cleared(x):
    d = {"a": x, 1: x * x}
    d.clear()
    d["b"] = x * 3.0
    return d["b"]


@case(0.6)
def comprehension_for_its_effects(x):
    values = []
    [values.append(v) for v in (x, x * x) if v > 0.0]
    list(map(values.append, (3.0 * x, 2.0)))
    return values[0] * values[1] * values[2]


@case(0.6)
def two_names_before_one_is_bound_anew(x):
    y = [x]
    z = y
    y = y + [x * x]
    z.append(x * 3.0)
    return y[1] * z[1]


def table_of_products(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] ** 2
    return np.array(rows)


@case(np.array([0.3, 0.5, 0.7]))
def array_of_a_table_that_is_filled(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] ** 2
    return np.array(rows)


@case(np.array([0.3, 0.5, 0.7]))
def array_of_a_table_beside_another_of_the_same_cotangent(x):
    other = np.outer(x[:2], x[1:])
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] ** 2
    return np.sum(np.sin(np.array(rows) + other))


@case(np.array([0.3, 0.5, 0.7]))
def table_of_a_helper_beside_another_of_the_same_cotangent(x):
    return np.sum(np.sin(table_of_products(x) + np.outer(x[:2], x[1:])))


@case(np.array([0.3, 0.5, 0.7]))
def array_of_a_table_whose_rows_grow(x):
    rows = [[], []]
    for i in range(2):
        for j in range(2):
            rows[i].append(x[i] * x[j] ** 2)
    return np.sum(np.sin(np.array(rows) + np.outer(x[:2], x[1:])))


@case(np.array([0.3, 0.5, 0.7]), second=False)
def array_of_a_list_of_arrays_that_are_written(x):
    rows = [x[:2] * 1.0, x[:2] * 2.0]
    rows[0][1] = x[2]
    rows.append(x[1:])
    rows.pop()
    return np.sum(np.sin(np.array(rows) + np.outer(x[:2], x[1:])))
