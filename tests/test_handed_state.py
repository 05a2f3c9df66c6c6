"""Functions that SciPy calls, and that hold, keep or read what changes: their derivatives are right, or refused.

A derivative calls such a function again, when what it reads may be something else.
"""

from __future__ import annotations

import builtins
import contextvars
import dataclasses
import functools
import itertools
import os
import random
import sys
import time

import numpy as np
import pytest
from scipy import integrate, optimize, sparse, stats

from s2sgrad import S2SGradError, grad, hessian, jvp, vjp
from s2sgrad.runtime.checks import Refusal

REFUSED = (S2SGradError, Refusal)
X = 0.7


class Law:
    def __init__(self, k, scale=1.0):
        self.k, self.scale = k, scale

    def __call__(self, t, y):
        return -self.k * self.scale * y

    def wanted(self, y, t):
        return self(t, y)


class Twice(Law):
    def __call__(self, t, y):
        return 2.0 * super().__call__(t, y)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def __call__(self, t, y):
        return -self.k * y


class Equal(Law):
    def __hash__(self):
        return 7

    def __eq__(self, other):
        return isinstance(other, Equal)


@dataclasses.dataclass
class Described:
    k: object
    scale: float = 2.0

    @property
    def rate(self):
        return self.k * self.scale

    def __call__(self, t, y):
        return -self.rate * y


class Layers:
    def __init__(self, k):
        self.layers = [Law(k), Twice(k * k), Law(0.5)]

    def __call__(self, t, y):
        return sum(layer(t, y) for layer in self.layers)


def decayed(law):
    times = np.array([0.0, 0.5, 1.0])
    return np.sum(integrate.odeint(law, [1.0, 2.0], times, tfirst=True, rtol=1e-9, atol=1e-10))


def area(f, *given):
    return integrate.quad(f, 0.0, 1.0, args=given)[0]


def recursive(k):
    law = Law(k)

    def rate(t, y, depth=2):
        return law(t, y) if depth == 0 else 0.5 * rate(t, y, depth - 1)

    return decayed(rate)


def bound_anew(k):
    law = Law(k)
    first = decayed(lambda t, y: law(t, y))
    law.k = law.k * 2.0
    return first + decayed(lambda t, y: law(t, y))


def one_a_trip(k):
    total = 0.0
    for law in [Law(k), Twice(k), Law(k * k)]:
        total = total + decayed(lambda t, y: law(t, y))
    return total


def refers_to_itself(k):
    law = Law(k)
    law.same = law
    return decayed(lambda t, y: -law.same.same.k * y)


def rows(k):
    law = Law(np.array([k, k * k]))
    law.first = law.k[:1]
    return decayed(lambda t, y: -law.k * y - law.first * 0.1)


def start_too(k):
    law = Law(k)
    law.start = [k, 2.0]
    times = np.array([0.0, 0.5])
    rate = lambda y, t, c: -law.k * c * y + law.start[0]  # noqa: E731
    return np.sum(integrate.odeint(rate, law.start, times, args=(k,), rtol=1e-9, atol=1e-10))


def smallest(k):
    law = Law(k)
    return optimize.minimize(lambda x: np.sum((x - law.k) ** 2 + x**4), [0.3], tol=1e-12).x[0]


def zero(k):
    law = Law(k)
    return optimize.brentq(lambda x: x * x * x - law.k, 0.0, 3.0)


def zeros_of_layers(k):
    layers = Layers(k)
    return np.sum(optimize.fsolve(lambda x: x**3 - layers(0.0, x) - 1.0, [1.0, 1.5], xtol=1e-12))


def of_complex_numbers(k):
    law = Law(k * (1 + 2j))
    return area(lambda t: (law.k * t * t).real + abs(law.k) * t)


