"""Rules of scipy.stats, continued: densities that are estimated by kernels (`gaussian_kde`), in the points and in the data.

    f(x) = mean(N(x - X_i; H)), H = c * cov(X)   ->   x_bar = -sum(w_i * A @ (x - X_i)); X_bar_i = w_i * A @ (x - X_i) + ..

`A` is the inverse of H and `w_i` the cotangent times the share of a datum; the data have a part through their covariance,
too, whose cotangent is that of `multivariate_normal`.  (Silverman, *Density Estimation*, 1986, 4.2.)
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from s2sgrad.rules import instances
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal, over

_CONSTANT = "the data of a `gaussian_kde` that is made elsewhere are constants here: make it in this function"


def columns(x, d):
    """Points or data as columns of `d` rows, as SciPy takes them."""
    return np.reshape(x, (1, -1)) if require_rows(x, d) < 2 else x


def require_rows(x, d):
    """The number of axes of points or data; Refusal unless they have one row for each variable."""
    if (1 if np.ndim(x) < 2 else np.shape(x)[0]) != d:
        raise Refusal(None, "a density by kernels has a derivative rule for points with one row for each variable")
    return np.ndim(x)


def variables(data):
    """The number of rows of the data."""
    return 1 if np.ndim(data) < 2 else np.shape(data)[0]


def spread_factor(data, bw_method):
    """The factor of the covariance of the data, which does not change with them."""
    if callable(bw_method):
        raise Refusal(None, "a density by kernels has a derivative rule for a width by name or number, not by a function")
    return stats.gaussian_kde(data, bw_method).factor ** 2


flat(variables, spread_factor, require_rows)


def covariance(data, c):
    """The covariance of the kernels."""
    d = data - np.mean(data, axis=1, keepdims=True)
    return d @ d.T * (c / (np.shape(data)[1] - 1.0))


def kernels(points, data, inverse):
    """The value of each kernel (a row for each point), times the number of data."""
    away = points[:, :, None] - data[:, None, :]
    scaled = np.tensordot(inverse, away, 1)
    scale = np.sqrt(np.linalg.det(inverse)) / (2.0 * math.pi) ** (0.5 * np.shape(points)[0])
    return scale * np.exp(-0.5 * np.sum(away * scaled, axis=0)), away, scaled


def points_of(g, points, data, c):
    """The cotangent of the points of a density."""
    d = variables(data)
    rows, columns_ = columns(points, d), columns(data, d)
    shares, _, scaled = kernels(rows, columns_, np.linalg.inv(covariance(columns_, c)))
    weights = np.reshape(g, (-1, 1)) * shares / np.shape(columns_)[1]
    return np.reshape(-np.sum(weights * scaled, axis=2), np.shape(points))


def data_of(g, points, data, c):
    """The cotangent of the data."""
    d = variables(data)
    rows, columns_ = columns(points, d), columns(data, d)
    n, inverse = np.shape(columns_)[1], np.linalg.inv(covariance(columns_, c))
    shares, _, scaled = kernels(rows, columns_, inverse)
    weights = np.reshape(g, (-1, 1)) * shares / n
    whole = np.tensordot(weights * scaled, scaled, ((1, 2), (1, 2))) - np.sum(weights) * inverse
    through = whole @ (columns_ - np.mean(columns_, axis=1, keepdims=True)) * (c / (n - 1.0))
    return np.reshape(np.sum(weights * scaled, axis=1) + through, np.shape(data))


def density(points, data, bw_method=None, weights=None):
    """`gaussian_kde(data, bw_method)(points)`."""
    return stats.gaussian_kde(data, bw_method, weights)(points)


@general(density)
def _density(g, y, points, data, bw_method=None, weights=None):
    c = spread_factor(data, bw_method)
    return points_of(g, points, data, c), data_of(g, points, data, c)


def log_density(points, data, bw_method=None, weights=None):
    """`gaussian_kde(data, bw_method).logpdf(points)`."""
    return stats.gaussian_kde(data, bw_method, weights).logpdf(points)


@general(log_density)
def _log_density(g, y, points, data, bw_method=None, weights=None):
    c = spread_factor(data, bw_method)
    return points_of(over(g, np.exp(y)), points, data, c), data_of(over(g, np.exp(y)), points, data, c)


for _rule in (_density, _log_density):
    _rule.refuse(
        lambda weights: not weights.known or weights.value is not None,
        "a density of weighted data has no derivative rule where it is made: leave out `weights`, or make it elsewhere",
    )

instances.write_methods(
    stats.gaussian_kde,
    {
        "__call__": instances.Method(1, density),
        "evaluate": instances.Method(1, density),
        "pdf": instances.Method(1, density),
        "logpdf": instances.Method(1, log_density),
    },
)

# --- those that are made elsewhere -----------------------------------------------------------------------------------


def parts(estimate):
    """The inverse of the covariance, the data and their shares."""
    return estimate.inv_cov, estimate.dataset, estimate.weights


flat(parts)


def slopes(g, estimate, points):
    """The cotangent of the points of a density that is given."""
    inverse, data, shares = parts(estimate)
    values, _, scaled = kernels(columns(points, variables(data)), data, inverse)
    weights = np.reshape(g, (-1, 1)) * values * shares
    return np.reshape(-np.sum(weights * scaled, axis=2), np.shape(points))


@general(stats.gaussian_kde.evaluate, stats.gaussian_kde.pdf)
def evaluate(g, y, self, points):
    return None, slopes(g, self, points)


@general(stats.gaussian_kde.logpdf)
def logpdf(g, y, self, x):
    return None, slopes(over(g, np.exp(y)), self, x)


evaluate.constant("self", _CONSTANT)
logpdf.constant("self", _CONSTANT)
