"""Random programs that draw from iterators: the right gradient, by a text or by a recording; seldom a refusal.

    S2SGRAD_ITERATORS=5000 python -m pytest tests/test_iterator_programs.py

takes more programs; `campaign.py` judges many of them in a row and shows each failure after reduction.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from iterator_programs import iterator_program
from judging import outcome

OF_A_PART = 4
PARTS = -(-int(os.environ.get("S2SGRAD_ITERATORS", "12")) // OF_A_PART)


@pytest.mark.records
@pytest.mark.sampled(one_in=3, by="part")
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right(order, part):
    outcomes = Counter(outcome(iterator_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= 0.25 * OF_A_PART


def test_every_way_to_draw_is_in_many_programs():
    features = Counter(name for seed in range(600) for name in iterator_program(seed).features)
    assert len(features) > 30
    assert not {name: count for name, count in features.items() if count < 5}
