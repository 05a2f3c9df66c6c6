"""Names that stand for one of several functions."""

from __future__ import annotations

import numpy as np

from .case import case


@case(0.6)
def definition_chosen_by_a_branch(x):
    if x > 0.5:

        def act(z):
            return z * z * x

    else:

        def act(z):
            return np.tanh(z)

    return act(x) + act(2.0 * x)


@case(0.6)
def lambdas_and_library_functions_in_turn(x):
    f = np.sin
    total = f(x)
    for i in range(4):
        if i == 1:
            f = lambda t: t * x  # noqa: E731
        elif i == 2:
            f = np.cos
        total = total + f(x * i)
    return total


@case(0.6)
def chosen_function_in_another_and_in_map(x, kind="b"):
    if kind == "a":
        f = np.sin
    elif kind == "b":
        f = lambda t, w=x: t * w * x  # noqa: E731
    else:
        f = np.cos
    g = lambda t: f(f(t))  # noqa: E731
    return g(x) * sum(map(f, [x, 2.0]))


@case(0.6)
def kept_under_another_name_before_it_changes(x):
    f = lambda t: t * x  # noqa: E731
    before = f
    f = lambda t: t + before(t)  # noqa: E731
    return f(x) * before(2.0)


@case(0.6)
def default_in_the_place_of_none(x, act=None):
    if act is None:
        act = lambda t: t * t * x  # noqa: E731
    return act(x)


@case(0.6, np.sin, argnums=(0,))
def function_given_in_the_place_of_the_default(x, act=None):
    if act is None:
        act = lambda t: t * t * x  # noqa: E731
    return act(x)


def twice(f, x):
    return f(f(x))


@case(0.6)
def chosen_function_passed_on(x):
    f = (lambda t: t * x) if x > 5.0 else np.cos
    g = np.sin
    if x > 0.0:
        g = lambda t: t * t  # noqa: E731
    return twice(g, x) * f(x)


@case(0.6)
def default_of_a_lambda_that_one_trip_makes(x):
    for i in range(3):
        k = i * 2.0
        if i == 1:
            f = lambda t, i=i, k=k: t * x * i + k  # noqa: E731
    return f(x)
