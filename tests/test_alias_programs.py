"""Random programs whose helpers alias, wrap, unwrap and write: the right gradient, or a refusal; never anything else.

    S2SGRAD_ALIASES=5000 python -m pytest tests/test_alias_programs.py

takes more programs; `campaign.py alias_programs:alias_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from alias_programs import alias_program
from judging import outcome

OF_A_PART = 15
PARTS = -(-int(os.environ.get("S2SGRAD_ALIASES", "60")) // OF_A_PART)


@pytest.mark.sampled(one_in=4, by="part")
@pytest.mark.parametrize("part", range(PARTS))
def test_right_or_refused(part):
    outcomes = Counter(outcome(alias_program(seed)) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 1


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(PARTS * OF_A_PART, PARTS * OF_A_PART + 20))
def test_pullbacks(seed):
    outcome(alias_program(seed), -1)


def test_a_seed_writes_the_same_program_again():
    assert [alias_program(k).source for k in range(20)] == [alias_program(k).source for k in range(20)]


def test_every_way_to_alias_and_to_write_is_in_some_programs():
    features = Counter(name for seed in range(2000) for name in alias_program(seed).features)
    assert len(features) > 80
    assert min(features.values()) >= 3
