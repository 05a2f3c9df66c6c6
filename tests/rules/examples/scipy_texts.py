"""What is stated again of scipy.linalg, scipy.interpolate and scipy.spatial.distance."""

from __future__ import annotations

import numpy as np
from scipy import interpolate, linalg
from scipy.spatial import distance

from s2sgrad.rules.scipy import spline_texts

from .base import between, example, normal

_ab = np.array([[0.0, 0.0, 0.2, 0.15], [0.0, 0.3, 0.2, 0.1], [2.0, 1.8, 1.7, 1.9]])
example(linalg.cholesky_banded, _ab)
example(linalg.cholesky_banded, _ab[::-1, ::-1].copy(), lower=True)
example(linalg.cho_solve_banded, (linalg.cholesky_banded(_ab), False), normal(4))
example(linalg.fiedler_companion, np.array([1.2, 0.4, 0.3, 0.7, 0.2]))
example(linalg.subspace_angles, normal(4, 2), normal(4, 2))

_tck = interpolate.splrep(np.arange(8.0), normal(8))
example(spline_texts.integrals, 0.7, 5.2, (np.array([0, 0, 0, 0, 2, 3, 4, 5, 7, 7, 7, 7]), *_tck[1:]))  # of knots it is nan
_places = np.array([0, 0, 0, 0, 2, 3, 4, 5, 7, 7, 7, 7])  # whole numbers carry no derivative
example(spline_texts.all_orders, 2.5, (_places, *_tck[1:]))
example(interpolate.spalde, 2.5, (_places, *_tck[1:]))
example(interpolate.sproot, (_places, np.array([1.2, 0.7, 0.5, -0.4, -0.6, -1.3, -1.5, -2.2, 0.0, 0.0, 0.0, 0.0]), 3))
example(interpolate.barycentric_interpolate, [0.0, 0.5, 1.2, 2.0], normal(4), np.array([0.3, 0.9]), rng=0)
example(interpolate.barycentric_interpolate, [0.0, 0.5, 1.2, 2.0], normal(4, 2), 0.9, rng=0)

for _f in (distance.dice, distance.rogerstanimoto, distance.russellrao, distance.sokalsneath, distance.yule):
    example(_f, between(0.1, 0.9, 4), between(0.1, 0.9, 4))
    example(_f, between(0.1, 0.9, 4), between(0.1, 0.9, 4), w=between(0.1, 0.9, 4))
example(distance.directed_hausdorff, normal(3, 2), normal(4, 2))
