"""`vjp`: the value and its pullback; and gradients and pullbacks of callables that are no plain functions."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import gc
import io
import math
import operator
import pickle
import sys
import types
import weakref
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pytest
from corpus import CASES, by_name
from differences import leaves

from s2sgrad import NoRule, NoSource, S2SGradError, Unsupported, grad, jacrev, runtime, value_and_grad, vjp
from s2sgrad.errors import Refused


def product(x, y):
    return x * y


def both(x, n, name="a"):
    return {"sum": np.sum(x) * n, "parts": [x * n, (x, name)]}


def test_the_value_is_that_of_the_function():
    x = np.arange(3.0)
    y, pullback = vjp(both, x, 2)
    assert y["sum"] == 6.0 and y["parts"][1][1] == "a"
    x_bar, n_bar = pullback({"sum": 1.0, "parts": [np.ones(3), (np.zeros(3), None)]})
    np.testing.assert_array_equal(x_bar, np.full(3, 4.0))
    assert n_bar == 0.0


def test_keywords_are_constants():
    def f(x, *, k, power=1):
        return k * x**power

    y, pullback = vjp(f, 3.0, k=5.0, power=2)
    assert (y, pullback(1.0)) == (45.0, (30.0,))


def test_a_pullback_takes_what_has_the_shape_of_the_value():
    _, pullback = vjp(lambda x: x * x[0], np.ones(3))
    for wrong in (np.ones(2), 1.0, np.ones((3, 1)), [1.0, 1.0, 1.0], "abc"):
        if np.shape(wrong) == (3,):
            continue
        with pytest.raises(ValueError, match="seed"):
            pullback(wrong)
    _, pullback = vjp(lambda x: x * x, 3.0)
    with pytest.raises(ValueError, match="seed"):
        pullback(np.ones(3))
    _, pullback = vjp(lambda x: (x, [x]), 3.0)
    for wrong in (1.0, (1.0,), (1.0, 1.0), {"a": 1.0}):
        with pytest.raises(ValueError, match="seed"):
            pullback(wrong)
    assert pullback((1.0, [2.0])) == (3.0,)


def test_a_pullback_gives_memory_of_its_own():
    x, y = np.ones(3), np.ones(3)
    value, pullback = vjp(lambda x, y: x, x, y)
    seed = np.full(3, 2.0)
    first = pullback(seed)
    for bar in first:
        assert not np.shares_memory(bar, seed) and not np.shares_memory(bar, x)
        bar += 100.0
    second = pullback(seed)
    np.testing.assert_array_equal(second[0], [2.0] * 3)
    np.testing.assert_array_equal(second[1], np.zeros(3))
    np.testing.assert_array_equal(seed, np.full(3, 2.0))
    assert value.tolist() == [1.0] * 3


@pytest.mark.parametrize("f", [lambda x: np.exp(x), lambda x: np.sum(x * x), lambda x: x[1:] * x[:-1], lambda x: x.T * x])
def test_arguments_and_value_may_change_before_the_pullback_is_called(f):
    x = np.array([0.5, 1.0, 2.0])
    y, pullback = vjp(f, x)
    seed = np.ones_like(y)
    expected = pullback(seed)[0]
    x += 10.0
    if isinstance(y, np.ndarray):
        y[...] = -7.0
    np.testing.assert_array_equal(pullback(seed)[0], expected)


def test_containers_may_change_before_the_pullback_is_called():
    params = {"w": np.ones(2), "b": [np.full(2, 3.0)]}
    y, pullback = vjp(lambda p: np.sum(p["w"] * p["b"][0]) * p["w"][0], params)
    expected = pullback(1.0)
    params["w"] *= 100.0
    params["b"][0] = np.zeros(2)
    del params["b"][0]
    got = pullback(1.0)
    np.testing.assert_array_equal(got[0]["w"], expected[0]["w"])
    np.testing.assert_array_equal(got[0]["b"][0], expected[0]["b"][0])
    assert y == 6.0


def test_dtypes_and_shapes_of_the_primals():
    x, s = np.ones((2, 3), np.float32), np.float64(2.0)
    _, pullback = vjp(lambda x, s: x * s, x, s)
    x_bar, s_bar = pullback(np.ones((2, 3)))
    assert (x_bar.dtype, x_bar.shape, np.shape(s_bar)) == (np.float32, (2, 3), ())
    assert s_bar == 6.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vjp(product), "product"),
        (lambda: vjp(product, 1.0, 2.0, 3.0), "product"),
        (lambda: vjp(product, 1.0, z=3.0), "product"),
        (lambda: vjp(product, 1.0, 2.0, y=3.0), "product"),
    ],
)
def test_calls_that_do_not_fit(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert "_fwd" not in str(caught.value)


@pytest.mark.parametrize("thing", [3, "sin", None, object()])
def test_what_is_no_function(thing):
    with pytest.raises(TypeError, match="vjp needs a function, not"):
        vjp(thing, 1.0)


def test_what_has_no_source():
    with pytest.raises(NoSource):
        vjp(int.__add__, 1.0)


def test_a_function_that_writes_its_argument_is_refused():
    def f(u):
        u *= 2.0
        return np.sum(u)

    x = np.ones(3)
    with pytest.raises(Unsupported, match="writes the argument `u` of `f`"):
        vjp(f, x)
    np.testing.assert_array_equal(x, np.ones(3))


def test_star_arguments():
    def f(a, *rest):
        return a * rest[0] * rest[0] * rest[1]

    y, pullback = vjp(f, 2.0, 3.0, 5.0)
    assert (y, pullback(1.0)) == (90.0, (45.0, 60.0, 18.0))
    y, pullback = vjp(functools.partial(f, 2.0), 3.0, 5.0)
    assert (y, pullback(1.0)) == (90.0, (60.0, 18.0))


def test_the_function_runs_once():
    calls = []

    def note(x):
        calls.append(x)

    def f(x):
        note(1)
        return x * x

    try:
        _, pullback = vjp(f, 3.0)
    except (Unsupported, NoRule):
        return
    assert pullback(1.0) == pullback(1.0) == (6.0,)
    assert calls == [1]


def test_a_loop_whose_record_is_taken_apart():
    def f(x, n):
        for _ in range(n):
            x = np.sin(x) * x
        return x

    _, pullback = vjp(f, 0.9, 5)
    first = pullback(1.0)
    assert [pullback(1.0), pullback(1.0)] == [first, first]
    np.testing.assert_allclose(first[0], grad(f)(0.9, 5), rtol=1e-14)


def sine_steps(x, n):
    t = x
    for _ in range(n):
        t = np.sin(t) * t
        if t[0] > 100.0:
            break
    return t


def steps_in_place(x, n):
    y = x * 1.0
    for _ in range(n):
        y[:] = np.sin(y) * y + y
        y[0] = y[0] * y[1]
    return y


def records_in_records(x):
    for _ in range(3):
        x = sine_steps(x, 3)
    return np.sum(x)


def arrays_restored_by_a_callee(x):
    return np.sum(steps_in_place(steps_in_place(x, 3), 2))


def arrays_restored_by_a_callee_in_a_loop(x):
    for _ in range(2):
        x = steps_in_place(x, 3)
    return np.sum(x)


def lists_in_a_dict(x):
    d = {"a": [x[0]]}
    for _ in range(3):
        d["a"].append(np.sin(d["a"][-1]) * x[1])
    return d["a"][3] * d["a"][2]


def arrays_in_a_dict(x):
    d = {"a": x * 2.0, "b": [x[0], x[1]]}
    for _ in range(3):
        d["a"][0] = np.sin(d["a"][1]) * d["b"][0]
        d["b"][1] = d["b"][0] * d["a"][0]
        d["b"][0] = d["b"][1] * d["a"][1]
    return np.sum(d["a"]) * d["b"][0] * d["b"][1]


def one_list_under_two_names(x):
    d = {"a": [x[0], x[1]]}
    ws = d["a"]
    ws.append(d["a"][0] * 0.5)
    return x[1] * ws[1] + ws[0] * ws[2]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    "f",
    [records_in_records, arrays_restored_by_a_callee, arrays_restored_by_a_callee_in_a_loop, lists_in_a_dict,
     arrays_in_a_dict, one_list_under_two_names],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_is_within_a_record_is_taken_apart(f):
    """Lists in lists, arrays that a function called from here restores, one list that is there twice."""
    x = np.array([0.5, 0.7])
    _, pullback = vjp(f, x)
    for _ in range(3):
        np.testing.assert_allclose(pullback(1.0)[0], grad(f)(x), rtol=1e-14)
    if f is one_list_under_two_names:
        return
    _, again = vjp(lambda x: vjp(f, x)[1](1.0)[0], x)
    first = again(np.ones(2))[0]
    assert np.array_equal(again(np.ones(2))[0], first)
    np.testing.assert_allclose(first, grad(grad(f))(x), rtol=1e-12)


@pytest.mark.parametrize("second", [None, math])
def test_a_module_as_a_default(second):
    def f(x, xp=np, more=second):
        return xp.sum(xp.cos(x) * x) if more is None else xp.sum(xp.sin(x)) * more.pi

    x = np.array([0.5, 0.7])
    np.testing.assert_allclose(vjp(f, x)[1](1.0)[0], grad(f)(x))


@pytest.mark.sampled(one_in=160)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_pullbacks_of_the_corpus(entry):
    """Called twice they give what `grad` gives, which takes more: what writes its arguments, functions in a list of them.
    They leave the cotangent as it is."""
    with contextlib.redirect_stdout(io.StringIO()):
        expected = grad(entry.function, entry.argnums)(*entry.fresh_args())
        try:
            y, pullback = vjp(entry.function, *entry.fresh_args())
        except Unsupported:
            return
        y_bar = runtime.ones(y)
        for _ in range(2):
            bars = pullback(y_bar)
            for a, b in zip(leaves(y_bar), leaves(runtime.ones(y)), strict=True):
                np.testing.assert_array_equal(a, b)
            for a, b in zip(leaves(tuple(bars[k] for k in entry.argnums)), leaves(expected), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def assert_pullback_of_gradient(entry):
    """The pullback of a gradient gives what the gradient of the gradient gives: lists are kept until it is called."""
    with contextlib.redirect_stdout(io.StringIO()):
        first = grad(entry.function, entry.argnums[0])
        expected = grad(first, entry.argnums[0])(*entry.fresh_args())
        y, pullback = vjp(first, *entry.fresh_args())
        for _ in range(2):
            bar = pullback(runtime.ones(y))[entry.argnums[0]]
            for a, b in zip(leaves(bar), leaves(expected), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_pullback_of_a_gradient_with_one_list_in_two_records():
    assert_pullback_of_gradient(by_name("words_for_a_stack_in_a_loop"))


@pytest.mark.sampled(one_in=160)
@pytest.mark.parametrize("entry", [e for e in CASES if e.second and len(e.argnums) == 1], ids=lambda entry: entry.name)
def test_pullbacks_of_gradients_of_the_corpus(entry):
    with contextlib.suppress(Unsupported, Refused):
        assert_pullback_of_gradient(entry)


@pytest.mark.dear
def test_a_pullback_does_not_keep_its_function_s_arguments_alive_for_ever():
    x = np.ones(1000)
    _, pullback = vjp(lambda x: np.sum(np.exp(x)), x)
    ref = weakref.ref(pullback)
    del pullback
    gc.collect()
    assert ref() is None


# --- callables of all sorts --------------------------------------------------------------------------------------------


class Holder:
    k = 2.0

    def __init__(self, w=3.0):
        self.w = w

    def method(self, x):
        return x * x

    @staticmethod
    def static(x):
        return x * x

    @classmethod
    def of_class(cls, x):
        return x * x

    def __call__(self, x):
        return x * x


def twice(f):
    @functools.wraps(f)
    def inner(x):
        return 2.0 * f(x)

    return inner


def once(f):
    @functools.wraps(f)
    def inner(y, z=1.0):
        return f(y) * z

    return inner


@once
def square(x):
    return x * x


SQUARES = {
    "function": lambda x: x * x, "method": Holder().method, "static": Holder.static, "of_class": Holder.of_class,
    "of_an_instance": Holder().of_class, "instance": Holder(), "staticmethod": Holder.__dict__["static"],
    "partial": functools.partial(lambda k, x: x**k, 2), "partial_of_a_method": functools.partial(Holder.method, Holder()),
    "wrapped": square, "np": np.square,
}  # fmt: skip


@pytest.mark.parametrize("name", SQUARES)
def test_squares(name):
    f = SQUARES[name]
    assert grad(f)(3.0) == 6.0
    assert grad(grad(f))(3.0) == 2.0
    assert value_and_grad(f)(3.0) == (9.0, 6.0)
    if callable(f):
        y, pullback = vjp(f, 3.0)
        assert (y, pullback(1.0)) == (9.0, (6.0,))


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (np.sin, (0.5,), (math.cos(0.5),)),
        (math.sin, (0.5,), (math.cos(0.5),)),
        (math.hypot, (3.0, 4.0), (0.6, 0.8)),
        (math.pow, (2.0, 3.0), (12.0, 8.0 * math.log(2.0))),
        (abs, (-2.0,), (-1.0,)),
        (pow, (2.0, 3.0), (12.0, 8.0 * math.log(2.0))),
        (operator.mul, (2.0, 3.0), (3.0, 2.0)),
        (operator.add, (2.0, 3.0), (1.0, 1.0)),
        (operator.sub, (2.0, 3.0), (1.0, -1.0)),
        (operator.truediv, (2.0, 4.0), (0.25, -0.125)),
        (operator.pow, (2.0, 3.0), (12.0, 8.0 * math.log(2.0))),
        (operator.neg, (2.0,), (-1.0,)),
        (operator.pos, (2.0,), (1.0,)),
        (operator.abs, (-2.0,), (-1.0,)),
        (operator.matmul, (np.ones(2), np.full(2, 3.0)), (np.full(2, 3.0), np.ones(2))),
        (operator.mod, (5.0, 3.0), (1.0, -1.0)),
        (operator.getitem, (np.ones(3), 1), (np.array([0.0, 1.0, 0.0]),)),
        (math.log, (2.0,), (0.5,)),
    ],
)
def test_library_functions(f, args, expected):
    several = tuple(range(len(expected)))
    for got in (grad(f, several)(*args), vjp(f, *args)[1](1.0)[: len(expected)]):
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


def test_a_decorator_runs_and_is_what_is_differentiated():
    @twice
    def f(x):
        return x * x

    assert grad(f)(3.0) == 12.0
    assert grad(lambda x: f(x) * x)(3.0) == 54.0
    assert vjp(f, 3.0)[1](1.0) == (12.0,)
    assert list(grad(square).__signature__.parameters) == ["y", "z", "seed"]
    assert grad(square, "z")(3.0, 2.0) == 9.0
    assert grad(square, 1)(3.0, 2.0) == 9.0
    with pytest.raises(TypeError, match="no parameter named 'x'"):
        grad(square, "x")(3.0)


def test_a_wrapper_that_passes_everything_on_is_right_or_refused():
    def logged(f):
        @functools.wraps(f)
        def inner(*args, **keywords):
            return 3.0 * f(*args, **keywords)

        return inner

    @logged
    def f(x):
        return x * x

    for differentiated in (grad(f), lambda x: vjp(f, x)[1](1.0)[0]):
        try:
            got = differentiated(2.0)
        except (Unsupported, NoRule):
            continue
        assert got == 12.0


def test_a_signature_that_lies():
    def f(x, y):
        return x * x * y

    f.__signature__ = grad(lambda a: a).__signature__
    assert grad(f, 1)(3.0, 1.0) == 9.0
    assert grad(lambda x: f(x, 2.0))(3.0) == 12.0


def test_a_cached_function_is_refused():
    @functools.lru_cache
    def f(x):
        return x * x

    with pytest.raises(NoSource, match="f"):
        grad(f)(3.0)
    with pytest.raises(NoSource, match="f"):
        vjp(f, 3.0)


def test_the_pullback_of_a_gradient():
    df = grad(lambda x, k: k * x**3)
    y, pullback = vjp(df, 2.0, 5.0)
    assert (y, pullback(1.0)) == (60.0, (60.0, 12.0))
    weighted = grad(lambda x: x**3, output_gradients=5.0)
    assert (vjp(weighted, 2.0)[0], vjp(weighted, 2.0)[1](1.0)) == (60.0, (60.0,))


def test_output_gradients_below_a_gradient():
    weighted = grad(lambda x: x**3, output_gradients=5.0)
    assert weighted(2.0) == 60.0
    assert grad(weighted)(2.0) == 60.0
    assert grad(weighted, output_gradients=2.0)(2.0) == 120.0
    assert grad(grad(weighted))(2.0) == 30.0
    assert grad(grad(weighted, output_gradients=2.0))(2.0) == 60.0
    assert grad(weighted)(2.0, seed=3.0) == 180.0
    of_arrays = grad(lambda x: x**3, output_gradients=np.array([1.0, 2.0]))
    np.testing.assert_allclose(grad(of_arrays)(np.array([1.0, 3.0])), [6.0, 36.0])


class Sloped:
    @grad
    def slope(self, x):
        return x**3


@pytest.mark.parametrize(
    ("inner", "expected"),
    [(grad(lambda x: x**3, output_gradients=5.0), 60.0), (Sloped().slope, 12.0),
     (grad(functools.partial(lambda x, k: k * x**3, k=2.0)), 24.0)],
)  # fmt: skip
def test_a_gradient_with_something_bound_is_right_inside_or_refused(inner, expected):
    try:
        got = grad(lambda x: inner(x))(2.0)
    except Unsupported as error:
        assert "bound to it" in str(error)
    else:
        assert got == expected


# --- as data -----------------------------------------------------------------------------------------------------------


def looped(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return x


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
@pytest.mark.parametrize(
    ("f", "args"),
    [(looped, (np.array([0.5, 0.9]), 3)), (np.sin, (0.5,)), (Holder().method, (3.0,)), (grad(product), (2.0, 3.0)),
     (functools.partial(product, 2.0), (3.0,)), (both, (np.ones(2), 2))],
)  # fmt: skip
def test_pullbacks_are_copied_and_pickled(way, f, args):
    y, pullback = vjp(f, *args)
    other = way(pullback)
    seed = {"sum": 1.0, "parts": [np.ones(2), (np.ones(2), None)]} if f is both else y
    for a, b in zip(pullback(seed), other(seed), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(pullback(seed), other(seed), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_name_of_numpy_is_no_list_that_sort_changes():
    _, pullback = vjp(lambda x: np.sort(x) * np.arange(3).reshape(3), np.array([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [2.0, 0.0, 1.0])


def test_a_table_of_functions_has_no_last_key():
    def by_key(x, k):
        table = {0: lambda t: t * 2.0, 1: lambda t: t * 3.0}
        return table[k](x)

    def by_constant_key(x):
        table = {0: lambda t: t * 2.0, 1: lambda t: t * 3.0}
        return table[-1](x)

    assert grad(by_key)(1.0, 1) == 3.0
    with pytest.raises(KeyError):
        grad(by_key)(1.0, -1)
    with pytest.raises(KeyError):
        grad(by_constant_key)(1.0)


# --- what may change between the call and the pullback ---------------------------------------------------------------

RATE = 2.0
SCALES = np.array([1.0, 2.0, 3.0])
SETTINGS = types.ModuleType("settings")
SETTINGS.power = 3.0


def by_rate(t):
    return np.sin(RATE * t)


def of_globals(t):
    return by_rate(t) * RATE * t + SCALES * t**2 + SETTINGS.power * t**3


def test_free_names_are_what_they_were_when_the_function_ran(monkeypatch):
    t, ones = np.array([0.2, 0.5, 0.4]), np.ones(3)
    expected = grad(of_globals)(t, seed=ones)
    monkeypatch.setattr(sys.modules[__name__], "SCALES", SCALES.copy())
    _, pullback = vjp(of_globals, t)
    monkeypatch.setattr(sys.modules[__name__], "RATE", 5.0)
    monkeypatch.setattr(SETTINGS, "power", 7.0)
    SCALES[:] = 100.0
    np.testing.assert_allclose(pullback(ones)[0], expected, rtol=1e-14)
    assert not np.allclose(vjp(of_globals, t)[1](ones)[0], expected)


def test_closures_keep_what_they_closed_over():
    t = np.array([0.2, 0.5, 0.4])
    pullbacks = []
    for power in range(1, 4):
        scale = t * power
        pullbacks.append(vjp(lambda t: np.sum(scale * t**power), t)[1])
    for power, pullback in enumerate(pullbacks, 1):
        np.testing.assert_allclose(pullback(1.0)[0], power * t * power * t ** (power - 1), rtol=1e-14)


def test_a_pullback_with_a_dict_in_its_record_can_be_called_again():
    def f(u, v):
        s = {"a": u, "b": v}
        for _ in range(3):
            s["a"] = s["a"] * s["b"]
            s["b"] = np.sin(s["b"]) + s["a"]
        return np.sum(s["a"] * s["b"])

    _, pullback = vjp(f, np.array([0.3, 0.7]), np.array([0.5, 0.2]))
    once, twice = pullback(1.0), pullback(2.0)
    assert [(2.0 * g).tolist() for g in once] == [g.tolist() for g in twice]


def test_results_that_share_memory_with_what_was_written():
    """The cotangent of the result is taken apart before any statement's is written."""
    entry = by_name("pair_of_names_of_which_one_was_written")
    (x,) = entry.fresh_args()
    (w, v), pullback = vjp(entry.function, x)
    assert np.array_equal(w, v)
    for _ in range(2):
        np.testing.assert_array_equal(pullback((np.ones(5), 2.0 * np.ones(5)))[0], [0.0, 12.0, 3.0, 3.0, 3.0])


