"""Random programs in which nobody knows which function a name stands for: the right gradient, or a refusal, and not many.

`S2SGRAD_FUNCTIONS` says how many programs; `campaign.py function_programs:function_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from function_programs import function_program
from judging import Rejected, assert_tangent, check, check_second, explained

from s2sgrad import S2SGradError, grad
from s2sgrad.runtime.checks import Refusal

pytestmark = pytest.mark.records  # hardly any of these programs has a text
OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_FUNCTIONS", "20")) // OF_A_PART)


@pytest.mark.dear
@pytest.mark.sampled(one_in=2, by="part")
@pytest.mark.parametrize("part", range(PARTS))
def test_right_or_refused(part):
    outcomes = Counter(judged(seed, 1) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= 0.2 * OF_A_PART


@pytest.mark.dear
@pytest.mark.parametrize(("seed", "order"), [(seed, order) for seed in range(0, PARTS * OF_A_PART, 10) for order in (0, 2)])
def test_tangents_and_second_derivatives(seed, order):
    judged(seed, order)


def judged(seed: int, order: int) -> str:
    """What became of a program; the test fails where the gradient is wrong."""
    program = function_program(seed)
    try:
        check_second(program) if order == 2 else check(program, None if order else assert_tangent)
        return "right"
    except Rejected:
        return "rejected"
    except (S2SGradError, Refusal):
        return "refused"
    except Exception as error:
        pytest.fail(explained(program, error, order), pytrace=False)


def test_a_seed_writes_the_same_program_again():
    assert [function_program(k).source for k in range(20)] == [function_program(k).source for k in range(20)]


def known_when_it_runs(x):
    f = np.sin
    for k in range(2):
        f = composed(f, x * k)
    return f(x)


def composed(g, w):
    return lambda t: g(t) * t + w


def test_third_derivative_of_functions_that_are_composed():
    """The function is `x ** 2 * sin(x) + x`."""
    third = grad(grad(grad(known_when_it_runs)))(0.7)
    assert np.isclose(third, 6.0 * np.cos(0.7) - 6.0 * 0.7 * np.sin(0.7) - 0.7**2 * np.cos(0.7))
