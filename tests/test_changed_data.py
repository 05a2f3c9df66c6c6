"""Data that changes between a call and its pullback: the pullback is what it would have been before, or says so."""

import collections
import collections.abc
import contextlib
import dataclasses
import functools
import types
from typing import NamedTuple

import numpy as np
import pytest

from s2sgrad import GradientTape, S2SGradError, constant, differentiable, grad, vjp

X = np.array([1.0, 2.0])
FIRST, SECOND = 3.0 * X * X**2, 6.0 * X * X


class Pair(NamedTuple):
    a: object
    b: object


class Plain:
    def __init__(self, a):
        self.a = a

    def get(self):
        return self.a

    def cubed(self, x):
        return np.sum(self.a * x**3)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a

    def cubed(self, x):
        return np.sum(self.a * x**3)


class Computed:
    def __init__(self, a):
        self._a = a

    @property
    def a(self):
        return self._a


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object


class Dict(dict):
    pass


class List(list):
    pass


def attribute(o, x):
    return np.sum(o.a * x**3)


def item(o, x):
    return np.sum(o[0] * x**3)


def key(o, x):
    return np.sum(o["a"] * x**3)


def method(o, x):
    return np.sum(o.get() * x**3)


def helper(o, x):
    return o.a * x**3


def through_a_helper(o, x):
    return np.sum(helper(o, x))


def deep(o, x):
    return np.sum(o[0].a * x**3)


HOLDERS = {
    "named tuple": (lambda a: Pair(a, 2.0), attribute), "object": (Plain, attribute), "method": (Plain, method),
    "helper": (Plain, through_a_helper), "slots": (Slotted, attribute), "property": (Computed, attribute),
    "dataclass": (Frozen, attribute), "namespace": (lambda a: types.SimpleNamespace(a=a), attribute),
    "list": (lambda a: [a], item), "tuple": (lambda a: (a,), item), "dict": (lambda a: {"a": a}, key),
    "ordered": (lambda a: collections.OrderedDict(a=a), key), "own dict": (lambda a: Dict(a=a), key),
    "own list": (lambda a: List([a]), item), "proxy": (lambda a: types.MappingProxyType({"a": a}), key),
    "deque": (lambda a: collections.deque([a]), item), "user dict": (lambda a: collections.UserDict(a=a), key),
    "list of objects": (lambda a: [Plain(a)], deep), "list of named tuples": (lambda a: [Pair(a, 1.0)], deep),
    "tuple of namespaces": (lambda a: (types.SimpleNamespace(a=a),), deep),
    "array of objects": (lambda a: np.array([a, None], dtype=object), item),
}  # fmt: skip
COPIED = {"named tuple", "list", "tuple", "dict", "list of named tuples"}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_an_argument_holds_may_change_before_the_gradient(holder):
    make, f = HOLDERS[holder]
    a, x = X.copy(), constant(X)
    held = make(a)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(f)(held, x)
    a[:] = 7.0
    np.testing.assert_allclose(t.gradient(y, x), FIRST)


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_an_argument_holds_is_not_changed_before_a_gradient_that_is_recorded(holder):
    """It is computed from the arguments: containers are copied, and changed objects are noticed."""
    make, f = HOLDERS[holder]
    a, x = X.copy(), constant(X)
    held = make(a)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(f)(held, x)
        a[:] = 7.0
        if holder not in COPIED:
            with pytest.raises(RuntimeError, match=r"`o`, which .* reads, was changed"):
                t.gradient(y, x)
            return
        g = t.gradient(y, x)
    np.testing.assert_allclose(g, FIRST)
    np.testing.assert_allclose(outer.gradient(g, x), SECOND)


@pytest.mark.parametrize("holder", [
    h for h in HOLDERS if h not in ("slots", "namespace", "tuple of namespaces", "deque", "user dict", "array of objects")
])  # fmt: skip
def test_what_a_primal_holds_may_change_before_the_pullback(holder):
    make, f = HOLDERS[holder]
    a = X.copy()
    _, pullback = vjp(f, make(a), X)
    a[:] = 7.0
    np.testing.assert_allclose(pullback(1.0)[1], FIRST)


@pytest.mark.parametrize("kind", ["object", "ordered", "namespace", "slots", "list", "own dict", "deque"])
def test_an_attribute_or_item_may_be_bound_anew_before_the_gradient(kind):
    make, f = HOLDERS[kind]
    held, x = make(X.copy()), constant(X)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(f)(held, x)
    if f is attribute:
        held.a = 7.0 * X
    else:
        held[0 if f is item else "a"] = 7.0 * X
    np.testing.assert_allclose(t.gradient(y, x), FIRST)


