"""What the derivatives of solvers call."""

from __future__ import annotations

import numpy as np

from s2sgrad.solvers import handed

from .base import example, normal

example(handed.flattened, (normal(1), normal(2, 2)), (np.zeros(1), np.zeros((2, 2))))
example(handed.unflattened, normal(5), (np.zeros(1), np.zeros((2, 2))))
