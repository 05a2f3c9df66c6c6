"""Random programs that call a nested function at several places: the right gradient, or a refusal; never anything else.

`S2SGRAD_CALLED` says how many programs; `campaign.py called_programs:called_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from called_programs import called_program, once_program
from judging import outcome

OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_CALLED", "40")) // OF_A_PART)


@pytest.mark.sampled(one_in=4, by="part")
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), (0, 0), (2, 1)])
def test_right_or_refused(order, part):
    outcomes = Counter(outcome(called_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 0.2 * OF_A_PART


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("order", [1, 0, 2])
def test_what_is_called_once_is_right_or_refused(order):
    outcomes = Counter(outcome(once_program(seed), order) for seed in range(OF_A_PART))
    assert outcomes["right"] >= 0.5 * OF_A_PART


def test_rows_of_a_gradient_whose_record_holds_none():
    assert outcome(called_program(11000041), "hessian") == "right"


def test_a_seed_writes_the_same_program_again():
    assert [called_program(k).source for k in range(20)] == [called_program(k).source for k in range(20)]
