"""Programs that were once silently wrong: the right derivative at both orders, or a refusal with the place."""

import copy

import doubtful
import numpy as np
import pytest

from s2sgrad import S2SGradError, grad
from s2sgrad.checks import Refusal

STEP = 1e-5


def total(value):
    return float(np.sum(value))


def slope(f, args, direction):
    """The derivative in the first argument along a direction, by central differences."""

    def at(step):
        first, *others = copy.deepcopy(args)
        return total(f(first + step * direction, *others))

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def is_refusal(error):
    """Whether an error is one of ours, with the place of a statement."""
    return ('File "' in str(error) and "^" in str(error)) or isinstance(error, Refusal)


@pytest.mark.parametrize("function, args", doubtful.PROGRAMS, ids=[f.__name__ for f, _ in doubtful.PROGRAMS])
def test_right_or_refused(function, args):
    direction = np.random.default_rng(0).normal(size=np.shape(args[0]))[()]
    for f, tolerance in ((function, 1e-6), (grad(function), 1e-4)):
        df = grad(f)
        try:
            gradient = df(*copy.deepcopy(args))
        except (S2SGradError, TypeError) as error:
            assert is_refusal(error), repr(error)
            return
        expected = slope(f, args, direction)
        assert total(gradient * direction) == pytest.approx(expected, rel=tolerance, abs=tolerance)
