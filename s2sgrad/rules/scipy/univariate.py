"""Rules of scipy.interpolate for splines of FITPACK that a function makes of data: `UnivariateSpline` and its kin.

    y = InterpolatedUnivariateSpline(x, v)(t)    ->    v_bar = gathered(y_bar, s, v, t, 0, None)

With its knots fixed such a spline is the fit of least squares through the data (Dierckx, *Curve and Surface Fitting with
Splines*, 1993, chapter 4).  The fits of the columns of the identity give the weight of each datum.  A smoothing one, whose
knots and whose smoothness follow from the data, is not linear in them.  `make_smoothing_spline` is, for a given `lam`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.scipy.interpolators import _AREAS, _ORDERS, Made, at, integral, roots
from s2sgrad.rules.table import existing, flat
from s2sgrad.runtime import Refusal

_OUTSIDE = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
_NAMES = {
    interpolate.UnivariateSpline: ("w", "bbox", "k", "s", "ext", "check_finite"),
    interpolate.InterpolatedUnivariateSpline: ("w", "bbox", "k", "ext", "check_finite"),
    interpolate.LSQUnivariateSpline: ("t", "w", "bbox", "k", "ext", "check_finite"),
}


class Fitted(Made):
    """A spline of FITPACK."""

    __slots__ = ()

    def weigh(self, columns: Any) -> Any:
        k, ends = self.options.get("k", 3), {key: self.options[key] for key in ("w", "bbox") if key in self.options}
        knots = self.own.get_knots()
        fits = [interpolate.LSQUnivariateSpline(self.places, e, knots[1:-1], k=k, **ends).get_coeffs() for e in columns]
        whole = interpolate.BSpline(
            np.concatenate((np.full(k, knots[0]), knots, np.full(k, knots[-1]))), np.stack(fits, axis=-1), k
        )
        if not np.allclose(whole(self.places) @ self.values, self.own(self.places), rtol=1e-6, atol=1e-9):
            raise Refusal(None, f"a {self.cls.__name__} that smooths its data has no derivative in them: use "
                                "`make_smoothing_spline` with `lam`, or s=0")  # fmt: skip
        return whole

    def asked(self, interpolator: Any, data: Any, x: Any, nu: int, extrapolate: Any) -> Any:
        how = self.options.get("ext", 0) if extrapolate is None else extrapolate
        how = _OUTSIDE.get(how, how)
        if how == 3 or (how == 1 and nu < 0):
            raise Refusal(None, "a spline with this `ext` has no derivative rule: move the places inside, by np.clip")
        if nu < 0:
            interpolator, nu = interpolator.antiderivative(-nu), 0
        if isinstance(interpolator, interpolate.UnivariateSpline):
            return interpolator(x, nu, how) if nu <= interpolator._data[5] else np.zeros(np.shape(x))
        ends = self.own.get_knots()[[0, -1]]
        inside = (how != 1) | ((x >= ends[0]) & (x <= ends[1]))
        return interpolator(x, nu) * np.reshape(inside, (*np.shape(inside), 1))

    def total(self, interpolator: Any, a: Any, b: Any, extrapolate: Any, nu: int) -> Any:
        ends = self.own.get_knots()[[0, -1]]
        if min(a, b) < ends[0] or max(a, b) > ends[1]:
            raise Refusal(None, "an integral of a spline beyond its data has no derivative rule: move the limits inside")
        if nu != 0:
            interpolator = interpolator.derivative(nu) if nu > 0 else interpolator.antiderivative(-nu)
        if isinstance(interpolator, interpolate.UnivariateSpline):
            return interpolator.integral(a, b)
        return interpolator.integrate(a, b)

    def crossings(self, level: Any, discontinuity: Any, extrapolate: Any, nu: int) -> Any:
        found = self.own if nu == 0 else self.own.derivative(nu) if nu > 0 else self.own.antiderivative(-nu)
        return found.roots()


def fitted(cls, values, places, *rest, **options):
    """A spline of FITPACK that tells the weights of its data."""
    return Fitted(cls, places, values, dict(zip(_NAMES[cls], rest, strict=False)) | options)


class Smooth(Made):
    """A smoothing spline of a given smoothness."""

    __slots__ = ()

    def weigh(self, columns: Any) -> Any:
        each = [self.make(e) for e in columns]
        return interpolate.BSpline(each[0].t, np.stack([s.c for s in each], axis=-1), each[0].k)


def smooth(maker, values, places, *rest, **options):
    """The same of a smoothing spline."""
    options = dict(zip(("w", "lam"), rest, strict=False)) | options
    if maker.__name__ == "make_splrep":
        if options.get("s", 0.0) != 0.0 or np.ndim(values) != 1:
            raise Refusal(None, "`make_splrep` has a derivative rule through data of one axis, with s=0")
    elif options.get("lam") is None or np.ndim(values) != 1:
        raise Refusal(None, "`make_smoothing_spline` has a derivative rule in data of one axis, with a given `lam`")
    return Smooth(maker, places, values, options)


flat(fitted, smooth)
for _class, _count in zip(_NAMES, (2, 2, 3), strict=True):
    instances.write(
        _class, instances.Maker(fitted, at, _count, methods={"integral": integral, "roots": roots}, orders=_ORDERS)
    )
for _maker in existing(interpolate, "make_smoothing_spline", "make_splrep"):
    instances.write(_maker, instances.Maker(smooth, at, methods=_AREAS, orders=_ORDERS))
