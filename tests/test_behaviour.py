"""What calling a function does besides giving a value: one summary, asked of small texts."""

from __future__ import annotations

import functools
import itertools
import random

import numpy as np
import pytest

from s2sgrad.analysis.kinds import OPAQUE, UNKNOWN
from s2sgrad.driver.attempts import compiling
from s2sgrad.memory import behaviour
from s2sgrad.memory.behaviour import Effect

KEPT, RNG = [], np.random.default_rng(1)


def computes(u):
    return np.sin(u) + max([v * 2.0 for v in u])


def computes_by_others(u):
    return computes(u) * computes(u[1:])


def asserts(u):
    assert u[0] > 0.0
    return u


def accumulates(u):
    total, parts = 0.0, []
    for v in u:
        total += v
        parts.append(total)
    return parts


def stores(u):
    u[0] = 1.0
    return u


def stores_by_another(u):
    return stores(u * 1.0)


def has_an_inner_one(u):
    def square(v):
        return v * v

    return square(u)


def keeps(u):
    KEPT.append(u)
    return u


def counts(u):
    global COUNTED
    COUNTED = u
    return u


def prints(u):
    print(u)
    return u


def prints_by_another(u):
    return prints(u) + 1.0


def draws(u):
    return u * RNG.normal() + random.random()


def yields(u):
    yield u


def even(n):
    return 0.0 if n == 0 else odd(n - 1)


def odd(n):
    return 1.0 if n == 0 else even(n - 1)


def even_with_text(n):
    return 0.0 if n == 0 else odd_with_text(n - 1)


def odd_with_text(n):
    print(n)
    return even_with_text(n - 1)


def sums(u):
    return sum(u)


def of_unknown(f, u):
    return f(u)


class Noisy:
    def __radd__(self, other):
        print(other)
        return other


NOISY = Noisy()


def has_an_object_at_hand(u):
    n = NOISY
    return u + n


@pytest.mark.parametrize(
    ("f", "effect", "repeatable"),
    [
        (computes, Effect.NOTHING, True),
        (computes_by_others, Effect.NOTHING, True),
        (asserts, Effect.WITHIN, True),
        (accumulates, Effect.WITHIN, True),
        (stores, Effect.WITHIN, True),
        (stores_by_another, Effect.WITHIN, True),
        (has_an_inner_one, Effect.WITHIN, True),
        (keeps, Effect.ANYTHING, False),
        (counts, Effect.ANYTHING, False),
        (prints, Effect.ANYTHING, False),
        (prints_by_another, Effect.ANYTHING, False),
        (draws, Effect.ANYTHING, False),
        (yields, Effect.ANYTHING, False),
        (even, Effect.NOTHING, True),
        (even_with_text, Effect.ANYTHING, False),
        (sums, Effect.NOTHING, True),
        (of_unknown, Effect.ANYTHING, False),
        (has_an_object_at_hand, Effect.ANYTHING, False),
    ],
)
def test_what_a_function_does(f, effect, repeatable):
    with compiling():
        found = behaviour.of_function(f)
        assert (found.effect, found.is_repeatable) == (effect, repeatable)
        assert behaviour.of_function(f) is found or effect is Effect.WITHIN  # asked once


def test_what_is_given_counts():
    """An iterator is used up by what runs through it, an object may run methods of its own; arrays do neither."""
    with compiling():
        assert behaviour.of_function(sums, UNKNOWN).effect is Effect.ANYTHING
        assert behaviour.of_function(computes, OPAQUE).effect is Effect.ANYTHING
        assert behaviour.of_function(stores_by_another, UNKNOWN).effect is Effect.WITHIN


def test_a_recursion_is_judged_as_a_whole():
    with compiling():
        each = [behaviour.of_function(f).effect for f in (odd_with_text, even_with_text, odd, even)]
        assert each == [Effect.ANYTHING, Effect.ANYTHING, Effect.NOTHING, Effect.NOTHING]


@pytest.mark.parametrize(
    ("target", "repeatable"),
    [
        (np.sin, True), (np.copyto, True), (ValueError, True), (print, False), (random.random, False), (next, False),
        (functools.partial(stores), True), (functools.partial(prints), False), (itertools.count, False), (Noisy, False),
    ],
)  # fmt: skip
def test_what_other_callables_do(target, repeatable):
    with compiling():
        assert behaviour.of_callable(target).is_repeatable == repeatable
