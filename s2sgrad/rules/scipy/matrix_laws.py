"""Rules of scipy.stats, continued: Student's distribution of several variables, Wishart's, counts of several outcomes.

    y = multivariate_t.logpdf(x, m, S, v)    ->  x_bar = -y_bar * (v + p) / (v + (x - m) @ w) * w;  w = inv(S) @ (x - m)
    y = wishart.logpdf(X, v, S)              ->  X_bar = y_bar * ((v - p - 1) / 2 * inv(X) - inv(S) / 2)
    y = invwishart.logpdf(X, v, S)           ->  X_bar = y_bar * (inv(X) @ S @ inv(X) - (v + p + 1) * inv(X)) / 2
    y = multinomial.logpmf(x, n, q)          ->  q_bar = y_bar * (x / q - x[-1] / q[-1])

(Gupta and Nagar, *Matrix Variate Distributions*, 2000, 3.2.1, 3.4.1, 4.2.)  Of a matrix SciPy reads the lower triangle
where it takes a determinant; of probabilities the last one is what the others leave.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules import instances
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.multivariate import asymmetric, dimension, points, points_bar, symmetric, whitened
from s2sgrad.rules.table import Rule, flat, general
from s2sgrad.runtime import Refusal, over, unbroadcast

# --- Student ---------------------------------------------------------------------------------------------------------


def finite(df):
    """Whether there are degrees of freedom; Refusal for an infinite number, which is another distribution."""
    if np.ndim(df) or not df < math.inf:
        raise Refusal(None, "multivariate_t has a derivative rule for one finite `df`: use multivariate_normal")
    return True


flat(finite)


def distances(x, loc, shape):
    """The squares of the distances from the location, measured by the shape; of each point."""
    n = dimension(loc, shape)
    away = points(x, n) if loc is None else points(x, n) - np.reshape(loc, (1, n))
    return np.sum(whitened(x, loc, shape) * away, axis=1)


def t_slopes(g, x, loc, shape, df):
    """The cotangents of the squares of the distances, times -2, of each point."""
    n = dimension(loc, shape)
    return np.reshape(g, (-1,)) * (df + n) / (df + distances(x, loc, shape))


def t_points(g, x, loc, shape, df):
    """The cotangent of the points in logarithms of densities with the cotangent `g`."""
    finite(df)
    return -points_bar(t_slopes(g, x, loc, shape, df)[:, None] * whitened(x, loc, shape), x)


def t_loc(g, x, loc, shape, df):
    rows = t_slopes(g, x, loc, shape, df)[:, None] * whitened(x, loc, shape)
    return np.reshape(np.sum(rows, axis=0), np.shape(loc))


def t_shape(g, x, loc, shape, df):
    rows = whitened(x, loc, shape)
    inverse = np.linalg.inv(symmetric(shape, np.shape(rows)[1]))
    whole = (t_slopes(g, x, loc, shape, df)[:, None] * rows).T @ rows - np.sum(g) * inverse
    return asymmetric(0.5 * whole, shape)


def t_df(g, x, loc, shape, df):
    n, d = dimension(loc, shape), distances(x, loc, shape)
    fixed = special.digamma(0.5 * (df + n)) - special.digamma(0.5 * df) - n / df
    each = fixed - np.log1p(d / df) + (df + n) * d / (df * (df + d))
    return 0.5 * np.sum(np.reshape(g, (-1,)) * each)


@general(stats.multivariate_t.logpdf)
def t_logpdf(g, y, x, loc=None, shape=1, df=1):
    return t_points(g, x, loc, shape, df)


@t_logpdf.keyword("loc")
def _(g, y, x, loc=None, shape=1, df=1):
    return t_loc(g, x, loc, shape, df)


@t_logpdf.keyword("shape")
def _(g, y, x, loc=None, shape=1, df=1):
    return t_shape(g, x, loc, shape, df)


@t_logpdf.keyword("df")
def _(g, y, x, loc=None, shape=1, df=1):
    return t_df(g, x, loc, shape, df)


@general(stats.multivariate_t.pdf)
def t_pdf(g, y, x, loc=None, shape=1, df=1, allow_singular=False):
    return t_points(g * y, x, loc, shape, df)


@t_pdf.keyword("loc")
def _(g, y, x, loc=None, shape=1, df=1, allow_singular=False):
    return t_loc(g * y, x, loc, shape, df)


@t_pdf.keyword("shape")
def _(g, y, x, loc=None, shape=1, df=1, allow_singular=False):
    return t_shape(g * y, x, loc, shape, df)


@t_pdf.keyword("df")
def _(g, y, x, loc=None, shape=1, df=1, allow_singular=False):
    return t_df(g * y, x, loc, shape, df)


t_pdf.refuse(
    lambda allow_singular: not allow_singular.known or allow_singular.value,
    "a density of a singular matrix has no derivative rule: leave out `allow_singular`",
)

# --- Wishart ---------------------------------------------------------------------------------------------------------


def one_matrix(x):
    """The number of rows of a matrix; Refusal for several matrices, or for what stands for one."""
    if np.ndim(x) != 2 or np.shape(x)[0] != np.shape(x)[1]:
        raise Refusal(None, "Wishart's distributions have a derivative rule for one square matrix: call it for each")
    return np.shape(x)[0]


flat(one_matrix)


def multidigamma(a, p):
    """The slope of `special.multigammaln(a, p)`.

    >>> float(multidigamma(1.5, 1) - special.digamma(1.5))
    0.0
    """
    return np.sum(special.digamma(a - 0.5 * np.arange(p)))


def logdet(m):
    """The logarithm of the determinant of a positive matrix."""
    return np.linalg.slogdet(m)[1]


def wishart_bars(g, x, df, scale):
    """The cotangents of all arguments in a logarithm of a density."""
    p, q = one_matrix(x), one_matrix(scale)
    full, inverse = symmetric(x, p), np.linalg.inv(symmetric(scale, q))
    x_bar = asymmetric(0.5 * (df - p - 1.0) * np.linalg.inv(full), x) - 0.5 * inverse
    scale_bar = asymmetric(0.5 * (inverse @ x @ inverse - df * inverse), scale)
    df_bar = 0.5 * (logdet(full) + logdet(inverse) - p * math.log(2.0) - multidigamma(0.5 * df, p))
    return g * x_bar, g * df_bar, g * scale_bar


def invwishart_bars(g, x, df, scale):
    p, q = one_matrix(x), one_matrix(scale)
    inverse, whole = np.linalg.inv(symmetric(x, p)), symmetric(scale, q)
    x_bar = asymmetric(0.5 * (inverse @ whole @ inverse - (df + p + 1.0) * inverse), x)
    scale_bar = asymmetric(0.5 * (df * np.linalg.inv(whole) - inverse), scale)
    df_bar = 0.5 * (logdet(whole) + logdet(inverse) - p * math.log(2.0) - multidigamma(0.5 * df, p))
    return g * x_bar, g * df_bar, g * scale_bar


@general(stats.wishart.logpdf)
def wishart_logpdf(g, y, x, df, scale):
    return wishart_bars(g, x, df, scale)


@general(stats.wishart.pdf)
def wishart_pdf(g, y, x, df, scale):
    return wishart_bars(g * y, x, df, scale)


@general(stats.invwishart.logpdf)
def invwishart_logpdf(g, y, x, df, scale):
    return invwishart_bars(g, x, df, scale)


@general(stats.invwishart.pdf)
def invwishart_pdf(g, y, x, df, scale):
    return invwishart_bars(g * y, x, df, scale)


# --- counts of several outcomes --------------------------------------------------------------------------------------


def outcomes(g, x, p):
    """The cotangent of the probabilities in logarithms of probabilities of the counts `x`."""
    rest = np.concatenate((p[..., :-1], 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True)), axis=-1)
    each = over(np.expand_dims(g, -1) * np.asarray(x), rest)
    each = each[..., :-1] - each[..., -1:]
    return unbroadcast(np.concatenate((each, 0.0 * each[..., :1]), axis=-1), p)


@general(stats.multinomial.logpmf)
def multinomial_logpmf(g, y, x, n, p):
    return None, None, outcomes(g, x, p)


@general(stats.multinomial.pmf)
def multinomial_pmf(g, y, x, n, p):
    return None, None, outcomes(g * y, x, p)


for _rule in (multinomial_logpmf, multinomial_pmf):
    _rule.constant("x")
    _rule.constant("n")

# --- moments of Dirichlet's ------------------------------------------------------------------------------------------


@general(stats.dirichlet.mean)
def dirichlet_mean(g, y, alpha):
    return np.reshape((g - np.sum(g * y)) / np.sum(alpha), np.shape(alpha))


@general(stats.dirichlet.var)
def dirichlet_var(g, y, alpha):
    whole = np.sum(alpha)
    g = np.reshape(g, np.shape(alpha))
    share, part = alpha / whole, np.sum(g * np.reshape(y, np.shape(alpha))) / whole
    mean_bar = g * (1.0 - 2.0 * share) / (whole + 1.0)
    return (mean_bar - np.sum(mean_bar * share)) / whole - part * whole / (whole + 1.0)


@general(stats.dirichlet.entropy)
def dirichlet_entropy(g, y, alpha):
    whole = np.sum(alpha)
    rest = (whole - np.size(alpha)) * special.zeta(2.0, whole)  # trigamma
    return g * (rest - (alpha - 1.0) * special.zeta(2.0, alpha))


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule) and rule.differentiable]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")
for _rule in (multinomial_logpmf, multinomial_pmf):
    _rule.refusals.clear()
    _rule.refuse(lambda p: is_container(p), "a probability by a list has no derivative rule: pass an array")

# --- frozen ones -----------------------------------------------------------------------------------------------------

_FROZEN = dict.fromkeys(("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf"), instances.Method(1))
_FROZEN |= dict.fromkeys(("mean", "var", "cov", "entropy"), instances.Method(0))
for _law in (stats.multivariate_normal, stats.multivariate_t, stats.dirichlet, stats.multinomial, stats.wishart,
             stats.invwishart):  # fmt: skip
    instances.write_methods(type(_law), _FROZEN)