RIGHT = {
    "an object": lambda k: decayed(Law(k)),
    "its method": lambda k: decayed(Law(k).__call__),
    "a subclass": lambda k: decayed(Twice(k)),
    "with slots": lambda k: decayed(Slotted(k)),
    "a data class": lambda k: decayed(Described(k)),
    "objects in an object": lambda k: decayed(Layers(k)),
    "a function that calls one": lambda k: (lambda law: decayed(lambda t, y: law(t, y)))(Law(k)),
    "a partial": lambda k: decayed(functools.partial(Law.__call__, Law(k))),
    "a dict of objects": lambda k: (lambda laws: decayed(lambda t, y: laws["a"](t, y)))({"a": Law(k)}),
    "an integrand": lambda k: (lambda law: area(lambda t: law.k * law(t, t)))(Law(k)),
    "an integrand with args": lambda k: (lambda law: area(lambda t, c: law.k * t * c, k))(Law(k)),
    "recursive": recursive,
    "an attribute that is bound anew": bound_anew,
    "one a trip": one_a_trip,
    "an object that refers to itself": refers_to_itself,
    "a view of an attribute": rows,
    "what is given twice": start_too,
    "a minimum": smallest,
    "a root": zero,
    "roots": zeros_of_layers,
}

# --- what changes ----------------------------------------------------------------------------------------------------

MEMO, LOG, BUFFER, LEVEL = {}, [0.0], np.zeros(1), None
GROWN = [1.0]
LAW = Law(2.0)


class Shared:
    k = None


def _reset():
    global LEVEL, COUNT
    COUNT = itertools.count(1)
    MEMO.clear()
    GROWN[:] = [1.0]
    LOG[:], BUFFER[:], LEVEL, LAW.k, LAW.scale, Shared.k = [0.0], 0.0, None, None, 1.0, None


def of_the_last(t, k):
    return GROWN[-1] * MEMO.get("scale", 1.0) * k * t


def grown_later(k):
    y = area(of_the_last, k)
    GROWN.append(5.0)
    return y


def grown_later_by_a_helper(k):
    grow = lambda value: GROWN.insert(len(GROWN), value)  # noqa: E731
    y = area(of_the_last, k)
    grow(5.0)
    return y


def updated_later(k):
    y = area(of_the_last, k)
    MEMO.update(scale=3.0)
    return y


def set_by_default_later(k):
    y = area(of_the_last, k)
    MEMO.setdefault("scale", 3.0)
    return y


def deleted_later(k):
    MEMO["scale"] = 3.0
    y = area(of_the_last, k)
    del MEMO["scale"]
    return y


def removed_later(k):
    GROWN.append(5.0)
    y = area(of_the_last, k)
    return y + 0.0 * GROWN.pop()


def remembered(t, k):
    return MEMO.setdefault("k", k) * t


def remembered_in_a_list(t, k):
    if LOG[0] == 0.0:
        LOG[0] = k
    return LOG[0] * t


def remembered_in_an_array(t, k):
    if BUFFER[0] == 0.0:
        BUFFER[0] = k
    return BUFFER[0] * t


def remembered_in_a_global(t, k):
    global LEVEL
    if LEVEL is None:
        LEVEL = k
    return LEVEL * t


def remembered_in_a_class(t, k):
    if Shared.k is None:
        Shared.k = k * 1.0
    return Shared.k * t


def remembered_in_an_object(t, k):
    if LAW.k is None:
        LAW.k = k * 1.0
    return LAW.k * t


def of_a_scale(t, k):
    return LAW.scale * k * t


def changed_by_a_helper(scale):
    LAW.scale = scale


def in_a_dict(k):
    memo = {}
    return area(lambda t, k: memo.setdefault("k", k) * t, k)


def in_a_cell(k):
    memo = None

    def f(t):
        nonlocal memo
        memo = k if memo is None else memo
        return memo * t

    return area(f)


def in_a_dict_beside_an_object(k):
    law, memo = Law(k), {}

    def f(t):
        if "k" not in memo:
            memo["k"] = law.k * 1.0
        return memo["k"] * t

    return area(f)


