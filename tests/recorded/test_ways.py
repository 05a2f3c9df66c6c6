"""Every way to lose a derivative that we know, recorded: each gives the right gradient, or an error."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from differences import central_difference

from recorded import ways
from recorded.judged import TOLERANCES, assert_gradient, assert_second, gradient_of
from recorded.ways import REFUSED, RIGHT
from s2sgrad import stop_gradient
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.runs import OPEN

POINT = np.array([0.73, 1.31, 0.42])


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    inside = name.endswith("_inside")  # of whose derivatives the last digits depend on the order of sums
    assert_gradient(RIGHT[name], (POINT,), (0,), not inside, not inside)
    assert not OPEN.runs


def test_the_gradient_of_the_user_counts():
    for f in (ways.doubled_slope, lambda x: np.sum(ways.doubled_slope(x)), lambda x: sum(map(ways.doubled_slope, x))):
        (bar,) = Recorded(f, (POINT,), {}, (0,)).pullback()
        np.testing.assert_allclose(bar, 4.0 * POINT)

    def slopes(x):
        return np.sum(gradient_of(lambda v: np.sum(ways.doubled_slope(v)), (0,))(x)[0])

    (bar,) = Recorded(slopes, (POINT,), {}, (0,)).pullback()
    np.testing.assert_allclose(bar, 4.0 * np.ones(3))


def test_what_is_stopped_counts_nothing():
    (bar,) = Recorded(lambda x: np.sum(x * stop_gradient(x * x)), (POINT,), {}, (0,)).pullback()
    np.testing.assert_allclose(bar, POINT * POINT)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", RIGHT)
def test_second_derivatives(name):
    assert_second(RIGHT[name], (POINT,), (0,))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_or_right(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (found,) = Recorded(REFUSED[name], (POINT.copy(),), {}, (0,)).pullback()
        except Exception as error:
            assert not isinstance(error, (AssertionError, NameError, RecursionError)), error
        else:
            np.testing.assert_allclose(found, central_difference(REFUSED[name], (POINT,), 0)[0], **TOLERANCES)
    assert not OPEN.runs


def test_classes_are_what_they_were():
    before = dict(vars(ways.Dual))
    for f in (ways.special_methods_of_mathematics, ways.refusal_in_a_handler, lambda x: ways.Dual(x[0], x[1]) * "no"):
        with contextlib.suppress(Exception):
            Recorded(f, (POINT,), {}, (0,)).pullback()
        assert all(vars(ways.Dual)[name] is member for name, member in before.items())
