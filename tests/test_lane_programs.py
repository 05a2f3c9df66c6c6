"""Random programs whose Jacobian and Hessian are computed all columns at once: what one column after the other gives.

    S2SGRAD_LANES=500 python -m pytest tests/test_lane_programs.py

takes more programs of each kind.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from cursor_programs import cursor_program
from differences import copied, leaves
from dtype_programs import dtype_program
from judging import loaded
from mask_programs import mask_program
from mutation_programs import mutation_program
from programs import program_from_seed
from sharing_programs import sharing_program

from s2sgrad import S2SGradError, hessian, jacfwd
from s2sgrad.runtime.checks import Refusal

OF_A_PART = 2
PARTS = -(-int(os.environ.get("S2SGRAD_LANES", "6")) // OF_A_PART)
WRITERS = (cursor_program, dtype_program, mask_program, mutation_program, program_from_seed, sharing_program)


@pytest.mark.sampled(one_in=9)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("write", WRITERS)
def test_columns_at_once_are_those_of_one_after_the_other(write, part):
    outcomes = Counter(
        outcome(write(seed), way) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART) for way in (jacfwd, hessian)
    )
    assert set(outcomes) != {"raises"}


def outcome(program, way):
    """Whether a matrix was computed at once; the test fails where it is another one then."""
    with loaded(program.source, f"<program {program.seed}>") as f:
        try:
            f(*copied(program.args))
        except Exception:
            return "raises"
        place = next(k for k in program.argnums if np.ndim(program.args[k]))
        made, looped = way(f, place), way(f, place)
        looped._columns.run = looped._columns._one_by_one
        try:
            one_by_one = looped(*copied(program.args))
        except (S2SGradError, Refusal, TypeError):
            return "refused"
        for got, expected in zip(leaves(made(*copied(program.args))), leaves(one_by_one), strict=True):
            size = max(1.0, np.max(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * size, err_msg=program.source)
    return "at once" if made._columns.latest is made._columns.many else "one by one"