def into_a_buffer(k):
    law, buffer = Law(k), np.zeros(2)

    def rate(t, y):
        buffer[:] = law(t, y)
        return buffer

    return decayed(rate)


def counted(k):
    law, calls = Law(k), []

    def rate(t, y):
        calls.append(t)
        return law(t, y)

    return decayed(rate) + k * calls[0]


def scaled_later(k):
    LAW.scale = 2.0
    y = area(of_a_scale, k)
    LAW.scale = 5.0
    return y


def scaled_later_by_a_helper(k):
    changed_by_a_helper(2.0)
    y = area(lambda t, k: LAW.scale * k * t, k)
    changed_by_a_helper(5.0)
    return y


def changed_later(k):
    law = Law(k, 2.0)
    y = area(lambda t, c: law.scale * c * t, k)
    law.scale = 5.0
    return y


def item_changed_later(k):
    scales = [2.0]
    y = area(lambda t, c: scales[0] * c * t, k)
    scales[0] = 5.0
    return y


def array_changed_later(k):
    scales = np.array([2.0])
    y = area(lambda t, c: scales[0] * c * t, k)
    scales[0] = 5.0
    return y


def bound_later(k):
    scale = 2.0
    y = area(lambda t, c: scale * c * t, k)
    scale = 5.0
    return y + 0.0 * scale


def from_an_iterator(k):
    law = Law(k)
    scales = iter(np.linspace(1.0, 2.0, 10_000))
    return area(lambda t: law.k * next(scales) * t)


def default_that_remembers(k):
    def f(t, c, memo={}):  # noqa: B006
        return memo.setdefault("k", c) * t

    return area(f, k)


def argument_that_remembers(k):
    return area(lambda t, c, memo: memo.setdefault("k", c) * t, k, {})


def object_of_args_later(k):
    law = Law(2.0)
    y = area(lambda t, c, law: c * law.k * t, k, law)
    law.k = 9.0
    return y


def method_later(k):
    first, law = Law.wanted, Law(2.0)
    y = area(lambda t, c: c * law.wanted(t, t), k)
    Law.wanted = lambda self, y, t: 5.0 * t
    later = y + 0.0 * k
    Law.wanted = first
    return later


def code_later(k):
    def f(t):
        return k * t

    y = area(f)
    f.__code__ = (lambda t: k * k * t).__code__
    return y


def class_later(k):
    law = Law(k)
    y = area(lambda t: law(t, t))
    law.__class__ = Twice
    return y


def attribute_of_a_function(k):
    def f(t, c):
        return f.scale * c * t

    f.scale = 2.0
    y = area(f, k)
    f.scale = 9.0
    return y


def of_a_module(k):
    module = sys.modules[__name__]
    module.LAW.scale = 2.0
    module.OFFSET = 1.0
    y = area(lambda t, c: module.OFFSET * c * t, k)
    module.OFFSET = 9.0
    return y


def global_beside_an_object(k):
    law = Law(k)
    changed_by_a_helper(2.0)
    y = area(lambda t: law.k * LAW.scale * t)
    changed_by_a_helper(5.0)
    return y


def array_of_objects_later(k):
    laws = np.array([Law(2.0)], dtype=object)
    y = decayed_by(lambda t, y, c: c * laws[0](t, y), k)
    laws[0].k = 5.0
    return y


def decayed_by(rate, k):
    return np.sum(integrate.odeint(rate, [1.0, 2.0], np.array([0.0, 0.5]), args=(k,), tfirst=True))


def key_of_a_dict(k):
    law = Law(k)
    scales = {law: 2.0}
    return area(lambda t: law.k * t * scales.get(law, 9.0))


def item_of_a_set(k):
    law = Law(k)
    laws = {law}
    return area(lambda t: law.k * t * (1.0 if law in laws else 9.0))


def drawn(k):
    random.seed(0)
    law = Law(k)
    return integrate.fixed_quad(lambda t: law.k * t * random.random(), 0.0, 1.0)[0]


