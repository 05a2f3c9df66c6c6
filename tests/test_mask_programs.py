"""Random programs with missing data and infinite slopes that a mask leaves out: every gradient is a number, and right.

    S2SGRAD_MASKS=5000 python -m pytest tests/test_mask_programs.py

takes more programs; a fifth as many second derivatives are taken, whole Hessians, and tangents in forward mode.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import outcome
from mask_programs import mask_program

OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_MASKS", "40")) // OF_A_PART)


@pytest.mark.sampled(one_in=4, by="part")
@pytest.mark.parametrize(
    "order, part",
    [*((1, k) for k in range(PARTS)), *((order, k) for order in (0, 2, "hessian") for k in range(-(-PARTS // 5)))],
)
def test_right_or_refused(order, part):
    outcomes = Counter(outcome(mask_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 0.8 * OF_A_PART


def test_every_way_to_guard_is_in_many_programs():
    features = Counter(name for seed in range(500) for name in mask_program(seed).features)
    assert len(features) == 12 and min(features.values()) > 20