# --- what is read by name, or bound ----------------------------------------------------------------------------------

GLOBAL = X.copy()
SPACE = types.SimpleNamespace(a=GLOBAL)
OBJECT, NAMED, ORDERED, LISTED = Plain(GLOBAL), Pair(GLOBAL, 2.0), collections.OrderedDict(a=GLOBAL), [GLOBAL]
SLOTTED = Slotted(GLOBAL)


def reads_a_global(x):
    return np.sum(GLOBAL * x**3)


def reads_an_object(x):
    return np.sum(OBJECT.a * x**3)


def reads_a_view(x):
    part = OBJECT.a[:2]
    return np.sum(part * x**3)


def reads_a_namespace(x):
    return np.sum(SPACE.a * x**3)


def reads_slots(x):
    return np.sum(SLOTTED.a * x**3)


def reads_a_named_tuple(x):
    return np.sum(NAMED.a * x**3)


def reads_a_dict(x):
    return np.sum(ORDERED["a"] * x**3)


def reads_a_list(x):
    return np.sum(LISTED[0] * x**3)


def has_a_default(x, a=GLOBAL):
    return np.sum(a * x**3)


def has_a_default_by_name(x, *, a=GLOBAL):
    return np.sum(a * x**3)


def closed_over(o):
    return lambda x: np.sum(o.a * x**3)


OUTSIDE = {
    "global": reads_a_global, "object": reads_an_object, "view": reads_a_view, "namespace": reads_a_namespace,
    "slots": reads_slots, "named tuple": reads_a_named_tuple, "dict": reads_a_dict, "list": reads_a_list,
    "default": has_a_default, "default by name": has_a_default_by_name, "closure": closed_over(OBJECT),
    "closed namespace": closed_over(SPACE), "method": OBJECT.cubed, "method of slots": SLOTTED.cubed,
    "partial": functools.partial(item, LISTED), "partial of an object": functools.partial(attribute, OBJECT),
    "keyword of a partial": functools.partial(lambda x, a: np.sum(a * x**3), a=GLOBAL),
}  # fmt: skip


@pytest.fixture
def restored():
    yield
    GLOBAL[:] = X


@pytest.mark.parametrize("f", OUTSIDE.values(), ids=OUTSIDE)
def test_what_is_read_may_change_before_the_pullback(f, restored):
    _, pullback = vjp(f, X)
    GLOBAL[:] = 7.0
    np.testing.assert_allclose(pullback(1.0)[0], FIRST)


@pytest.mark.parametrize("f", OUTSIDE.values(), ids=OUTSIDE)
def test_what_is_read_may_change_before_the_gradient(f, restored):
    x = constant(X)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(f)(x)
    GLOBAL[:] = 7.0
    np.testing.assert_allclose(t.gradient(y, x), FIRST)


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_read_is_not_changed_before_a_gradient_that_is_recorded(name, restored):
    x = constant(X)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(OUTSIDE[name])(x)
        GLOBAL[:] = 7.0
        if name in ("partial", "keyword of a partial"):  # arguments, which are copied
            np.testing.assert_allclose(t.gradient(y, x).numpy(), FIRST)
            return
        with pytest.raises(RuntimeError, match="reads, was changed"):
            t.gradient(y, x)


@pytest.mark.parametrize("name", ["global", "object", "view", "dict", "list", "default", "closure", "method", "partial"])
def test_second_derivatives_of_what_reads_data(name):
    x = constant(X)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(OUTSIDE[name])(x)
        g = t.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x), SECOND)


def test_named_tuples_stay_named_tuples_in_records():
    def f(p):
        return Pair(p.a * p.b, p.a)

    y, pullback = vjp(f, Pair(2.0, 3.0))
    assert y == Pair(6.0, 2.0) and pullback(Pair(1.0, 1.0)) == (Pair(4.0, 2.0),)
    p = Pair(constant(2.0), constant(3.0))
    with GradientTape() as t:
        t.watch(p)
        q = differentiable(f)(p)
        z = q.a * q.b
    g = t.gradient(z, p)
    assert isinstance(g, Pair) and (g.a.numpy(), g.b.numpy()) == (12.0, 4.0)


# --- defaults of a function that a run changes ------------------------------------------------------------------------


def by_keyword(x, *, a=2.0):
    return a * x


def by_place(x, a=2.0):
    return a * x


