"""Lists and dicts that hold numbers beside arrays: joined, copied and written; what a callee hands on of its arguments."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])


@case(VECTOR)
def joined_with_a_number(x):
    a = x * 1.5
    w = [a[0] * 2.0] + [a]
    w[1][0] *= w[0]
    return np.sum(w[1] * a) * w[0]


@case(VECTOR)
def joined_with_a_constant(x):
    a = x * 1.5
    w = [a].__add__([1.0])
    w[0][1] *= w[1] * a[0]
    return np.sum(w[0] * a)


@case(VECTOR)
def joined_to_a_list_of_constants(x):
    t = [2.0, 1.0]
    w = t + [x * 2.0]
    w[1] = w[1] * x[2]
    w[2][0] *= w[1]
    return np.sum(w[2] * x) * w[1] * t[1] * w[0]


@case(VECTOR)
def copied_list_of_constants(x):
    t = [np.ones(3), 2.0]
    w = list(t)
    w[0][1] = x[0] * x[1]
    w[1] = w[1] * x[2]
    return np.sum(w[0] * t[0] * x) * w[1] * t[1]


@case(VECTOR)
def number_of_a_copy_bound_anew(x):
    a = x * 1.5
    u = [a[0] * 2.0, a]
    w, v = list(u), u.copy()
    w[1][0] *= w[0]
    w[0] = w[0] * v[0]
    v[0] = 3.0
    return np.sum(w[1] * a) * w[0] * u[0] + v[0] * v[1][1]


@case(VECTOR)
def rest_of_a_mixed_list(x):
    a = x * 1.5
    u = [a[1], a[0] * 2.0, a]
    w = u[1:]
    w[1][0] *= w[0]
    return np.sum(w[1] * a) * w[0] * u[0]


@case(VECTOR)
def mixed_list_repeated(x):
    a = x * 1.5
    u = [a[0] * 2.0, a]
    w = u * 2
    w[3][0] *= w[0]
    w[2] = w[2] * w[0]
    return np.sum(w[1] * a) * w[0] * u[0] * w[2]


@case(VECTOR, second=False)
def copy_of_a_mixed_dict(x):
    a = x * 1.5
    u = {"s": a[0] * 2.0, "a": a}
    w = dict(u)
    w["a"][0] *= w["s"]
    w["s"] = w["s"] * w["s"]
    return np.sum(w["a"] * a) * w["s"] * u["s"]


@case(VECTOR, second=False)
def mixed_lists_joined_in_a_loop(x):
    a = x * 1.5
    u = [a[0] * 2.0, a]
    for _ in range(3):
        w = u + [a[2]]
        w[1][0] *= w[0]
        w[2] *= w[0]
        u = w[:2]
        u[0] = w[2]
    return np.sum(w[1] * a) * w[0] * u[0]


@case(VECTOR)
def pairs_of_names_and_values(x):
    a = x * 1.5
    w = list({"array": a, "number": a[1] * 2.0}.items())
    w[0][1][0] *= 3.0 * w[1][1]
    return np.sum(w[0][1] * a)


@case(VECTOR)
def lists_in_a_copied_list(x):
    a = x * 1.5
    u = [[a[0] * 2.0, a], a]
    w = list(u)
    w[0][1][0] *= w[0][0]
    w[0][0] = w[0][0] * 2.0
    return np.sum(w[1] * a) * w[0][0] * u[0][0]


@case(VECTOR)
def special_methods_called_by_name(x):
    a = x * 1.5
    z = [a, 1.0].__getitem__(0)
    v = getattr([z], "__getitem__")(0)  # noqa: B009
    v[0] = 2.0
    return np.sum(z * a)


@case(VECTOR)
def items_of_dicts_in_the_text(x):
    a = x * 1.5
    z = {"a": a, "b": x}.get("a")
    w = dict(enumerate([z]))
    w[0][...] *= 2.0
    v = dict.fromkeys(["p", "q"], {"a": a}.pop("a"))
    v["p"][1:] *= v["q"][0]
    return np.sum(z * a)


@case(VECTOR)
def items_put_and_shuffled(x):
    a = x * 1.5
    w = [a, 0.0]
    np.place(w[0], w[0] > 1.0, [0.4])
    np.random.default_rng(0).shuffle(w[0])
    return np.sum(w[0] * a * x)


@case(VECTOR)
def item_stored_into_itself(x):
    a = x * 1.5
    w = [a, a]
    z = w[0] if x[0] > 0 else w[1]
    z[...] = z
    return np.sum(a * a)


@case(VECTOR)
def updated_item_of_a_chosen_place(x):
    a = x * 1.5
    w = [a, a]
    z = w[0] if x[0] > 0 else w[1]
    np.add.at(z, [0], x[1])
    return np.sum(a * a)


def repeated(v, n):
    out = []
    for _ in range(n):
        out.append(v)
    return out


def under_keys(v, keys):
    out = {}
    for key in keys:
        out[key] = v
    return out


@case(VECTOR)
def list_that_a_callee_fills_with_what_it_is_given(x):
    a = x * 1.5
    z = np.split(repeated(a, 2)[0], 1)[0]
    z[0] = 0.7
    return np.sum(a * a)


@case(VECTOR)
def dict_that_a_callee_fills_with_what_it_is_given(x):
    a = x * 1.5
    w = under_keys(a, [0, 1])
    z = np.broadcast_arrays(w[0], w[0])[0]
    np.multiply(z, 0.7, out=z)
    return np.sum(a * a)


@case(VECTOR)
def array_of_a_tuple_that_is_read_in_sections(x):
    pair = (x[0], x[1] * x[2])
    a = np.array(pair)
    total = np.sum(np.sin(a[:1]))
    for k in range(2):
        total = total + np.sum(a[k:] * x[k])
    return total * pair[1]


@case(VECTOR)
def last_item_behind_a_pop_under_a_condition(x):
    a = x * 1.5
    u = [a, a[0] * 2.0]
    if x[0] < 1.0:
        u.pop()
    u[-1][0] *= x[1]
    return np.sum(a * x)


@case(VECTOR)
def number_of_items_behind_a_pop_of_another_name(x):
    u = [x * 1.5, x[0]]
    w = u
    if x[0] < 1.0:
        w.pop()
    return np.sum(u[-1] * x) * len(u)
