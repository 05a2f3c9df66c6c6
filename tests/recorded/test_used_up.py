"""Iterators among the arguments: what has drawn from one may not run again, for nothing is left of it."""

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, jacobian, jvp

X = np.array([0.3, 0.7, 1.1])


def refused_in_a_branch(x, numbers):
    weight = sum(numbers)
    if x[0] > 0.0:
        held = {}
        held["a"] = (v for v in x)
        weight = weight + sum(held["a"])
    return weight * x[0]


def drawn_first(x, numbers):
    weight = next(numbers)
    return weight * next(numbers) * np.sum(x * x)


def sums(x, held):
    return np.array([sum(held["numbers"]) * v * v for v in x[:1]] + [x[1] * x[2]])


SLOPES = {refused_in_a_branch: np.array([5.4, 0.3, 0.3]), drawn_first: 4.0 * X}


@pytest.mark.parametrize("function", SLOPES, ids=lambda f: f.__name__)
def test_right_or_refused(function):
    """A second run would see an iterator that is empty."""
    for slope in (lambda: grad(function)(X, iter([1.0, 2.0])), lambda: tangents(function)):
        try:
            found = slope()
        except S2SGradError:
            continue
        np.testing.assert_allclose(found, SLOPES[function])


def tangents(function):
    """The gradient by forward mode, with an iterator for each run."""
    rows = np.eye(3)
    return [jvp(function, (X, iter([1.0, 2.0])), (row, None))[1] for row in rows]


def test_a_matrix_draws_once():
    wanted = [[6.0 * X[0], 0.0, 0.0], [0.0, X[2], X[1]]]
    np.testing.assert_allclose(jacobian(sums)(X, {"numbers": iter([1.0, 2.0])}), wanted)
