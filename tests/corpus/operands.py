"""Objects with operators that stand in lists, dicts and attributes, have several names and are accumulated in loops."""

from __future__ import annotations

import math

import numpy as np

from .case import case

X = np.array([0.4, 0.7, 1.1, 0.9])


class Vector:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Vector(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Vector(self.a * k, self.b * k)

    def __rmul__(self, k):
        return Vector(self.a * k, self.b * k * 2.0)

    def __neg__(self):
        return Vector(-self.a, -self.b)

    def __sub__(self, other):
        return self + (-other)

    def __iadd__(self, other):
        self.a += other.a
        self.b += other.b * 1.5
        return self

    def __matmul__(self, other):
        return self.a * other.a + self.b * other.b

    def __getitem__(self, i):
        return self.a if i == 0 else self.b

    def __setitem__(self, i, value):
        if i == 0:
            self.a = value
        else:
            self.b = value

    def __len__(self):
        return 2

    def __eq__(self, other):
        return self.a == other.a and self.b == other.b

    def __lt__(self, other):
        return self.a < other.a

    def __abs__(self):
        return math.sqrt(self @ self)

    def dot(self, other):
        return self @ other


class Turned(Vector):
    def __add__(self, other):
        return Turned(self.a - other.a, self.b * other.b)


class Body:
    def __init__(self, place, speed, mass):
        self.place, self.speed, self.mass = place, speed, mass

    def step(self, h):
        self.place = self.place + self.speed * h

    def kick(self, force):
        self.speed += force * (1.0 / self.mass)


class Dual:
    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.v + other.v, self.d + other.d)
        return Dual(self.v + other, self.d)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.v * other.v, self.d * other.v + self.v * other.d)
        return Dual(self.v * other, self.d * other)

    __rmul__ = __mul__


def vectors(x):
    return [Vector(v, v * v) for v in x]


@case(X)
def added_in_place_under_two_names(x):
    vs = vectors(x)
    a = vs[0]
    b = a
    b += vs[1]
    vs[2] += b
    vs[1] = vs[2]
    vs[1] += vs[3]
    return a @ vs[0] + vs[2] @ vs[3]


@case(X)
def accumulated_under_a_name_of_its_own(x):
    vs = vectors(x)
    t = vs[0]
    t = t + vs[1]
    t += vs[2]
    return vs[0] @ t + abs(vs[1] - t)


@case(X)
def pairs_of_a_list_approach_each_other(x):
    vs = vectors(x)
    for i in range(len(vs)):
        for j in range(len(vs)):
            if i != j:
                vs[i] = vs[i] + (vs[j] - vs[i]) * 0.1
    return sum(v @ v for v in vs)


@case(X)
def written_and_read_by_index(x):
    vs = vectors(x)
    for v in vs:
        v[0] = v[1] * 2.0
        v[1] *= 3.0
    return sum(v[0] * v[1] + len(v) for v in vs)


@case(X)
def bodies_that_attract_each_other(x):
    bodies = [Body(Vector(x[0], x[1]), Vector(0.0, 0.1), 1.0), Body(Vector(x[2], x[3]), Vector(0.2, 0.0), x[1])]
    for _ in range(3):
        for b in bodies:
            for c in bodies:
                if b is not c:
                    r = c.place - b.place
                    b.kick(r * (c.mass / (abs(r) + 1.0) ** 3))
        for b in bodies:
            b.step(0.1)
    return bodies[0].place.dot(bodies[1].place) + bodies[0].speed.dot(bodies[1].speed)


@case(X)
def the_least_by_its_own_order(x):
    vs = vectors(x)
    best = vs[0]
    for v in vs:
        if best < v:
            best = v
    best += vs[0]
    return sum(v @ v for v in vs)


@case(X)
def operators_of_a_subclass_in_the_same_list(x):
    vs = []
    for k, v in enumerate(x):
        vs.append(Vector(v, v * v) if k % 2 else Turned(v, v * v * 2.0))
    s = Vector(1.0, 1.0)
    for v in vs:
        s = s + v
    for v in vs:
        s = v + s
    return s @ s


@case(X)
def dual_numbers_in_a_list(x):
    ds = [Dual(v, 1.0) for v in x]
    y = Dual(0.0)
    for d in ds:
        y = y + d * d
    y = 3.0 * (y * ds[0] + ds[2] * 2.0 + 1.0)
    return y.v * y.d


@case(X)
def values_of_a_dict_with_operators(x):
    d = {"p": Vector(x[0], x[1]), "q": Vector(x[2], x[3])}
    d["r"] = d["p"] + d["q"]
    d["p"] += d["r"]
    return sum(v @ v for v in d.values())


@case(X)
def compared_in_a_condition(x):
    ws = [v + vectors(x)[0] for v in vectors(x) if v[0] > 0.5]
    if ws[0] == ws[0] and ws[0] != ws[1]:
        ws[0] += ws[1]
    return sum(w @ w for w in ws)


@case(X)
def rows_of_objects_with_operators(x):
    grid = [[Vector(v * w, v) for v in x] for w in x]
    s = Vector(0.0, 0.0)
    for row in grid:
        for v in row:
            s = s + v
    grid[0][1] += grid[1][0]
    return s @ grid[0][1]
