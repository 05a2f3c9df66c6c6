"""Functions that are handed to derivative rules, with what they close over."""

from __future__ import annotations

import numpy as np

from s2sgrad import custom_gradient, primitive, vjp

from .case import case

VECTOR = np.array([0.7, 1.3, -0.4])
SCALE = 0.5


@custom_gradient
def midpoint(rate, state):
    y, pull = vjp(lambda rate, state: state + 0.1 * rate(state + 0.05 * rate(state)), rate, state)
    return y, lambda g: pull(g)


@primitive
def opaque_cube(rate, state):
    return rate(0.5) + state**3


opaque_cube.defvjp(None, lambda g, y, rate, state: 3.0 * g * state**2)


@custom_gradient
def scaled_sum(x, by=2.0, power=1.0):
    return by * np.sum(x) + power, lambda g: (g * by * np.ones_like(x), g * np.sum(x), g)


@case(VECTOR)
def rule_that_gives_a_gradient_for_what_a_function_closes_over(x):
    w = x * x

    def rate(s):
        return -w[0] * s + w[1]

    return midpoint(rate, x[2]) * midpoint(lambda s: np.sin(s * w[2]), x[0])


@case(VECTOR)
def rule_is_handed_a_function_that_closes_over_constants(x):
    w = 3.0 * SCALE
    total = 0.0
    for k in range(3):
        total += opaque_cube(lambda t, k=k: w * t + k, x[k])
    return total


@case(VECTOR)
def function_with_a_gradient_of_its_own_is_called_by_keywords(x):
    return scaled_sum(by=x[0] * x[1], x=np.sin(x), power=2.0) + scaled_sum(x * x, power=x[2])