def _bound(f, values):
    if f is by_place:
        f.__defaults__ = None if values is None else tuple(values.values())
    else:
        f.__kwdefaults__ = values


def bound_anew(f, x):
    y = f(x)
    _bound(f, {"a": 5.0})
    return y + f(x)


def bound_in_a_loop(f, x):
    y = 0.0
    for k in range(3):
        y = y + f(x)
        _bound(f, {"a": float(k)})
    return y


def bound_to_what_is_followed(f, x):
    y = f(x)
    _bound(f, {"a": x})
    return y + f(x)


def unbound(f, x):
    y = f(x)
    _bound(f, None)
    try:
        return y + f(x)
    except TypeError:
        return 10.0 * y


@pytest.mark.records
@pytest.mark.parametrize("program", [bound_anew, bound_in_a_loop, bound_to_what_is_followed, unbound])
@pytest.mark.parametrize("f", [by_keyword, by_place])
def test_defaults_that_change_while_it_runs(f, program):
    def value(x):
        _bound(f, {"a": 2.0})
        return program(f, x)

    try:
        wanted = (value(0.7 + 1e-5) - value(0.7 - 1e-5)) / 2e-5
        for _ in range(2):
            _bound(f, {"a": 2.0})
            assert np.isclose(grad(lambda x: program(f, x))(0.7), wanted)
    finally:
        _bound(f, {"a": 2.0})


@pytest.mark.parametrize("f", [by_keyword, by_place])
def test_defaults_that_change_between_derivatives(f):
    g = grad(f)
    try:
        assert g(1.0) == 2.0
        _bound(f, {"a": 5.0})
        assert g(1.0) == 5.0
        if f is by_keyword:
            f.__kwdefaults__["a"] = 7.0
            assert g(1.0) == 7.0
    finally:
        _bound(f, {"a": 2.0})


# --- objects that are not followed ------------------------------------------------------------------------------------


class Answering:
    def __init__(self, a):
        self.a = a

    def __getattr__(self, name):
        raise AttributeError(name)


class Keyed(collections.abc.Mapping):
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return 1

    def __iter__(self):
        return iter(["a"])

    def __getitem__(self, key):
        return self.a


class FailedError(Exception):
    def __init__(self, a):
        self.a = a


class Items(collections.UserDict):
    pass


@pytest.mark.parametrize("within", [lambda p: p, lambda p: [p, 2.0], lambda p: {"p": p}, Plain])
@pytest.mark.parametrize("cls", [Answering, Keyed, FailedError, Items])
def test_objects_whose_cotangent_would_be_zeros_are_refused(cls, within):
    made = within(cls({"a": 1.0}) if cls is Items else cls(1.0))
    if cls is Answering and made.__class__ is not Answering:  # its place is known: it is followed
        p_bar, x_bar = vjp(lambda p, x: x * 2.0, made, 3.0)[1](1.0)
        assert x_bar == 2.0 and "'a': 0.0" in str(getattr(p_bar, "__dict__", p_bar))
        return
    with pytest.raises(TypeError, match="are not followed"):
        vjp(lambda p, x: x * 2.0, made, 3.0)
    assert vjp(lambda x, p: x * 2.0, 3.0, p=made)[1](1.0) == (2.0,)


class Spread:
    """What Python takes behind two stars: it has keys and items, and its own way to be run through."""

    def __init__(self, held):
        self.held = held

    def keys(self):
        return self.held.keys()

    def __getitem__(self, key):
        return self.held[key]

    def items(self):
        return [(key, 2.0 * value) for key, value in self.held.items()]


def product(a, b=2.0):
    return a * b


HELD = Spread({"a": 0.7})


def of_a_mapping_outside(x):
    return x * product(**HELD)


def test_a_mapping_behind_two_stars_is_read_as_python_reads_it():
    with contextlib.suppress(S2SGradError):
        assert grad(of_a_mapping_outside)(1.0) == pytest.approx(1.4)


def scaled(x):
    return scaled.factor * x


def _scaled_by(f, factor):
    f.factor = factor


def kept_on_the_function(f, x):
    _scaled_by(f, x)
    return f(x)


@pytest.mark.records
def test_what_a_helper_keeps_on_a_function_is_followed():
    scaled.factor = 2.0
    assert grad(lambda x: kept_on_the_function(scaled, x))(0.7) == pytest.approx(1.4)
    scaled.factor = 2.0
    assert grad(kept_on_the_function, argnums=1)(scaled, 0.7) == pytest.approx(1.4)