@pytest.mark.records
def test_a_function_that_holds_a_pullback_carries_what_the_pullback_was_taken_at():
    def made(f, *args):
        def inner(*args):
            value, pullback = vjp(lambda t: f(t), args[0])
            return (lambda g: pullback(g)[0]), value

        return inner(*args)

    def slope(f, x):
        return made(f, x)[0](2.0)

    cube = lambda t: t**3  # noqa: E731
    assert grad(slope, 1)(cube, 1.5) == pytest.approx(18.0)
    assert grad(lambda x: slope(cube, x))(1.5) == pytest.approx(18.0)
    assert grad(lambda x: grad(slope, 1)(cube, x))(1.5) == pytest.approx(12.0)


class CalledDict(dict):
    def __call__(self, x):
        return self["w"] * x


class CalledList(list):
    def __call__(self, x):
        return self[0] * x


class CalledPair(NamedTuple):
    w: float
    v: float

    def __call__(self, x):
        return self.w * x


def of_item(x, d):
    return np.sum(((d["w"] if isinstance(d, dict) else d[0]) * x) ** 2)


def of_call(x, d):
    return np.sum(d(x) ** 2)


@pytest.mark.records
@pytest.mark.parametrize("f", [of_item, of_call])
@pytest.mark.parametrize("made", [lambda: CalledDict(w=2.0), lambda: CalledList([2.0]), lambda: CalledPair(2.0, 1.5)])
@pytest.mark.parametrize("derivative", [lambda f, *args: vjp(f, *args)[1](1.0)[1], lambda f, *args: jacrev(f, 1)(*args)])
def test_containers_that_can_be_called_carry_derivatives(f, made, derivative):
    """They are followed, or refused, and no constants, as functions are."""
    x = np.array([0.3, 0.8])
    try:
        found = derivative(f, x, made())
    except (S2SGradError, TypeError) as error:
        assert f is of_call and "called" in str(error)
    else:
        first = found["w"] if isinstance(found, dict) else found[0]
        assert float(first) == pytest.approx(4.0 * np.sum(x * x))


