"""Functions that remember their results: how often they run, under what they remember, what outlives a call."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest
from corpus import by_name
from differences import central_difference

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.recorded import escapes
from s2sgrad.runtime.checks import Refusal

pytestmark = pytest.mark.records
X = np.array([0.7, 1.3, 0.9])


def fibonacci(x, n):
    @functools.cache
    def fib(k):
        return x[k] if k < 2 else fib(k - 1) * x[2] + fib(k - 2)

    return fib(n)


def in_a_dict(x, n):
    memo = {}

    def fib(k):
        if k not in memo:
            memo[k] = x[k] if k < 2 else fib(k - 1) * x[2] + fib(k - 2)
        return memo[k]

    return fib(n)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", [fibonacci, in_a_dict])
def test_each_value_is_computed_once_in_the_gradient_as_well(f):
    """Without the memo this would take ages."""
    x = np.array([0.7, 1.3, 0.5])
    np.testing.assert_allclose(grad(f)(x, 90), central_difference(f, (x, 90), 0)[0], rtol=1e-5)
    assert np.all(np.isfinite(grad(grad(f))(x, 60)))


def under_numbers_that_are_followed(x):
    @functools.cache
    def g(n, w):
        return w if n == 0 else g(n - 1, w * 0.5) * w

    return g(3, x[0])


def under_numbers_of_another_kind(x):
    @functools.cache
    def g(n):
        return x[0] if n == "end" else g(n - 1 if n > 1 else "end") * x[1]

    return g(3)


def reads_what_was_remembered(x):
    memo = {}
    return power_with(memo, 4, x) * memo[2] * len(memo)


def power_with(memo, n, x):
    if n in memo:
        return memo[n]
    memo[n] = x[0] if n == 0 else power_with(memo, n - 1, x) * x[1]
    return memo[n]


def counts_its_calls(x):
    calls = [0]

    @functools.cache
    def power(n):
        calls[0] += 1
        return x[0] if n == 0 else power(n - 1) * x[1]

    return power(3) * calls[0]


def begins_with_what_others_gave(x):
    memo = {2: x[2]}

    def g(n):
        if n in memo:
            return memo[n]
        memo[n] = x[0] if n == 0 else g(n - 1) * x[1]
        return memo[n]

    return g(4)


def writes_what_it_remembers(x):
    @functools.cache
    def g(n):
        y = x * 1.0 if n == 0 else g(n - 1)
        y *= 2.0
        return y

    return np.sum(g(3) * g(1))


@functools.lru_cache(maxsize=8)
def power_of(n, w):
    return w if n == 0 else power_of(n - 1, w) * w


def outside_of_the_function(x):
    return power_of(3, x[0]) + power_of(2, x[1])


class Steps:
    def __init__(self):
        self.known = {}

    def at(self, n, x):
        if n not in self.known:
            self.known[n] = x[0] if n == 0 else self.at(n - 1, x) * x[1]
        return self.known[n]


def in_an_object(x):
    steps = Steps()
    return steps.at(3, x) + steps.at(2, x)


FUNCTIONS = (
    under_numbers_that_are_followed, under_numbers_of_another_kind, reads_what_was_remembered, counts_its_calls,
    begins_with_what_others_gave, writes_what_it_remembers, outside_of_the_function, in_an_object,
)  # fmt: skip


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_orders_and_both_modes(f):
    df = grad(f)
    for _ in range(2):
        np.testing.assert_allclose(df(X), central_difference(f, (X,), 0)[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grad(df)(X), central_difference(df, (X,), 0)[0], rtol=1e-4, atol=1e-5)
    along = np.array([0.3, -0.8, 0.5])
    np.testing.assert_allclose(jvp(f, (X,), (along,))[1], df(X) @ along, rtol=1e-9)


MEMO, LOG = {}, []


def in_a_global(x):
    if "y" not in MEMO:
        MEMO["y"] = np.sin(x[0]) * x[1]
    return MEMO["y"] * x[2]


def in_a_global_and_returned(x):
    return MEMO["y"] if "y" in MEMO else MEMO.setdefault("y", x * x)


def in_its_own_attribute(x, n=3):
    if n not in in_its_own_attribute.known:
        in_its_own_attribute.known[n] = x[0] if n == 0 else in_its_own_attribute(x, n - 1) * x[1]
    return in_its_own_attribute.known[n]


in_its_own_attribute.known = {}
OUTLIVE = (in_a_global, in_a_global_and_returned, in_its_own_attribute)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", OUTLIVE, ids=lambda f: f.__name__)
def test_what_outlives_a_call_is_plain_and_not_read_by_the_next(f):
    def differences():
        def forgetful(x):
            held.clear()
            return np.sum(f(x))

        return central_difference(forgetful, (X,), 0)[0]

    held, df = getattr(f, "known", MEMO), grad(f)
    held.clear()
    expected, plain = differences(), (float, np.float64, np.ndarray)
    for _ in range(2):
        held.clear()
        with contextlib.suppress(S2SGradError, Refusal):  # a text that meets it in a branch
            np.testing.assert_allclose(df(X), expected, rtol=1e-5, atol=1e-6)
            assert held and all(type(v) in plain for v in held.values())
        with pytest.raises((S2SGradError, Refusal)):
            df(X)
        assert all(type(v) in plain for v in held.values())
    held.clear()


def test_what_imported_a_module_is_not_searched(monkeypatch):
    """The loader of a module may refer to the whole process, as pytest's does."""
    searched, mended = [], escapes._mended
    monkeypatch.setattr(escapes, "_mended", lambda x, settled: searched.append(x) or mended(x, settled))
    MEMO.clear()
    grad(in_a_global)(X)
    assert any(x is MEMO for x in searched) and type(MEMO.pop("y")) is np.float64
    assert not any(x is __loader__ or x is __spec__ for x in searched)


