"""Random programs that change arrays, lists, dicts and objects: the right gradient, or a refusal; never anything else.

    S2SGRAD_MUTATIONS=20000 python -m pytest tests/test_mutation_programs.py

takes more programs; `campaign.py` judges many of them in a row and shows each failure after reduction.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import outcome
from mutation_programs import mutation_program

OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_MUTATIONS", "60")) // OF_A_PART)
REFUSED = 0.5  # of a part's programs at most


@pytest.mark.sampled(one_in=6, by="part")
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right_or_refused(order, part):
    outcomes = Counter(outcome(mutation_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= REFUSED * OF_A_PART
    assert outcomes["right"] >= 0.3 * OF_A_PART


def test_a_seed_writes_the_same_program_again():
    assert [mutation_program(k).source for k in range(20)] == [mutation_program(k).source for k in range(20)]


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(1000) for name in mutation_program(seed).features)
    rare = {name: count for name, count in features.items() if count < 10}
    assert not rare
    assert len(features) > 40
