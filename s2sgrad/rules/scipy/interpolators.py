"""Rules of scipy.interpolate for objects that a function makes of data, and then calls.

y = CubicSpline(x, v)(t)    ->    v_bar = gathered(y_bar, s, v, t, 0, None),  t_bar = along(y_bar * at(s, v, t, 1), t)
r = s.solve(0.4)            ->    v_bar = -gathered(r_bar / s(r, 1), s, v, r, 0, None)

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
from s2sgrad.rules.scipy.interpolate import across, along, counting
from s2sgrad.rules.table import flat, general, of_complex_numbers, with_sizes_of_their_own
from s2sgrad.runtime import Refusal
from s2sgrad.runtime.copies import copied

# --- objects ---------------------------------------------------------------------------------------------------------

_DEGREES = {"linear": 1, "slinear": 1, "quadratic": 2, "cubic": 3, "zero": 0, "nearest": 0, "nearest-up": 0, "previous": 0,
            "next": 0}  # fmt: skip


class Made:
    """An interpolator, and what it was made of."""

    __slots__ = ("_weighing", "cls", "options", "own", "places", "values")

    def __init__(self, cls: Any, places: Any, values: Any, options: dict[str, Any]) -> None:
        self.cls, self.places, self.options = cls, np.array(places), copied(options)  # they may be written later
        self.values = np.array(values)
        self.own = self.make(self.values)
        self._weighing: Any = None

    def make(self, values: Any) -> Any:
        """The interpolator of the library through this data."""
        return self.cls(self.places, values, **self.options)

    def of(self, values: Any) -> Made:
        """The same of this data, which is mostly its own."""
        return self if np.array_equal(values, self.values) else type(self)(self.cls, self.places, values, self.options)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.own(*args, **keywords)

    @property
    def axes(self) -> tuple[int, ...]:
        """The shape of the data that weights tell."""
        return np.shape(self.values)[:1]

    @property
    def weighing(self) -> Any:
        """The interpolator whose values are the derivatives in the data."""
        if self._weighing is None:
            self._weighing = self.weigh(np.eye(int(np.prod(self.axes))))
        return self._weighing

    def weigh(self, columns: Any) -> Any:
        """The interpolators through these columns, without what does not depend on the data."""
        options = dict(self.options)
        if self.cls in SLOPES:
            rows = SLOPES[self.cls](self.places, self.values, options.get("method"))
            return interpolate.CubicHermiteSpline(self.places, columns, rows, extrapolate=self.own.extrapolate)
        if self.cls is interpolate.interp1d:
            options |= {"axis": 0, "bounds_error": False}
            options["fill_value"] = "extrapolate" if self.extrapolates else 0.0
        ends = options.get("bc_type")
        if isinstance(ends, str) and ends == "periodic":
            columns[-1] = columns[0]  # the last datum is the first
        elif ends is not None and not isinstance(ends, str):
            options["bc_type"] = _at_rest(ends, len(columns))
        return self.cls(self.places, columns, **options)

    @property
    def extrapolates(self) -> bool:
        """Whether it is told to extrapolate."""
        return isinstance(self.options.get("fill_value"), str)

    def asked(self, interpolator: Any, data: Any, x: Any, nu: int, extrapolate: Any) -> Any:
        """The values, or the derivatives of order `nu` (integrals if below 0), of an interpolator that has this data."""
        if isinstance(interpolator, interpolate.interp1d):
            return interpolator(x) if nu == 0 else self._slope(data, x, nu)
        if isinstance(interpolator, (interpolate.BarycentricInterpolator, interpolate.KroghInterpolator)):
            if nu == 0:
                return interpolator(x)
            return interpolator.derivative(x, nu)
        if nu < 0:
            interpolator, nu = interpolator.antiderivative(-nu), 0
        if isinstance(interpolator, interpolate.BPoly) and nu >= len(interpolator.c):  # which takes no higher order
            return np.zeros(np.shape(x) + np.shape(interpolator.c)[2:])
        return interpolator(x, nu) if extrapolate is None else interpolator(x, nu, extrapolate)

    def total(self, interpolator: Any, a: Any, b: Any, extrapolate: Any, nu: int) -> Any:
        """The integral from `a` to `b`, of a derivative of order `nu`."""
        if nu > 0:
            interpolator = interpolator.derivative(nu)
        elif nu < 0:
            interpolator = interpolator.antiderivative(-nu)
        return interpolator.integrate(a, b, extrapolate)[()]

    def crossings(self, level: Any, discontinuity: Any, extrapolate: Any, nu: int) -> Any:
        """Where it, or a derivative, has this value."""
        found = self.own if nu == 0 else self.own.derivative(nu) if nu > 0 else self.own.antiderivative(-nu)
        return found.solve(level, discontinuity, extrapolate)

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


def _at_rest(ends: Any, n: int) -> Any:
    """Conditions at the ends with derivatives of 0, for as many columns: `(order, value)`, lists of these, words.

    >>> _at_rest(((1, 0.5), "natural"), 2)
    ((1, array([0., 0.])), 'natural')
    """
    if isinstance(ends, str) or ends is None:
        return ends
    if len(ends) == 2 and isinstance(ends[0], (int, np.integer)):
        return ends[0], np.zeros(n)
    return type(ends)(_at_rest(end, n) for end in ends)


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


def made(cls, values, places, *rest, **options):
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


def at(s, values, x, nu=0, extrapolate=None):
    """A call of the interpolator, of which `values` are the data."""
    own = s.of(values)
    return own.asked(own.own, own.values, x, nu, extrapolate)


def weights(s: Made, values: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    """The derivative in each datum, behind the axes of the points."""
    own = s.of(values)
    return np.reshape(own.asked(own.weighing, np.eye(len(own.values)), x, nu, extrapolate), (*np.shape(x), *own.axes))


def spread(s, dots, values, x, nu, extrapolate):
    """The tangent along that of the data."""
    weight = weights(s, values, x, nu, extrapolate)
    return np.tensordot(weight, dots, np.ndim(weight) - np.ndim(x))


def gathered(g, s, values, x, nu, extrapolate):
    """The transpose of `spread`: the cotangent of the data."""
    axes = tuple(range(np.ndim(x)))
    weight = weights(s, values, x, nu, extrapolate)
    if np.any(np.isnan(weight)):  # outside
        off = np.reshape(
            np.all(np.reshape(g == 0.0, (*np.shape(x), -1)), axis=-1), np.shape(x) + (1,) * len(s.of(values).axes)
        )
        weight = np.where(off & np.isnan(weight), 0.0, weight)
    return np.tensordot(weight, g, (axes, axes))


def still(s: Made, values: Any) -> Any:
    """The derivative of the weights in the data: zeros; Refusal for an interpolator that is not linear in them."""
    if s.cls in SLOPES:
        raise Refusal(None, f"{s.cls.__name__} has no second derivative in its data")
    return np.zeros_like(values)


flat(made, still)


@general(at)
def _at(g, y, s, values, x, nu=0, extrapolate=None):
    return None, gathered(g, s, values, x, nu, extrapolate), along(g * counting(g, at(s, values, x, nu + 1, extrapolate)), x)


@_at.forward()
def _(y, s, values, x, s_dot, values_dot, x_dot, nu=0, extrapolate=None):
    return None, spread(s, values_dot, values, x, nu, extrapolate), across(x_dot, y) * at(s, values, x, nu + 1, extrapolate)


@general(spread)
def _(g, y, s, dots, values, x, nu=0, extrapolate=None):
    return (
        None, gathered(g, s, values, x, nu, extrapolate), still(s, values),
        along(g * counting(g, spread(s, dots, values, x, nu + 1, extrapolate)), x),
    )  # fmt: skip


@general(gathered)
def _(w, y, g, s, values, x, nu=0, extrapolate=None):
    return (
        spread(s, w, values, x, nu, extrapolate), None, still(s, values),
        along(g * counting(g, spread(s, w, values, x, nu + 1, extrapolate)), x),
    )  # fmt: skip


# --- integrals ---------------------------------------------------------------------------------------------------------


def integral(s, values, a, b, extrapolate=None, nu=0):
    """The integral of the interpolator from `a` to `b`."""
    own = s.of(values)
    return own.total(own.own, a, b, extrapolate, nu)


def shares(s: Made, values: Any, a: Any, b: Any, extrapolate: Any, nu: int) -> Any:
    """The derivative of the integral in each datum."""
    own = s.of(values)
    return np.reshape(own.total(own.weighing, a, b, extrapolate, nu), own.axes)


def integral_along(s, dots, values, a, b, extrapolate, nu):
    """The tangent along that of the data."""
    share = shares(s, values, a, b, extrapolate, nu)
    return np.tensordot(share, dots, np.ndim(share))


def integral_bar(g, s, values, a, b, extrapolate, nu):
    """The transpose of `integral_along`."""
    return np.tensordot(shares(s, values, a, b, extrapolate, nu), g, 0)


@general(integral)
def _integral(g, y, s, values, a, b, extrapolate=None, nu=0):
    at_a, at_b = at(s, values, a, nu, extrapolate), at(s, values, b, nu, extrapolate)
    return None, integral_bar(g, s, values, a, b, extrapolate, nu), -np.sum(g * at_a), np.sum(g * at_b)


@_integral.forward()
def _(y, s, values, a, b, s_dot, values_dot, a_dot, b_dot, extrapolate=None, nu=0):
    return (
        None, integral_along(s, values_dot, values, a, b, extrapolate, nu), -a_dot * at(s, values, a, nu, extrapolate),
        b_dot * at(s, values, b, nu, extrapolate),
    )  # fmt: skip


@general(integral_along)
def _(g, y, s, dots, values, a, b, extrapolate=None, nu=0):
    at_a, at_b = spread(s, dots, values, a, nu, extrapolate), spread(s, dots, values, b, nu, extrapolate)
    bar = integral_bar(g, s, values, a, b, extrapolate, nu)
    return None, bar, still(s, values), -np.sum(g * at_a), np.sum(g * at_b)


@general(integral_bar)
def _(w, y, g, s, values, a, b, extrapolate=None, nu=0):
    at_a, at_b = spread(s, w, values, a, nu, extrapolate), spread(s, w, values, b, nu, extrapolate)
    bar = integral_along(s, w, values, a, b, extrapolate, nu)
    return bar, None, still(s, values), -np.sum(g * at_a), np.sum(g * at_b)


# --- where it has a value ---------------------------------------------------------------------------------------------


def solve(s, values, y=0.0, discontinuity=True, extrapolate=None, nu=0):
    """Where the interpolator has the value `y`."""
    return s.of(values).crossings(y, discontinuity, extrapolate, nu)


def roots(s, values, discontinuity=True, extrapolate=None, nu=0):
    """Where it is 0."""
    return s.of(values).crossings(0.0, discontinuity, extrapolate, nu)


def crossing(s: Made, values: Any, level: Any, x: Any, nu: int, extrapolate: Any) -> float:
    """1, unless the interpolator does not cross a level at one of these places, but only touches it, or jumps over it."""
    own = s.of(values)
    if np.ndim(values) != len(own.axes):
        raise Refusal(None, "the roots of several curves have no derivative: take each curve alone")
    slope = own.asked(own.own, own.values, x, nu + 1, extrapolate)
    rest = own.asked(own.own, own.values, x, nu, extrapolate) - level
    size = 1.0 + np.max(np.abs(values))
    if not np.all(np.isfinite(x)) or np.any(np.abs(rest) > 1e-6 * size) or np.any(np.abs(slope) < 1e-9 * size):
        raise Refusal(None, "a root where a curve only touches its level, or jumps over it, has no derivative")
    return 1.0


flat(crossing)


@general(solve)
def _solve(g, x, s, values, y=0.0, discontinuity=True, extrapolate=None, nu=0):
    slope = at(s, values, x, nu + 1, extrapolate) * crossing(s, values, y, x, nu, extrapolate)
    return None, -gathered(g / slope, s, values, x, nu, extrapolate)


@_solve.forward()
def _(x, s, values, s_dot, values_dot, y=0.0, discontinuity=True, extrapolate=None, nu=0):
    slope = at(s, values, x, nu + 1, extrapolate) * crossing(s, values, y, x, nu, extrapolate)
    return None, -spread(s, values_dot, values, x, nu, extrapolate) / slope


@_solve.keyword("y")
def _solve_y(g, x, s, values, y=0.0, discontinuity=True, extrapolate=None, nu=0):
    return np.sum(g / (at(s, values, x, nu + 1, extrapolate) * crossing(s, values, y, x, nu, extrapolate)))


@_solve_y.forward()
def _(x, s, values, y_dot, y=0.0, discontinuity=True, extrapolate=None, nu=0):
    return y_dot / (at(s, values, x, nu + 1, extrapolate) * crossing(s, values, y, x, nu, extrapolate))


@general(roots)
def _roots(g, x, s, values, discontinuity=True, extrapolate=None, nu=0):
    slope = at(s, values, x, nu + 1, extrapolate) * crossing(s, values, 0.0, x, nu, extrapolate)
    return None, -gathered(g / slope, s, values, x, nu, extrapolate)


@_roots.forward()
def _(x, s, values, s_dot, values_dot, discontinuity=True, extrapolate=None, nu=0):
    slope = at(s, values, x, nu + 1, extrapolate) * crossing(s, values, 0.0, x, nu, extrapolate)
    return None, -spread(s, values_dot, values, x, nu, extrapolate) / slope


with_sizes_of_their_own(solve, roots)


def derivative(s, values, x, der=1):
    """The derivative of a polynomial through data, as its method gives it."""
    return at(s, values, x, der)


# --- classes ---------------------------------------------------------------------------------------------------------

_ORDERS = {"derivative": 1, "antiderivative": -1}
_AREAS: dict[str, Any] = {"integrate": integral}
_ALL = _AREAS | {"roots": roots, "solve": solve}
_SLOPES: dict[str, Any] = {"derivative": derivative}
instances.write(interpolate.interp1d, instances.Maker(made, at))
for _class in (interpolate.KroghInterpolator, interpolate.BarycentricInterpolator):
    instances.write(_class, instances.Maker(made, at, methods=_SLOPES))
for _class in (interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator):
    instances.write(_class, instances.Maker(made, at, methods=_ALL, orders=_ORDERS))
for _class in (interpolate.make_interp_spline, interpolate.make_lsq_spline, interpolate.BSpline):
    instances.write(_class, instances.Maker(made, at, methods=_AREAS, orders=_ORDERS))


class Pieces(Made):
    """A polynomial by pieces."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[int, ...]:
        return np.shape(self.values)

    def make(self, values: Any) -> Any:
        return self.cls(values, self.places, **self.options)

    def weigh(self, columns: Any) -> Any:
        return self.make(np.reshape(columns, (*self.axes, -1)))


