"""Random programs over arrays of bytes, short integers, masks and short floats: right at every order.

    S2SGRAD_DTYPES=5000 python -m pytest tests/test_dtype_programs.py

takes more programs.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from dtype_programs import dtype_program
from judging import outcome

OF_A_PART = 20
PARTS = -(-int(os.environ.get("S2SGRAD_DTYPES", "40")) // OF_A_PART)


SOME = [*((1, k) for k in range(PARTS)), *((order, k) for order in (0, 2) for k in range(-(-PARTS // 5)))]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("order, part", SOME)
def test_right_or_refused(order, part):
    outcomes = Counter(outcome(dtype_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 0.6 * OF_A_PART


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in dtype_program(seed).features)
    assert set(features) == {"whole", "float", "update", "block"} and min(features.values()) > 50
