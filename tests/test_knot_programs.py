"""Random programs of containers whose places share memory: the right gradient, or a refusal, never another number.

    S2SGRAD_KNOTS=5000 python -m pytest tests/test_knot_programs.py

takes more programs; `campaign.py knot_programs:knot_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import outcome
from knot_programs import knot_program

OF_A_PART = 5
PARTS = -(-int(os.environ.get("S2SGRAD_KNOTS", "10")) // OF_A_PART)


@pytest.mark.sampled(one_in=2, by="part")
@pytest.mark.parametrize("part", range(PARTS))
def test_right_or_refused(part):
    outcomes = Counter(outcome(knot_program(seed)) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 0.4 * OF_A_PART


@pytest.mark.dear
@pytest.mark.sampled(one_in=4, by="seed")
@pytest.mark.parametrize("seed", range(100, 104))
@pytest.mark.parametrize("order", [-1, 0, 2])
def test_pullbacks_tangents_and_second_derivatives(seed, order):
    outcome(knot_program(seed), order)


def test_a_seed_writes_the_same_program_again():
    assert [knot_program(k).source for k in range(20)] == [knot_program(k).source for k in range(20)]


def test_every_way_to_share_and_to_write_is_in_many_programs():
    features = Counter(name for seed in range(1000) for name in knot_program(seed).features)
    assert len(features) > 15
    assert min(features.values()) > 20
