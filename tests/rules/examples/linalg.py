"""np.linalg."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import linalg, spectra

from .base import example, example_if_taken, normal, positive_definite, regular, younger

# --- np.linalg -------------------------------------------------------------------------------------------------------

_singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]])
for _f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, linalg.cofactors):
    example(_f, regular(3, 3))
    example(_f, regular(2, 3, 3))
    example(_f, regular(1, 1))
for _f in (np.linalg.det, linalg.cofactors):
    example(_f, _singular)
    example(_f, np.outer([1.0, 2.0, 3.0], [1.0, 0.5, -1.0]))
example(linalg.cofactors_slope, normal(3, 3), regular(3, 3))
example(linalg.cofactors_slope, normal(2, 4, 4), regular(2, 4, 4))
example(np.linalg.solve, regular(3, 3), normal(3))
example(np.linalg.solve, regular(3, 3), normal(3, 2))
example_if_taken(np.linalg.solve, regular(2, 3, 3), normal(3, 2))
example(np.linalg.solve, regular(3, 3), normal(2, 3, 2))
example_if_taken(np.linalg.solve, regular(2, 3, 3), normal(3))
_right = np.diag([0.7, 1.3, 2.1]) + 0.4  # a matrix; three vectors before NumPy 2
example(np.linalg.solve, np.stack([2.0 * np.eye(3) - 0.3, np.eye(3) + 0.2, np.eye(3)]), _right)
example(np.linalg.cholesky, positive_definite(3, 3))
example(np.linalg.cholesky, positive_definite(2, 3, 3))
example(linalg.lower, normal(3, 3))
for _n in (0, 1, 3, -2):
    example(np.linalg.matrix_power, regular(3, 3), _n)
for _keywords in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"ord": "fro"}, {"ord": 1, "axis": 1}):
    example(np.linalg.norm, normal(2, 3), **_keywords)
for _ord in (2, 1, 3, 2.5, np.inf, -np.inf):
    example(np.linalg.norm, normal(4), ord=_ord)
    example(np.linalg.norm, normal(2, 3), ord=_ord, axis=-1, keepdims=True)
example(np.linalg.norm, normal(2, 3, 4), axis=(0, 2))
example(np.linalg.norm, normal(2, 3, 4))
for _ord in (0, 0.5, -1, -2.5):
    example(np.linalg.norm, normal(4), ord=_ord)
    example(np.linalg.norm, normal(2, 3), ord=_ord, axis=0)
for _ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    example(np.linalg.norm, normal(3, 4), _ord)
    example(np.linalg.norm, normal(3, 2, 4), _ord, axis=(0, 2))
    example(np.linalg.norm, normal(2, 4, 3), _ord, axis=(-1, 1), keepdims=True)
    example(younger(np.linalg, "matrix_norm"), normal(2, 3, 4), ord=_ord)
example(younger(np.linalg, "matrix_norm"), normal(3, 4), keepdims=True)
for _ord in (2, 1, 0, 2.5, np.inf):
    example(younger(np.linalg, "vector_norm"), normal(2, 3), ord=_ord)
    example(younger(np.linalg, "vector_norm"), normal(2, 3), ord=_ord, axis=0, keepdims=True)

# --- decompositions --------------------------------------------------------------------------------------------------

example_if_taken(np.linalg.cholesky, positive_definite(3, 3), upper=True)
example(spectra.per_gap, normal(2, 2), normal(2, 2), 1e-9, False)
example(spectra.frames, normal(3, 3))
for _f in (spectra.folded, spectra.spectral, spectra.unmixed_frame):
    _first = () if _f is not spectra.spectral else (normal(3),)
    _last = (normal(3, 3),) if _f is spectra.unmixed_frame else ()
    for _triangle in "LU":
        example(_f, *_first, normal(3, 3), *_last, _triangle)
example(spectra.frame, normal(3, 3), "L")
for _f in (np.linalg.eigh, np.linalg.eigvalsh):
    example(_f, positive_definite(3, 3))
    example(_f, positive_definite(2, 3, 3), "U")
for _shape in ((3, 3), (4, 3), (3, 4), (2, 4, 3)):
    example(younger(np.linalg, "svdvals"), normal(*_shape))
    example(np.linalg.svd, normal(*_shape), compute_uv=False)
    example(np.linalg.svd, normal(*_shape), full_matrices=False)
    example(np.linalg.qr, normal(*_shape))
    example(np.linalg.qr, normal(*_shape), "r")
    example(np.linalg.pinv, normal(*_shape))
example(np.linalg.svd, normal(3, 3))
example(np.linalg.qr, normal(3, 3), "complete")
example(np.linalg.lstsq, normal(5, 3), normal(5), rcond=-1)
example(np.linalg.lstsq, normal(3, 5), normal(3), rcond=2)
example(np.linalg.lstsq, normal(5, 3), normal(5, 2), rcond=1e-10)
example(np.linalg.lstsq, normal(3, 5), normal(3), rcond=None)
example(np.linalg.lstsq, regular(3, 3), normal(3, 2), rcond=None)
