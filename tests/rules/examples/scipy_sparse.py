"""scipy.sparse.linalg, in the right side; stored entries are in test_scipy_sparse.py."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from .base import example
from .drawn import Drawn

draw = Drawn(4)
_A = sparse.csc_array(draw.positive_definite(3, 3))
example(linalg.spsolve, _A, draw.normal(3))
example(linalg.spsolve, _A, draw.normal(3, 2))
for _f in (linalg.cg, linalg.bicg, linalg.bicgstab, linalg.cgs, linalg.gmres, linalg.minres):
    example(_f, _A, draw.normal(3), rtol=1e-12)
example(linalg.expm_multiply, _A, draw.normal(3))
for _f in (linalg.cg, linalg.bicg, linalg.bicgstab, linalg.cgs, linalg.gmres, linalg.minres):
    example(_f, _A, draw.normal(3), x0=draw.normal(3), M=np.eye(3), rtol=1e-12)
