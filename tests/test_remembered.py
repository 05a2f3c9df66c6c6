"""Functions that remember their values: how often they run, under what they remember, what is refused when they run."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime.memos import calls_made

X = np.array([0.7, 1.3, 0.9])


def fibonacci(x, n):
    @cache
    def fib(k):
        return x[k] if k < 2 else fib(k - 1) * x[2] + fib(k - 2)

    return fib(n)


def test_each_value_is_computed_once_in_the_gradient_as_well():
    """Without the memo this would take ages."""
    x = np.array([0.7, 1.3, 0.5])
    first, second = grad(fibonacci)(x, 90), grad(grad(lambda x: fibonacci(x, 60)))(x)
    for k in range(3):
        ahead, behind = x.copy(), x.copy()
        ahead[k] += 1e-6
        behind[k] -= 1e-6
        slope = (fibonacci(ahead, 90) - fibonacci(behind, 90)) / 2e-6
        assert first[k] == pytest.approx(slope, rel=1e-5)
    assert np.all(np.isfinite(second))


def test_calls_are_found_behind_those_that_they_need():
    runs = []

    def pairs(i, j, *, pairs):
        runs.append((i, j))
        return 1.0 if 0 in (i, j) else pairs(i - 1, j) + pairs(i, j - 1)

    found = calls_made(pairs, {}, (3, 3))
    assert len(found) == len(set(found)) == len(runs)
    for i, j in found:
        if i and j:
            assert found.index((i - 1, j)) < found.index((i, j)) > found.index((i, j - 1))


def test_values_under_what_may_be_differentiated_are_refused():
    def f(x):
        @cache
        def g(n, w):
            return w if n == 0 else g(n - 1, w * 0.5) * w

        return g(3, x[0])

    with pytest.raises(TypeError, match="which may be differentiated: let it remember nothing"):
        grad(f)(X)


def test_values_under_numbers_of_another_kind_are_refused():
    def f(x):
        @cache
        def g(n):
            return x[0] if n == "end" else g(n - 1 if n > 1 else "end") * x[1]

        return g(3)

    with pytest.raises(TypeError, match="is called with a whole number and calls itself with 'end'"):
        grad(f)(X)


def test_a_dict_that_holds_values_of_other_arguments_is_read():
    """As Python does: what is in there is not computed again."""

    def f(x):
        memo = {2: x[2]}

        def g(n):
            if n in memo:
                return memo[n]
            memo[n] = x[0] if n == 0 else g(n - 1) * x[1]
            return memo[n]

        return g(4)

    np.testing.assert_allclose(grad(f)(X), [0.0, 2.0 * X[1] * X[2], X[1] ** 2])


def test_a_default_is_given_where_nobody_knows_the_function():
    def f(x):
        fs = {"power": lambda t: t}
        fs["power"] = lambda t, n=2: t if n == 0 else fs["power"](t * x[2], n - 1)
        return fs["power"](x[0])

    np.testing.assert_allclose(grad(f)(X), [X[2] ** 2, 0.0, 2.0 * X[0] * X[2]])