def made_pieces(cls, c, x, *rest, **options):
    """A polynomial by pieces that tells the weights of its coefficients, which make a matrix."""
    options = dict(zip(("extrapolate", "axis"), rest, strict=False)) | options
    if np.ndim(c) != 2 or options.get("axis", 0) != 0:
        raise Refusal(None, f"{cls.__name__} has a derivative in coefficients of two axes: one polynomial for each piece")
    return Pieces(cls, x, c, options)


class Hermite(Made):
    """A spline through data and slopes, which are stacked."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[int, ...]:
        return np.shape(self.values)

    def make(self, values: Any) -> Any:
        return self.cls(self.places, *values, **self.options)

    def weigh(self, columns: Any) -> Any:
        return self.make(np.reshape(columns, (*self.axes, -1)))


def made_of_slopes(cls, values, places, *rest, **options):
    """The same of a spline through data and slopes."""
    options = dict(zip(("axis", "extrapolate"), rest, strict=False)) | options
    if np.ndim(values) != 2:
        raise Refusal(None, f"{cls.__name__} has a derivative in data of one axis")
    return Hermite(cls, places, values, options)


class Polynomial(Made):
    """The coefficients of the polynomial through data, which are those of the sum of Lagrange's polynomials."""

    __slots__ = ()

    def weigh(self, columns: Any) -> Any:
        return interpolate.KroghInterpolator(self.places, columns)

    def asked(self, interpolator: Any, data: Any, x: Any, nu: int, extrapolate: Any) -> Any:
        if isinstance(interpolator, np.poly1d):
            return interpolator.deriv(nu)(x)
        return super().asked(interpolator, data, x, nu, extrapolate)


