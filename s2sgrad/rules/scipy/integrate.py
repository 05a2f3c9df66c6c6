"""Rules of scipy.integrate for samples: trapezoid, cumulative_trapezoid, simpson, cumulative_simpson.

z = integrate.cumulative_trapezoid(y)     ->  y_bar = spread_pairs(0.5 * the sums of z_bar from each place on)
z = integrate.simpson(y, x)               ->  y_bar = z_bar * simpson_weights(y, x, -1)
"""

from __future__ import annotations

import numpy as np
from scipy import integrate

from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.restated import restates
from s2sgrad.rules.scans import (
    add_neighbours,
    evenly,
    heights_bar,
    lined,
    places_bar,
    spread_pairs,
    trapezoid_dx,
    undiff,
)
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
    if np.iscomplexobj(x):
        raise Refusal(None, "scipy.integrate.simpson has a derivative rule for places `x` that are real")
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


def simpson_slopes(y, x):
    """The slopes of `integrate.simpson(y, x)`, along the last axis, in the lengths of the intervals.

    >>> simpson_slopes(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 1.0, 3.0, 4.0]))
    array([1., 1., 1.])
    """
    one_line(x)
    n, h = np.shape(y)[-1], np.diff(x)
    if n < 3:
        return 0.5 * (y[..., :-1] + y[..., 1:])
    m = (n - 1) // 2 * 2
    first, middle, last = y[..., 0:m:2], y[..., 1:m:2], y[..., 2 : m + 1 : 2]
    r = h[1:m:2] / h[0:m:2]  # of the parabolas
    middle = (1.0 + r) ** 2 / r * middle
    before = first * (2.0 + r * r) + middle * (2.0 - r) + last * (1.0 - 2.0 / r)
    after = first * (1.0 - 2.0 * r) + middle * (2.0 - 1.0 / r) + last * (2.0 + 1.0 / (r * r))
    pairs = np.reshape(np.stack((before, after), -1), np.shape(y[..., :m])) / 6.0
    if m == n - 1:
        return pairs
    r, s = h[-1] / h[-2], h[-1] / (h[-1] + h[-2])  # of the last interval
    before = y[..., -3:-2] * (2.0 + r) * s * s * r - y[..., -2:-1] * r * r + y[..., -1:] * s * s
    after = y[..., -2:-1] * (2.0 * r + 3.0) - y[..., -3:-2] * s * s * (3.0 + 2.0 * r) + y[..., -1:] * (2.0 + (1.0 - s) ** 2)
    return np.concatenate((pairs[..., :-1], pairs[..., -1:] + before / 6.0, after / 6.0), -1)


@simpson.keyword("x", "general")
def simpson_x(g, z, y, x=None, *, dx=1.0, axis=-1):
    return undiff(unbroadcast(np.expand_dims(g, -1) * simpson_slopes(np.moveaxis(y, axis, -1), x), np.diff(x)))


@simpson_x.forward()
def along_x(z, y, x_dot, x=None, *, dx=1.0, axis=-1):
    return np.sum(simpson_slopes(np.moveaxis(y, axis, -1), x) * np.diff(x_dot), axis=-1)


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


def first_intervals(y, h):
    """The integrals of the parabolas through three samples each, over the first of the two intervals of length `h`."""
    r, s = h[..., :-1] / h[..., 1:], h[..., :-1] / (h[..., :-1] + h[..., 1:])
    whole = (3.0 - s) * y[..., :-2] + (3.0 + r * s + s) * y[..., 1:-1] - r * s * y[..., 2:]
    return h[..., :-1] / 6.0 * whole


@restates(integrate.cumulative_simpson, moving=("x", "dx", "initial"))
def cumulative_simpson(y, x=None, dx=1.0, axis=-1, initial=None):
    y = np.moveaxis(y, axis, -1)
    n = np.shape(y)[-1]
    if x is None:
        h = dx * np.ones(n - 1)
    else:
        h = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    if n < 3:
        parts = 0.5 * h * (y[..., :-1] + y[..., 1:])
    else:
        h = h + np.zeros_like(y[..., 1:])
        ahead = first_intervals(y, h)
        back = first_intervals(y[..., ::-1], h[..., ::-1])[..., ::-1]
        both = np.stack((ahead[..., ::2], back[..., ::2]), -1)
        parts = np.reshape(both, (*np.shape(y)[:-1], -1))[..., : n - 1]
        parts = parts if n % 2 else np.concatenate((parts[..., : n - 2], back[..., -1:]), -1)
    found = np.cumsum(parts, axis=-1)
    if initial is not None:
        found = np.concatenate((initial + 0.0 * y[..., :1], initial + found), -1)
    return np.moveaxis(found, -1, axis)


flat(integrate.newton_cotes, *existing(integrate, "lebedev_rule"))


of_arrays(integrate.simpson, integrate.romb, integrate.cumulative_simpson)
