"""Rules of scipy.stats, continued: probabilities of counts, in their parameters.

    y = poisson.logpmf(k, mu)    ->  mu_bar = y_bar * (k / mu - 1.0)
    y = poisson.cdf(k, mu)       ->  mu_bar = -y_bar * poisson.pmf(k, mu)
    y = binom.logpmf(k, n, p)    ->  p_bar = y_bar * (k / p - (n - k) / (1.0 - p))

The counts are whole numbers: no derivative is taken in them.  Counts that cannot occur have no slope.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, elementwise
from s2sgrad.runtime import over

# The slopes are written as sums of `over`, which is 0 where its first argument is: of a count 0 in p at p = 0, say.


@elementwise(stats.poisson.logpmf)
def poisson_logpmf(g, y, k, mu, loc=0):
    return None, np.where(np.less(k, loc), 0.0, over(g * (k - loc), mu) - g)[()]


@elementwise(stats.poisson.pmf)
def poisson_pmf(g, y, k, mu, loc=0):
    return None, over(g * y * (k - loc), mu) - g * y


@elementwise(stats.poisson.cdf)
def poisson_cdf(g, y, k, mu, loc=0):
    return None, -g * stats.poisson.pmf(np.floor(k - loc), mu)


@elementwise(stats.poisson.sf)
def poisson_sf(g, y, k, mu, loc=0):
    return None, g * stats.poisson.pmf(np.floor(k - loc), mu)


@elementwise(stats.binom.logpmf)
def binom_logpmf(g, y, k, n, p, loc=0):
    heads = k - loc
    possible = np.logical_and(np.greater_equal(heads, 0), np.less_equal(heads, n))
    return None, None, np.where(possible, over(g * heads, p) - over(g * (n - heads), 1.0 - p), 0.0)[()]


@elementwise(stats.binom.pmf)
def binom_pmf(g, y, k, n, p, loc=0):
    return None, None, over(g * y * (k - loc), p) - over(g * y * (n - k + loc), 1.0 - p)


@elementwise(stats.bernoulli.logpmf)
def bernoulli_logpmf(g, y, k, p, loc=0):
    heads = k - loc
    possible = np.logical_or(np.equal(heads, 0), np.equal(heads, 1))
    return None, np.where(possible, over(g * heads, p) - over(g * (1.0 - heads), 1.0 - p), 0.0)[()]


for _rule in (poisson_logpmf, poisson_pmf, poisson_cdf, poisson_sf, binom_logpmf, binom_pmf, bernoulli_logpmf):
    _rule.constant("k")
for _rule in (binom_logpmf, binom_pmf):
    _rule.constant("n")


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")
