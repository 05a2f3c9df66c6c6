"""Rules of scipy.stats: normal, t, beta, gamma and other continuous distributions, with `loc` and `scale`.

    y = norm.logpdf(x, m, s)     ->  x_bar = -y_bar * (x - m) / (s * s); m_bar = y_bar * (x - m) / (s * s)

A logarithmic density is f(z) - log(scale) with z = (x - loc) / scale: the slope in x is f'(z) / scale, in loc the negative
of that, in scale -(f'(z) * z + 1) / scale.  Outside of the support slopes are 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, elementwise
from s2sgrad.runtime import over

# --- normal ----------------------------------------------------------------------------------------------------------


@elementwise(stats.norm.logpdf)
def norm_logpdf(g, y, x, loc=0, scale=1):
    return -g * (x - loc) / (scale * scale)


@norm_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * (x - loc) / (scale * scale)


@norm_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    z = (x - loc) / scale
    return g * (z * z - 1.0) / scale


@elementwise(stats.norm.pdf)
def norm_pdf(g, y, x, loc=0, scale=1):
    return -g * y * (x - loc) / (scale * scale)


@norm_pdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * y * (x - loc) / (scale * scale)


@norm_pdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    z = (x - loc) / scale
    return g * y * (z * z - 1.0) / scale


def normal_density(x, loc, scale):
    """The density of the normal distribution, without the checks of `stats.norm.pdf`.

    >>> float(normal_density(0.0, 0.0, 1.0))
    0.3989422804014327
    """
    z = np.divide(x - loc, scale)
    return np.exp(-0.5 * z * z) / (scale * math.sqrt(2.0 * math.pi))


@elementwise(normal_density)
def _(g, y, x, loc, scale):
    z = (x - loc) / scale
    return -g * y * z / scale, g * y * z / scale, g * y * (z * z - 1.0) / scale


@elementwise(stats.norm.cdf)
def norm_cdf(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale)


@norm_cdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale)


@norm_cdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.sf)
def norm_sf(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale)


@norm_sf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale)


@norm_sf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale) * (x - loc) / scale


def hazard(x, y, loc, scale):
    """The density divided by the probability with the logarithm `y`: the slope of that logarithm, but for the sign."""
    z = np.divide(x - loc, scale)
    return np.exp(-0.5 * z * z - y) / (scale * math.sqrt(2.0 * math.pi))


@elementwise(hazard)
def _(g, h, x, y, loc, scale):
    z = (x - loc) / scale
    return -g * h * z / scale, -g * h, g * h * z / scale, g * h * (z * z - 1.0) / scale


@elementwise(stats.norm.logcdf)
def norm_logcdf(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale)


@norm_logcdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale)


@norm_logcdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.logsf)
def norm_logsf(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale)


@norm_logsf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale)


@norm_logsf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.ppf)
def norm_ppf(g, x, q, loc=0, scale=1):
    return over(g, normal_density(x, loc, scale))


@norm_ppf.keyword("loc")
def _(g, x, q, loc=0, scale=1):
    return g


@norm_ppf.keyword("scale")
def _(g, x, q, loc=0, scale=1):
    return g * (x - loc) / scale


# --- Laplace, Cauchy, exponential, uniform ---------------------------------------------------------------------------


@elementwise(stats.laplace.logpdf)
def laplace_logpdf(g, y, x, loc=0, scale=1):
    return -g * np.sign(x - loc) / scale


@laplace_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * np.sign(x - loc) / scale


@laplace_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * (np.abs(x - loc) / scale - 1.0) / scale


@elementwise(stats.cauchy.logpdf)
def cauchy_logpdf(g, y, x, loc=0, scale=1):
    d = x - loc
    return -2.0 * g * d / (d * d + scale * scale)


@cauchy_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    d = x - loc
    return 2.0 * g * d / (d * d + scale * scale)


@cauchy_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    d = x - loc
    return g * (2.0 * d * d / (d * d + scale * scale) - 1.0) / scale


@elementwise(stats.expon.logpdf)
def expon_logpdf(g, y, x, loc=0, scale=1):
    return np.where(np.less(x, loc), 0.0, -g / scale)[()]


@expon_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return np.where(np.less(x, loc), 0.0, g / scale)[()]


@expon_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return np.where(np.less(x, loc), 0.0, g * ((x - loc) / scale - 1.0) / scale)[()]


@elementwise(stats.uniform.logpdf)
def uniform_logpdf(g, y, x, loc=0, scale=1):
    return None


@uniform_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return np.zeros_like(y)


@uniform_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return np.where(np.isfinite(y), -g / scale, 0.0)[()]


# --- Student's t -----------------------------------------------------------------------------------------------------


def t_score(x, df, loc, scale):
    """The slope of the logarithm of the density in x."""
    d = x - loc
    return -np.divide((df + 1.0) * d, df * scale * scale + d * d)


def t_df_slope(x, df, loc, scale):
    """The slope of the logarithm of the density in the degrees of freedom."""
    z = np.divide(x - loc, scale)
    u = z * z / df
    slope = special.digamma(0.5 * (df + 1.0)) - special.digamma(0.5 * df) - 1.0 / df
    return 0.5 * (slope - np.log1p(u) + (df + 1.0) / df * u / (1.0 + u))


@elementwise(stats.t.logpdf)
def t_logpdf(g, y, x, df, loc=0, scale=1):
    return g * t_score(x, df, loc, scale), g * t_df_slope(x, df, loc, scale)


@t_logpdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * t_score(x, df, loc, scale)


@t_logpdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * (t_score(x, df, loc, scale) * (x - loc) + 1.0) / scale


@elementwise(stats.t.pdf)
def t_pdf(g, y, x, df, loc=0, scale=1):
    return g * y * t_score(x, df, loc, scale), g * y * t_df_slope(x, df, loc, scale)


@t_pdf.keyword("loc")
def _(g, y, x, df, loc=0, scale=1):
    return -g * y * t_score(x, df, loc, scale)


@t_pdf.keyword("scale")
def _(g, y, x, df, loc=0, scale=1):
    return -g * y * (t_score(x, df, loc, scale) * (x - loc) + 1.0) / scale


# --- beta and gamma --------------------------------------------------------------------------------------------------


def beta_score(x, a, b, loc, scale):
    """The slope of the logarithm of the density in x."""
    z = np.divide(x - loc, scale)
    inside = np.logical_and(np.greater_equal(z, 0.0), np.less_equal(z, 1.0))
    return np.where(inside, over(a - 1.0, z) - over(b - 1.0, 1.0 - z), 0.0) / scale


@elementwise(stats.beta.logpdf)
def beta_logpdf(g, y, x, a, b, loc=0, scale=1):
    z = (x - loc) / scale
    both = special.digamma(a + b)
    inside = np.logical_and(np.greater_equal(z, 0.0), np.less_equal(z, 1.0))
    a_bar = np.where(inside, special.xlogy(g, z) + g * (both - special.digamma(a)), 0.0)[()]
    b_bar = np.where(inside, special.xlog1py(g, -z) + g * (both - special.digamma(b)), 0.0)[()]
    return g * beta_score(x, a, b, loc, scale), a_bar, b_bar


@beta_logpdf.keyword("loc")
def _(g, y, x, a, b, loc=0, scale=1):
    return -g * beta_score(x, a, b, loc, scale)


@beta_logpdf.keyword("scale")
def _(g, y, x, a, b, loc=0, scale=1):
    inside = np.logical_and(np.greater_equal(x, loc), np.less_equal(x, loc + scale))
    return np.where(inside, -g * (beta_score(x, a, b, loc, scale) * (x - loc) + 1.0) / scale, 0.0)[()]


def gamma_score(x, a, loc, scale):
    """The slope of the logarithm of the density in x."""
    z = np.divide(x - loc, scale)
    return np.where(np.less(z, 0.0), 0.0, over(a - 1.0, z) - 1.0) / scale


@elementwise(stats.gamma.logpdf)
def gamma_logpdf(g, y, x, a, loc=0, scale=1):
    z = (x - loc) / scale
    a_bar = np.where(np.less(z, 0.0), 0.0, special.xlogy(g, z) - g * special.digamma(a))[()]
    return g * gamma_score(x, a, loc, scale), a_bar


@gamma_logpdf.keyword("loc")
def _(g, y, x, a, loc=0, scale=1):
    return -g * gamma_score(x, a, loc, scale)


@gamma_logpdf.keyword("scale")
def _(g, y, x, a, loc=0, scale=1):
    return np.where(np.less(x, loc), 0.0, -g * (gamma_score(x, a, loc, scale) * (x - loc) + 1.0) / scale)[()]


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")
