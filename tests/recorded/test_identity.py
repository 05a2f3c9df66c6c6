"""Which object a value is: a function that is recorded answers as the plain run, though what it was given is copied."""

from __future__ import annotations

import collections
import operator
import threading
import weakref

import numpy as np
import pytest

from recorded.judged import gradient_of
from s2sgrad import NoSource, grad, hessian, jvp, value_and_grad
from s2sgrad.recorded.derivatives import Recorded

A = np.array([0.73, 1.31, 0.42])
A_NAN = np.array([np.nan])
TABLE = {id(A): 2.0}
WEAKLY = weakref.ref(A)


class Kept:
    """An object that holds what reached the code from outside."""

    given = A

    def __contains__(self, x):
        return x is self.given


def in_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x is A))
    thread.start()
    thread.join()
    return found[0]


def in_a_match(x):
    match [x, 1.0]:
        case [v, 1.0] if v is A:
            return True
    return False


def by_an_inner_gradient(x):
    y = x * 2.0
    return bool(grad(lambda v: np.sum(v) * (2.0 if v is y and v is not x else 1.0))(y)[0] == 2.0)


ASKED = [
    lambda x: x is A,
    lambda x: not (x is not A),
    lambda x: x is Kept().given,
    lambda x: x in Kept(),
    lambda x, given=A: x is given,
    lambda x: x is x is A,
    lambda x: A is (y := x) and y is x,
    lambda x: (x + 0.0) is not A and x[:] is not A and x.copy() is not x,
    lambda x: np.asarray(x) is x and np.ascontiguousarray(x) is A and np.atleast_1d(x) is x,
    lambda x: x.astype(float, copy=False) is x and np.float64(1.0) is not np.float64(1.0),
    lambda x: id(x) == id(A),
    lambda x: TABLE.get(id(x)) == 2.0,
    lambda x: [*map(id, [x, x])] == [id(A)] * 2,
    lambda x: WEAKLY() is x,
    lambda x: x in [A] and x in (A, 1.0) and x in {"a": A}.values() and x in iter([A]) and x in collections.deque([A]),
    lambda x: 1.0 not in [A[0], 2.0] and A in [x],
    lambda x: any(v is x for v in [A]),
    lambda x: operator.is_(x, A) and not operator.is_not(x, A) and operator.contains([A], x),
    lambda x: [*map(operator.is_, [x, x], [A, 1.0])] == [True, False],
    lambda x: [A].index(x) == 0 and (A,).count(x) == 1,
    lambda x: operator.indexOf([A], x) == 0 and operator.countOf([A, A], x) == 2,
    lambda x: (items := [A, 1.0], items.remove(x))[0] == [1.0],
    lambda x: (y := x[0]) is y and x[0] is not x[0] and (y,)[0] is y,
    in_a_thread,
    in_a_match,
    by_an_inner_gradient,
]


def factor(found):
    return 3.0 if found else 1.0


@pytest.mark.parametrize("k", range(len(ASKED)))
def test_arrays(k):
    asks = ASKED[k]

    def f(x):
        return np.sum(x * x) * factor(asks(x))

    assert asks(A) is True and f(A) == 3.0 * np.sum(A * A)
    recorded = Recorded(f, (A,), {}, (0,))
    assert recorded.value == f(A)
    np.testing.assert_allclose(recorded.pullback()[0], 6.0 * A)
    np.testing.assert_allclose(recorded.tangent([np.ones(3)]), 6.0 * np.sum(A))
    twice = Recorded(gradient_of(f, (0,)), (A,), {}, (0,))
    np.testing.assert_allclose(twice.pullback((np.ones(3),))[0], 6.0 * np.ones(3))


