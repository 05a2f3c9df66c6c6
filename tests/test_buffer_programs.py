"""Random programs over the sections of a line and a grid, and containers of them: the right gradient, or a refusal.

`S2SGRAD_BUFFERS` says how many programs; `campaign.py buffer_programs:buffer_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from buffer_programs import buffer_program
from judging import outcome

OF_A_PART = 6
PARTS = -(-int(os.environ.get("S2SGRAD_BUFFERS", "18")) // OF_A_PART)


@pytest.mark.dear
@pytest.mark.parametrize("part", range(PARTS))
def test_right_or_refused(part):
    outcomes = Counter(outcome(buffer_program(seed), 1) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= 0.3 * OF_A_PART


@pytest.mark.dear
@pytest.mark.parametrize("order", [-1, 0, 2])
def test_pullbacks_tangents_and_second_derivatives(order):
    outcome(buffer_program(100 + order), order)


def test_a_seed_writes_the_same_program_again():
    assert [buffer_program(k).source for k in range(20)] == [buffer_program(k).source for k in range(20)]
