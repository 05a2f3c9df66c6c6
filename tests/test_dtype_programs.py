"""Random programs over arrays of bytes, short integers, masks and short floats: right at every order, also by columns.

    S2SGRAD_DTYPES=5000 python -m pytest tests/test_dtype_programs.py

takes more programs.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from dtype_programs import dtype_program
from judging import loaded, outcome

from s2sgrad import S2SGradError, hessian

OF_A_PART = 20
PARTS = -(-int(os.environ.get("S2SGRAD_DTYPES", "60")) // OF_A_PART)


SOME = [*((1, k) for k in range(PARTS)), *((order, k) for order in (0, 2) for k in range(-(-PARTS // 5)))]


@pytest.mark.parametrize("order, part", SOME)
def test_right_or_refused(order, part):
    outcomes = Counter(outcome(dtype_program(seed), order) for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART))
    assert outcomes["right"] >= 0.6 * OF_A_PART


@pytest.mark.parametrize("part", range(PARTS))
def test_columns_at_once(part):
    compared = 0
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        program = dtype_program(seed)
        with loaded(program.source, f"<program {seed}>") as f:
            made, looped = hessian(f), hessian(f)
            looped._columns.run = looped._columns._one_by_one
            try:
                f(*program.args)
            except Exception:  # as where a mask is negated
                continue
            try:
                expected = looped(*program.args)
            except S2SGradError:
                continue
            size = max(1.0, np.max(np.abs(expected)))
            np.testing.assert_allclose(made(*program.args), expected, rtol=1e-9, atol=1e-9 * size)
            compared += made._columns.latest is made._columns.many
    assert compared >= 0.3 * OF_A_PART


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in dtype_program(seed).features)
    assert set(features) == {"whole", "float", "update", "block"} and min(features.values()) > 50
