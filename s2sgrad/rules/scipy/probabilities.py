"""Rules of scipy.stats, continued: probabilities of continuous distributions, in the argument, `loc` and `scale`.

    y = gamma.cdf(x, a, m, s)    ->  x_bar = y_bar * gamma.pdf(x, a, m, s); m_bar = -y_bar * gamma.pdf(x, a, m, s)

The slope in the argument is the density.  No derivative is known in the parameters that give a distribution its shape.
"""

from __future__ import annotations

from scipy import stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, elementwise

# --- Student's t -----------------------------------------------------------------------------------------------------


@elementwise(stats.t.cdf)
def t_cdf(g, y, x, df, loc=0, scale=1):
    return g * stats.t.pdf(x, df, loc, scale), None


@t_cdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * stats.t.pdf(x, df, loc, scale)


@t_cdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * stats.t.pdf(x, df, loc, scale) * (x - loc) / scale


@elementwise(stats.t.sf)
def t_sf(g, y, x, df, loc=0, scale=1):
    return -g * stats.t.pdf(x, df, loc, scale), None


@t_sf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return g * stats.t.pdf(x, df, loc, scale)


@t_sf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return g * stats.t.pdf(x, df, loc, scale) * (x - loc) / scale


# --- gamma -----------------------------------------------------------------------------------------------------------


@elementwise(stats.gamma.cdf)
def gamma_cdf(g, y, x, a, loc=0, scale=1):
    return g * stats.gamma.pdf(x, a, loc, scale), None


@gamma_cdf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return -g * stats.gamma.pdf(x, a, loc, scale)


@gamma_cdf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return -g * stats.gamma.pdf(x, a, loc, scale) * (x - loc) / scale


@elementwise(stats.gamma.sf)
def gamma_sf(g, y, x, a, loc=0, scale=1):
    return -g * stats.gamma.pdf(x, a, loc, scale), None


@gamma_sf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return g * stats.gamma.pdf(x, a, loc, scale)


@gamma_sf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return g * stats.gamma.pdf(x, a, loc, scale) * (x - loc) / scale


# --- chi-squared -----------------------------------------------------------------------------------------------------


@elementwise(stats.chi2.cdf)
def chi2_cdf(g, y, x, df, loc=0, scale=1):
    return g * stats.chi2.pdf(x, df, loc, scale), None


@chi2_cdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * stats.chi2.pdf(x, df, loc, scale)


@chi2_cdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * stats.chi2.pdf(x, df, loc, scale) * (x - loc) / scale


@elementwise(stats.chi2.sf)
def chi2_sf(g, y, x, df, loc=0, scale=1):
    return -g * stats.chi2.pdf(x, df, loc, scale), None


@chi2_sf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return g * stats.chi2.pdf(x, df, loc, scale)


@chi2_sf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return g * stats.chi2.pdf(x, df, loc, scale) * (x - loc) / scale


# --- beta ------------------------------------------------------------------------------------------------------------


@elementwise(stats.beta.cdf)
def beta_cdf(g, y, x, a, b, loc=0, scale=1):
    return g * stats.beta.pdf(x, a, b, loc, scale), None, None


@beta_cdf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * stats.beta.pdf(x, a, b, loc, scale)


@beta_cdf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * stats.beta.pdf(x, a, b, loc, scale) * (x - loc) / scale


@elementwise(stats.beta.sf)
def beta_sf(g, y, x, a, b, loc=0, scale=1):
    return -g * stats.beta.pdf(x, a, b, loc, scale), None, None


@beta_sf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return g * stats.beta.pdf(x, a, b, loc, scale)


@beta_sf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    return g * stats.beta.pdf(x, a, b, loc, scale) * (x - loc) / scale


# --- exponential -----------------------------------------------------------------------------------------------------


@elementwise(stats.expon.cdf)
def expon_cdf(g, y, x, loc=0, scale=1):
    return g * stats.expon.pdf(x, loc, scale)


@expon_cdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.expon.pdf(x, loc, scale)


@expon_cdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.expon.pdf(x, loc, scale) * (x - loc) / scale


@elementwise(stats.expon.sf)
def expon_sf(g, y, x, loc=0, scale=1):
    return -g * stats.expon.pdf(x, loc, scale)


@expon_sf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * stats.expon.pdf(x, loc, scale)


@expon_sf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * stats.expon.pdf(x, loc, scale) * (x - loc) / scale


# --- Laplace ---------------------------------------------------------------------------------------------------------


@elementwise(stats.laplace.cdf)
def laplace_cdf(g, y, x, loc=0, scale=1):
    return g * stats.laplace.pdf(x, loc, scale)


@laplace_cdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.laplace.pdf(x, loc, scale)


@laplace_cdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.laplace.pdf(x, loc, scale) * (x - loc) / scale


@elementwise(stats.laplace.sf)
def laplace_sf(g, y, x, loc=0, scale=1):
    return -g * stats.laplace.pdf(x, loc, scale)


@laplace_sf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * stats.laplace.pdf(x, loc, scale)


@laplace_sf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * stats.laplace.pdf(x, loc, scale) * (x - loc) / scale


# --- Cauchy ----------------------------------------------------------------------------------------------------------


@elementwise(stats.cauchy.cdf)
def cauchy_cdf(g, y, x, loc=0, scale=1):
    return g * stats.cauchy.pdf(x, loc, scale)


@cauchy_cdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.cauchy.pdf(x, loc, scale)


@cauchy_cdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * stats.cauchy.pdf(x, loc, scale) * (x - loc) / scale


@elementwise(stats.cauchy.sf)
def cauchy_sf(g, y, x, loc=0, scale=1):
    return -g * stats.cauchy.pdf(x, loc, scale)


@cauchy_sf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * stats.cauchy.pdf(x, loc, scale)


@cauchy_sf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * stats.cauchy.pdf(x, loc, scale) * (x - loc) / scale


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    for _shape in _rule.differentiable[1:]:
        _rule.constant(_shape)
    _rule.refuse(lambda operand: is_container(operand), "a probability of a list has no derivative rule: pass an array")
