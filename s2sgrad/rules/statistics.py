"""Rules of statistics: average, cov, corrcoef, bincount, histogram; and of Python's module `statistics`.

c = np.cov(x)                  ->  x_bar = (c_bar + c_bar.T) @ centered(x, 1) / (n - 1)
h = np.bincount(k, w)          ->  w_bar = np.take(h_bar, k)
"""

from __future__ import annotations

import statistics

import numpy as np

from s2sgrad.rules.builtin_functions import regroup, spread
from s2sgrad.rules.linalg import adjoint
from s2sgrad.rules.reductions import centered, count, tie_weights
from s2sgrad.rules.scans import lined, unlined
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import over, unbroadcast, unreduce

# --- average ---------------------------------------------------------------------------------------------------------


def as_axes(axis):
    """A list of axes as a tuple; anything else as it is."""
    return tuple(axis) if isinstance(axis, list) else axis


flat(as_axes)


@linear(np.average)
def average(g, y, a, axis=None, weights=None, *, keepdims=False):
    axis = as_axes(axis)
    g = unreduce(g, a, axis, keepdims)
    if weights is None:
        return g / count(a, axis)
    w = lined(weights, np.shape(a), axis)
    return np.multiply(g, w) / np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)


@average.refined(lambda axis: axis.known or axis.rank == 0)
def _(g, y, a, axis=None, weights=None, *, keepdims=False):
    g = unreduce(g, a, axis, keepdims)
    if weights is None:
        return g / count(a, axis)
    w = lined(weights, np.shape(a), axis)
    return np.multiply(g, w) / np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)


@average.keyword("weights", "general")
def average_weights(g, y, a, axis=None, weights=None, *, keepdims=False):
    axis = as_axes(axis)
    w = lined(weights, np.shape(a), axis)
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)
    slope = unreduce(g, a, axis, keepdims) * (a - unreduce(y, a, axis, keepdims)) / total
    return unlined(unbroadcast(slope, w), weights, axis)


@average_weights.refined(lambda a, weights: a.rank == 1 and weights.rank == 1)
def _(g, y, a, axis=None, weights=None, *, keepdims=False):
    return g * (a - y) / np.sum(weights)


@average_weights.forward(lambda a, weights: a.rank == 1 and weights.rank == 1)
def _(y, a, weights_dot, axis=None, weights=None, *, keepdims=False):
    return weights_dot @ (a - y) / np.sum(weights)


# --- covariance ------------------------------------------------------------------------------------------------------


def variables(m, y, rowvar=True):
    """The variables of `m` and of `y` (or None), one a row, as np.cov takes them.

    >>> variables(np.array([1.0, 2.0]), np.array([5.0, 7.0]))
    array([[1., 2.],
           [5., 7.]])
    """
    if y is None:
        return _upright(m, rowvar or np.ndim(m) == 1)
    return np.concatenate((_upright(m, rowvar or np.ndim(m) == 1), _upright(y, rowvar or np.atleast_2d(y).shape[0] == 1)))


def _upright(x, rowvar):
    return np.atleast_2d(x) if rowvar else np.transpose(np.atleast_2d(x))


def unvariables(g, m, y, rowvar=True):
    """The transpose of `variables`: the cotangents of `m` and of `y`, a number 0 for None."""
    lines = len(_upright(m, rowvar or np.ndim(m) == 1))
    m_bar = g[:lines] if rowvar or np.ndim(m) == 1 else np.transpose(g[:lines])
    if y is None:
        return np.reshape(m_bar, np.shape(m)), 0.0
    y_bar = g[lines:] if rowvar or np.atleast_2d(y).shape[0] == 1 else np.transpose(g[lines:])
    return np.reshape(m_bar, np.shape(m)), np.reshape(y_bar, np.shape(y))


@linear(variables)
def _(g, x, m, y, rowvar=True):
    return unvariables(g, m, y, rowvar)


