"""Functions that call themselves and remember their values, under `cache` or in a dict of their own."""

from __future__ import annotations

import functools
from functools import cache

import numpy as np

from s2sgrad import grad

from .case import case

VECTOR = np.array([0.7, 1.3, 0.9])


def fibonacci(n, x, memo):
    if n in memo:
        return memo[n]
    memo[n] = x[n] if n < 2 else fibonacci(n - 1, x, memo) * x[2] + fibonacci(n - 2, x, memo)
    return memo[n]


def lucas(n, x, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n < 2:
        return x[n]
    r = lucas(n - 1, x, memo) + lucas(n - 2, x, memo) * x[2]
    memo[n] = r
    return r


@case(VECTOR)
def table_of_two_indices(x):
    @cache
    def best(i, j):
        if i == 0 or j == 0:
            return 0.0
        return max(best(i - 1, j), best(i, j - 1), best(i - 1, j - 1) + x[i % 3] * x[j % 3])

    return best(4, 3)


@case(VECTOR)
def soft_distance_of_two_series(x):
    y = x * 2.0

    @functools.lru_cache(maxsize=64)
    def distance(i, j):
        if i == 0 or j == 0:
            return 0.0 if i == j else 10.0
        before = np.exp(-distance(i - 1, j)) + np.exp(-distance(i, j - 1)) + np.exp(-distance(i - 1, j - 1))
        return (x[i - 1] - y[j - 1]) ** 2 - np.log(before)

    return distance(3, 3)


@case(VECTOR)
def calls_that_share_their_values(x):
    @cache
    def f(n):
        return x[n] if n < 3 else f(n - 1) * x[1] + f(n - 3)

    return sum(f(k) * k for k in range(6)) + f(4) * f(1)


@case(VECTOR)
def sum_over_all_parts(x):
    @cache
    def trees(n):
        if n == 0:
            return x[0]
        return sum(trees(k) * trees(n - 1 - k) for k in range(n)) * x[1]

    return trees(4)


@case(VECTOR)
def remembers_arrays_and_pairs(x):
    @cache
    def state(n):
        return x if n == 0 else np.tanh(state(n - 1)) * x[0] + state(n // 2)

    @cache
    def pair(n, k=1):
        if n == 0:
            return x[0], x[k]
        a, b = pair(n - 1)
        return a * b, a + b

    return np.sum(state(4) ** 2) * pair(3)[0] + pair(2, k=2)[1]


@case(VECTOR)
def remembers_what_was_when_it_was_called(x):
    w = x[0]

    @cache
    def f(n):
        return w if n < 1 else f(n - 1) * x[1]

    y = f(3)
    w = x[2]
    return y * f(5)


@case(VECTOR)
def makes_functions_that_remember(x):
    def power_of(w):
        @cache
        def power(n):
            return w if n == 1 else power(n // 2) * power(n - n // 2)

        return power

    a, b = power_of(x[0]), power_of(np.sin(x[2]))
    return a(3) * b(5) + a(2)


@case(VECTOR)
def keeps_its_values_in_a_dict(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        r = x[n] if n < 2 else f(n - 1) * x[2] + f(n - 2)
        memo[n] = r
        return r

    return f(6) * f(3)


@case(VECTOR)
def begins_with_what_the_dict_holds(x):
    memo = {0: x[0], 1: x[1] * x[1]}

    def f(n):
        if n not in memo:
            memo[n] = f(n - 1) * x[2] + f(n - 2)
        return memo[n]

    return f(5) + f(1)


@case(VECTOR)
def hands_its_dict_on(x):
    return fibonacci(6, x, {}) * lucas(4, x) + lucas(3, x * x)


@case(VECTOR)
def remembers_in_a_default(x):
    def f(i, j, memo={}):  # noqa: B006
        if (i, j) in memo:
            return memo[(i, j)]
        if i == 0 or j == 0:
            v = x[i] * x[j]
        else:
            v = f(i - 1, j) * f(i, j - 1) + x[2]
        memo[i, j] = v
        return v

    return f(2, 2)


@case(VECTOR)
def asks_the_dict_first(x):
    memo = {}

    def f(n):
        known = memo.get(n)
        if known is not None:
            return known
        memo[n] = known = x[0] if n < 1 else f(n - 1) * x[1] + f(n // 2)
        return known

    return f(4)


@case(VECTOR)
def slope_of_what_remembers(x):
    def h(w):
        @cache
        def f(n):
            return w if n < 1 else f(n - 1) * np.sin(w)

        return f(3)

    return grad(h)(x[0]) * x[1]


def stored_before_it_is_doubled(n, x, memo):
    if n in memo:
        return memo[n]
    memo[n] = r = x if n == 0 else stored_before_it_is_doubled(n - 1, x, memo) * x
    return r * 2.0


@case(1.2)
def function_that_stores_something_else_than_it_returns(x):
    return stored_before_it_is_doubled(3, x, {}) * stored_before_it_is_doubled(1, x, {})


@case(VECTOR)
def looks_before_it_computes(x):
    tried, asked = {}, {}

    def first(n):
        try:
            return tried[n]
        except KeyError:
            pass
        r = x[0] if n < 2 else first(n - 1) + np.sin(first(n - 2) * x[1])
        tried[n] = r
        return r

    def second(n):
        r = asked.get(n)
        if r is None:
            r = x[2] if n < 2 else second(n - 1) * np.cos(second(n - 2))
            asked[n] = r
        return r

    return first(4) * second(4)
