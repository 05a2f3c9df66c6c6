"""scipy.linalg: eigenvalues and singular values."""

from __future__ import annotations

from scipy import linalg

from .base import example
from .drawn import Drawn

draw = Drawn(1)
for _f in (linalg.eigh, linalg.eigvalsh):
    example(_f, draw.positive_definite(3, 3))
    example(_f, draw.positive_definite(3, 3), lower=False, subset_by_index=[1, 2])
    example(_f, draw.positive_definite(3, 3), draw.positive_definite(3, 3))
    example(_f, draw.positive_definite(3, 3), b=draw.positive_definite(3, 3), subset_by_value=[1.0, 90.0], lower=False)
example(linalg.eigvalsh, draw.positive_definite(2, 3, 3))
example(linalg.eigvalsh, draw.positive_definite(3, 3), subset_by_index=0)
example(linalg.eigh, draw.positive_definite(3, 3), eigvals_only=True)
example(linalg.eigh, draw.positive_definite(3, 3), draw.positive_definite(3, 3), eigvals_only=True, driver="gvd")
for _shape in ((3, 3), (4, 3), (3, 4)):
    example(linalg.svdvals, draw.normal(*_shape))
    example(linalg.svd, draw.normal(*_shape), compute_uv=False)
    example(linalg.svd, draw.normal(*_shape), full_matrices=False)
example(linalg.svd, draw.normal(3, 3), full_matrices=False, lapack_driver="gesvd")