@pytest.mark.records
@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("k", range(0, len(ASKED), 3))
def test_by_any_way(k):
    asks = ASKED[k]

    def f(x):
        return np.sum(x * x) * factor(asks(x))

    value, bar = value_and_grad(f)(A)
    np.testing.assert_allclose(bar, 6.0 * A)
    assert value == f(A)
    np.testing.assert_allclose(jvp(f, (A,), (np.ones(3),))[1], 6.0 * np.sum(A))
    np.testing.assert_allclose(hessian(f)(A), 6.0 * np.eye(3))


def test_nan():
    def f(x):
        return np.sum(x) * factor(x in [A_NAN])

    assert A_NAN in [A_NAN] and A_NAN.copy() not in [A_NAN]
    np.testing.assert_allclose(Recorded(f, (A_NAN,), {}, (0,)).pullback()[0], [3.0])
    np.testing.assert_allclose(Recorded(f, (A_NAN.copy(),), {}, (0,)).pullback()[0], [1.0])


class Net:
    def __init__(self, w):
        self.w = w


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


NUMBER, LISTED, PAIR, NAMED = 0.375, [0.5, 1.5], (0.5, 1.5), {"w": 0.5}
NET, SLOTTED = Net(0.5), Slotted(0.5)
BY_OBJECT = {NET: 3.0, SLOTTED: 3.0}
first_of = {float: lambda v: v, list: lambda v: v[0], tuple: lambda v: v[0], dict: lambda v: v["w"]}


@pytest.mark.parametrize("x", [NUMBER, LISTED, PAIR, NAMED, NET, SLOTTED], ids=lambda x: type(x).__name__)
def test_other_values(x):
    first = first_of.get(type(x), lambda v: v.w)

    def by_is(v):
        return first(v) * factor(v is x)

    def by_id(v):
        return first(v) * factor(id(v) == id(x) and v in [x] and [x].index(v) == 0)

    def by_hash(v):
        return first(v) * (BY_OBJECT.get(v, 1.0) if isinstance(v, (Net, Slotted)) else 3.0)

    def by_equality(v):
        return first(v) * factor(v == x)

    before = dict(vars(Net))
    for f in (by_is, by_id, by_hash, by_equality):
        recorded = Recorded(f, (x,), {}, (0,))
        assert recorded.value == f(x) == 3.0 * first(x)
        bar = recorded.pullback()[0]
        assert (bar["w"] if isinstance(bar, dict) else first(bar)) == 3.0
    assert dict(vars(Net)) == before and "__hash__" not in vars(Slotted)


def test_two_arguments_that_are_one():
    def f(x, y):
        return np.sum(x * x) * factor(x is y)

    for wanted in ((0,), (1,), (0, 1)):
        recorded = Recorded(f, (A, A), {}, wanted)
        assert recorded.value == f(A, A)
        assert Recorded(f, (A, A.copy()), {}, wanted).value == f(A, A.copy())


def test_a_function_called_often_stays_one_that_asks():
    """What is compiled for its own sake would be given copies."""

    def asks(x, y, z):
        s = 0.0
        for v in x:
            s = s + v * v * v - v * v + v
        return s * factor(y is z)

    def f(x):
        s, waiting, y = 0.0, [*range(300)], [1.0, 2.0]
        while waiting:
            waiting.pop()
            s = s + asks(x, y, y)
        return s

    x = np.linspace(0.1, 0.9, 100)
    assert Recorded(f, (x,), {}, (0,)).value == f(x)


@pytest.mark.records
def test_without_source():
    space = {"A": A}
    exec("def asks(x): return x[0] * (3.0 if x is A else 1.0)", space)
    exec("def none(x): return x[0] * (3.0 if x is None else 1.0)", space)
    with pytest.raises(NoSource, match="asks"):
        grad(lambda x: space["asks"](x))(A)
    np.testing.assert_allclose(Recorded(space["none"], (A,), {}, (0,)).pullback()[0], [1.0, 0.0, 0.0])
    with pytest.raises(NoSource, match="asks"):
        Recorded(space["asks"], (A,), {}, (0,))
