"""scipy.linalg."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.scipy import blocks

from .base import example, example_if_taken, normal, positive_definite, regular

# --- solving ---------------------------------------------------------------------------------------------------------

example(linalg.solve, 1.7, 0.6)
example(linalg.solve, 1.7, normal(1))
example(linalg.solve, regular(1, 1), 0.6)
for _b in ((3,), (3, 2)):
    example(linalg.solve, regular(3, 3), normal(*_b))
    example(linalg.solve, regular(3, 3), normal(*_b), transposed=True)
    for _assume in ("gen", "sym", "pos"):
        example(linalg.solve, positive_definite(3, 3), normal(*_b), assume_a=_assume)
        example(linalg.solve, positive_definite(3, 3), normal(*_b), lower=True, assume_a=_assume, check_finite=False)
    for _lower in (False, True):
        for _trans in (0, 1, "T"):
            example(linalg.solve_triangular, regular(3, 3), normal(*_b), trans=_trans, lower=_lower)
            example(linalg.solve_triangular, regular(3, 3), normal(*_b), _trans, _lower, unit_diagonal=True)
        example(linalg.cho_solve, (regular(3, 3), _lower), normal(*_b))
for _lower in (False, True):
    example(linalg.cholesky, positive_definite(3, 3), lower=_lower)
    example(linalg.cho_factor, positive_definite(3, 3), lower=_lower)

# --- functions of a matrix -------------------------------------------------------------------------------------------

for _f in (linalg.inv, linalg.det):
    example(_f, regular(3, 3))
    example(_f, regular(3, 3), check_finite=False)
example(linalg.det, regular(2, 3, 3))
example(linalg.det, np.outer([1.0, 2.0, 3.0], [1.0, 0.5, -1.0]))
for _f in (linalg.cholesky, linalg.cho_factor):
    example_if_taken(_f, 2.4)
    example_if_taken(_f, 2.4, True)
example(linalg.expm, normal(3, 3))
example(linalg.expm, 0.7)
example(linalg.expm, 0.1 * normal(2, 2, 2))
for _keywords in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"ord": 1}, {"ord": "nuc"}):
    example(linalg.norm, normal(2, 3), **_keywords)
example(linalg.norm, normal(4), 3, check_finite=False)
example(linalg.norm, normal(4), 2)
example(linalg.norm, normal(4), axis=0, keepdims=True)
example(linalg.norm, normal(2, 3, 4), axis=(0, 2))

# --- blocks ----------------------------------------------------------------------------------------------------------

example(linalg.block_diag, normal(2, 3), normal(1, 1))
example(linalg.block_diag, normal(2, 2), normal(3), normal(2, 1))
example(blocks.diagonal_blocks, normal(3, 4), (normal(2, 3), normal(1)))
example(blocks.joined_blocks, (normal(2, 3), normal(1, 1)), normal(3, 4))
