"""Rules of scipy.interpolate for objects that a function makes of data, and then calls.

y = CubicSpline(x, v)(t)    ->    v_bar = gathered(y_bar, s, v, t, 0, None),  t_bar = along(y_bar * at(s, x, v, t, 1), t)

Interpolation is linear in the data (de Boor, *A Practical Guide to Splines*, 2001): the same interpolator through the
columns of the identity gives the weight of each datum at each point.  It is made once for each object.  Those of Fritsch and
Butland (1984, `PchipInterpolator`) and of Akima (1970) are Hermite splines whose slopes depend on the data as means of those
beside: the columns are the derivatives of these.  Polynomials by pieces (`PPoly`) are linear in coefficients.  The places
of the data are constants.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.scipy.interpolate import across, along
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal

# --- objects ---------------------------------------------------------------------------------------------------------

_DEGREES = {"linear": 1, "slinear": 1, "quadratic": 2, "cubic": 3, "zero": 0, "nearest": 0, "nearest-up": 0, "previous": 0,
            "next": 0}  # fmt: skip


class Made:
    """An interpolator, and what it was made of."""

    __slots__ = ("_weighing", "cls", "given", "options", "own", "places", "values")

    def __init__(self, cls: Any, places: Any, values: Any, options: dict[str, Any]) -> None:
        self.cls, self.places, self.values, self.options = cls, np.asarray(places), np.asarray(values), options
        self.given, self.own = values, self.make(values)
        self._weighing: Any = None

    def make(self, values: Any) -> Any:
        """The interpolator of the library through this data."""
        return self.cls(self.places, values, **self.options)

    def of(self, values: Any) -> Made:
        """The same of this data, which is mostly its own."""
        same = values is self.given or np.array_equal(values, self.values)
        return self if same else Made(self.cls, self.places, values, self.options)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.own(*args, **keywords)

    @property
    def weighing(self) -> Any:
        """The interpolator whose values are the derivatives in the data."""
        if self._weighing is None:
            n = len(self.values)
            options = dict(self.options)
            if self.cls in SLOPES:
                rows = SLOPES[self.cls](self.places, self.values, options.get("method"))
                self._weighing = interpolate.CubicHermiteSpline(
                    self.places, np.eye(n), rows, extrapolate=self.own.extrapolate
                )
            elif self.cls is interpolate.PPoly:
                self._weighing = self.make(np.reshape(np.eye(np.size(self.values)), (*np.shape(self.values), -1)))
            else:
                if self.cls is interpolate.interp1d:
                    options |= {"axis": 0, "bounds_error": False}
                    options["fill_value"] = "extrapolate" if self.extrapolates else 0.0
                self._weighing = self.cls(self.places, np.eye(n), **options)
        return self._weighing

    @property
    def extrapolates(self) -> bool:
        """Whether it is told to extrapolate."""
        return isinstance(self.options.get("fill_value"), str)

    def asked(self, interpolator: Any, data: Any, x: Any, nu: int, extrapolate: Any) -> Any:
        """The values, or the derivatives of order `nu`, of an interpolator that has this data."""
        if isinstance(interpolator, interpolate.interp1d):
            return interpolator(x) if nu == 0 else self._slope(data, x, nu)
        if isinstance(interpolator, (interpolate.BarycentricInterpolator, interpolate.KroghInterpolator)):
            if nu == 0:
                return interpolator(x)
            return interpolator.derivative(x, nu)
        return interpolator(x, nu) if extrapolate is None else interpolator(x, nu, extrapolate)

    def _slope(self, data: Any, x: Any, nu: int) -> Any:
        """The derivative of `interp1d`, by a spline of its degree; 0 outside, unless it extrapolates."""
        kind = self.options.get("kind", "linear")
        degree = kind if isinstance(kind, int) else _DEGREES[kind]
        order = np.argsort(self.places, kind="stable")
        places = self.places[order]
        if degree == 0:
            return np.zeros(np.shape(x) + np.shape(data)[1:])
        found = interpolate.make_interp_spline(places, data[order], degree)(x, nu)
        inside = (x >= places[0]) & (x <= places[-1]) | self.extrapolates
        return np.where(np.reshape(inside, np.shape(inside) + (1,) * (np.ndim(found) - np.ndim(inside))), found, 0.0)


def slopes(x: Any, y: Any, method: Any = None) -> Any:
    """The derivatives in the data of the slopes of `PchipInterpolator`: a row for each slope.

    >>> slopes(np.arange(3.0), np.array([0.0, 1.0, 0.0]))[1]
    array([0., 0., 0.])
    """
    n, h = len(x), np.diff(x)
    steps = (np.eye(n)[1:] - np.eye(n)[:-1]) / h[:, None]
    m = np.diff(y) / h
    if n == 2:
        return np.stack([steps[0], steps[0]])
    rows = [_at_end(h[0], h[1], m[0], m[1], steps[0], steps[1])]
    for k in range(1, n - 1):
        if m[k - 1] * m[k] <= 0.0:
            rows.append(np.zeros(n))
            continue
        before, behind = 2.0 * h[k] + h[k - 1], h[k] + 2.0 * h[k - 1]
        mean = (before + behind) / (before / m[k - 1] + behind / m[k])
        parts = before * steps[k - 1] / m[k - 1] ** 2 + behind * steps[k] / m[k] ** 2
        rows.append(mean**2 * parts / (before + behind))
    return np.stack([*rows, _at_end(h[-1], h[-2], m[-1], m[-2], steps[-1], steps[-2])])


def _at_end(h0: float, h1: float, m0: float, m1: float, first: Any, second: Any) -> Any:
    """The derivatives of the slope at an end: of the parabola through three points, kept from overshooting."""
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(slope) != np.sign(m0):
        return 0.0 * first
    if np.sign(m0) != np.sign(m1) and abs(slope) > 3.0 * abs(m0):
        return 3.0 * first
    return ((2.0 * h0 + h1) * first - h0 * second) / (h0 + h1)


def akima_slopes(x: Any, y: Any, method: Any = None) -> Any:
    """The same of `Akima1DInterpolator`: between the slopes beside a place, by how much those bend that follow.

    >>> akima_slopes(np.arange(3.0), np.array([0.0, 1.0, 3.0]))[1]
    array([-0.5,  0. ,  0.5])
    """
    n, h = len(x), np.diff(x)
    steps = (np.eye(n)[1:] - np.eye(n)[:-1]) / h[:, None]
    if n == 2:
        return np.stack([steps[0], steps[0]])
    first, last = 2.0 * steps[0] - steps[1], 2.0 * steps[-1] - steps[-2]
    parts = np.stack([2.0 * first - steps[0], first, *steps, last, 2.0 * last - steps[-1]])
    m = parts @ y
    bend, bends = np.diff(m), np.diff(parts, axis=0)
    size, sizes = np.abs(bend), np.sign(bend)[:, None] * bends
    if method == "makima":
        size = size + 0.5 * np.abs(m[1:] + m[:-1])
        sizes = sizes + 0.5 * np.sign(m[1:] + m[:-1])[:, None] * (parts[1:] + parts[:-1])
    left, right = size[:-2], size[2:]
    whole = left + right
    told = whole > 1e-9 * np.max(whole)
    share = left / np.where(told, whole, 1.0)
    moved = (sizes[:-2] - share[:, None] * (sizes[:-2] + sizes[2:])) / np.where(told, whole, 1.0)[:, None]
    found = parts[1:-2] + share[:, None] * bends[1:-1] + moved * bend[1:-1, None]
    return np.where(told[:, None], found, 0.5 * (parts[3:] + parts[:-3]))


SLOPES = {interpolate.PchipInterpolator: slopes, interpolate.Akima1DInterpolator: akima_slopes}

# --- their calls -----------------------------------------------------------------------------------------------------


def made(cls, places, values, *rest, **options):
    """An interpolator that tells the weights of its data."""
    names = [*inspect.signature(cls).parameters][2:]
    options = dict(zip(names, rest, strict=False)) | options
    usual = -1 if cls is interpolate.interp1d else 0
    first = options.get("axis", usual) == 0 and cls not in SLOPES
    repeats = cls is not interpolate.BSpline and np.size(np.unique(places)) < np.size(places)
    if np.ndim(places) != 1 or np.ndim(values) == 0 or repeats:
        raise Refusal(
            None, "an interpolator has a derivative in its data where their places are a line of different numbers"
        )
    if np.ndim(values) != 1 and not first:
        raise Refusal(None, "an interpolator has a derivative in data whose first axis is that of the places (axis=0), and "
                            f"{cls.__name__} in data of one axis")  # fmt: skip
    return Made(cls, places, values, options)


def at(s, places, values, x, nu=0, extrapolate=None):
    """A call of the interpolator, of which `values` are the data."""
    own = s.of(values)
    return own.asked(own.own, own.values, x, nu, extrapolate)


def weights(s: Made, values: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    """The derivative in each datum, behind the axes of the points."""
    own = s.of(values)
    found = own.asked(own.weighing, np.eye(len(own.values)), x, nu, extrapolate)
    return np.reshape(found, (*np.shape(x), *np.shape(own.values))) if own.cls is interpolate.PPoly else found


def spread(s, dots, values, x, nu, extrapolate):
    """The tangent along that of the data."""
    weight = weights(s, values, x, nu, extrapolate)
    return np.tensordot(weight, dots, np.ndim(weight) - np.ndim(x))


def gathered(g, s, values, x, nu, extrapolate):
    """The transpose of `spread`: the cotangent of the data."""
    axes = tuple(range(np.ndim(x)))
    return np.tensordot(weights(s, values, x, nu, extrapolate), g, (axes, axes))


def still(s: Made, values: Any) -> Any:
    """The derivative of the weights in the data: zeros; Refusal for an interpolator that is not linear in them."""
    if s.cls in SLOPES:
        raise Refusal(None, f"{s.cls.__name__} has no second derivative in its data")
    return np.zeros_like(values)


flat(made, still)


@general(at)
def _at(g, y, s, places, values, x, nu=0, extrapolate=None):
    return (
        None, None, gathered(g, s, values, x, nu, extrapolate),
        along(g * at(s, places, values, x, nu + 1, extrapolate), x),
    )  # fmt: skip


@_at.forward()
def _(y, s, places, values, x, s_dot, places_dot, values_dot, x_dot, nu=0, extrapolate=None):
    return (
        None, None, spread(s, values_dot, values, x, nu, extrapolate),
        across(x_dot, y) * at(s, places, values, x, nu + 1, extrapolate),
    )  # fmt: skip


_at.constant("places", "an interpolator has no derivative in the places of its data: pass constants")


@general(spread)
def _(g, y, s, dots, values, x, nu=0, extrapolate=None):
    return (
        None, gathered(g, s, values, x, nu, extrapolate), still(s, values),
        along(g * spread(s, dots, values, x, nu + 1, extrapolate), x),
    )  # fmt: skip


@general(gathered)
def _(w, y, g, s, values, x, nu=0, extrapolate=None):
    return (
        spread(s, w, values, x, nu, extrapolate), None, still(s, values),
        along(g * spread(s, w, values, x, nu + 1, extrapolate), x),
    )  # fmt: skip


for _class in (
    interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.interp1d, interpolate.make_interp_spline,
    interpolate.BarycentricInterpolator, interpolate.KroghInterpolator, interpolate.BSpline,
    interpolate.Akima1DInterpolator, interpolate.make_lsq_spline,
):  # fmt: skip
    instances.write(_class, made, at)


class Pieces(Made):
    """A polynomial by pieces, which does not copy its coefficients."""

    __slots__ = ()

    def __init__(self, cls: Any, places: Any, values: Any, options: dict[str, Any]) -> None:
        super().__init__(cls, places, np.array(values), options)
        self.given = values

    def make(self, values: Any) -> Any:
        return self.cls(np.array(values), self.places, **self.options)

    def of(self, values: Any) -> Made:
        same = np.array_equal(values, self.values)
        if values is self.given and not same:
            raise Refusal(None, "the coefficients of a PPoly are written before it is called: make it after that")
        return self if same else Pieces(self.cls, self.places, values, self.options)


def made_pieces(cls, c, x, *rest, **options):
    """A polynomial by pieces that tells the weights of its coefficients, which make a matrix."""
    options = dict(zip(("extrapolate", "axis"), rest, strict=False)) | options
    if np.ndim(c) != 2 or options.get("axis", 0) != 0:
        raise Refusal(None, "PPoly has a derivative in coefficients of two axes: one polynomial for each piece")
    return Pieces(cls, x, c, options)


def at_pieces(s, c, x, t, nu=0, extrapolate=None):
    """A call of it."""
    return at(s, x, c, t, nu, extrapolate)


@general(at_pieces)
def _at_pieces(g, y, s, c, x, t, nu=0, extrapolate=None):
    in_t = along(g * at_pieces(s, c, x, t, nu + 1, extrapolate), t)
    return None, gathered(g, s, c, t, nu, extrapolate), None, in_t


@_at_pieces.forward()
def _(y, s, c, x, t, s_dot, c_dot, x_dot, t_dot, nu=0, extrapolate=None):
    in_t = across(t_dot, y) * at_pieces(s, c, x, t, nu + 1, extrapolate)
    return None, spread(s, c_dot, c, t, nu, extrapolate), None, in_t


_at_pieces.constant("x", "an interpolator has no derivative in the places of its data: pass constants")
flat(made_pieces)
instances.write(interpolate.PPoly, made_pieces, at_pieces)

# --- functions that make an interpolator and call it -----------------------------------------------------------------


@general(interpolate.pchip_interpolate)
def pchip_interpolate(g, y, xi, yi, x, der=0, axis=0):
    s = made(interpolate.PchipInterpolator, xi, yi)
    return None, gathered(g, s, yi, x, der, None), along(g * at(s, xi, yi, x, der + 1), x)


@general(interpolate.krogh_interpolate)
def krogh_interpolate(g, y, xi, yi, x, der=0, axis=0):
    s = made(interpolate.KroghInterpolator, xi, yi)
    return None, gathered(g, s, yi, x, der, None), along(g * at(s, xi, yi, x, der + 1), x)


for _rule in (pchip_interpolate, krogh_interpolate):
    _rule.constant("xi", "an interpolator has no derivative in the places of its data: pass constants")
    _rule.refuse(
        lambda axis, der: not (axis.known and axis.value == 0 and der.known and isinstance(der.value, int)),
        "an interpolation along another axis, or of several derivatives, has no derivative rule: move the axis first",
    )
