"""Rules of scipy.stats, continued: densities of the distributions whose logarithmic densities `stats` knows.

y = gamma.pdf(x, a)          ->  x_bar = y_bar * y * gamma_score(x, a, 0, 1)      # times the slope of the logarithm
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.stats import beta_score, gamma_score
from s2sgrad.rules.table import Rule, elementwise

# --- gamma and beta --------------------------------------------------------------------------------------------------


@elementwise(stats.gamma.pdf)
def gamma_pdf(g, y, x, a, loc=0, scale=1):
    g = g * y
    return g * gamma_score(x, a, loc, scale), special.xlogy(g, (x - loc) / scale) - g * special.digamma(a)


@gamma_pdf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return -g * y * gamma_score(x, a, loc, scale)


@gamma_pdf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return -g * y * (gamma_score(x, a, loc, scale) * (x - loc) + 1.0) / scale


@elementwise(stats.beta.pdf)
def beta_pdf(g, y, x, a, b, loc=0, scale=1):
    g = g * y
    z = (x - loc) / scale
    both = special.digamma(a + b)
    a_bar = special.xlogy(g, z) + g * (both - special.digamma(a))
    b_bar = special.xlog1py(g, -z) + g * (both - special.digamma(b))
    return g * beta_score(x, a, b, loc, scale), a_bar, b_bar


@beta_pdf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * y * beta_score(x, a, b, loc, scale)


@beta_pdf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * y * (beta_score(x, a, b, loc, scale) * (x - loc) + 1.0) / scale


# --- chi-squared: a gamma distribution of half the degrees of freedom and twice the scale ------------------------------


@elementwise(stats.chi2.logpdf)
def chi2_logpdf(g, y, x, df, loc=0, scale=1):
    z = 0.5 * (x - loc) / scale
    df_bar = np.where(np.less(z, 0.0), 0.0, 0.5 * (special.xlogy(g, z) - g * special.digamma(0.5 * df)))[()]
    return g * gamma_score(x, 0.5 * df, loc, 2.0 * scale), df_bar


@chi2_logpdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * gamma_score(x, 0.5 * df, loc, 2.0 * scale)


@chi2_logpdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    slope = -g * (gamma_score(x, 0.5 * df, loc, 2.0 * scale) * (x - loc) + 1.0) / scale
    return np.where(np.less(x, loc), 0.0, slope)[()]


@elementwise(stats.chi2.pdf)
def chi2_pdf(g, y, x, df, loc=0, scale=1):
    g = g * y
    df_bar = 0.5 * (special.xlogy(g, 0.5 * (x - loc) / scale) - g * special.digamma(0.5 * df))
    return g * gamma_score(x, 0.5 * df, loc, 2.0 * scale), df_bar


@chi2_pdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * y * gamma_score(x, 0.5 * df, loc, 2.0 * scale)


@chi2_pdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * y * (gamma_score(x, 0.5 * df, loc, 2.0 * scale) * (x - loc) + 1.0) / scale


# --- exponential, Laplace, Cauchy ------------------------------------------------------------------------------------


@elementwise(stats.expon.pdf)
def expon_pdf(g, y, x, loc=0, scale=1):
    return -g * y / scale


@expon_pdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * y / scale


@expon_pdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * y * ((x - loc) / scale - 1.0) / scale


@elementwise(stats.laplace.pdf)
def laplace_pdf(g, y, x, loc=0, scale=1):
    return -g * y * np.sign(x - loc) / scale


@laplace_pdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * y * np.sign(x - loc) / scale


@laplace_pdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * y * (np.abs(x - loc) / scale - 1.0) / scale


@elementwise(stats.cauchy.pdf)
def cauchy_pdf(g, y, x, loc=0, scale=1):
    d = x - loc
    return -2.0 * g * y * d / (d * d + scale * scale)


@cauchy_pdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    d = x - loc
    return 2.0 * g * y * d / (d * d + scale * scale)


@cauchy_pdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    d = x - loc
    return g * y * (2.0 * d * d / (d * d + scale * scale) - 1.0) / scale


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")
