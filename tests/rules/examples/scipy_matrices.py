"""scipy.linalg: factors, least squares, functions of matrices, equations, bands, and matrices of constant diagonals."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.scipy import orthogonal

from .base import example
from .drawn import Drawn

draw = Drawn(2)

# --- factors ---------------------------------------------------------------------------------------------------------

for _shape in ((3, 3), (4, 3), (3, 4)):
    example(linalg.lu, draw.normal(*_shape))
    example(linalg.lu, draw.normal(*_shape), permute_l=True)
    example(linalg.lu_factor, draw.normal(*_shape))
    example(linalg.qr, draw.normal(*_shape), mode="economic")
    example(linalg.qr, draw.normal(*_shape), mode="r", pivoting=True)
    example(linalg.rq, draw.normal(*_shape), mode="economic")
    example(linalg.rq, draw.normal(*_shape), mode="r")
example(linalg.lu, draw.normal(3, 3), p_indices=True)
_factor = linalg.lu_factor(draw.normal(3, 3))
for _trans in (0, 1):
    example(linalg.lu_solve, _factor, draw.normal(3, 2), trans=_trans)
example(linalg.lu_solve, _factor, draw.normal(3))
for _lower in (True, False):
    example(linalg.ldl, draw.positive_definite(3, 3), lower=_lower)
    example(linalg.ldl, draw.positive_definite(4, 4) - 4.0 * np.eye(4)[::-1], lower=_lower)
example(linalg.qr, draw.normal(3, 3))
example(linalg.qr, draw.normal(3, 4), pivoting=True)
example(linalg.rq, draw.normal(4, 3))
example(linalg.schur, np.diag([1.0, 2.5, 4.0]) + 0.3 * draw.normal(3, 3))
example(orthogonal.triangular_vectors, np.triu(draw.normal(3, 3)) + np.diag([1.0, 4.0, 8.0]))
example(linalg.polar, draw.normal(4, 3))
example(linalg.polar, draw.regular(3, 3), "left")
example(linalg.polar, draw.normal(3, 4), side="left")
example(linalg.orthogonal_procrustes, draw.normal(5, 3), draw.normal(5, 3))

# --- least squares ---------------------------------------------------------------------------------------------------

example(linalg.pinv, draw.normal(4, 3))
example(linalg.pinv, draw.normal(3, 4), return_rank=True)
example(linalg.pinvh, draw.positive_definite(3, 3))
example(linalg.pinvh, draw.positive_definite(3, 3), lower=False, return_rank=True)
example(linalg.lstsq, draw.normal(5, 3), draw.normal(5))
example(linalg.lstsq, draw.normal(5, 3), draw.normal(5, 2))
example(linalg.lstsq, draw.normal(3, 4), draw.normal(3), lapack_driver="gelsy")
example(linalg.null_space, draw.normal(2, 3))
example(linalg.orth, draw.normal(4, 2))
example(linalg.orth, draw.normal(2, 3))

# --- functions of matrices -------------------------------------------------------------------------------------------

for _f in (linalg.sqrtm, linalg.sinm, linalg.cosm, linalg.tanm, linalg.sinhm, linalg.coshm,
           linalg.tanhm):  # fmt: skip
    example(_f, draw.regular(3, 3))
example(linalg.logm, 0.1 * draw.positive_definite(3, 3) + np.eye(3))
example(linalg.signm, draw.normal(3, 3) + np.diag([-5.0, 5.0, 4.0]))
example(linalg.fractional_matrix_power, 0.1 * draw.positive_definite(2, 2) + np.eye(2), 1.7)
example(linalg.fractional_matrix_power, 0.1 * draw.positive_definite(3, 3) + np.eye(3), 0.3)
example(linalg.expm_frechet, draw.normal(3, 3), draw.normal(3, 3))
example(linalg.expm_frechet, draw.normal(3, 3), draw.normal(3, 3), compute_expm=False)

# --- equations -------------------------------------------------------------------------------------------------------

_whole = np.array([[2, 1], [1, 2]])  # of no derivative: it has to be symmetric
example(linalg.solve_sylvester, draw.regular(3, 3), draw.regular(2, 2), draw.normal(3, 2))
example(linalg.solve_continuous_lyapunov, draw.regular(3, 3), draw.normal(3, 3))
for _method in (None, "bilinear"):
    example(linalg.solve_discrete_lyapunov, 0.3 * draw.normal(3, 3), draw.normal(3, 3), method=_method)
example(linalg.solve_continuous_are, draw.normal(2, 2), draw.normal(2, 2), _whole, _whole)
example(linalg.solve_discrete_are, draw.normal(2, 2), draw.normal(2, 2), _whole, _whole)

# --- bands -----------------------------------------------------------------------------------------------------------

_band = draw.normal(4, 5) + 4.0 * np.eye(4, 1, -1)
for _b in ((5,), (5, 2)):
    example(linalg.solve_banded, (2, 1), _band, draw.normal(*_b))
    example(linalg.solveh_banded, draw.between(0.1, 1.0, 2, 5) + 3.0 * np.eye(2, 1, -1), draw.normal(*_b))
example(linalg.solveh_banded, draw.between(0.1, 1.0, 2, 5) + 3.0 * np.eye(2, 1), draw.normal(5), lower=True)
example(linalg.eigh_tridiagonal, draw.normal(4), draw.normal(3))
example(linalg.eigh_tridiagonal, draw.normal(4), draw.normal(3), True)
example(linalg.eigvalsh_tridiagonal, draw.normal(4), draw.normal(3))
for _lower in (False, True):
    example(linalg.eig_banded, draw.normal(2, 4), lower=_lower)
    example(linalg.eigvals_banded, draw.normal(3, 4), _lower)
example(linalg.eig_banded, draw.normal(2, 4), eigvals_only=True)

# --- constant diagonals ----------------------------------------------------------------------------------------------

for _f in (linalg.toeplitz, linalg.hankel):
    example(_f, draw.normal(3))
    example(_f, draw.normal(3), draw.normal(4))
example(linalg.circulant, draw.normal(4))
example(linalg.circulant, draw.normal(2, 3))
example(linalg.solve_circulant, draw.normal(4) + 4.0 * np.eye(1, 4)[0], draw.normal(4))
_corner = 4.0 * np.eye(1, 3)[0]
for _b in ((3,), (3, 2)):
    example(linalg.solve_toeplitz, (draw.normal(3) + _corner, draw.normal(3)), draw.normal(*_b))
    example(linalg.solve_toeplitz, draw.normal(3) + _corner, draw.normal(*_b))
    example(linalg.matmul_toeplitz, (draw.normal(4), draw.normal(3)), draw.normal(*_b))
    example(linalg.matmul_toeplitz, draw.normal(3), draw.normal(*_b))
example(linalg.companion, draw.normal(4))
for _mode in ("full", "same", "valid"):
    example(linalg.convolution_matrix, draw.normal(3), 4, _mode)
example(linalg.leslie, draw.normal(3), draw.normal(2))
example(linalg.diagsvd, draw.normal(2), 2, 3)
example(linalg.fiedler, draw.normal(3))
example(linalg.khatri_rao, draw.normal(2, 3), draw.normal(4, 3))

# --- reflections, balancing --------------------------------------------------------------------------------------------

example(linalg.hessenberg, draw.normal(4, 4))
example(linalg.hessenberg, draw.normal(3, 3), calc_q=True)
example(linalg.qr_multiply, draw.normal(4, 3), draw.normal(2, 4))
example(linalg.qr_multiply, draw.normal(4, 3), draw.normal(3, 2), "left")
example(linalg.matrix_balance, draw.normal(3, 3) * np.array([1.0, 30.0, 0.1]))
