"""Random programs over the sections of arrays, and over containers that share them: the right gradient, or a refusal.

`S2SGRAD_BUFFERS` says how many programs of each kind; `campaign.py buffer_programs:buffer_program` judges many in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from buffer_programs import buffer_program
from container_programs import container_program
from judging import outcome

OF_A_PART = 6
PARTS = -(-int(os.environ.get("S2SGRAD_BUFFERS", "6")) // OF_A_PART)

every_kind = pytest.mark.parametrize("written", [buffer_program, container_program], ids=["buffers", "containers"])


@pytest.mark.dear
@pytest.mark.parametrize("part", range(PARTS))
@every_kind
def test_right_or_refused(written, part):
    outcomes = Counter(outcome(written(seed), 1) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["refused"] <= 0.3 * OF_A_PART


SEEDS = {-1: 99, 0: 100, 2: 103}


@pytest.mark.dear
@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("order", SEEDS)
@every_kind
def test_pullbacks_tangents_and_second_derivatives(written, order):
    outcome(written(SEEDS[order]), order)


@every_kind
def test_a_seed_writes_the_same_program_again(written):
    assert [written(k).source for k in range(20)] == [written(k).source for k in range(20)]
