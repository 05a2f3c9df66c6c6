"""Objects of the user's subclasses of `list` and `dict`: what they inherit, override and add."""

from __future__ import annotations

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


class Vec(list):
    def dot(self, other):
        return sum(a * b for a, b in zip(self, other))  # noqa: B905

    def __add__(self, other):
        return Vec([a + b for a, b in zip(self, other)])  # noqa: B905

    def __mul__(self, k):
        return Vec([a * k for a in self])

    __rmul__ = __mul__


class Row(list):
    def copy(self):
        return self


class Ring(list):
    def __getitem__(self, k):
        return list.__getitem__(self, k % len(self))


class Doubling(list):
    def __init__(self, n, v):
        for k in range(n):
            self.append(v * k)
        self.total = sum(self)

    def append(self, v):
        super().append(v * 2.0)


class Weights(dict):
    def total(self):
        return sum(self.values())

    def scaled(self, k):
        return Weights({n: v * k for n, v in self.items()})


@case(VECTOR)
def operators_of_a_list_of_a_class_of_its_own(x):
    v = Vec(x)
    w = 2.0 * v + v * x[0]
    return w.dot(v) * v[0] + len(w) * max(w)


@case(VECTOR)
def overridden_copy_of_a_list_that_holds_an_array(x):
    y = x * 2.0
    row = Row([y])
    row.copy()[0] *= x[1]
    row[0][1:] = 3.0
    return np.sum(y * row[0]) + len(row)


@case(VECTOR)
def overridden_index_of_a_list(x):
    r = Ring([x[0], x[1]])
    r[0] = x[2] * r[3]
    return r[2] * r[5] * r[-1] + sum(r)


@case(VECTOR)
def overridden_append_that_extend_does_not_call(x):
    d = Doubling(3, x[1])
    d.extend([x[0]])
    d.append(x[2])
    return d.total * d[2] * d.pop() + d[-1] * len(d)


@case(VECTOR)
def lists_of_a_class_of_its_own_in_a_list(x):
    vs = [Vec([v, v * x[0]]) for v in x]
    total = Vec([0.0, 0.0])
    for v in vs:
        v.append(x[1])
        total = total + v
    vs[0][1] = 7.0
    return total.dot(vs[0]) + sum(vs[2]) * np.sum(np.array(vs[1])) + np.dot(vs[1], vs[2])


@case(VECTOR)
def dict_of_a_class_of_its_own(x):
    m = Weights({"a": x[0]}, b=x[1])
    m["b"] *= x[2]
    for name, v in m.scaled(x[0]).items():
        m[name] = m[name] + v
    m.update({"c": x[2]})
    return m.total() * m.get("c", 1.0) + m.get("d", x[0]) * len(m) + dict(m)["a"]


@case(VECTOR)
def dicts_of_a_class_of_its_own_in_a_list(x):
    ms = [Weights({"a": v, "b": x[1]}) for v in x]
    total = 0.0
    for m in ms:
        total += m["a"] * m.total()
        m["a"] = total
    return total + ms[0]["a"] * ms[1].total()
