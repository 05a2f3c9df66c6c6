"""scipy.interpolate."""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules.scipy import interpolate as rules

from .base import between, example, normal

_knots = np.array([0.0, 0.4, 1.0, 1.3, 2.1, 2.6])
_curve = interpolate.CubicSpline(_knots, normal(6))
_plane_curve = interpolate.CubicSpline(_knots, normal(6, 2))
_called = interpolate.PPoly.__call__
for _spline in (_curve, _plane_curve):
    example(_called, _spline, 0.7)
    example(_called, _spline, between(0.1, 2.5, 2, 3))
    example(_called, _spline, between(0.1, 2.5, 4), 1)
    example(_called, _spline, np.array([-0.3, 0.7, 2.9]), extrapolate=True)
example(_called, interpolate.PchipInterpolator(_knots, normal(6)), between(0.1, 2.5, 4))
example(interpolate.BSpline.__call__, interpolate.make_interp_spline(_knots, normal(6)), between(0.1, 2.5, 4))
example(interpolate.BSpline.__call__, interpolate.make_interp_spline(_knots, normal(6, 2)), between(0.1, 2.5, 4), nu=1)
example(rules.along, normal(2, 3), normal(2))
example(rules.along, normal(2, 3), normal(2, 3))
example(rules.across, normal(2), normal(2, 3))

_smooth = interpolate.UnivariateSpline(_knots, normal(6), s=0)
for _x in (0.7, between(0.1, 2.5, 4)):
    example(interpolate.UnivariateSpline.__call__, _smooth, _x)
    example(interpolate.UnivariateSpline.__call__, _smooth, _x, 1, ext=0)
    example(interpolate.splev, _x, interpolate.splrep(_knots, normal(6)))
    example(interpolate.splev, _x, interpolate.splrep(_knots, normal(6)), der=1)
