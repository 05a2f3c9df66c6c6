"""Rules of scipy.interpolate: piecewise polynomials and splines, called as objects, `splev`, `bisplev`.

    y = spline(x)              ->      x_bar = along(y_bar * spline(x, 1), x)
    y = splev(x, tck)          ->      x_bar = y_bar * splev(x, tck, 1); tck_bar = of_coefficients(y_bar, x, tck, 0, 0)
    z = bisplev(x, y, tck)     ->      x_bar = by_row(z_bar * bisplev(x, y, tck, 1, 0), x), y_bar likewise

What a spline was made of is a constant, but for the coefficients of a tuple; in its knots a derivative is
not known: it is nan.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules.table import elementwise, flat, general, linear, structured
from s2sgrad.runtime import Refusal

_CONSTANT = "what a spline is made of is a constant here: call `make_interp_spline(x, y)` or `BSpline(t, c, k)` here"

# --- values of any shape: of the argument's axes, and of those of the data --------------------------------------------


def along(a, x):
    """The sum of `a`, which has the axes of `x` and maybe others behind them, over the latter.

    >>> along(np.ones((2, 3)), np.zeros(2))
    array([3., 3.])
    """
    return np.sum(a, axis=tuple(range(np.ndim(x), np.ndim(a))))


def counting(g, slopes):
    """The slopes that a cotangent counts: outside of a spline that does not extrapolate they are nan, and 0 where `g` is 0.

    >>> counting(np.array([0.0, 2.0, 0.0]), np.array([np.nan, np.nan, 3.0]))
    array([ 0., nan,  3.])
    """
    return np.where((g == 0.0) & np.isnan(slopes), 0.0, slopes)


def across(x, a):
    """The transpose of `along`: `x` repeated along the further axes of `a`."""
    return np.reshape(x, np.shape(x) + (1,) * (np.ndim(a) - np.ndim(x))) * np.ones_like(a)


@general(counting)
def _(w, y, g, slopes):
    return None, np.where((g == 0.0) & np.isnan(slopes), 0.0, w)


@linear(along)
def _(w, y, a, x):
    return across(w, a), None


@linear(across)
def _(w, y, x, a):
    return along(w, x), None


@general(interpolate.PPoly.__call__, interpolate.BPoly.__call__, interpolate.BSpline.__call__)
def piecewise(g, y, spline, x, nu=0, extrapolate=None):
    return None, along(g * counting(g, spline(x, nu + 1, extrapolate)), x)


def by_default(extrapolate):
    return extrapolate.known and extrapolate.value is None


@piecewise.refined(by_default)
def _(g, y, spline, x, nu=0, extrapolate=None):
    return None, along(g * spline(x, nu + 1), x)


@piecewise.forward()
def _(y, spline, x, spline_dot, x_dot, nu=0, extrapolate=None):
    return None, across(x_dot, y) * spline(x, nu + 1, extrapolate)


@piecewise.forward(by_default)
def _(y, spline, x, spline_dot, x_dot, nu=0, extrapolate=None):
    return None, across(x_dot, y) * spline(x, nu + 1)


# --- values of the argument's shape ----------------------------------------------------------------------------------


def unless_held(spline, x, ext):
    """1, but 0 where a spline that keeps the values at its ends (ext=3) is asked outside."""
    if (spline.ext if ext is None else ext) != 3:
        return 1.0
    places = spline.get_knots()
    return ((x >= places[0]) & (x <= places[-1])) * 1.0


flat(unless_held)


@elementwise(interpolate.UnivariateSpline.__call__)
def univariate(g, y, spline, x, nu=0, ext=None):
    return None, g * unless_held(spline, x, ext) * spline(x, nu + 1, ext)


@univariate.refined(lambda ext: ext.known and ext.value is None)
def _(g, y, spline, x, nu=0, ext=None):
    return None, g * unless_held(spline, x, None) * spline(x, nu + 1)


def unknown(knots):
    """The cotangent of knots: nan, for it is not known."""
    return np.full_like(knots, np.nan) if np.issubdtype(np.result_type(knots), np.floating) else None


def in_knots(tck):
    """The cotangent of a spline where what depends on it is linear in something else: of its knots alone."""
    return unknown(tck[0]), None, None


def still(dot, tck):
    """0, or nan where the knots have a tangent."""
    moved = unknown(tck[0]) is not None and dot is not None and dot[0] is not None and np.any(dot[0])
    return np.nan if moved else 0.0


def bars_still(dot, tck):
    """The same for each cotangent of a spline."""
    return unknown(tck[0]), np.full(np.shape(tck[1]), still(dot, tck)), None


flat(still, bars_still)


def coefficients(dot, tck):
    """The tangent of the coefficients; nan where the knots have one."""
    if np.isnan(still(dot, tck)):
        return np.full_like(tck[1], np.nan)
    return dot[1] if dot is not None and dot[1] is not None else np.zeros_like(tck[1])


def of_coefficients(g, x, tck, der, ext):
    """The cotangent of a spline that is a tuple, in whose coefficients its values are linear; None of an object, which is
    a constant."""
    if not isinstance(tck, tuple):
        return None
    alone(tck)
    columns = [interpolate.splev(x, (tck[0], e, tck[2]), der, ext) for e in np.eye(len(tck[1]))]
    return unknown(tck[0]), np.sum(np.stack(columns) * g, axis=tuple(range(1, np.ndim(x) + 1))), None


def along_coefficients(dot, x, tck, der, ext):
    """The transpose of `of_coefficients`: the values of the spline that has these coefficients."""
    return interpolate.splev(x, (tck[0], coefficients(dot, tck), tck[2]), der, ext)


@general(of_coefficients)
def bars(w, y, g, x, tck, der, ext):
    along = along_coefficients(w, x, tck, der, ext)
    return along, g * along_coefficients(w, x, tck, der + 1, ext), in_knots(tck), None, None


@bars.forward()
def _(y, g, x, tck, der, ext, g_dot, x_dot, tck_dot, der_dot, ext_dot):
    by_place = of_coefficients(g * x_dot, x, tck, der + 1, ext)
    return of_coefficients(g_dot, x, tck, der, ext), by_place, bars_still(tck_dot, tck), None, None


@general(along_coefficients)
def values(g, y, dot, x, tck, der, ext):
    bar = of_coefficients(g, x, tck, der, ext)
    return bar, g * along_coefficients(dot, x, tck, der + 1, ext), in_knots(tck), None, None


@values.forward()
def _(y, dot, x, tck, der, ext, dot_dot, x_dot, tck_dot, der_dot, ext_dot):
    by_place = x_dot * along_coefficients(dot, x, tck, der + 1, ext)
    return along_coefficients(dot_dot, x, tck, der, ext), by_place, y * still(tck_dot, tck), None, None


def alone(tck):
    """The spline; Refusal for a tuple of several, of which FITPACK gives a list, and for an array."""
    if isinstance(tck, np.ndarray):
        raise Refusal(None, "a spline has a derivative rule as a tuple of knots, coefficients and degree")
    if isinstance(tck, (tuple, list)) and np.ndim(tck[1]) != 1:
        way = "take each coordinate alone, `[splev(x, (t, c, k)) for c in cs]`"
        raise Refusal(None, f"a curve of several coordinates has no derivative rule: {way}")
    return tck


def value(x, tck, der, ext):
    """`splev`, of one spline."""
    return interpolate.splev(x, alone(tck), der, ext)


@general(interpolate.splev, value)
def splev(g, y, x, tck, der=0, ext=0):
    return g * value(x, tck, der + 1, ext), of_coefficients(g, x, tck, der, ext)


splev.refuse(
    lambda ext: not ext.known or ext.value == 3,
    "`splev` with ext=3 has no derivative rule: move the places inside, np.clip(x, t[0], t[-1])",
)


@splev.forward()
def _(y, x, tck, x_dot, tck_dot, der=0, ext=0):
    return x_dot * value(x, tck, der + 1, ext), along_coefficients(tck_dot, x, tck, der, ext)


# --- surfaces --------------------------------------------------------------------------------------------------------


def by_row(a, x):
    """The sums of the rows of a grid, one for each number of `x`; SciPy gives no axis of one row, or of one place."""
    return np.reshape(np.sum(np.reshape(a, (np.size(x), -1)), axis=1), np.shape(x))


def by_column(a, y):
    """The sums of the columns of a grid, one for each number of `y`."""
    return np.reshape(np.sum(np.reshape(a, (-1, np.size(y))), axis=0), np.shape(y))


def rows_like(x, a):
    """The transpose of `by_row`: each number of `x` along a row of a grid like `a`."""
    shape = (np.size(x), np.size(a) // np.size(x))
    return np.reshape(np.broadcast_to(np.reshape(x, (-1, 1)), shape), np.shape(a))


def columns_like(y, a):
    """The transpose of `by_column`."""
    shape = (np.size(a) // np.size(y), np.size(y))
    return np.reshape(np.broadcast_to(np.reshape(y, (1, -1)), shape), np.shape(a))


@linear(by_row)
def _(w, y, a, x):
    return rows_like(w, a), None


@linear(by_column)
def _(w, y, a, x):
    return columns_like(w, a), None


@linear(rows_like)
def _(w, y, x, a):
    return by_row(w, x), None


@linear(columns_like)
def _(w, y, x, a):
    return by_column(w, x), None


def between(x, tck, axis):
    """1 for each number between the ends of an axis, 0 outside, where a surface goes on as it ends."""
    places = tck[axis]
    return ((x >= places[0]) & (x <= places[-1])) * 1.0


flat(between)


@general(interpolate.bisplev)
def bisplev(g, z, x, y, tck, dx=0, dy=0):
    along_x = by_row(g * interpolate.bisplev(x, y, tck, dx + 1, dy), x) * between(x, tck, 0)
    return along_x, by_column(g * interpolate.bisplev(x, y, tck, dx, dy + 1), y) * between(y, tck, 1), None


@bisplev.forward()
def _(z, x, y, tck, x_dot, y_dot, tck_dot, dx=0, dy=0):
    along_x = rows_like(x_dot * between(x, tck, 0), z) * interpolate.bisplev(x, y, tck, dx + 1, dy)
    return along_x, columns_like(y_dot * between(y, tck, 1), z) * interpolate.bisplev(x, y, tck, dx, dy + 1), None


bisplev.constant("tck", _CONSTANT)
piecewise.constant("spline", _CONSTANT)
univariate.constant("spline", _CONSTANT)
structured("tck", interpolate.splev, value)