def noted(x):
    y = np.sum(x**2)
    LOG.append(y)
    return y * len(LOG)


def test_what_is_noted_and_never_read_is_no_matter():
    LOG.clear()
    for k in range(1, 4):
        np.testing.assert_allclose(grad(noted)(X), 2.0 * X * k)
    assert [type(y) for y in LOG] == [np.float64] * 3


def rows_of_a_function(x):
    rows_of_a_function.rows[1] = x[0] * x[1]
    return rows_of_a_function.rows[1] * x[2]


rows_of_a_function.rows = [0.0, 0.0]


def test_what_a_function_holds_lives_outside():
    with pytest.raises(S2SGradError, match="lives outside of the function"):
        grad(rows_of_a_function, strict=True)(X)
    for _ in range(2):
        np.testing.assert_allclose(grad(rows_of_a_function)(X), [X[1] * X[2], X[0] * X[2], X[0] * X[1]])


def test_a_text_that_is_refused_as_it_runs_is_compiled_once(compilations):
    entry = by_name("hands_its_dict_on")
    df = grad(entry.function)
    df(*entry.fresh_args())
    made = len(compilations)
    df(*entry.fresh_args())
    assert len(compilations) == made


def test_a_default_is_given_where_nobody_knows_the_function():
    def f(x):
        fs = {"power": lambda t: t}
        fs["power"] = lambda t, n=2: t if n == 0 else fs["power"](t * x[2], n - 1)
        return fs["power"](x[0])

    np.testing.assert_allclose(grad(f)(X), [X[2] ** 2, 0.0, 2.0 * X[0] * X[2]])


class Kept:
    last = 0.0


def kept_on_the_class(x):
    Kept.last = x[0] * x[1]
    return Kept.last * x[2]


def test_what_is_left_on_a_class_is_plain_afterwards():
    for derivative in (grad(kept_on_the_class), lambda x: jvp(kept_on_the_class, (x,), (x,))):
        derivative(X)
        assert type(Kept.last) is np.float64 and Kept.last == X[0] * X[1]
        derivative(X)