def made_polynomial(cls, w, x):
    """The polynomial of `scipy.interpolate.lagrange`, with what it was made of."""
    if np.ndim(w) != 1 or len(w) != len(x):
        raise Refusal(None, "lagrange has a derivative where each place has one value")
    return Polynomial(cls, x, w, {})


flat(made_pieces, made_of_slopes, made_polynomial)
instances.write(interpolate.lagrange, instances.Maker(made_polynomial, at))
instances.write(interpolate.PPoly, instances.Maker(made_pieces, at, 2, (0,), _ALL, _ORDERS))
instances.write(interpolate.BPoly, instances.Maker(made_pieces, at, 2, (0,), _AREAS, _ORDERS))
instances.write(interpolate.CubicHermiteSpline, instances.Maker(made_of_slopes, at, 3, (1, 2), _ALL, _ORDERS))

# --- functions that make an interpolator and call it -----------------------------------------------------------------


@general(interpolate.pchip_interpolate)
def pchip_interpolate(g, y, xi, yi, x, der=0, axis=0):
    s = made(interpolate.PchipInterpolator, yi, xi)
    return None, gathered(g, s, yi, x, der, None), along(g * at(s, yi, x, der + 1), x)


@general(interpolate.krogh_interpolate)
def krogh_interpolate(g, y, xi, yi, x, der=0, axis=0):
    s = made(interpolate.KroghInterpolator, yi, xi)
    return None, gathered(g, s, yi, x, der, None), along(g * at(s, yi, x, der + 1), x)


for _rule in (pchip_interpolate, krogh_interpolate):
    _rule.constant("xi", "an interpolator has no derivative in the places of its data: pass constants")
    _rule.refuse(
        lambda axis, der: not (axis.known and axis.value == 0 and der.known and isinstance(der.value, int)),
        "an interpolation along another axis, or of several derivatives, has no derivative rule: move the axis first",
    )

of_complex_numbers(at, spread, gathered, integral, integral_along, integral_bar)  # in the data
