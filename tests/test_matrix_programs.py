"""Jacobians in both modes and Hessians of random programs of every sort: the columns that tangents give one by one.

    S2SGRAD_MATRICES=500 python -m pytest tests/test_matrix_programs.py

takes more programs; `campaign.py view_programs:view_program --order jacfwd` judges many of them in a row.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from alias_programs import alias_program
from buffer_programs import buffer_program
from container_programs import container_program
from cursor_programs import cursor_program
from dtype_programs import dtype_program
from function_programs import function_program
from iterator_programs import iterator_program
from judging import outcome
from knot_programs import knot_program
from list_programs import chosen_program, list_program, queue_program, row_program
from mask_programs import mask_program
from mutation_programs import mutation_program
from object_programs import object_program
from programs import program_from_seed
from sharing_programs import scalar_program, sharing_program
from view_programs import view_program

OF_A_PART = 2
PARTS = -(-int(os.environ.get("S2SGRAD_MATRICES", "2")) // OF_A_PART)
WRITERS = (
    alias_program, buffer_program, chosen_program, container_program, cursor_program, dtype_program, function_program,
    iterator_program, knot_program, list_program, mask_program, mutation_program, object_program, program_from_seed,
    queue_program, row_program, scalar_program, sharing_program, view_program,
)  # fmt: skip


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", ("jacfwd", "jacrev", "hessian"))
@pytest.mark.parametrize("write", WRITERS)
def test_right_or_refused(write, way, part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        outcome(write(seed), way)


@pytest.mark.sampled(one_in=2, by="part")
@pytest.mark.parametrize("part", range(2 * PARTS))
@pytest.mark.parametrize("order", (0, 1, "jacfwd", "hessian"))
def test_views_are_written_as_they_are_without_lanes(order, part):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)
    outcomes = Counter(outcome(view_program(seed), order) for seed in seeds)
    assert outcomes["refused"] < OF_A_PART


def test_every_way_to_view_and_to_write_is_in_some_programs():
    features = Counter(name for seed in range(1000) for name in view_program(seed).features)
    assert not {name: count for name, count in features.items() if count < 10}
    assert len(features) > 80
