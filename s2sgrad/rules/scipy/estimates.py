"""Robust lines, levels and likelihoods of scipy.stats, and densities of several variables, stated again.

    s, c, low, high = theilslopes(y, x)           ->     s = median((y[i] - y[j]) / (x[i] - x[j])), c = median(y - s * x)
    m, s = norm.fit(x)                            ->     m = mean(x), s = sqrt(mean((x - m) ** 2))
    t = expectile(a, p)                           ->     t = sum(w * a) / sum(w), w = p above t and 1 - p below
    y = normal_inverse_gamma.logpdf(x, s, m, l)   ->     log(l / s) / 2 - (2 * b + l * (x - m) ** 2) / (2 * s) + ..

(Sen, 1968; Siegel, 1982; Newey and Powell, 1987; Benjamini and Hochberg, 1995; Mardia and Jupp, "Directional statistics",
2000.)  What is chosen by ranks does not change between ties.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import existing, flat, general
from s2sgrad.runtime import Refusal

# --- lines -----------------------------------------------------------------------------------------------------------


def places_of(y, x):
    """The places of points along a line: those that are given, or whole numbers."""
    return np.arange(1.0 * np.size(y)) if x is None else np.ravel(x)


def rising(x):
    """The pairs of points whose places rise."""
    return np.nonzero(x[:, None] > x[None, :])


def limits(slopes, y, x, alpha):
    """Which of the slopes are the ends of the interval of confidence."""
    found = stats.theilslopes(y, x, alpha)
    if np.isnan(found.low_slope) or np.isnan(found.high_slope):
        raise Refusal(None, "a line without an interval of confidence has no derivative rule: there are too few points")
    return np.argmin(np.abs(slopes - found.low_slope)), np.argmin(np.abs(slopes - found.high_slope))


def away_from(x, k):
    """The points at other places than the point `k`."""
    return np.flatnonzero(x != x[k])


flat(rising, limits, away_from)


@restates(stats.theilslopes, moving=("x",))
def theilslopes(y, x=None, alpha=0.95, method="separate"):
    v, u = np.ravel(y), places_of(y, x)
    i, j = rising(u)
    slopes = (v[i] - v[j]) / (u[i] - u[j])
    low, high = limits(slopes, v, u, alpha)
    slope = np.median(slopes)
    middle = np.median(v - slope * u) if method == "joint" else np.median(v) - slope * np.median(u)
    return slope, middle, slopes[low], slopes[high]


@restates(stats.siegelslopes, moving=("x",))
def siegelslopes(y, x=None, method="hierarchical"):
    v, u = np.ravel(y), places_of(y, x)
    slopes, meets = [], []
    for k in range(np.size(u)):
        others = away_from(u, k)
        slopes.append(np.median((v[others] - v[k]) / (u[others] - u[k])))
        meets.append(np.median((v[k] * u[others] - v[others] * u[k]) / (u[others] - u[k])))
    slope = np.median(np.array(slopes))
    return slope, np.median(np.array(meets)) if method == "separate" else np.median(v - slope * u)


# --- levels ----------------------------------------------------------------------------------------------------------


def shares(a, alpha, weights):
    """The weights with which the numbers have the expectile as their mean."""
    t = stats.expectile(a, alpha, weights=weights)
    return np.abs((a <= t) - alpha) * (1.0 if weights is None else weights)


def adjusting(ps, method):
    """From which probability, along the last axis, an adjusted one is found, and by which factor: 0 for those that are 1."""
    count = np.shape(ps)[-1]
    order, ranks = np.argsort(ps, axis=-1), np.arange(1.0, count + 1.0)
    factors = np.broadcast_to(count / ranks * (np.sum(1.0 / ranks) if method.lower() == "by" else 1.0), np.shape(ps))
    raised = np.take_along_axis(ps, order, -1) * factors
    least = np.minimum.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    places = np.where(raised == least, np.arange(count), count)  # the first of the least from here on
    places = np.minimum.accumulate(places[..., ::-1], axis=-1)[..., ::-1]
    back = np.argsort(order, axis=-1)
    chosen = np.take_along_axis(places, back, -1)
    factor = np.where(np.take_along_axis(raised, chosen, -1) > 1.0, 0.0, np.take_along_axis(factors, chosen, -1))
    return np.take_along_axis(order, chosen, -1), factor.astype(ps.dtype)


def one_level(x, p, method, axis, keepdims):
    """The level; Refusal for several of them, and for methods that NumPy does not have."""
    lined = np.ndim(x) and not np.ndim(p) and (axis is not None or not keepdims)
    if not lined or method not in ("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased"):
        raise Refusal(None, "`quantile` has a derivative rule for one level, by the linear methods")
    return p


def several(a, most=99):
    """Raise Refusal for one number, and for more axes than `most`."""
    if not 1 <= np.ndim(a) <= most or np.size(a) < 2:
        raise Refusal(None, "it has a derivative rule for an array, `yeojohnson_llf` for one line without `keepdims`")
    return True


flat(shares, adjusting, one_level, several)


@restates(stats.expectile)
def expectile(a, alpha=0.5, weights=None):
    w = shares(a, alpha, weights)
    return np.sum(w * a) / np.sum(w)


@restates(*existing(stats, "quantile"), constant=("p",))
def quantile(x, p, method="linear", axis=0, nan_policy="propagate", keepdims=None):
    return np.quantile(x, one_level(x, p, method, axis, keepdims), axis=axis, method=method, keepdims=bool(keepdims))


@restates(stats.false_discovery_control)
def false_discovery_control(ps, axis=0, method="bh"):
    several(ps)
    lines = np.ravel(ps) if axis is None else np.moveaxis(ps, axis, -1)
    places, factor = adjusting(lines, method)
    found = np.take_along_axis(lines, places, -1) * factor + (1.0 - np.sign(factor))
    return found if axis is None else np.moveaxis(found, -1, axis)


@restates(stats.yeojohnson_llf)
def yeojohnson_llf(lmb, data, axis=0, nan_policy="propagate", keepdims=False):
    several(data, 1 if not keepdims else 0)
    moved = stats.yeojohnson(data, lmb)
    return (lmb - 1.0) * np.sum(np.sign(data) * np.log1p(np.abs(data))) - 0.5 * np.size(data) * np.log(np.var(moved))


# --- densities of several variables ----------------------------------------------------------------------------------


def normal_inverse_gamma(x, s2, mu=0, lmbda=1, a=1, b=1):
    own = 0.5 * np.log(lmbda / (2.0 * np.pi * s2)) + special.xlogy(a, b) - special.gammaln(a)
    return own - (a + 1.0) * np.log(s2) - (2.0 * b + lmbda * (x - mu) ** 2) / (2.0 * s2)


def normal_inverse_gamma_pdf(x, s2, mu=0, lmbda=1, a=1, b=1):
    return np.exp(normal_inverse_gamma(x, s2, mu, lmbda, a, b))


def order_of(mu):
    """The order of the Bessel function in a density on the sphere around a mean."""
    return 0.5 * np.size(mu) - 1.0


flat(order_of)


def concentration_bar(g, x, mu, kappa):
    """The cotangent of the concentration: the mean of the cosine is a ratio of Bessel functions."""
    half = order_of(mu)
    return np.sum(g * (x @ mu - special.ive(half + 1.0, kappa) / special.ive(half, kappa)))


def dirichlet_multinomial(x, alpha, n):
    whole = np.sum(alpha, axis=-1)
    each = np.sum(special.gammaln(x + alpha) - special.gammaln(alpha) - special.gammaln(x + 1.0), axis=-1)
    return special.gammaln(whole) + special.gammaln(n + 1.0) - special.gammaln(n + whole) + each


def dirichlet_multinomial_pmf(x, alpha, n):
    return np.exp(dirichlet_multinomial(x, alpha, n))


for _law in existing(stats, "normal_inverse_gamma"):
    restates(_law.logpdf, moving=("mu", "lmbda", "a", "b"))(normal_inverse_gamma)
    restates(_law.pdf, moving=("mu", "lmbda", "a", "b"))(normal_inverse_gamma_pdf)
for _law in existing(stats, "dirichlet_multinomial"):
    restates(_law.logpmf, constant=("x", "n"))(dirichlet_multinomial)
    restates(_law.pmf, constant=("x", "n"))(dirichlet_multinomial_pmf)

# --- fits that are formulas -------------------------------------------------------------------------------------------


@restates(stats.norm.fit)
def normal_fit(data):
    return np.mean(data), np.sqrt(np.mean((data - np.mean(data)) ** 2))


@restates(stats.expon.fit)
def exponential_fit(data):
    return np.min(data), np.mean(data) - np.min(data)


@restates(stats.uniform.fit)
def uniform_fit(data):
    return np.min(data), np.max(data) - np.min(data)


@restates(stats.laplace.fit)
def laplace_fit(data):
    return np.median(data), np.mean(np.abs(data - np.median(data)))


# --- on the sphere -----------------------------------------------------------------------------------------------------

_on_sphere = existing(stats, "vonmises_fisher")


@general(*(law.logpdf for law in _on_sphere))
def vonmises_fisher_logpdf(g, y, x, mu=None, kappa=1):
    return None


@general(*(law.pdf for law in _on_sphere))
def vonmises_fisher_pdf(g, y, x, mu=None, kappa=1):
    return None


@vonmises_fisher_logpdf.keyword("kappa")
def _(g, y, x, mu=None, kappa=1):
    return concentration_bar(g, x, mu, kappa)


@vonmises_fisher_pdf.keyword("kappa")
def _(g, y, x, mu=None, kappa=1):
    return concentration_bar(g * y, x, mu, kappa)


vonmises_fisher_logpdf.constant("x")  # points and means stay on the sphere
vonmises_fisher_pdf.constant("x")