def drawn_with_args(k):
    np.random.seed(0)
    return integrate.fixed_quad(lambda t, c: c * t * np.random.rand(), 0.0, 1.0, args=(k,))[0]


COUNT = itertools.count(1)


def counted_outside(k):
    return integrate.fixed_quad(lambda t, c: c * t * next(COUNT), 0.0, 1.0, args=(k,))[0]


def level():
    return LEVEL


def global_later(k):
    global LEVEL
    LEVEL = 2.0
    y = area(lambda t, c: c * t * level(), k)
    LEVEL = 5.0
    return y


# --- what no one sees: each solver calls a function that has a state of another kind ---------------------------------

SETTING = contextvars.ContextVar("SETTING", default=2.0)
SCALES = {"a": 2.0}
SOLVERS = {
    "quad": lambda f, k: integrate.quad(lambda t: f(t, k), 0.0, 1.0)[0],
    "quad, with args": lambda f, k: integrate.quad(f, 0.0, 1.0, args=(k,))[0],
    "quad_vec": lambda f, k: integrate.quad_vec(lambda t: f(t, k), 0.0, 1.0)[0],
    "fixed_quad": lambda f, k: integrate.fixed_quad(lambda t: f(t, k), 0.0, 1.0)[0],
    "dblquad": lambda f, k: integrate.dblquad(lambda s, t: f(t, k) * s, 0.0, 1.0, 0.0, 1.0)[0],
    "odeint": lambda f, k: np.sum(integrate.odeint(lambda y, t: -f(y, k), [1.0, 2.0], [0.0, 0.5])),
    "solve_ivp": lambda f, k: np.sum(integrate.solve_ivp(lambda t, y: -f(y, k), (0.0, 0.5), [1.0, 2.0], rtol=1e-9).y[:, -1]),
    "brentq": lambda f, k: optimize.brentq(lambda t: f(t, k) - 1.0, 0.0, 9.0),
    "minimize": lambda f, k: optimize.minimize(lambda t: (f(t[0], k) - 1.0) ** 2, [0.5], tol=1e-12).x[0],
    "fsolve": lambda f, k: optimize.fsolve(lambda t: f(t, k) - 1.0, [0.5])[0],
}
HIDDEN = {
    "a generator that is made": lambda t, k: k * t * (1.0 + np.random.default_rng().random()),
    "a draw of SciPy's": lambda t, k: k * t * (2.0 + np.tanh(stats.norm.rvs())),
    "a draw of the library's": lambda t, k: k * t * (1.0 + random.random()),
    "the time": lambda t, k: k * t * (1.0 + 1e3 * (time.perf_counter() % 1e-3)),
}
READING = {
    "a context variable": lambda t, k: k * t * SETTING.get(),
    "an item of a dict": lambda t, k: k * t * SCALES["a"],
    "a global": lambda t, k: k * t * LEVEL,
    "an attribute": lambda t, k: k * t * LAW.scale,
    "the environment": lambda t, k: k * t * float(os.environ.get("S2SGRAD_TEST_SCALE", "2.0")),
}


def changed():
    """What `READING` reads, changed while it lasts."""
    global LEVEL
    SETTING.set(5.0)
    SCALES["a"] = LAW.scale = LEVEL = 5.0
    os.environ["S2SGRAD_TEST_SCALE"] = "5.0"


def as_before():
    global LEVEL
    SETTING.set(2.0)
    SCALES["a"] = LAW.scale = LEVEL = 2.0
    os.environ.pop("S2SGRAD_TEST_SCALE", None)


def by_its_number(k):
    rows = np.array([k, 2.0 * k])
    factors = {id(rows): 3.0}
    return area(lambda t: factors.get(id(rows), 0.0) * rows[0] * t)


def object_by_its_number(k):
    law = Law(k)
    factors = {id(law): 3.0}
    return area(lambda t: factors.get(id(law), 0.0) * law.k * t)


