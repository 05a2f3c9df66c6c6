"""Rules of scipy.stats, continued: logarithms of probabilities of continuous distributions.

y = t.logcdf(x, df)          ->  x_bar = y_bar * ratio(t.logpdf(x, df), y)      # the density divided by the probability
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, elementwise


def ratio(p, y):
    """A density divided by a probability, both given by their logarithms; 0 where the density is.

    >>> float(ratio(-np.inf, -np.inf)), float(ratio(-1.0, -1.0))
    (0.0, 1.0)
    """
    return np.where(np.isneginf(p), 0.0, np.exp(p - np.where(np.isneginf(p), 0.0, y)))[()]


# --- Student's t -----------------------------------------------------------------------------------------------------


@elementwise(stats.t.logcdf)
def t_logcdf(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.t.logpdf(x, df, loc, scale), y), None


@t_logcdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.t.logpdf(x, df, loc, scale), y)


@t_logcdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.t.logpdf(x, df, loc, scale), y) * (x - loc) / scale


@elementwise(stats.t.logsf)
def t_logsf(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.t.logpdf(x, df, loc, scale), y), None


@t_logsf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.t.logpdf(x, df, loc, scale), y)


@t_logsf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.t.logpdf(x, df, loc, scale), y) * (x - loc) / scale


# --- gamma -----------------------------------------------------------------------------------------------------------


@elementwise(stats.gamma.logcdf)
def gamma_logcdf(g, y, x, a, loc=0, scale=1):
    return g * ratio(stats.gamma.logpdf(x, a, loc, scale), y), None


@gamma_logcdf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return -g * ratio(stats.gamma.logpdf(x, a, loc, scale), y)


@gamma_logcdf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return -g * ratio(stats.gamma.logpdf(x, a, loc, scale), y) * (x - loc) / scale


@elementwise(stats.gamma.logsf)
def gamma_logsf(g, y, x, a, loc=0, scale=1):
    return -g * ratio(stats.gamma.logpdf(x, a, loc, scale), y), None


@gamma_logsf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return g * ratio(stats.gamma.logpdf(x, a, loc, scale), y)


@gamma_logsf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return g * ratio(stats.gamma.logpdf(x, a, loc, scale), y) * (x - loc) / scale


# --- chi-squared -----------------------------------------------------------------------------------------------------


@elementwise(stats.chi2.logcdf)
def chi2_logcdf(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.chi2.logpdf(x, df, loc, scale), y), None


@chi2_logcdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.chi2.logpdf(x, df, loc, scale), y)


@chi2_logcdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.chi2.logpdf(x, df, loc, scale), y) * (x - loc) / scale


@elementwise(stats.chi2.logsf)
def chi2_logsf(g, y, x, df, loc=0, scale=1):
    return -g * ratio(stats.chi2.logpdf(x, df, loc, scale), y), None


@chi2_logsf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.chi2.logpdf(x, df, loc, scale), y)


@chi2_logsf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return g * ratio(stats.chi2.logpdf(x, df, loc, scale), y) * (x - loc) / scale


# --- beta ------------------------------------------------------------------------------------------------------------


@elementwise(stats.beta.logcdf)
def beta_logcdf(g, y, x, a, b, loc=0, scale=1):
    return g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y), None, None


@beta_logcdf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y)


@beta_logcdf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y) * (x - loc) / scale


@elementwise(stats.beta.logsf)
def beta_logsf(g, y, x, a, b, loc=0, scale=1):
    return -g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y), None, None


@beta_logsf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y)


@beta_logsf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    return g * ratio(stats.beta.logpdf(x, a, b, loc, scale), y) * (x - loc) / scale


# --- exponential -----------------------------------------------------------------------------------------------------


@elementwise(stats.expon.logcdf)
def expon_logcdf(g, y, x, loc=0, scale=1):
    return g * ratio(stats.expon.logpdf(x, loc, scale), y)


@expon_logcdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.expon.logpdf(x, loc, scale), y)


@expon_logcdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.expon.logpdf(x, loc, scale), y) * (x - loc) / scale


@elementwise(stats.expon.logsf)
def expon_logsf(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.expon.logpdf(x, loc, scale), y)


@expon_logsf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.expon.logpdf(x, loc, scale), y)


@expon_logsf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.expon.logpdf(x, loc, scale), y) * (x - loc) / scale


# --- Laplace ---------------------------------------------------------------------------------------------------------


@elementwise(stats.laplace.logcdf)
def laplace_logcdf(g, y, x, loc=0, scale=1):
    return g * ratio(stats.laplace.logpdf(x, loc, scale), y)


@laplace_logcdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.laplace.logpdf(x, loc, scale), y)


@laplace_logcdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.laplace.logpdf(x, loc, scale), y) * (x - loc) / scale


@elementwise(stats.laplace.logsf)
def laplace_logsf(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.laplace.logpdf(x, loc, scale), y)


@laplace_logsf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.laplace.logpdf(x, loc, scale), y)


@laplace_logsf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.laplace.logpdf(x, loc, scale), y) * (x - loc) / scale


# --- Cauchy ----------------------------------------------------------------------------------------------------------


@elementwise(stats.cauchy.logcdf)
def cauchy_logcdf(g, y, x, loc=0, scale=1):
    return g * ratio(stats.cauchy.logpdf(x, loc, scale), y)


@cauchy_logcdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.cauchy.logpdf(x, loc, scale), y)


@cauchy_logcdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.cauchy.logpdf(x, loc, scale), y) * (x - loc) / scale


@elementwise(stats.cauchy.logsf)
def cauchy_logsf(g, y, x, loc=0, scale=1):
    return -g * ratio(stats.cauchy.logpdf(x, loc, scale), y)


@cauchy_logsf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.cauchy.logpdf(x, loc, scale), y)


@cauchy_logsf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * ratio(stats.cauchy.logpdf(x, loc, scale), y) * (x - loc) / scale


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    for _shape in _rule.differentiable[1:]:
        _rule.constant(_shape)
    _rule.refuse(lambda operand: is_container(operand), "a probability of a list has no derivative rule: pass an array")
