"""Rules of scipy.integrate for samples: trapezoid, cumulative_trapezoid, simpson.

z = integrate.cumulative_trapezoid(y)     ->  y_bar = spread_pairs(0.5 * the sums of z_bar from each place on)
z = integrate.simpson(y, x)               ->  y_bar = z_bar * simpson_weights(y, x, -1)
"""

from __future__ import annotations

import numpy as np
from scipy import integrate

from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.scans import add_neighbours, evenly, heights_bar, lined, places_bar, spread_pairs, trapezoid_dx
from s2sgrad.rules.table import existing, flat, linear, of_complex_numbers
from s2sgrad.runtime import Refusal, unbroadcast

# --- trapezoid -------------------------------------------------------------------------------------------------------


def places_of(x, y):
    """The places `x` of the samples `y` where there are several lines of them: as many as of samples."""
    return x if x is None or np.ndim(x) == 1 else np.broadcast_to(x, np.shape(y))


@linear(integrate.trapezoid)
def trapezoid(g, z, y, x=None, dx=1.0, axis=-1):
    return heights_bar(np.expand_dims(g, axis), y, places_of(x, y), dx, axis)


@trapezoid.keyword("x", "bilinear")
def _(g, z, y, x=None, dx=1.0, axis=-1):
    return unbroadcast(places_bar(np.expand_dims(g, axis), y, places_of(x, y), axis), x)


trapezoid.keyword_rules["dx"] = trapezoid_dx

# --- cumulative_trapezoid --------------------------------------------------------------------------------------------


def from_here_on(g, axis, initial):
    """For each interval the sum of the cotangents `g` of the integrals that hold it."""
    if initial is not None:
        g = np.delete(g, 0, axis)
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@linear(integrate.cumulative_trapezoid)
def cumulative_trapezoid(g, z, y, x=None, dx=1.0, axis=-1, initial=None):
    return heights_bar(from_here_on(g, axis, initial), y, x, dx, axis)


cumulative_trapezoid.adds("initial")


@cumulative_trapezoid.keyword("x", "bilinear")
def cumulative_trapezoid_x(g, z, y, x=None, dx=1.0, axis=-1, initial=None):
    return places_bar(from_here_on(g, axis, initial), y, x, axis)


@cumulative_trapezoid.keyword("dx", "general")
def cumulative_trapezoid_dx(g, z, y, x=None, dx=1.0, axis=-1, initial=None):
    if x is not None:
        return np.zeros_like(dx)
    return unbroadcast(0.5 * from_here_on(g, axis, initial) * add_neighbours(y, axis), dx)


@cumulative_trapezoid_dx.refined(evenly)
def _(g, z, y, x=None, dx=1.0, axis=-1, initial=None):
    return unbroadcast(0.5 * from_here_on(g, axis, initial) * add_neighbours(y, axis), dx)


# --- simpson ---------------------------------------------------------------------------------------------------------


def one_line(x):
    """`x`, checked to be None or coordinates on a line."""
    if x is not None and np.ndim(x) != 1:
        raise Refusal(None, "scipy.integrate.simpson with x of several axes has no derivative rule; use x of one")
    return x is not None


flat(one_line)


def simpson_weights(y, x, axis):
    """What each sample along an axis counts in `integrate.simpson(y, x, axis=axis)`.

    Parabolas through three samples each; of an even number of samples the last interval has one of its own (Cartwright
    2017, "Simpson's rule cumulative integration with MS Excel and irregularly-spaced data", equation 8).

    >>> simpson_weights(np.zeros(5), None, -1) * 3.0
    array([1., 4., 2., 4., 1.])
    """
    n = np.shape(y)[axis]
    h = np.diff(x) if one_line(x) else np.ones(n - 1, y.dtype)
    if n < 3:
        return 0.5 * spread_pairs(h)
    m = (n - 1) // 2 * 2
    h0, h1 = h[0:m:2], h[1:m:2]
    both = h0 + h1
    first, middle, last = 2.0 - h1 / h0, both * both / (h0 * h1), 2.0 - h0 / h1
    heads = np.ravel(np.stack((both * first, both * middle), -1))
    tails = np.ravel(np.stack((np.zeros_like(both), both * last), -1))
    weights = (np.pad(heads, (0, n - m)) + np.pad(tails, (1, n - 1 - m))) / 6.0
    if m == n - 1:
        return weights
    h0, h1 = h[-2], h[-1]
    before, here, after = -h1 * h1 / (h0 * (h0 + h1)), h1 / h0 + 3.0, (2.0 * h1 + 3.0 * h0) / (h0 + h1)
    return weights + np.pad(h1 / 6.0 * np.stack((before, here, after)), (n - 3, 0))


@linear(integrate.simpson)
def simpson(g, z, y, x=None, *, dx=1.0, axis=-1):
    weights = lined(simpson_weights(y, x, axis), np.shape(y), axis)
    return np.expand_dims(g if one_line(x) else unbroadcast(g * dx, np.take(y, 0, axis)), axis) * weights


@simpson.refined(lambda dx: dx.rank == 0)
def _(g, z, y, x=None, *, dx=1.0, axis=-1):
    weights = lined(simpson_weights(y, x, axis), np.shape(y), axis)
    return np.expand_dims(g if one_line(x) else g * dx, axis) * weights


@simpson.keyword("dx", "general")
def simpson_dx(g, z, y, x=None, *, dx=1.0, axis=-1):
    weights = lined(simpson_weights(y, x, axis), np.shape(y), axis)
    return unbroadcast(g * np.sum(y * weights, axis=axis), dx) if x is None else np.zeros_like(dx)


@simpson_dx.forward(evenly)
def _(z, y, dx_dot, x=None, *, dx=1.0, axis=-1):
    return integrate.simpson(y, dx=dx_dot, axis=axis)


of_complex_numbers(integrate.trapezoid, integrate.simpson, integrate.cumulative_trapezoid)


# --- by the weights of the samples -----------------------------------------------------------------------------------


def transposed(g, weights, axis):
    """The transpose of a matrix of weights, applied along an axis."""
    return np.moveaxis(np.tensordot(weights, np.moveaxis(g, axis, 0), ((0,), (0,))), 0, axis)


@linear(integrate.romb)
def romb(g, z, y, dx=1.0, axis=-1):
    weights = integrate.romb(np.eye(np.shape(y)[axis], dtype=y.dtype), axis=0)
    return np.expand_dims(unbroadcast(g * dx, np.take(y, 0, axis)), axis) * lined(weights, np.shape(y), axis)


@linear(integrate.cumulative_simpson)
def cumulative_simpson(g, z, y, *, x=None, dx=1.0, axis=-1, initial=None):
    one_line(x)
    weights = integrate.cumulative_simpson(np.eye(np.shape(y)[axis], dtype=y.dtype), x=x, dx=dx, axis=0)
    return transposed(np.delete(g, 0, axis) if initial is not None else g, weights, axis)


cumulative_simpson.adds("initial")

of_arrays(integrate.simpson, integrate.romb, integrate.cumulative_simpson)

flat(integrate.newton_cotes, *existing(integrate, "lebedev_rule"))
