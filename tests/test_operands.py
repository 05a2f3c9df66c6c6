"""Errors of Python and NumPy say what the statement worked on, in the user's names, and what to do."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pytest

from s2sgrad import grad, hessian, jvp, value_and_grad, vjp
from s2sgrad.errors import Refused


class Spring:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return 0.5 * self.stiffness * x**2


class Plain:
    def __init__(self, v):
        self.v = v


def shapes(x):
    r = x * 2.0
    r = np.append(r, 1.0)
    return np.mean((r - OTHER) ** 2)


def keys(x):
    return np.sum(PARAMETERS["scala"] * x)


def deeper(x):
    return np.sum(NESTED["first"]["b"] * x * x)


def operator(x):
    return np.sum(x * STRANGE)


def index(x):
    t = x[0] * 2.0
    return x[t] * t


def called(x):
    return np.sum(x * helped(x) + helped(2.0 * x))


def called_once(x):
    return np.sum(x * helped_once(x))


def helped_once(x):
    w = np.ones(5)
    return w * x


def helped(x):
    w = np.ones(5)
    return w * x


def executed(x):
    exec("y = x ** 2", {})
    return x[0]


def raised(x):
    if len(x) > 0:
        raise ValueError("of the user's own")
    return x[0]


def asserted(x):
    assert len(x) == 0
    return x[0]


class Watched:
    """What must not be touched by a message."""

    def __repr__(self):
        raise AssertionError


def watched(x):
    return np.sum(x * {"a": WATCHED}["b"])


X = np.ones(3)


def misspelt(x):
    return np.sum(x * PARAMETRES["shift"])  # noqa: F821


def misspelt_in_a_module(x):
    return np.sum(np.linalg.nrom(x) * x)


def beyond(x):
    return np.sum(x * ROWS[2])


def too_far(x):
    k = 1
    return x[k] * x[k + 2]


def unpacked(x):
    a, b = x
    return a * a * b


def reshaped(x, n=2):
    return np.sum(x.reshape(n, n))


def of_one_number(x):
    y = float(x)
    return y * y * y


def indefinite(x):
    return np.sum(np.linalg.cholesky(-np.outer(x, x)))


def singular(x):
    m = np.outer(x, x)
    return np.sum(np.linalg.inv(m - m))


def divided(x, n=0):
    return np.sum(x * x) * (1 / n)


def of_negative_numbers(x, r=-2.0):
    return np.sum(x * x) * math.log(r)


OTHER, ROWS, PARAMETERS, NESTED = np.ones(5), [X, X], {"scale": np.ones(3), "shift": 1.0}, {"first": {"a": 1.0}}
STRANGE, WATCHED = Plain(3.0), Watched()
FIT = "give them shapes that fit, whose axes, from the last, are equal or 1"

SAID = {
    shapes: f"here `r` has shape (4,), `OTHER` has shape (5,): {FIT}",
    keys: "here `PARAMETERS` has the keys 'scale', 'shift': read 'scale', or pass 'scala' in it",
    deeper: "here `NESTED['first']` has the key 'a': read one that it has, or pass 'b' in it",
    operator: "here `x` has shape (3,), `STRANGE` is a Plain: pass a number or an array, or give Plain the operator",
    index: "here `x` has shape (3,), `t` is a float64: an index is an int",
    called: f"here `w` has shape (5,), `x` has shape (3,): {FIT}",
    called_once: "here `x` has shape (3,)",  # it is written out, in the line of the call
    misspelt: "here `PARAMETERS` is defined: did you mean it?",
    misspelt_in_a_module: "here `numpy.linalg.norm` is defined: did you mean it?",
    beyond: "here `ROWS` has 2 items",
    indefinite: "here `x` has shape (3,): add a multiple of the unit matrix to it, or ask `np.linalg.eigvalsh` how "
    "far it is from that",
    singular: "here `m` has shape (3, 3): add a multiple of the unit matrix to it, or use `np.linalg.lstsq` or "
    "`np.linalg.pinv`",
    divided: "here `n` is 0",
    unpacked: "here `x` has shape (3,)",
    reshaped: "here `x` has shape (3,), `n` is 2",
    of_one_number: "here `x` has shape (3,): it takes one number; functions of NumPy take arrays",
    of_negative_numbers: "here `r` is -2.0",
    executed: "here `x` is a name of `executed`, and text that `exec` or `eval` runs sees the names that it is given: "
    "give it {'x': ..}",
    raised: None,
    asserted: None,
    watched: None,
}
ERRORS = (ValueError, LookupError, TypeError, NameError, AttributeError, AssertionError, ArithmeticError)
WAYS = [
    lambda f: grad(f)(X),
    lambda f: value_and_grad(f)(X),
    lambda f: jvp(f, (X,), (X,)),
    lambda f: vjp(f, X),
    lambda f: hessian(f)(X),
]


@pytest.mark.records
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", SAID, ids=lambda f: f.__name__)
def test_what_the_statement_worked_on(function, way):
    with pytest.raises(ERRORS) as caught:
        way(function)
    found = [note for note in getattr(caught.value, "__notes__", ()) if note.startswith("here ")]
    assert found == ([] if SAID[function] is None else [SAID[function]])
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == caught.value.__notes__ if found else True


@pytest.mark.records
@pytest.mark.parametrize("way", WAYS)
def test_an_index_that_is_too_large(way):
    with pytest.raises(IndexError) as caught:
        way(too_far)
    assert caught.value.__notes__[-1].endswith("`k` is 1: the last index along axis 0 is 2")


@pytest.mark.records
def test_an_attribute_that_an_object_does_not_have():
    with pytest.raises(AttributeError, match="'Spring' object has no attribute 'stiffness'") as caught:
        grad(Spring(2.0).energy)(1.0)
    said = "here `self` has the attributes energy, k: read one that it has, or set `self.stiffness` before"
    assert caught.value.__notes__ == [said]


def test_words_of_other_tools_on_a_gradient():
    df = grad(shapes)
    with pytest.raises(AttributeError, match="'Gradient' object has no attribute 'backward': call it, as a function of"):
        df.backward()
    with pytest.raises(AttributeError, match="did you mean `source_for`"):
        df.source_fo(X)
    assert not hasattr(df, "__array__") and not hasattr(df, "_repr_png_")
    with pytest.raises(AttributeError, match="has no generated function: "):
        grad(eval("lambda x: x")).__wrapped__  # noqa: B018


def whole(x):
    count = np.zeros(3, dtype=int)
    for i in range(3):
        count[i] = x[i] * 2
    return np.sum(count)


def of_whole_numbers(x):
    count = np.arange(3)
    count[:2] += np.array([1, 2])
    return np.sum(count)


def test_a_store_of_floats_into_integers_is_named_where_the_result_has_no_derivative():
    first = inspect.getsourcelines(whole)[1]
    for way in (lambda f: grad(f)(X), lambda f: jvp(f, (X,), (X,))):
        with pytest.raises(
            Refused, match=r"`count` is an array of int64, which keeps no .*: make it .*dtype=float"
        ) as caught:
            way(whole)
        assert caught.value.place.line == first + 3
        with pytest.raises(Refused, match="`of_whole_numbers` returns an int64, which has no derivative: `return` a float"):
            way(of_whole_numbers)
