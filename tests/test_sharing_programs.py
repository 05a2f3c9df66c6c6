"""Random programs in which nobody can tell what shares memory: the right gradient, or a refusal, and not many of these.

`S2SGRAD_SHARING` says how many programs; `campaign.py sharing_programs:sharing_program` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from judging import assert_gradient, outcome
from sharing_programs import scalar_program, sharing_program

OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_SHARING", "20")) // OF_A_PART)


@pytest.mark.dear
@pytest.mark.sampled(one_in=2, by="part")
@pytest.mark.parametrize("part", range(PARTS))
def test_right_or_refused(part):
    outcomes = Counter(outcome(sharing_program(seed), 1) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= 0.3 * OF_A_PART


@pytest.mark.dear
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("seed", range(0, PARTS * OF_A_PART, 5))
def test_numbers_or_arrays(seed, order):
    outcome(scalar_program(seed), order)


@pytest.mark.dear
@pytest.mark.sampled(one_in=20, by="seed")
@pytest.mark.parametrize("seed", range(0, PARTS * OF_A_PART, 10))
@pytest.mark.parametrize("order", [-1, 0, 2])
def test_pullbacks_tangents_and_second_derivatives(seed, order):
    outcome(sharing_program(seed), order)


def test_a_seed_writes_the_same_program_again():
    assert [sharing_program(k).source for k in range(20)] == [sharing_program(k).source for k in range(20)]


def rows_or_an_item(u, v):
    k, s = 1, 0.3
    p, q, ys, m = s, u, [u, s], np.outer(u, v)
    q = m[[k % 2]]
    if v[1] < v[2]:
        q = ys[k % len(ys)]
    else:
        ys[0] -= 0.4 * s
        s = s + 0.2 * np.sum(q * p)
    return s + np.sum(u * v) + np.sum(q * q)


@pytest.mark.records
def test_a_number_where_rows_are_assumed_is_no_array_to_copy():
    u, v = np.array([0.6, -1.1, 1.2]), np.array([-0.2, -0.3, 0.2])
    for number in (0, 1, (0, 1)):
        assert_gradient(rows_or_an_item, (u.copy(), v.copy()), (number,) if isinstance(number, int) else number)
