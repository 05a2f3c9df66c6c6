"""Nested functions with decorators, and generators that hand on to others."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from s2sgrad import grad, value_and_grad

from .case import case


def doubled(f):
    def g(*args, **options):
        return 2.0 * f(*args, **options)

    return g


def scaled(by):
    def decorate(f):
        @functools.wraps(f)
        def g(t):
            return by * f(t)

        return g

    return decorate


@case(0.6)
def gradient_as_a_decorator(x):
    @grad
    def slope(z):
        return z**3 * x

    return slope(x)


@case(0.6)
def gradient_with_options_as_a_decorator(x):
    @grad(argnums=1)
    def slope(a, z):
        return z**3 * x * a

    return slope(x, 2.0)


@case(0.6)
def value_and_gradient_as_a_decorator(x):
    @value_and_grad
    def both(z):
        return z**3 * x

    value, slope = both(x)
    return value * slope


@case(0.6)
def two_decorators_that_close_over_a_value(x):
    @scaled(x)
    @doubled
    def cube(z):
        return z**3 * x

    return cube(x)


@case(0.6)
def yields_from_generators_and_lists(x):
    def inner(n):
        for i in range(n):
            yield x * i

    def outer():
        yield 1.0
        yield from inner(3)
        yield from [x, x * x]

    total = 1.0
    for v in outer():
        total = total + v * total
    return total


@case(0.6)
def enumerated_items_of_a_dict_that_changes(x):
    d = {"a": x, "b": x * x}
    total = 0.0
    for i, (_, v) in enumerate(d.items()):
        d["b"] = d["b"] * x
        total += v * (i + 1)
    for i, v in enumerate(d.values()):
        total += v * i
    return total


@case(np.array([0.3, 0.5, 0.9]))
def steps_between_neighbours(xs):
    total = 0.0
    for a, b in itertools.pairwise(xs):
        total += (b - a) ** 2 * a
    return total + sum(b * a for a, b in itertools.pairwise(xs))
