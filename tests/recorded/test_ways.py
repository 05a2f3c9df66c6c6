"""Every way to lose a derivative that we know, recorded: each gives the right gradient, or an error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from differences import central_difference

from recorded.judged import TOLERANCES, assert_gradient, assert_second
from recorded.ways import REFUSED, RIGHT
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.runs import OPEN

POINT = np.array([0.73, 1.31, 0.42])


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert_gradient(RIGHT[name], (POINT,), (0,))
    assert not OPEN.runs


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
