"""Namespaces, named tuples and objects that hold functions; namespaces that the function makes."""

from __future__ import annotations

import collections
import types

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


def setting(v, k):
    v[0] = k


def itself(v):
    return v


class Slotted:
    __slots__ = ("shape", "write")

    def __init__(self, write, shape):
        self.write, self.shape = write, shape


class Held:
    """It may be given another function, and has a number that is written."""

    def __init__(self, act):
        self.act, self.calls = act, 0.0

    def run(self, x):
        self.calls = self.calls * 0.0 + 2.0
        return self.act(x) * self.calls


class Setter:
    """What it holds is called like a method of arrays."""

    def __init__(self, put):
        self.put = put


OPS = types.SimpleNamespace(write=setting, same=itself, act=np.tanh, rate=1.5)
Tools = collections.namedtuple("Tools", "write same")
TOOLS = Tools(setting, itself)
SLOTTED = Slotted(setting, np.shape)
HELD, WRITER = Held(np.sin), Setter(setting)


@case(VECTOR)
def writer_in_a_namespace(x):
    y = x * 2.0
    z = OPS.same(y)
    OPS.write(z, x[1])
    return np.sum(y * z) * OPS.rate + np.sum(OPS.act(x))


@case(VECTOR)
def writer_in_a_named_tuple(x):
    y = x * 2.0
    TOOLS.write(TOOLS.same(y), x[1] * x[2])
    return np.sum(y * y)


@case(VECTOR)
def writer_in_a_slot(x):
    y = x * 2.0
    SLOTTED.write(y, x[1])
    return np.sum(y * y) * SLOTTED.shape(y)[0]


@case(VECTOR)
def functions_of_an_object_of_the_module(x):
    y = x * 2.0
    WRITER.put(y, x[1])
    return np.sum(y * HELD.run(x)) + np.sum(HELD.act(x))


def in_a_cell(act, rate):
    tools = types.SimpleNamespace(act=act, rate=rate)

    def run(x):
        return np.sum(tools.act(x) * tools.rate)

    return run


@case(VECTOR)
def namespaces_of_two_closures(x):
    return FIRST(x) * SECOND(x)


FIRST, SECOND = in_a_cell(np.cos, 2.0), in_a_cell(itself, 3.0)


@case(VECTOR)
def namespace_that_is_made_and_written(x):
    state = types.SimpleNamespace(v=x * 1.0, n=0)
    for k in range(3):
        advance(state, x[k])
    state.v *= x
    return np.sum(state.v * x) * state.n


def advance(state, h):
    state.v = state.v + h * state.v
    state.n += 1


@case(VECTOR)
def namespace_in_a_namespace(x):
    outer = types.SimpleNamespace(inner=types.SimpleNamespace(q=2.0), f=lambda t: t * x[0])
    outer.inner.q = x[2]
    same = outer
    same.out = outer.f(outer.inner.q)
    return outer.out * x[1]


@case(VECTOR)
def namespaces_of_constants_in_a_list(x):
    settings = [types.SimpleNamespace(w=2.0, n=3), types.SimpleNamespace(w=3.0, n=1)]
    total = 0.0
    for s in settings:
        total = total + np.sum(x * x) * s.w * s.n
    return total
