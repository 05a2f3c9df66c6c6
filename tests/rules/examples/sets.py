"""Arrays as sets, polynomials as coefficients, tensors as matrices."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import coefficients

from .base import example, normal, younger

_once = np.array([0.9, -0.4, 0.3, 1.7])
example(np.unique, _once)
example(np.unique, normal(2, 3))
example(np.unique, _once, True)
example(np.unique, _once, return_counts=True, return_inverse=True)
example(younger(np, "unique_values"), _once)
for _name in ("unique_all", "unique_counts", "unique_inverse"):
    example(younger(np, _name), _once)
example(np.union1d, normal(3), normal(2))
for _f in (np.setdiff1d, np.setxor1d):
    example(_f, normal(3), normal(2))
example(np.intersect1d, normal(3), normal(2))
example(np.trim_zeros, np.array([0.3, 0.0, 0.7]))
example(np.trim_zeros, np.array([0.3, 0.0, 0.7]), "b")
example(np.nextafter, normal(3), normal(3))
example(np.real_if_close, normal(3))
for _m, _n in ((3, 3), (4, 2), (1, 3)):
    example(np.polyadd, normal(_m), normal(_n))
    example(np.polysub, normal(_m), normal(_n))
    example(np.polymul, normal(_m), normal(_n))
example(np.polydiv, normal(5), normal(3))
example(np.polydiv, normal(3), normal(3))
example(np.polydiv, normal(4), normal(1))
example(np.poly, normal(4))
example(np.poly, normal(1))
example(coefficients.trailing, normal(3), normal(5))
example(coefficients.trailing, normal(5), normal(3))
example(np.linalg.tensorinv, normal(2, 3, 6) + np.eye(6).reshape(2, 3, 6))
example(np.linalg.tensorinv, normal(6, 2, 3) + np.eye(6).reshape(6, 2, 3), 1)
example(np.linalg.tensorsolve, normal(2, 3, 6) + 2.0 * np.eye(6).reshape(2, 3, 6), normal(2, 3))
for _p in (None, 2, -2):
    example(np.linalg.cond, normal(3, 3), _p)
example(np.linalg.cond, normal(2, 4, 3))
example(np.histogram_bin_edges, normal(5), 4)
example(np.histogram_bin_edges, normal(2, 3), 4, (-1.0, 1.0))
example(younger(np, "astype"), normal(3), float)
