"""Rules of scipy.stats, continued: probabilities of counts, in their parameters.

    y = poisson.logpmf(k, mu)    ->  mu_bar = y_bar * (k / mu - 1.0)
    y = poisson.cdf(k, mu)       ->  mu_bar = -y_bar * poisson.pmf(floor(k), mu)
    y = poisson.logsf(k, mu)     ->  mu_bar = y_bar * poisson.pmf(floor(k), mu) / exp(y)

The counts, `loc` and what the distributions count to are whole numbers: no derivative is taken in them.  Counts that cannot
occur have no slope.  Of each distribution two facts are known: the slope of the logarithm of its probabilities, and that of
their sums (Johnson, Kemp and Kotz (2005), "Univariate Discrete Distributions").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from s2sgrad.rules.made import made
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.incomplete import beta_in_a, beta_in_x
from s2sgrad.rules.table import Rule, elementwise, general
from s2sgrad.runtime import over, product, unbroadcast

# The slopes are written as sums of `over`, which is 0 where its first argument is: of a count 0 in p at p = 0, say.


def possible(y, g):
    """`g` where the logarithm `y` of a probability is finite, and 0 where the probability is 0."""
    return np.where(np.isneginf(y), 0.0, g)[()]


# --- Poisson -----------------------------------------------------------------------------------------------------------


def poisson_sum(k, mu, loc):
    """The slope of the probability of at most `k`."""
    return -stats.poisson.pmf(np.floor(k - loc), mu)


@elementwise(stats.poisson.logpmf)
def poisson_logpmf(g, y, k, mu, loc=0):
    return None, np.where(np.less(k, loc), 0.0, over(g * (k - loc), mu) - g)[()]


@elementwise(stats.poisson.pmf)
def poisson_pmf(g, y, k, mu, loc=0):
    return None, over(g * y * (k - loc), mu) - g * y


@elementwise(stats.poisson.cdf)
def poisson_cdf(g, y, k, mu, loc=0):
    return None, g * poisson_sum(k, mu, loc)


@elementwise(stats.poisson.sf)
def poisson_sf(g, y, k, mu, loc=0):
    return None, -g * poisson_sum(k, mu, loc)


@elementwise(stats.poisson.logcdf)
def poisson_logcdf(g, y, k, mu, loc=0):
    return None, over(g * poisson_sum(k, mu, loc), np.exp(y))


@elementwise(stats.poisson.logsf)
def poisson_logsf(g, y, k, mu, loc=0):
    return None, -over(g * poisson_sum(k, mu, loc), np.exp(y))


# --- binomial, Bernoulli -----------------------------------------------------------------------------------------------


def binom_sum(k, n, p, loc):
    """The slope of the probability of at most `k`: of n - 1 trials, -n times the probability of exactly `k`."""
    return -n * stats.binom.pmf(np.floor(k - loc), np.maximum(n - 1, 0), p)


@elementwise(stats.binom.logpmf)
def binom_logpmf(g, y, k, n, p, loc=0):
    heads = k - loc
    inside = np.logical_and(np.greater_equal(heads, 0), np.less_equal(heads, n))
    return None, None, np.where(inside, over(g * heads, p) - over(g * (n - heads), 1.0 - p), 0.0)[()]


@elementwise(stats.binom.pmf)
def binom_pmf(g, y, k, n, p, loc=0):
    return None, None, over(g * y * (k - loc), p) - over(g * y * (n - k + loc), 1.0 - p)


@elementwise(stats.binom.cdf)
def binom_cdf(g, y, k, n, p, loc=0):
    return None, None, g * binom_sum(k, n, p, loc)


@elementwise(stats.binom.sf)
def binom_sf(g, y, k, n, p, loc=0):
    return None, None, -g * binom_sum(k, n, p, loc)


@elementwise(stats.binom.logcdf)
def binom_logcdf(g, y, k, n, p, loc=0):
    return None, None, over(g * binom_sum(k, n, p, loc), np.exp(y))


@elementwise(stats.binom.logsf)
def binom_logsf(g, y, k, n, p, loc=0):
    return None, None, -over(g * binom_sum(k, n, p, loc), np.exp(y))


def bernoulli_sum(k, loc):
    """The slope of the probability of at most `k`."""
    return -np.multiply(np.equal(np.floor(k - loc), 0), 1.0)


@elementwise(stats.bernoulli.logpmf)
def bernoulli_logpmf(g, y, k, p, loc=0):
    heads = k - loc
    inside = np.logical_or(np.equal(heads, 0), np.equal(heads, 1))
    return None, np.where(inside, over(g * heads, p) - over(g * (1.0 - heads), 1.0 - p), 0.0)[()]


@elementwise(stats.bernoulli.pmf)
def bernoulli_pmf(g, y, k, p, loc=0):
    heads = k - loc
    return None, g * np.where(np.equal(heads, 1), 1.0, np.where(np.equal(heads, 0), -1.0, 0.0))


@elementwise(stats.bernoulli.cdf)
def bernoulli_cdf(g, y, k, p, loc=0):
    return None, g * bernoulli_sum(k, loc)


@elementwise(stats.bernoulli.sf)
def bernoulli_sf(g, y, k, p, loc=0):
    return None, -g * bernoulli_sum(k, loc)


@elementwise(stats.bernoulli.logcdf)
def bernoulli_logcdf(g, y, k, p, loc=0):
    return None, over(g * bernoulli_sum(k, loc), np.exp(y))


@elementwise(stats.bernoulli.logsf)
def bernoulli_logsf(g, y, k, p, loc=0):
    return None, -over(g * bernoulli_sum(k, loc), np.exp(y))


# --- geometric: sf is (1 - p) ** k -------------------------------------------------------------------------------------


def geom_score(k, p, loc):
    return over(1.0, p) - over(k - loc - 1.0, 1.0 - p)


def geom_tail(k, p, loc):
    """The slope of the logarithm of the probability of more than `k`."""
    return -over(np.maximum(np.floor(k - loc), 0.0), 1.0 - p)


@elementwise(stats.geom.logpmf)
def geom_logpmf(g, y, k, p, loc=0):
    return None, possible(y, g * geom_score(k, p, loc))


@elementwise(stats.geom.pmf)
def geom_pmf(g, y, k, p, loc=0):
    return None, product(g * y, geom_score(k, p, loc))


@elementwise(stats.geom.cdf)
def geom_cdf(g, y, k, p, loc=0):
    return None, -g * stats.geom.sf(k, p, loc) * geom_tail(k, p, loc)


@elementwise(stats.geom.sf)
def geom_sf(g, y, k, p, loc=0):
    return None, g * y * geom_tail(k, p, loc)


@elementwise(stats.geom.logcdf)
def geom_logcdf(g, y, k, p, loc=0):
    return None, -over(g * stats.geom.sf(k, p, loc) * geom_tail(k, p, loc), np.exp(y))


@elementwise(stats.geom.logsf)
def geom_logsf(g, y, k, p, loc=0):
    return None, g * geom_tail(k, p, loc)


# --- negative binomial: cdf is special.betainc(n, k + 1, p) ---------------------------------------------------------------


def nbinom_in_n(k, n, p, loc):
    return special.digamma(k - loc + n) - special.digamma(n) + special.xlogy(np.ones_like(p), p)


def nbinom_in_p(k, n, p, loc):
    return over(n, p) - over(k - loc, 1.0 - p)


def nbinom_sum_in_n(k, n, p, loc):
    count = np.floor(k - loc)
    slope = beta_in_a(special.logit(p), n, np.maximum(count, 0.0) + 1.0)
    return np.where(np.less(count, 0.0), 0.0, slope)[()]


def nbinom_sum_in_p(k, n, p, loc):
    count = np.floor(k - loc)
    return np.where(np.less(count, 0.0), 0.0, beta_in_x(n, np.maximum(count, 0.0) + 1.0, p))[()]


@elementwise(stats.nbinom.logpmf)
def nbinom_logpmf(g, y, k, n, p, loc=0):
    return None, possible(y, g * nbinom_in_n(k, n, p, loc)), possible(y, g * nbinom_in_p(k, n, p, loc))


@elementwise(stats.nbinom.pmf)
def nbinom_pmf(g, y, k, n, p, loc=0):
    return None, product(g * y, nbinom_in_n(k, n, p, loc)), product(g * y, nbinom_in_p(k, n, p, loc))


@elementwise(stats.nbinom.cdf)
def nbinom_cdf(g, y, k, n, p, loc=0):
    return None, g * nbinom_sum_in_n(k, n, p, loc), g * nbinom_sum_in_p(k, n, p, loc)


@elementwise(stats.nbinom.sf)
def nbinom_sf(g, y, k, n, p, loc=0):
    return None, -g * nbinom_sum_in_n(k, n, p, loc), -g * nbinom_sum_in_p(k, n, p, loc)


@elementwise(stats.nbinom.logcdf)
def nbinom_logcdf(g, y, k, n, p, loc=0):
    g = over(g, np.exp(y))
    return None, g * nbinom_sum_in_n(k, n, p, loc), g * nbinom_sum_in_p(k, n, p, loc)


@elementwise(stats.nbinom.logsf)
def nbinom_logsf(g, y, k, n, p, loc=0):
    g = -over(g, np.exp(y))
    return None, g * nbinom_sum_in_n(k, n, p, loc), g * nbinom_sum_in_p(k, n, p, loc)


# --- beta-binomial: its probabilities alone ------------------------------------------------------------------------------


def betabinom_in_a(k, n, a, b, loc):
    both = special.digamma(a + b) - special.digamma(n + a + b)
    return special.digamma(k - loc + a) - special.digamma(a) + both


def betabinom_in_b(k, n, a, b, loc):
    both = special.digamma(a + b) - special.digamma(n + a + b)
    return special.digamma(n - k + loc + b) - special.digamma(b) + both


@elementwise(stats.betabinom.logpmf)
def betabinom_logpmf(g, y, k, n, a, b, loc=0):
    in_a = betabinom_in_a(k, n, a, b, loc)
    in_b = betabinom_in_b(k, n, a, b, loc)
    return None, None, possible(y, g * in_a), possible(y, g * in_b)


@elementwise(stats.betabinom.pmf)
def betabinom_pmf(g, y, k, n, a, b, loc=0):
    in_a = betabinom_in_a(k, n, a, b, loc)
    in_b = betabinom_in_b(k, n, a, b, loc)
    return None, None, product(g * y, in_a), product(g * y, in_b)


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    _rule.constant("k")
    if _rule.primitive.__self__ in (stats.binom, stats.betabinom):
        _rule.constant("n")
    _rule.refuse(lambda operand: is_container(operand), "a probability of a list has no derivative rule: pass an array")

# --- quantiles are whole numbers, moved by `loc` -------------------------------------------------------------------------


def quantiles(law, shapes):
    """The pullbacks of the quantiles of a distribution as text, and those in `loc`.

    >>> print(quantiles("geom", ("p",))[:74])
    def geom_ppf(g, y, q, p, loc=0):
        return None, None
    <BLANKLINE>
    <BLANKLINE>
    def geom_ppf_loc(
    """
    written = []
    for method, first in (("ppf", ("q",)), ("isf", ("q",)), ("median", ()), ("interval", ("confidence",)), ("support", ())):
        parameters = (*first, *shapes)
        nothing = ", ".join(["None"] * len(parameters))
        moved = "g" if method in ("ppf", "isf", "median") else "unbroadcast(g[0] + g[1], loc)"
        for suffix, formula in (("", nothing), ("_loc", moved)):
            head = f"def {law}_{method}{suffix}({', '.join(['g', 'y', *parameters, 'loc=0'])}):"
            written.append(f"{head}\n    return {formula}\n")
    return "\n\n".join(written)


def enter_quantiles(law: Any) -> None:
    """Enter the rules of the quantiles of a distribution."""
    text = quantiles(law.name, tuple(law.shapes.replace(",", " ").split()))
    space = made(text, f"{__name__}.{law.name}_quantiles", {"unbroadcast": unbroadcast})
    for method in ("ppf", "isf", "median", "interval", "support"):
        tag = general if method in ("interval", "support") else elementwise
        rule = tag(getattr(law, method))(space[f"{law.name}_{method}"])
        rule.keyword("loc")(space[f"{law.name}_{method}_loc"])


for _law in (stats.poisson, stats.binom, stats.bernoulli, stats.geom, stats.nbinom, stats.betabinom, stats.hypergeom):
    enter_quantiles(_law)
