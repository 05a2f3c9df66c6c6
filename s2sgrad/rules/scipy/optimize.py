"""Facts of scipy.optimize: what is flat.  Functions that are handed functions are in `s2sgrad.solvers`."""

from __future__ import annotations

from scipy import optimize

from s2sgrad.rules.table import flat

flat(optimize.linear_sum_assignment)
