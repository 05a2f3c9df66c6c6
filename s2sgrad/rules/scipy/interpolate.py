"""Rules of scipy.interpolate: piecewise polynomials and splines, called as objects, and `splev`.

    y = spline(x)              ->      x_bar = along(y_bar * spline(x, 1), x)
    y = splev(x, tck)          ->      x_bar = y_bar * splev(x, tck, 1)

What a spline was made of is a constant.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules.table import elementwise, general, linear

_CONSTANT = "what a spline is made of is a constant here: make it outside of the function, or of what is not differentiated"

# --- values of any shape: of the argument's axes, and of those of the data --------------------------------------------


def along(a, x):
    """The sum of `a`, which has the axes of `x` and maybe others behind them, over the latter.

    >>> along(np.ones((2, 3)), np.zeros(2))
    array([3., 3.])
    """
    return np.sum(a, axis=tuple(range(np.ndim(x), np.ndim(a))))


def across(x, a):
    """The transpose of `along`: `x` repeated along the further axes of `a`."""
    return np.reshape(x, np.shape(x) + (1,) * (np.ndim(a) - np.ndim(x))) * np.ones_like(a)


@linear(along)
def _(w, y, a, x):
    return across(w, a), None


@linear(across)
def _(w, y, x, a):
    return along(w, x), None


@general(interpolate.PPoly.__call__, interpolate.BPoly.__call__, interpolate.BSpline.__call__)
def piecewise(g, y, spline, x, nu=0, extrapolate=None):
    return None, along(g * spline(x, nu + 1, extrapolate), x)


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


@elementwise(interpolate.UnivariateSpline.__call__)
def univariate(g, y, spline, x, nu=0, ext=None):
    return None, g * spline(x, nu + 1, ext)


@univariate.refined(lambda ext: ext.known and ext.value is None)
def _(g, y, spline, x, nu=0, ext=None):
    return None, g * spline(x, nu + 1)


@general(interpolate.splev)
def splev(g, y, x, tck, der=0, ext=0):
    return g * interpolate.splev(x, tck, der + 1, ext), None


@splev.forward()
def _(y, x, tck, x_dot, tck_dot, der=0, ext=0):
    return x_dot * interpolate.splev(x, tck, der + 1, ext), None


piecewise.constant("spline", _CONSTANT)
univariate.constant("spline", _CONSTANT)
splev.constant("tck", _CONSTANT)