def constant_by_its_number(k):
    rows = np.array([1.0, 2.0])
    factors, memo = {id(rows): 3.0}, {"k": k}
    return area(lambda t, c: factors.get(id(rows), 0.0) * c * t, memo["k"])


NUMBERING = {"id": id}
NUMBERED = {
    "`hash`": lambda law: hash(law),
    "`id` of builtins": lambda law: builtins.id(law),
    "`id` as a default": lambda law, num=id: num(law),
    "`id` in a dict": lambda law: NUMBERING["id"](law),
    "`id` by `map`": lambda law: next(iter(map(id, [law]))),
    "`id` by its name": lambda law: getattr(builtins, "id")(law),  # noqa: B009
    "`id` by `eval`": lambda law: eval("id(law)", {"law": law}),
    "its method": lambda law: law.__hash__(),
    "the method of `object`": lambda law: object.__hash__(law),
    "a tuple": lambda law: hash((law, 1)),
    "`repr`": repr,
    "an f-string": lambda law: f"{law}",
}


@pytest.mark.records
@pytest.mark.parametrize("name", NUMBERED)
def test_a_function_that_asks_which_object_it_closes_over_is_refused(name):
    number = NUMBERED[name]

    def f(k):
        law = Law(k)
        factors = {number(law): 3.0}
        return area(lambda t: factors.get(number(law), 0.0) * law.k * t)

    def raising(k):
        law = Law(k)
        factors = {number(law): 3.0}
        return area(lambda t: factors[number(law)] * law.k * t)

    for g in (f, raising):
        with pytest.raises(REFUSED):
            grad(g)(X)
        with pytest.raises(REFUSED):
            jvp(g, (X,), (1.0,))


@pytest.mark.records
def test_a_hash_that_is_the_same_of_all_is_followed():
    def f(k):
        law = Equal(k)
        factors = {hash(law): 3.0}
        return area(lambda t: factors.get(hash(law), 0.0) * law.k * t)

    assert grad(f)(X) == pytest.approx(1.5)


def test_a_nested_function_as_a_key_is_refused_by_name():
    def f(k):
        def law(t):
            return k * t

        factors = {law: 3.0}
        return area(lambda t: factors.get(law, 0.0) * law(t))

    with pytest.raises(REFUSED, match="`law`, a function or an object, is used as a value"):
        grad(f)(X)


def remembered_in_an_array_of_args(k):
    seen = np.zeros(1)

    def f(t, k, seen):
        seen[0] = k
        return k * t * seen[0]

    return area(f, k, seen) + seen[0]


def counted_in_an_array_of_args(k):
    seen = np.ones(1)

    def f(t, k, seen):
        seen[0] = seen[0] + 0.1
        return k * t * seen[0]

    return area(f, k, seen)


CHANGING = {
    "an array of `args` that remembers": remembered_in_an_array_of_args,
    "an array of `args` that counts": counted_in_an_array_of_args,
    "the number of an array": by_its_number,
    "the number of an object": object_by_its_number,
    "the number of a constant array": constant_by_its_number,
    "a list that grows, later": grown_later,
    "a list that grows, later, by a helper": grown_later_by_a_helper,
    "a dict, later": updated_later,
    "a dict without the key, later": set_by_default_later,
    "a key that is deleted, later": deleted_later,
    "an item that is removed, later": removed_later,
    "a global that a helper reads, later": global_later,
    "a default that remembers": default_that_remembers,
    "an argument that remembers": argument_that_remembers,
    "an object of `args`, later": object_of_args_later,
    "a method, later": method_later,
    "its code, later": code_later,
    "its class, later": class_later,
    "an attribute of the function": attribute_of_a_function,
    "a module in a cell": of_a_module,
    "a global beside an object, later": global_beside_an_object,
    "an array of objects, later": array_of_objects_later,
    "a key of a dict": key_of_a_dict,
    "an item of a set": item_of_a_set,
    "a draw": drawn,
    "a draw, with args": drawn_with_args,
    "an iterator of the module": counted_outside,
    "a dict of the module": lambda k: area(remembered, k),
    "a list of the module": lambda k: area(remembered_in_a_list, k),
    "an array of the module": lambda k: area(remembered_in_an_array, k),
    "a global": lambda k: area(remembered_in_a_global, k),
    "a class": lambda k: area(remembered_in_a_class, k),
    "an object of the module": lambda k: area(remembered_in_an_object, k),
    "a dict": in_a_dict,
    "a cell": in_a_cell,
    "a dict beside an object": in_a_dict_beside_an_object,
    "a buffer": into_a_buffer,
    "calls that are counted": counted,
    "an object of the module, later": scaled_later,
    "an object of the module, later, by a helper": scaled_later_by_a_helper,
    "an object, later": changed_later,
    "an item, later": item_changed_later,
    "an array, later": array_changed_later,
    "a variable, later": bound_later,
    "an iterator": from_an_iterator,
}

