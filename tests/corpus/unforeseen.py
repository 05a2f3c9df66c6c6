"""Functions that nobody knows before the program runs: composed, rebound, kept, chosen by data, called for their effect."""

from __future__ import annotations

import functools

import numpy as np

from s2sgrad import grad, vjp

from .case import case

VECTOR = np.array([0.7, 1.3, 0.9])


def composed(f, g):
    return lambda t: f(g(t))


def scaled(w):
    def inner(t):
        return w * t

    return inner


def layers(ws):
    return [lambda t, w=w: np.tanh(t * w) for w in ws]


def times(u, c):
    u *= c


def plus(u, c):
    u += c


@case(VECTOR)
def composed_in_a_loop_over_functions(x):
    h = np.sin
    for g in (np.cos, scaled(x[1]), np.exp):
        h = composed(h, g)
    return h(x[0])


@case(VECTOR)
def composed_by_reduce(x):
    f = functools.reduce(composed, [np.sin, lambda t: t * x[1], np.cos])
    g = functools.reduce(lambda f, g: lambda t: g(f(t)), [np.sin, scaled(x[0])])
    return f(x[0]) * g(x[2])


@case(VECTOR)
def composed_by_reduce_from_a_first_one(x):
    return functools.reduce(lambda f, w: lambda t: f(t) * w, x, lambda t: t)(x[0])


@case(VECTOR)
def composed_while_data_says_so(x):
    h, k = scaled(x[2]), 0
    while h(1.0) < 3.0 and k < 4:
        h = composed(scaled(1.0 + x[k % 3]), h)
        k += 1
    return h(x[0])


@case(VECTOR)
def sum_of_functions_of_each_trip(x):
    def add(f, g):
        return lambda t: f(t) + g(t)

    total = lambda t: 0.0  # noqa: E731
    for k in range(3):
        total = add(total, lambda t, k=k: x[k] * t**k)
    return total(x[0])


@case(VECTOR)
def rebound_in_the_loop_that_calls_it(x):
    f = np.sin
    total = 0.0
    for k in range(3):
        total = total + f(x[k])
        f = lambda t: t * x[0]  # noqa: E731
    return total


@case(VECTOR)
def each_function_calls_the_one_before(x):
    before = lambda t: t  # noqa: E731
    total = 0.0
    for w in x:
        now = lambda t, w=w, before=before: before(t) * w  # noqa: E731
        total += now(0.5)
        before = now
    return total


@case(VECTOR)
def made_in_branches_and_composed(x):
    if x[0] > 0.0:
        g = composed(np.sin, scaled(x[1]))
    else:
        g = np.tanh
    return g(x[1] * x[0])


@case(VECTOR)
def list_that_a_branch_fills(x):
    fs = [np.sin]
    for k in range(3):
        if x[k] > 0.8:
            fs.append(lambda t, k=k: t * x[k])
    t = x[0]
    for f in fs:
        t = f(t)
    return t * fs[-1](2.0)


@case(VECTOR)
def list_made_by_a_helper(x):
    h = x[0]
    for layer in layers(x):
        h = layer(h)
    return h + sum(f(x[1]) for f in [scaled(w) for w in x])


@case(VECTOR)
def dict_of_functions_that_grows(x):
    acts = {"linear": lambda t: t * x[1]}
    acts["square"] = lambda t: t * t
    y = x
    for key in ("linear", "square", "linear"):
        y = y * acts[key](0.9)
    return np.sum(y)


@case(VECTOR)
def function_taken_off_a_list_and_dropped(x):
    h = np.tanh
    fs = [scaled(q) for q in x]
    if x[0] > 0.1:
        h = fs.pop() if len(fs) > 2 else np.cos
    f, h = h, np.cos
    return functools.reduce(composed, fs)(0.3) * h(x[0]) if f is not None else x[1]


@case(VECTOR)
def functions_taken_off_a_list(x):
    todo, t = [np.sin, np.cos, scaled(x[1])], x[0]
    while todo:
        t = todo.pop()(t)
    return t


