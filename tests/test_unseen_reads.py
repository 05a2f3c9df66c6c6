"""Functions that only the run knows, beside what is written outside: refused where they may read it, followed elsewhere."""

import numpy as np
import pytest

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