# --- the derivatives -------------------------------------------------------------------------------------------------


def plain(f, x):
    _reset()
    return f(x)


def slope(f, x, h=1e-4):
    return (plain(f, x + h) - plain(f, x - h)) / (2.0 * h)


DERIVATIVES = {
    "grad": lambda f: grad(f)(X),
    "jvp": lambda f: jvp(f, (X,), (1.0,))[1],
    "hessian": lambda f: hessian(f)(X),
}


def is_right(f, name, found):
    h = 1e-2
    wanted = slope(f, X) if name != "hessian" else (plain(f, X + h) - 2.0 * plain(f, X) + plain(f, X - h)) / h**2
    return np.isclose(found, wanted, rtol=1e-5 if name != "hessian" else 1e-2, atol=1e-5)


HESSIAN = pytest.param("hessian", marks=pytest.mark.sampled(one_in=5))


@pytest.mark.records
@pytest.mark.dear
@pytest.mark.sampled(one_in=2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["grad", "jvp", HESSIAN])
@pytest.mark.parametrize("f", RIGHT.values(), ids=RIGHT)
def test_right(f, name):
    assert is_right(f, name, DERIVATIVES[name](f))


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["grad", "jvp", HESSIAN])
@pytest.mark.parametrize("f", CHANGING.values(), ids=CHANGING)
def test_right_or_refused(f, name):
    _reset()
    try:
        found = DERIVATIVES[name](f)
    except REFUSED:
        return
    assert is_right(f, name, found)


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["grad", "jvp", HESSIAN])
@pytest.mark.parametrize("solver", ["quad", "quad, with args", "fixed_quad", "odeint"])
@pytest.mark.parametrize("f", HIDDEN.values(), ids=HIDDEN)
def test_hidden_state_is_refused(f, solver, name):
    with pytest.raises(REFUSED):
        DERIVATIVES[name](lambda k: SOLVERS[solver](f, k))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["grad", "jvp"])
def test_draws_in_a_small_part_of_the_state_are_refused(name):
    def small(k):
        def slope(y, t):
            return np.array([0.0, -k * y[1] * (1.0 + np.random.default_rng().random())])

        return integrate.odeint(slope, [1e6, 1e-2], [0.0, 1.0])[-1, 1]

    with pytest.raises(REFUSED, match="gives another result"):
        DERIVATIVES[name](small)


def test_solvers_without_functions_are_called_once(monkeypatch):
    calls = []
    solver = optimize._linprog._linprog_highs

    def counted(*args, **keywords):
        calls.append(args)
        return solver(*args, **keywords)

    monkeypatch.setattr(optimize._linprog, "_linprog_highs", counted)
    grad(lambda k: optimize.linprog(k * np.array([-1.0, -2.0]), A_ub=np.ones((1, 2)) * k, b_ub=np.array([4.0])).fun)(X)
    assert len(calls) == 1


