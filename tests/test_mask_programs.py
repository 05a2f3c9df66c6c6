"""Random programs with missing data and infinite slopes that a mask leaves out: every gradient is a number, and right.

    S2SGRAD_MASKS=5000 python -m pytest tests/test_mask_programs.py

takes more programs; a fifth as many second derivatives are taken.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import Rejected, check, check_second, explained
from mask_programs import mask_program

from s2sgrad import S2SGradError

OF_A_PART = 20
PARTS = -(-int(os.environ.get("S2SGRAD_MASKS", "60")) // OF_A_PART)


@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right_or_refused(order, part):
    outcomes = Counter()
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        program = mask_program(seed)
        try:
            check(program) if order == 1 else check_second(program)
            outcomes["right"] += 1
        except Rejected:
            outcomes["rejected"] += 1
        except S2SGradError:
            outcomes["refused"] += 1
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)
    assert outcomes["right"] >= 0.8 * OF_A_PART


def test_every_way_to_guard_is_in_many_programs():
    features = Counter(name for seed in range(500) for name in mask_program(seed).features)
    assert len(features) == 11 and min(features.values()) > 20