@case(VECTOR)
def layers_of_matrices(x):
    weights = [(np.outer(x, x) * 0.1, x), (np.outer(x, x + 1.0) * 0.1, x * x)]
    net = [lambda h, w=w, b=b: np.tanh(w @ h + b) for w, b in weights]
    h = x
    for layer in net:
        h = layer(h)
    return np.sum(h)


@case(VECTOR)
def slope_of_what_a_loop_composed(x):
    h = np.sin
    for w in x:
        h = composed(h, scaled(w))
    y, pullback = vjp(h, x[0])
    return grad(h)(x[1]) * y * pullback(1.0)[0]


class Network:
    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)

    def run(self, t):
        for layer in self.layers:
            t = layer(t)
        return t


@case(VECTOR)
def layers_added_to_an_object(x):
    network = Network()
    for w in x:
        network.add(scaled(w))
    network.add(np.tanh)
    return network.run(0.8)


@case(VECTOR)
def kept_by_a_branch_of_the_loop_that_makes_it(x):
    total = 0.0
    for k in range(3):
        g = scaled(x[k])
        if k == 0:
            first = g
        total += first(2.0) * x[k]
    return total


@case(VECTOR)
def kept_within_another_in_a_branch(x):
    total = 0.0
    for k in range(3):
        g = lambda t, c=x[k]: t * c  # noqa: E731
        if k == 0:
            first, pair = composed(g, np.sin), (g, np.cos)
        total += first(2.0) * pair[0](x[k])
    return total


@case(VECTOR)
def writers_from_a_table(x):
    table = {"times": times, "plus": plus}
    y = x * 2.0
    for key in ("times", "plus"):
        table[key](y, x)
    for op in (plus, times):
        op(y, 0.5)
    return np.sum(y * y)


@case(VECTOR)
def writer_chosen_by_data(x):
    y = x * 2.0
    for k in range(3):
        op = times if x[k] > 0.8 else plus
        op(y, x[k])
    return np.sum(y * y)


class Scaled:
    def __init__(self, w):
        self.w, self.by = w, [w, w * w]

    def run(self, t):
        return self.w * np.tanh(t) + self.by[1]


@case(VECTOR)
def methods_of_new_objects_in_a_list(x):
    fs = [np.sin]
    for w in x:
        if w > 0.8:
            fs.append(Scaled(w).run)
        else:
            fs.append(lambda t, w=w: np.tanh(w * t))
    t = x[0]
    for f in fs:
        t = f(t)
    return t * fs[-1](x[1])


def same(v):
    return v


@case(VECTOR)
def unpacked_and_then_composed_in_a_loop(x):
    w, h = same((x[0], np.sin))
    for _ in range(3):
        h = composed(h, lambda t: 0.5 * t * x[1])
    return h(0.5) * w


@case(VECTOR)
def lambda_and_then_unpacked_under_one_name(x):
    h = lambda t: t * t * x[1]  # noqa: E731
    y = h(x[0])
    w, h = same((x[0], np.sin))
    return y + h(0.5) * w


@case(VECTOR)
def unpacked_and_in_a_branch_another_one(x):
    w, h = same((x[0], np.sin))
    if x[0] < 0.0:
        h = lambda t: t * t * x[1]  # noqa: E731
    return h(0.5) * w


@case(VECTOR)
def defaults_that_calls_give(x):
    fs = []
    for w in x:
        fs.append(lambda t, by=1.0, w=w: np.sin(w * t) * by)
    first, words = (x[1],), {"w": x[2]}
    return sum(f(0.2, x[0]) * f(t=0.5, by=2.0) for f in fs) + fs[0](x[2], w=x[1]) + fs[1](*first, **words)


@case(VECTOR)
def functions_as_defaults_that_calls_give(x):
    f, w = np.sin, x[0]
    fs = []
    for k in range(3):
        fs.append(lambda t, f=f, k=k: f(w * t) * x[k])
        f = fs[k]
        w = w * x[1]
    return fs[2](0.3) + fs[2](0.4, np.cos) * fs[1](x[2], f=fs[0]) + fs[0](x[0], k=2)