@pytest.mark.records
@pytest.mark.dear
@pytest.mark.sampled(one_in=3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("f", READING.values(), ids=READING)
def test_state_that_changes_before_the_pullback(f, solver, records):
    def scaled(k):
        kept = {"k": k} if not records else _kept(k)
        return solver(f, kept["k"])

    as_before()
    try:
        wanted = slope_of(scaled)
        try:
            _, pullback = vjp(scaled, X)
        except REFUSED:
            return
        assert np.isclose(pullback(1.0)[0], wanted, rtol=1e-4)
        changed()
        with pytest.raises(REFUSED):
            pullback(1.0)
    finally:
        as_before()
        _reset()


def _kept(k):
    return functools.reduce(lambda kept, name: {**kept, name: k}, ["a", "k"], {})


def slope_of(f, h=1e-4):
    return (f(X + h) - f(X - h)) / (2.0 * h)


def test_a_generator_that_is_seeded_in_the_function_draws_the_same():
    def f(k):
        return integrate.fixed_quad(lambda t: k * k * t * np.random.default_rng(0).random(), 0.0, 1.0)[0]

    assert np.isclose(grad(f)(X), slope_of(f))


@pytest.mark.records
def test_the_refusals_say_what_changes():
    with pytest.raises(REFUSED, match=r"`remembered`, which is handed to `integrate\.quad`, changes what lives outside"):
        grad(lambda k: integrate.quad(remembered, 0.0, 1.0, args=(k,))[0])(X)
    with pytest.raises(REFUSED, match="may read what this function changes: pass it as an argument"):
        grad(scaled_later)(X)


@pytest.mark.records
def test_complex_numbers():
    assert is_right(of_complex_numbers, "grad", grad(of_complex_numbers)(X))


# --- sparse arrays within the functions ------------------------------------------------------------------------------

ENTRIES = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, 2.0]]))
CALLED = [lambda f, t: f(t)]
OVER_SPARSE = {
    "quad": lambda f: integrate.quad(f, 0.0, 1.0)[0],
    "brentq": lambda f: optimize.brentq(lambda t: f(t) - 3.0, 0.0, 9.0),
    "minimize": lambda f: optimize.minimize(lambda t: (f(t[0]) - 3.0) ** 2, [1.0], tol=1e-12).x[0],
    "odeint": lambda f: integrate.odeint(lambda y, t: -f(y[0]), [1.0], [0.0, 0.5], rtol=1e-9)[-1, 0],
    "a function of a list": lambda f: CALLED[0](f, 2.0),
}
OF_SPARSE = {
    "alone": lambda k, ask: (lambda a: ask(lambda t: np.sum(a @ np.array([t, t]))))(k * ENTRIES),
    "beside a number": lambda k, ask: (lambda a: ask(lambda t: k * np.sum(a @ np.array([t, t]))))(k * ENTRIES),
    "a constant": lambda k, ask: (lambda a: ask(lambda t: k * np.sum(a @ np.array([t, t]))))(
        sparse.csr_matrix(np.eye(2) + 1.0)
    ),
    "in a list": lambda k, ask: (lambda a: ask(lambda t: np.sum(a[0] @ np.array([t, t]))))([k * ENTRIES]),
    "in a dict": lambda k, ask: (lambda a: ask(lambda t: np.sum(a["a"] @ np.array([t, t]))))({"a": k * ENTRIES}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["grad", "jvp"])
@pytest.mark.parametrize("ask", OVER_SPARSE.values(), ids=OVER_SPARSE)
@pytest.mark.parametrize("held", OF_SPARSE.values(), ids=OF_SPARSE)
def test_sparse_arrays_in_functions(held, ask, name):
    def f(k):
        return held(k, ask)

    try:
        found = DERIVATIVES[name](f)
    except (*REFUSED, TypeError) as error:
        assert name == "jvp", error
        assert "cannot be followed" in str(error), error
        return
    assert is_right(f, name, found)
