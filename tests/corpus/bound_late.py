"""Functions that nobody knows before the program runs, which read what is bound anew or written while they live."""

from __future__ import annotations

import numpy as np

from .case import case

VECTOR = np.array([0.7, 1.3, 0.9])


def composed(f, g):
    return lambda t: f(g(t))


def weighted(u):
    return lambda t: np.tanh(t * np.sum(u))


def applied(fs, t):
    for f in fs:
        t = np.tanh(f(t))
    return t


@case(VECTOR)
def all_functions_of_a_loop_read_its_last_item(x):
    fs = []
    for w in x:
        fs.append(lambda t: w * t)
    return fs[0](x[1]) * fs[-1](x[0])


@case(1.5)
def rebound_between_two_calls(x):
    w = x
    fs = [np.sin]
    for _ in range(2):
        fs.append(lambda t: w * t)
    y = fs[1](2.0)
    w = w * w
    return y + fs[2](3.0)


@case(VECTOR)
def composed_with_what_a_loop_binds_anew(x):
    w, h = x[0], np.sin
    for _ in range(3):
        h = composed(h, lambda t: w * t)
        w = w * x[1]
    return h(0.5) * w


@case(VECTOR)
def two_functions_of_one_variable_in_turn(x):
    s = 0.3
    table = {"a": lambda t: s * t, "b": lambda t: np.sin(s + t)}
    for name in ["a", "b", "a"]:
        s = s + table[name](x[1])
    return table["b"](x[2]) * s


@case(VECTOR)
def array_written_between_two_calls(x):
    u = x * 2.0
    fs = [np.sin]
    fs.append(lambda t: np.sum(u) * t)
    y = 0.0
    for f in fs:
        y = y + f(x[0])
    u[0] = x[1] * x[2]
    u *= 1.5
    for f in fs:
        y = y + f(x[1])
    return y


@case(VECTOR)
def list_of_functions_that_one_of_them_calls(x):
    w = 1.0
    fs = [np.sin, lambda t: t * w]
    fs[0] = lambda t: np.sin(fs[1](t) * w)
    w = x[1]
    y = fs[0](x[0])
    fs[1] = np.cos
    w = w * 2.0
    return y + fs[0](x[2])


@case(VECTOR)
def box_that_is_filled_anew(x):
    fs, box = [np.sin], [x[0]]
    for _ in range(3):
        fs.append(lambda t: box[0] * t)
        box[0] = box[0] * x[1]
    return sum(f(x[2]) for f in fs)


@case(VECTOR)
def handed_to_another_function_while_it_is_bound_anew(x):
    w, fs = x[0], [np.sin]
    for _ in range(2):
        fs.append(lambda t: t * w)
        w = (w + 0.3) * applied(fs, x[1])
    return w * fs[1](x[2])


@case(VECTOR)
def kept_as_a_default_of_another_one(x):
    w, f = x[0], np.tanh
    for _ in range(2):
        f = lambda t, f=f: np.sin(f(t) + w)  # noqa: E731
        w = w * f(x[2])
    return f(x[1])


@case(VECTOR)
def written_list_that_a_function_was_given(x):
    u = [x[0], x[1]]
    fs = [np.sin, weighted(u)]
    y = fs[1](x[2])
    u[0] = y * x[1]
    return y + fs[-1](x[0])


class Spring:
    def __init__(self, length, force=0.5):
        self.length, self.force, self.log = length, force, []

    def note(self):
        self.log.append(self.length * self.force)

    def __call__(self, t):
        return np.sin(self.length * t) + self.force


@case(VECTOR)
def functions_that_ask_objects_which_change(x):
    springs = [Spring(v) for v in x]
    fs = []
    for p in springs:
        if p.length > 0.8:
            fs.append(lambda t: p(t) * 0.5)
        p.length *= 1.3
    s = x[0]
    for f in fs:
        s = s + f(x[2])
    return s


@case(VECTOR)
def functions_that_ask_lists_of_objects(x):
    springs = [Spring(v) for v in x]
    fs = []
    for p in springs:
        if p.length > 0.8:
            fs.append(lambda t: sum(p.log) * t)
        p.note()
    s = x[0]
    for f in fs:
        s = s + f(x[2]) * 0.5
        springs[2].log.append(s)
    return s


@case(VECTOR)
def functions_that_have_what_objects_held(x):
    springs = [Spring(v) for v in x]
    fs = []
    for p in springs:
        if p.length > 0.8:
            fs.append(lambda t, r=p.length: r * t)
        p.note()
    springs[1].length *= x[0]
    return sum([f(x[2]) for f in fs]) + sum(springs[0].log) * springs[1].length


@case(VECTOR)
def number_updated_by_functions_of_a_list(x):
    s, fs = 0.3, [np.sin, np.tanh]
    for w in x:
        fs.append(lambda t, w=w: w * t)
    for f in fs:
        s += 0.3 * f(s) * f(x[0])
    return s


@case(VECTOR)
def a_list_of_functions_one_of_which_reads_the_list(x):
    fs = [np.sin, np.tanh]
    fs[0] = lambda t, g=np.cos: np.sin(g(t) + fs[-1](x[1]))
    return fs[0](x[0])


def puts(u, e):
    u[1] = e


@case(VECTOR)
def a_captured_array_is_written_by_a_function(x):
    u, fs = x * 0.7, [np.sin]
    if x[1] < 1.0:
        fs.append(lambda t: np.tanh(t * u[1]))
    puts(u, fs[-1](x[0]))
    return fs[-1](x[2]) * u[0]


def same(v):
    return v


@case(VECTOR)
def functions_come_back_from_functions_while_a_variable_is_bound_anew(x):
    w, s = x[0], 0.3
    g = lambda t: np.sin(w * t)  # noqa: E731
    for k in range(3):
        g, w = same((g, np.tanh(g(s) + x[k])))
        s = s + g(w)
    return s + g(x[1])


@case(VECTOR)
def function_of_a_list_bound_before_and_changed_after(x):
    fs = [np.tanh, np.sin]
    total = fs[1](x[0])
    fs = [scaled(c) for c in x]
    if total > -9.0:
        f = summed_up(fs)
        fs.append(np.cos)
    return f(x[0]) * total


def scaled(c):
    return lambda t: np.sin(c * t)


def summed_up(fs):
    return lambda t: np.tanh(sum(q(t) for q in fs))


class Weight:
    def __init__(self, w):
        self.w = w


@case(VECTOR)
def object_of_a_loop_is_read_by_a_function_after_a_loop_under_a_test(x):
    ps = [Weight(x[0]), Weight(x[1])]
    for p in reversed(ps):
        g = lambda t: np.sin(p.w * t)  # noqa: E731
    if x[2] > 5.0:
        for p in ps:  # noqa: B007
            pass
    return g(x[2])