BYTES = np.array([200, 100, 60, 7], np.uint8)


def of_bytes_written_and_bound_again(x):
    with np.errstate(all="ignore"):
        b = BYTES
        n = b + b
        h = np.array([0.1, 0.7, 1.3, -0.4], np.float32)
        y = (n + n) * x**2
        n *= b
        y -= n * x
        for _ in range(2):
            n = h
        y = y + np.sum(x * n) * 0.1
        return np.sum(np.tanh(y * 0.01))


def test_an_array_of_a_record_is_that_in_a_list_of_the_record():
    """The adjoint restores it in one place, and reads it in the other."""
    x = np.array([-0.88, 0.21, 0.91, -0.84])
    df = grad(of_bytes_written_and_bound_again)
    _, pullback = vjp(df, x)
    assert "n_references" in df.source
    for direction in np.eye(4):
        expected = (df(x + 1e-5 * direction) - df(x - 1e-5 * direction)) / 2e-5
        np.testing.assert_allclose(pullback(direction)[0], expected, atol=1e-8)


class Answering:
    def __init__(self, w):
        self.w = w

    def __getattr__(self, name):
        return 1.0


class Shelf(Mapping):
    def __init__(self, held):
        self.held = held

    def __getitem__(self, key):
        return self.held[key]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


class Raised(Exception):
    def __init__(self, w):
        self.w = w


class Kept:
    def __init__(self, part):
        self.part = part


@pytest.mark.parametrize("derivative", [lambda f, v: vjp(f, v)[1](1.0)[0], lambda f, v: grad(f)(v)])
@pytest.mark.parametrize(
    ("made", "read"),
    [(lambda: Answering(2.0), lambda h: h.w), (lambda: Shelf({"w": 2.0}), lambda h: h["w"]),
     (lambda: collections.UserDict(w=2.0), lambda h: h["w"]), (lambda: Raised(2.0), lambda h: h.w)],
)  # fmt: skip
def test_objects_that_read_otherwise_are_refused_or_followed(made, read, derivative):
    """Their cotangents are never silently zero."""
    with pytest.raises(TypeError, match="are not followed"):
        derivative(lambda h: read(h) ** 2, made())
    try:
        found = derivative(lambda h: read(h.part) ** 2, Kept(made()))
    except (TypeError, S2SGradError) as error:
        assert "are not followed" in str(error) or "cannot be differentiated" in str(error)
    else:
        assert found == {"part": {"w": 4.0}}
