"""Random programs that store into sections in nested loops: the right gradient, or a refusal; never anything else.

`campaign.py section_programs:section_program` judges many of them in a row.
"""

from __future__ import annotations

from collections import Counter

import pytest
from judging import outcome
from section_programs import section_program

OF_A_PART = 12


@pytest.mark.sampled(one_in=12, by="part")
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("order", [1, 0, "jacfwd"])
def test_right_or_refused(part, order):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)
    outcomes = Counter(outcome(section_program(seed), order) for seed in seeds)
    assert outcomes["right"] >= OF_A_PART // 2


def test_a_seed_writes_the_same_program_again():
    assert [section_program(k).source for k in range(20)] == [section_program(k).source for k in range(20)]
