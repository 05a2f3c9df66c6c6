"""What the derivatives of solvers call."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from s2sgrad.solvers import handed

from .base import example, normal

example(handed.flattened, (normal(1), normal(2, 2)), (np.zeros(1), np.zeros((2, 2))))
example(handed.unflattened, normal(5), (np.zeros(1), np.zeros((2, 2))))

# --- with bounds, and Rosenbrock's function --------------------------------------------------------------------------

_A = np.array([[1.0, 2.0, 0.3], [0.5, 1.1, 2.0], [0.4, 0.2, 0.9], [1.3, 0.2, 0.8], [0.2, 1.9, 0.3]])
example(optimize.nnls, _A, np.array([0.3, 0.71, 0.45, 0.92, 0.2]))
example(optimize.nnls, _A, np.array([0.3, 0.71, -0.45, 0.92, 0.2]), maxiter=30)
example(optimize.rosen, normal(4))
example(optimize.rosen_der, normal(4))
example(optimize.rosen_hess, normal(4))
example(optimize.rosen_hess_prod, normal(4), normal(4))
