"""What a pullback reads of classes, modules and objects is as it was when the function ran, whatever is set since.

At 1.0 the value of `k ** n` is the same for all `n`, and its derivative is not: a repeated call does not tell.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import pickle
import types

import numpy as np
import pytest
from scipy import integrate, optimize

from s2sgrad import S2SGradError, vjp
from s2sgrad.runtime.checks import Refusal

STEP = 1e-6


class Law:
    n = 2.0
    table = {"n": 2.0}  # noqa: RUF012
    powers = np.array([2.0, 3.0])

    class Inner:
        n = 2.0

    def raised(self, k):
        return k**self.n

    @classmethod
    def raised_by_class(cls, k):
        return k**cls.n

    @staticmethod
    def raised_statically(k):
        return k**Law.n

    @property
    def power(self):
        return self.n


class Sub(Law):
    pass


class Own:
    def __init__(self):
        self.n, self.inner, self.items, self.powers = 2.0, Law(), [2.0], np.array([2.0, 3.0])


@dataclasses.dataclass
class Described:
    n: float = 2.0


LAW, SUB, OWN, DESCRIBED, N = Law(), Sub(), Own(), Described(), 2.0
SPACE = types.SimpleNamespace(n=2.0)
MODULE = types.ModuleType("settings")
MODULE.n = 2.0
CFG, ITEMS, QUEUE, NUMBER = {"n": 2.0}, [2.0], collections.deque([2.0]), np.array(2.0)
NESTED = ([2.0], {"n": 2.0})


def by_itself(k):
    return k**by_itself.n


by_itself.n = 2.0


def by_default(k, items=ITEMS):
    return k ** items[0]


def chosen(k):
    law = LAW if k > 0.5 else SUB
    return k**law.n


def each(k):
    for law in (LAW, SUB):
        k = k**law.n
    return k


def given():
    return OWN


def kept(k):
    law = given()
    return k**law.n * k ** law.items[0]


def changed():
    global N
    Law.n = Law.table["n"] = Law.Inner.n = OWN.n = OWN.items[0] = DESCRIBED.n = SPACE.n = MODULE.n = 5.0
    N = CFG["n"] = ITEMS[0] = QUEUE[0] = NESTED[0][0] = NESTED[1]["n"] = by_itself.n = 5.0
    Law.powers[:] = OWN.powers[:] = NUMBER[...] = 5.0


def as_before():
    global N
    Law.n = Law.table["n"] = Law.Inner.n = OWN.n = OWN.items[0] = DESCRIBED.n = SPACE.n = MODULE.n = 2.0
    N = CFG["n"] = ITEMS[0] = QUEUE[0] = NESTED[0][0] = NESTED[1]["n"] = by_itself.n = 2.0
    Law.powers[:] = OWN.powers[:] = [2.0, 3.0]
    NUMBER[...] = 2.0


READ = {
    "a class": lambda k: k**Law.n,
    "an object's class": lambda k: k**LAW.n,
    "the class by the object": lambda k: k ** type(LAW).n,
    "a class in a class": lambda k: k**Law.Inner.n,
    "a base class": lambda k: k**Sub.n,
    "a method": lambda k: LAW.raised(k) * SUB.raised(k),
    "a method of the class": Law.raised_by_class,
    "a static method": lambda k: Law.raised_statically(k),
    "a property": lambda k: k**LAW.power,
    "a dict of a class": lambda k: k ** Law.table["n"],
    "an array of a class": lambda k: np.sum(k**Law.powers),
    "an array with a class": lambda k: np.sum(np.array([k, 1.0]) ** Law.n),
    "an object": lambda k: k**OWN.n,
    "an object in an object": lambda k: k**OWN.inner.n,
    "a list of an object": lambda k: k ** OWN.items[0],
    "an array of an object": lambda k: np.sum(k**OWN.powers),
    "a data class": lambda k: k**DESCRIBED.n,
    "a namespace": lambda k: k**SPACE.n,
    "a module": lambda k: k**MODULE.n,
    "a global": lambda k: k**N,
    "a dict": lambda k: k ** CFG["n"],
    "a list": lambda k: k ** ITEMS[0],
    "a queue": lambda k: k ** QUEUE[0],
    "an array without axes": lambda k: k**NUMBER,
    "a list in a tuple": lambda k: k ** NESTED[0][0] * k ** NESTED[1]["n"],
    "getattr": lambda k: k ** getattr(Law, "n"),  # noqa: B009
    "the function itself": by_itself,
    "a default": by_default,
    "an object that is chosen": chosen,
    "objects of a loop": each,
    "an object that is given": kept,
    "a sum of both": lambda k: (k - 1.0) * Law.n + (k - 1.0) * OWN.n,
    "partial": functools.partial(lambda law, k: k**law.n, LAW),
}


class Perhaps:
    """A class whose attributes only some runs have."""

    law = None


def by_branch(k):
    y = k * k
    if Perhaps.law is not None:
        y = y * k**Perhaps.law.n
    return y


def by_hasattr(k):
    y = k * k
    if hasattr(Perhaps, "n"):
        y = y * k**Perhaps.n
    return y


def by_expression(k):
    y = k * k
    return y * k**Perhaps.law.n if Perhaps.law is not None and Perhaps.law.n > 0.0 else y


def by_loop(k, count=0):
    y = k * k
    for _ in range(count):
        y = y * k**Perhaps.law.n
    return y


def by_attempt(k):
    y = k * k
    try:
        y = y * k**Perhaps.law.n
    except AttributeError:
        y = y * 1.0
    return y


def until_later(k):
    law = LAW
    y = k**law.n
    law = Perhaps.law
    if law is not None:
        y = y * k**law.n
    return y


def while_there_are_some(k):
    y, law, rest = k * k, Perhaps.law, 3
    while rest and law is not None and law.n > 0.0:
        y, rest = y * k**law.n, rest - 1
    return y


def by_name(k):
    law = Perhaps.law
    positive = law is not None and law.n > 0.0
    y = k * k
    return y * k**law.n if positive else y


def each_of_some(k):
    y = k * k
    for law in () if Perhaps.law is None else (Perhaps.law, Perhaps.law):
        y = y * k**law.n
        y = y * np.sum(k**law.powers)
    return y


def nested_branches(k):
    y = k * k
    for i in range(3):
        if Perhaps.law is not None and i > 0:
            y = y * k**Perhaps.law.inner.n if i > 1 else y * k ** (Perhaps.law.n + 1.0)
    return y


def in_a_helper(k):
    return by_branch(k) * by_name(k) / (k * k)


GUARDED = (
    by_branch, by_hasattr, by_expression, by_loop, by_attempt, until_later, while_there_are_some, by_name, each_of_some,
    nested_branches, in_a_helper,
)  # fmt: skip


@pytest.mark.records
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("f", GUARDED, ids=lambda f: f.__name__)
def test_what_only_some_runs_read_is_as_it_was(f, again, monkeypatch):
    own = Own()
    monkeypatch.setattr(Perhaps, "law", own)
    monkeypatch.setattr(Perhaps, "n", 2.0, raising=False)
    options = {"count": 2} if f is by_loop else {}
    wanted = (f(1.0 + STEP, **options) - f(1.0 - STEP, **options)) / (2.0 * STEP)
    _, pullback = vjp(f, 1.0, **options)
    if again:
        pullback(1.0)
    own.n = own.inner.n = own.powers[:] = -5.0
    monkeypatch.setattr(Perhaps, "n", -5.0)
    np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-6)
    monkeypatch.setattr(Perhaps, "law", None)
    if again:
        np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-6)


def weighed(t, k):
    return k ** CFG["n"] * t


def area(k):
    return integrate.quad(weighed, 0.0, 1.0, args=(k,))[0]


def off(t, k):
    return t - k ** CFG["n"]


def root(k):
    return optimize.brentq(off, 0.0, 5.0, args=(k,))


HANDED = {
    "quad": lambda k: integrate.quad(lambda t: k ** CFG["n"] * t, 0.0, 1.0)[0],
    "quad of a class": lambda k: integrate.quad(lambda t: k**Law.n * t, 0.0, 1.0)[0],
    "quad with args": lambda k: integrate.quad(lambda t, k: k**N * t, 0.0, 1.0, args=(k,))[0],
    "brentq": lambda k: optimize.brentq(lambda t: t - k ** CFG["n"], 0.0, 5.0),
    "odeint": lambda k: integrate.odeint(lambda y, t: -y * k ** ITEMS[0], [1.0], [0.0, 1.0])[-1, 0],
    "a helper": lambda k: integrate.quad(lambda t: by_itself(k) * t, 0.0, 1.0)[0],
}


@pytest.fixture(autouse=True)
def _reset():
    yield
    as_before()


@pytest.mark.records
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("name", READ)
def test_it_is_as_it_was(name, again):
    f = READ[name]
    wanted = (f(1.0 + STEP) - f(1.0 - STEP)) / (2.0 * STEP)
    _, pullback = vjp(f, 1.0)
    if again:
        pullback(1.0)
    changed()
    np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-6)


@pytest.mark.records
@pytest.mark.parametrize("f", GUARDED, ids=lambda f: f.__name__)
def test_what_a_run_does_not_read_may_be_missing(f):
    value, pullback = vjp(f, 1.3)
    assert value == pytest.approx(1.69)
    np.testing.assert_allclose(pullback(1.0)[0], 2.6)


@pytest.mark.records
@pytest.mark.parametrize("name", HANDED)
def test_another_result_of_what_a_handed_function_reads_is_refused(name):
    _, pullback = vjp(HANDED[name], 1.3)
    pullback(1.0)
    changed()
    with pytest.raises((S2SGradError, Refusal), match=r"changed since|another result|no solution"):
        pullback(1.0)


@pytest.mark.records
@pytest.mark.parametrize("name", HANDED)
def test_what_a_handed_function_does_not_use_may_change(name):
    f = HANDED[name]
    wanted = (f(1.3 + STEP) - f(1.3 - STEP)) / (2.0 * STEP)
    _, pullback = vjp(f, 1.3)
    Law.count, by_itself.count, CFG["label"], OWN.items[0] = 1, 1, "quad", 7.0
    try:
        np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-5)
    finally:
        del Law.count, by_itself.count, CFG["label"]


@pytest.mark.parametrize("f", [area, root])
def test_pullbacks_of_solvers_are_stored(f):
    _, pullback = vjp(f, 1.3)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(pullback))(1.0)[0], pullback(1.0)[0])