@linear(unvariables)
def _(w, bars, g, m, y, rowvar=True):
    return variables(w[0], None if y is None else w[1], rowvar), None, None


def divisor(rows, bias=False, ddof=None):
    """What np.cov divides by."""
    return np.shape(rows)[1] - ((0 if bias else 1) if ddof is None else ddof)


flat(divisor)


@general(np.cov)
def cov(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    rows = centered(variables(m, y, rowvar), 1)
    return unvariables(np.atleast_2d(g + np.transpose(g)) @ rows / divisor(rows, bias, ddof), m, y, rowvar)[0]


@cov.keyword("y")
def cov_y(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    rows = centered(variables(m, y, rowvar), 1)
    return unvariables(np.atleast_2d(g + np.transpose(g)) @ rows / divisor(rows, bias, ddof), m, y, rowvar)[1]


def plain(bias, ddof):
    """Divided by one less than the number of observations."""
    return bias.known and not bias.value and ddof.known and ddof.value is None


def alone(y):
    return y.known and y.value is None


@cov.refined(lambda m, y, bias, ddof: m.rank == 1 and alone(y) and plain(bias, ddof))
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return g * (2.0 / (np.size(m) - 1)) * (m - np.mean(m))


@cov.refined(
    lambda m, y, rowvar, bias, ddof: m.rank == 2 and alone(y) and rowvar.known and bool(rowvar.value) and plain(bias, ddof)
)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return np.atleast_2d(g + np.transpose(g)) @ centered(m, 1) / (np.size(m, 1) - 1)


@cov.refined(
    lambda m, y, rowvar, bias, ddof: m.rank == 2 and alone(y) and rowvar.known and not rowvar.value and plain(bias, ddof)
)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return centered(m, 0) @ np.atleast_2d(g + np.transpose(g)) / (np.size(m, 0) - 1)


def two_series(m, y, bias, ddof):
    return m.rank == 1 and y.rank == 1 and plain(bias, ddof)


@cov.refined(two_series)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return (g[0] + g[:, 0]) @ centered(np.stack((m, y)), 1) / (np.size(m) - 1)


@cov_y.refined(two_series)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return (g[1] + g[:, 1]) @ centered(np.stack((m, y)), 1) / (np.size(m) - 1)


def cov_along(c, rows, rows_dot, bias=False, ddof=None):
    """The tangent of a covariance, of the tangents of the variables; they need not be centered too."""
    half = centered(rows, 1) @ adjoint(rows_dot) / divisor(rows, bias, ddof)
    return np.reshape(half + adjoint(half), np.shape(c))


@cov.forward()
def _(c, m, m_dot, y=None, rowvar=True, bias=False, ddof=None):
    other = None if y is None else np.zeros_like(y)
    return cov_along(c, variables(m, y, rowvar), variables(m_dot, other, rowvar), bias, ddof)


@cov.forward(lambda m, y, bias, ddof: m.rank == 1 and alone(y) and plain(bias, ddof))
def _(c, m, m_dot, y=None, rowvar=True, bias=False, ddof=None):
    return (2.0 / (np.size(m) - 1)) * np.sum((m - np.mean(m)) * m_dot)


@cov_y.forward()
def _(c, m, y_dot, y=None, rowvar=True, bias=False, ddof=None):
    return cov_along(c, variables(m, y, rowvar), variables(np.zeros_like(m), y_dot, rowvar), bias, ddof)


@general(np.corrcoef)
def corrcoef(g, c, x, y=None, rowvar=True):
    rows = centered(variables(x, y, rowvar), 1)
    length = np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
    unit, turned = over(rows, length), np.atleast_2d(g + np.transpose(g))
    unit_bar = turned @ unit
    slope = over(unit_bar - unit * np.sum(unit * unit_bar, axis=1, keepdims=True), length)
    return unvariables(slope, x, y, rowvar)[0]


@corrcoef.keyword("y")
def corrcoef_y(g, c, x, y=None, rowvar=True):
    rows = centered(variables(x, y, rowvar), 1)
    length = np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
    unit, turned = over(rows, length), np.atleast_2d(g + np.transpose(g))
    unit_bar = turned @ unit
    slope = over(unit_bar - unit * np.sum(unit * unit_bar, axis=1, keepdims=True), length)
    return unvariables(slope, x, y, rowvar)[1]


def corrcoef_along(c, rows, rows_dot):
    """The tangent of a matrix of correlations, of the tangents of the variables."""
    rows, rows_dot = centered(rows, 1), centered(rows_dot, 1)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = over(rows, length)
    unit_dot = over(rows_dot - unit * np.real(np.sum(np.conj(unit) * rows_dot, axis=1, keepdims=True)), length)
    half = unit @ adjoint(unit_dot)
    return np.reshape(half + adjoint(half), np.shape(c))


@corrcoef.forward()
def _(c, x, x_dot, y=None, rowvar=True):
    other = None if y is None else np.zeros_like(y)
    return corrcoef_along(c, variables(x, y, rowvar), variables(x_dot, other, rowvar))


@corrcoef_y.forward()
def _(c, x, y_dot, y=None, rowvar=True):
    return corrcoef_along(c, variables(x, y, rowvar), variables(np.zeros_like(x), y_dot, rowvar))


# --- counts ----------------------------------------------------------------------------------------------------------


@linear(np.bincount)
def bincount(g, y, x, weights, minlength=0):
    return None, np.take(g, x)


def bin_of(a, edges):
    """The number of the bin into which np.histogram counts each element; outside of all, the number of the bins."""
    k = np.searchsorted(edges, a, "right") - 1
    k = np.where(np.equal(a, edges[-1]), len(edges) - 2, k)  # the last bin is closed
    return np.where((k >= 0) & (k <= len(edges) - 2), k, len(edges) - 1)


def fixed_edges(bins, range):
    """Whether the edges of a histogram do not depend on the data."""
    return range is not None or np.ndim(bins) == 1


flat(bin_of, fixed_edges)


def edges_bar(g, a, bins, range):
    """The cotangent of `a`, of which the least and the largest value are the outer edges, unless these are given."""
    if fixed_edges(bins, range):
        return np.zeros_like(a)
    t = np.linspace(0.0, 1.0, np.size(g), dtype=g.dtype)
    return np.sum(g * (1.0 - t)) * tie_weights(a, np.min(a)) + np.sum(g * t) * tie_weights(a, np.max(a))


@general(np.histogram)
def histogram(g, y, a, bins=10, range=None, *, weights=None):
    return edges_bar(g[1], a, bins, range)


@general(np.histogram_bin_edges)
def histogram_bin_edges(g, y, a, bins=10, range=None, weights=None):
    return edges_bar(g, a, bins, range)


@histogram.keyword("weights")
def histogram_weights(g, y, a, bins=10, range=None, *, weights=None):
    return np.take(np.pad(g[0], (0, 1)), bin_of(a, y[1]))


# --- Python's statistics, of numbers in a sequence -------------------------------------------------------------------


@linear(statistics.mean, statistics.fmean)
def mean(g, y, data):
    return spread(g / len(data), data)


def deviations(data):
    """The deviations of numbers from their mean.

    >>> deviations([1.0, 3.0]).tolist()
    [-1.0, 1.0]
    """
    items = np.array(data)
    return items - np.mean(items)


@general(statistics.pvariance)
def pvariance(g, y, data):
    return regroup(2.0 * g * deviations(data) / len(data), data)


@general(statistics.variance)
def variance(g, y, data):
    return regroup(2.0 * g * deviations(data) / (len(data) - 1), data)


@general(statistics.pstdev)
def pstdev(g, y, data):
    return regroup(g * over(deviations(data), y * len(data)), data)


@general(statistics.stdev)
def stdev(g, y, data):
    return regroup(g * over(deviations(data), y * (len(data) - 1)), data)
