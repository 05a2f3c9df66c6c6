"""Functions that only the run knows, beside what is written outside: refused where they may read it, followed elsewhere."""

import itertools

import numpy as np
import pytest
from differences import central_difference
from judging import loaded

from s2sgrad import grad
from s2sgrad.api.forward import jvp
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.checks import Refusal


class Layer:
    def __init__(self, act=None):
        self.x, self.act, self.calls = 1.0, act, 0

    def forward(self, x):
        self.x = x * 2.0
        self.calls += 1
        return self.act(self.x)

    def require_three(self, x):
        if len(x) != 3:
            raise ValueError(f"{type(self).__name__} takes 3 numbers, not {len(x)}, in call {self.calls}")

    def of_three(self, x):
        self.require_three(x)
        return np.sum(x * x)


class Reader:
    def scaled(self, z):
        return z * LAYER.x


LAYER = Layer()
READER = Reader()
TABLE = {"a": 1.0}


def reads_the_layer(z):
    return z * LAYER.x


def reads_the_table(z):
    return z * TABLE["a"]


def keeps(z):
    TABLE["a"] = z * 2.0
    return z


def argument_of_a_constant(x, layer, g):
    layer.x = x * 2.0
    return g(1.0)


def argument_of_the_variable(x, layer, g):
    layer.x = x * 2.0
    return g(x)


def attribute(x, layer, g):
    layer.x = x * 2.0
    return layer.act(1.0)


def method_of_another_object(x, layer, g):
    layer.x = x * 2.0
    return READER.scaled(1.0)


def item_of_a_table(x, layer, g):
    TABLE["a"] = x * 2.0
    return g(x)


def item_that_a_callee_keeps(x, layer, g):
    return keeps(x) * g(1.0)


def item_that_the_function_keeps(x, layer, g):
    return g(x) * TABLE["a"]


READ = [
    (argument_of_a_constant, reads_the_layer),
    (argument_of_the_variable, reads_the_layer),
    (attribute, None),
    (method_of_another_object, None),
    (item_of_a_table, reads_the_table),
    (item_that_a_callee_keeps, reads_the_table),
    (item_that_the_function_keeps, keeps),
]


@pytest.mark.parametrize(("f", "g"), READ)
def test_what_would_lose_a_derivative_is_refused(f, g, monkeypatch):
    monkeypatch.setattr(LAYER, "act", reads_the_layer)
    monkeypatch.setitem(TABLE, "a", 1.0)
    with pytest.raises((S2SGradError, Refusal)):
        grad(f)(1.5, LAYER, g)
    with pytest.raises((S2SGradError, Refusal)):
        jvp(f, (1.5, LAYER, g), (1.0, None, None))


@pytest.mark.parametrize("act", [np.sin, lambda z: np.sin(z)])
def test_a_function_in_an_attribute_beside_attributes_that_are_written(act):
    layer = Layer(act)
    assert np.isclose(grad(layer.forward)(0.3), 2.0 * np.cos(0.6))
    assert (layer.x, layer.calls) == (0.6, 1)
    assert np.isclose(jvp(layer.forward, (0.3,), (1.0,))[1], 2.0 * np.cos(0.6))


def test_errors_name_the_object():
    """A message is made of attributes of an object whose method is written out."""
    with pytest.raises(ValueError, match=r"^Layer takes 3 numbers, not 2, in call 0"):
        grad(Layer().of_three)(np.ones(2))


WRITTEN = {"layer.x": "layer.x = {e}", "table['a']": "TABLE['a'] = {e}", "table[0]": "LIST[0] = {e}"}
READS = {"layer.x": "LAYER.x", "table['a']": "TABLE['a']", "table[0]": "LIST[0]", "nothing": "2.0", "w": "LAYER.w[0]"}
WAYS = """
    g({a})|layer.act({a})|READER.scaled({a})|HELD['g']({a})|[np.sin, g][-1]({a})|functools.partial(g)({a})
    (lambda t: g(t))({a})|apply(g, {a})|sorted([{a}, {a}], key=g)[0]|np.apply_along_axis(g, 0, np.ones(2) * {a})[1]
    functools.reduce(lambda s, t: s + g(t), [{a}], 0.0)|sum(map(g, [{a}]))|Caller(g).run({a})|wrapped(g)({a})
"""
ARGUMENTS = ("x", "1.5")
PROGRAM = """
import functools
import numpy as np


class Layer:
    def __init__(self, act):
        self.x, self.act, self.w = 1.0, act, np.ones(2)


class Reader:
    def scaled(self, z):
        return known(z)


class Caller:
    def __init__(self, g):
        self.g = g

    def run(self, z):
        return self.g(z)


def known(z):
    {effect}
    return z * {read}


def apply(h, z):
    return h(z)


def wrapped(h):
    return lambda z: h(z) * 0.5


LAYER, TABLE, LIST, HELD, READER = Layer(known), {{"a": 1.0}}, [1.0], {{"g": known}}, Reader()


def run(x, layer, g):
    y = x * layer.w[0]
    {write}
    z = {way}
    return z * x + np.sin(y) * layer.w[1] + layer.w[0] * y * y


def f(x):
    TABLE["a"] = LIST[0] = LAYER.x = 1.0
    LAYER.w[...] = 1.0
    return run(x, LAYER, known)


f.run, f.arguments = run, (LAYER, known)
"""
EFFECTS = ("pass", "LAYER.w = np.array([2.0, 3.0])", "LAYER.w[0] = 2.0")
CALLS = [way for line in WAYS.split("\n") for way in line.strip().split("|") if way]
PROGRAMS = [
    *itertools.product(WRITTEN.values(), READS.values(), CALLS, ARGUMENTS, EFFECTS[:1]),
    *itertools.product(["pass"], ["2.0"], CALLS, ARGUMENTS, EFFECTS[1:]),
]


@pytest.mark.sampled(one_in=40)
@pytest.mark.parametrize("k", range(len(PROGRAMS)))
def test_right_or_refused(k):
    """A function that reads what is written beside it, or writes what is read, in all the ways to call one."""
    write, read, way, argument, effect = PROGRAMS[k]
    text = PROGRAM.format(write=write.format(e="x * 2.0"), read=read, way=way.format(a=argument), effect=effect)
    with loaded(text, f"<unseen reads {k}>") as f:
        (expected,) = central_difference(f, (0.7,), (0,))
        for derivative in (lambda x, *others: grad(f.run)(x, *others),
                           lambda x, *others: jvp(f.run, (x, *others), (1.0, None, None))[1]):  # fmt: skip
            f(0.7)
            for name, value in (("TABLE", {"a": 1.0}), ("LIST", [1.0])):
                held = f.__globals__[name]
                held.update(value) if isinstance(held, dict) else held.__setitem__(0, 1.0)
            layer = f.arguments[0]
            layer.x, layer.w = 1.0, np.ones(2)
            try:
                found = derivative(0.7, *f.arguments)
            except (S2SGradError, Refusal):
                continue
            np.testing.assert_allclose(found, expected, rtol=1e-5)
