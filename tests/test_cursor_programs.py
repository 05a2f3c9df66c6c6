"""Random programs whose views are made with integers that move on: right or refused.

    S2SGRAD_CURSORS=5000 python -m pytest tests/test_cursor_programs.py

takes more programs; a fifteenth as many second derivatives are taken.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from cursor_programs import cursor_program
from judging import outcome

OF_A_PART = 25
PARTS = -(-int(os.environ.get("S2SGRAD_CURSORS", "50")) // OF_A_PART)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right_or_refused(order, part):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)[:: 1 if order == 1 else 3]
    outcomes = Counter(outcome(cursor_program(seed), order) for seed in seeds)
    assert outcomes["right"] >= 0.4 * len(seeds)


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in cursor_program(seed).features)
    assert set(features) == {"view", "move", "store", "read", "block"} and min(features.values()) > 50
