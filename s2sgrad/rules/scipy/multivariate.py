"""Rules of scipy.stats, continued: multivariate normal and Dirichlet densities.

    y = multivariate_normal.logpdf(x, m, c)     ->  x_bar = -y_bar * inv(c) @ (x - m); m_bar = -x_bar
                                                    c_bar = (m_bar @ m_bar.T - inv(c)) / 2, folded to a triangle

The covariance is a matrix, its diagonal or one number, as SciPy takes it; of a matrix SciPy reads the lower triangle.
The formulas are those of Petersen and Pedersen (2012), "The Matrix Cookbook", (57), (61) and 8.1.1.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sgrad.rules.linalg import lower
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, flat, general
from s2sgrad.runtime import Refusal, over, unbroadcast

# --- multivariate normal ---------------------------------------------------------------------------------------------


def dimension(mean, cov):
    """The number of variables, as SciPy finds it."""
    if isinstance(cov, stats.Covariance):
        raise Refusal(None, "multivariate_normal with a Covariance object has no derivative rule; pass a matrix")
    if mean is not None:
        return np.size(mean)
    return np.shape(cov)[0] if np.ndim(cov) > 1 else 1


flat(dimension)


def symmetric(cov, n):
    """The covariance as a full matrix, from its lower triangle, its diagonal or one number."""
    if np.ndim(cov) == 0:
        return cov * np.eye(n)
    if np.ndim(cov) == 1:
        return np.diag(cov)
    return np.tril(cov) + np.tril(cov, -1).T


def asymmetric(m, cov):
    """The transpose of `symmetric`, of a symmetric matrix `m`."""
    if np.ndim(cov) == 0:
        return np.trace(m)
    if np.ndim(cov) == 1:
        return np.diag(m)
    return lower(m + m.T)


def points(x, n):
    """`x` as points of `n` components, one a row, as SciPy takes it: of one component where it may broadcast."""
    if np.ndim(x) < 2:
        return np.reshape(x, (-1, 1) if n == 1 else (1, -1))
    return np.reshape(x, (-1, np.shape(x)[-1]))


def points_bar(rows, x):
    """The cotangent of `x`, where that of its points is `rows`."""
    return np.reshape(unbroadcast(rows, points(x, np.shape(rows)[1])), np.shape(x))


def whitened(x, mean, cov):
    """inv(cov) @ (x - mean), one point a row."""
    n = dimension(mean, cov)
    rows = np.broadcast_to(points(x, n), (np.shape(points(x, n))[0], n))
    away = rows if mean is None else rows - np.reshape(mean, (1, n))
    return np.linalg.solve(symmetric(cov, n), away.T).T


def mean_bar(g, x, mean, cov):
    """The cotangent of the mean in logarithms of densities with the cotangent `g`."""
    return np.reshape(np.sum(np.reshape(g, (-1, 1)) * whitened(x, mean, cov), axis=0), np.shape(mean))


def cov_bar(g, x, mean, cov):
    """The cotangent of the covariance in logarithms of densities with the cotangent `g`."""
    rows = whitened(x, mean, cov)
    inverse = np.linalg.inv(symmetric(cov, np.shape(rows)[1]))
    return asymmetric(0.5 * ((np.reshape(g, (-1, 1)) * rows).T @ rows - np.sum(g) * inverse), cov)


@general(stats.multivariate_normal.logpdf)
def normal_logpdf(g, y, x, mean=None, cov=1, allow_singular=False):
    return -points_bar(np.reshape(g, (-1, 1)) * whitened(x, mean, cov), x)


@normal_logpdf.keyword("mean")
def _(g, y, x, mean=None, cov=1, allow_singular=False):
    return mean_bar(g, x, mean, cov)


@normal_logpdf.keyword("cov")
def _(g, y, x, mean=None, cov=1, allow_singular=False):
    return cov_bar(g, x, mean, cov)


@general(stats.multivariate_normal.pdf)
def normal_pdf(g, y, x, mean=None, cov=1, allow_singular=False):
    return -points_bar(np.reshape(g * y, (-1, 1)) * whitened(x, mean, cov), x)


@normal_pdf.keyword("mean")
def _(g, y, x, mean=None, cov=1, allow_singular=False):
    return mean_bar(g * y, x, mean, cov)


@normal_pdf.keyword("cov")
def _(g, y, x, mean=None, cov=1, allow_singular=False):
    return cov_bar(g * y, x, mean, cov)


for _rule in (normal_logpdf, normal_pdf):
    _rule.refuse(
        lambda allow_singular: not allow_singular.known or allow_singular.value,
        "a density of a singular covariance has no derivative rule: leave out `allow_singular`",
    )


@general(stats.multivariate_normal.entropy)
def normal_entropy(g, y, mean=None, cov=1):
    return None


@normal_entropy.keyword("mean")
def _(g, y, mean=None, cov=1):
    return np.zeros_like(mean)


@normal_entropy.keyword("cov")
def _(g, y, mean=None, cov=1):
    return asymmetric(0.5 * g * np.linalg.inv(symmetric(cov, dimension(mean, cov))), cov)


# --- Dirichlet -------------------------------------------------------------------------------------------------------


def simplex(x, alpha):
    """`x` with the last component, where it is left out, as SciPy takes it."""
    if np.shape(x)[0] == np.size(alpha):
        return x
    return np.concatenate((x, np.expand_dims(1.0 - np.sum(x, axis=0), 0)), axis=0)


def unsimplex(g, x):
    """The transpose of `simplex`."""
    if np.shape(g) == np.shape(x):
        return g
    return g[:-1] - g[-1]


def dirichlet_bars(g, x, alpha):
    """The cotangents of the point and the parameters in logarithms of densities with the cotangent `g`."""
    full = simplex(x, alpha)
    powers = np.reshape(alpha - 1.0, (-1,) + (1,) * (np.ndim(x) - 1))
    digammas = special.digamma(np.sum(alpha)) - special.digamma(alpha)
    points = np.reshape(special.xlogy(g, full), (np.size(alpha), -1))
    return unsimplex(over(g * powers, full), x), np.sum(points, axis=1) + np.sum(g) * digammas


@general(stats.dirichlet.logpdf)
def dirichlet_logpdf(g, y, x, alpha):
    return dirichlet_bars(g, x, alpha)


@general(stats.dirichlet.pdf)
def dirichlet_pdf(g, y, x, alpha):
    return dirichlet_bars(g * y, x, alpha)


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule) and rule.differentiable]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")
