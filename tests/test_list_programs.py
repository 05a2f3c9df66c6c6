"""Random programs that change lists and dicts in place: right or refused.

    S2SGRAD_LISTS=5000 python -m pytest tests/test_list_programs.py

takes more programs; a thirtieth as many second derivatives are taken.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import outcome
from list_programs import chosen_program, list_program, queue_program, row_program

OF_A_PART = 13
PARTS = -(-int(os.environ.get("S2SGRAD_LISTS", "26")) // OF_A_PART)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("write", (list_program, pytest.param(queue_program, marks=pytest.mark.records)))
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right_or_refused(order, part, write):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)[:: 4 if order == 1 else OF_A_PART]
    outcomes = Counter(outcome(write(seed), order) for seed in seeds)
    assert outcomes["right"] >= 0.4 * len(seeds)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("order", (0, 1, 2))
@pytest.mark.parametrize("write", (row_program, chosen_program))
def test_lists_that_have_several_names(order, write):
    outcomes = Counter(outcome(write(seed), order) for seed in range(OF_A_PART // (3 if order < 2 else 8)))
    assert outcomes["right"] >= 0.3 * outcomes.total()


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in queue_program(seed).features)
    assert set(features) == {"change", "heap", "take", "dict", "queue", "block"} and min(features.values()) > 50
