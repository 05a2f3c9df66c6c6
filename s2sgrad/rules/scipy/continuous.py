"""Continuous distributions of scipy.stats in their standard forms, of which `laws` makes the rules.

    y = gumbel_r.logpdf(x, m, s)     ->     x_bar = y_bar * gumbel_r_score((x - m) / s) / s

A score is the slope of the logarithmic density in z, `.._in_a` that in the shape a.  A shift is the slope of z in a shape
while the probability stays as it is: of a quantile that is a formula, its slope.  The densities are those of Johnson, Kotz
and Balakrishnan (1994, 1995), "Continuous Univariate Distributions", under SciPy's names.

Outside of the support the functions may say anything, but in silence: they use `over` and functions of scipy.special.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules.scipy.formulas import mills
from s2sgrad.rules.scipy.laws import MOMENTS, law
from s2sgrad.rules.scipy.quantiles import (
    beta_score_in_shape,
    beta_shift,
    gamma_shift,
    log,
    mean_cosine,
    vonmises_shift,
)
from s2sgrad.runtime import over, product

# --- without shapes ----------------------------------------------------------------------------------------------------


def uniform_score(z):
    return np.zeros_like(z)


def expon_score(z):
    return -np.ones_like(z)


def laplace_score(z):
    return -np.sign(z)


def cauchy_score(z):
    return -2.0 * z / (1.0 + z * z)


def logistic_score(z):
    return -np.tanh(0.5 * z)


def gumbel_r_score(z):
    return special.expm1(-z)


def gumbel_l_score(z):
    return -special.expm1(z)


def rayleigh_score(z):
    return over(1.0, z) - z


def maxwell_score(z):
    return over(2.0, z) - z


def halfnorm_score(z):
    return -z


for _law, _score in (
    (stats.uniform, uniform_score), (stats.expon, expon_score), (stats.laplace, laplace_score),
    (stats.cauchy, cauchy_score), (stats.halfcauchy, cauchy_score), (stats.logistic, logistic_score),
    (stats.halflogistic, logistic_score), (stats.gumbel_r, gumbel_r_score), (stats.gumbel_l, gumbel_l_score),
    (stats.rayleigh, rayleigh_score), (stats.maxwell, maxwell_score), (stats.halfnorm, halfnorm_score),
):  # fmt: skip
    law(_law, _score)

law(stats.norm, halfnorm_score, methods=MOMENTS)  # the others are in `stats`

# --- gamma and its like ------------------------------------------------------------------------------------------------


def gamma_score(z, a):
    return over(a - 1.0, z) - 1.0


def gamma_in_a(z, a):
    return log(z) - special.digamma(a)


def gamma_shift_in_a(z, a):
    return product(z, gamma_shift(log(z), a))


law(stats.gamma, gamma_score, (gamma_in_a,), (gamma_shift_in_a,))
law(stats.erlang, gamma_score)  # its shape is a whole number


def chi2_score(z, df):  # twice a gamma variable of half the degrees of freedom
    return over(0.5 * df - 1.0, z) - 0.5


def chi2_in_df(z, df):
    return 0.5 * gamma_in_a(0.5 * z, 0.5 * df)


def chi2_shift_in_df(z, df):
    return gamma_shift_in_a(0.5 * z, 0.5 * df)


law(stats.chi2, chi2_score, (chi2_in_df,), (chi2_shift_in_df,))


def chi_score(z, df):  # the root of a chi-squared variable
    return over(df - 1.0, z) - z


def chi_in_df(z, df):
    return 0.5 * gamma_in_a(0.5 * z * z, 0.5 * df)


def chi_shift_in_df(z, df):
    return 0.25 * product(z, gamma_shift(log(0.5 * z * z), 0.5 * df))


law(stats.chi, chi_score, (chi_in_df,), (chi_shift_in_df,))


def invgamma_score(z, a):
    return over(over(1.0, z) - (a + 1.0), z)


def invgamma_in_a(z, a):
    return -log(z) - special.digamma(a)


def invgamma_shift_in_a(z, a):
    return -product(z, gamma_shift(-log(z), a))


law(stats.invgamma, invgamma_score, (invgamma_in_a,), (invgamma_shift_in_a,))


def loggamma_score(z, c):
    return c - np.exp(z)


def loggamma_in_c(z, c):
    return z - special.digamma(c)


law(stats.loggamma, loggamma_score, (loggamma_in_c,), (gamma_shift,))

# --- beta and its like -------------------------------------------------------------------------------------------------


def beta_score(z, a, b):
    return over(a - 1.0, z) - over(b - 1.0, 1.0 - z)


def beta_in_a(z, a, b):
    return log(z) - special.digamma(a) + special.digamma(a + b)


def beta_in_b(z, a, b):
    return special.xlog1py(1.0, -z) - special.digamma(b) + special.digamma(a + b)


def beta_shift_in_a(z, a, b):
    return product(z * (1.0 - z), beta_shift(special.logit(z), a, b))


def beta_shift_in_b(z, a, b):
    return -product(z * (1.0 - z), beta_shift(-special.logit(z), b, a))


law(stats.beta, beta_score, (beta_in_a, beta_in_b), (beta_shift_in_a, beta_shift_in_b))


def f_score(z, dfn, dfd):  # dfn * z / dfd are the odds of a beta variable with half the degrees of freedom
    return over(0.5 * dfn - 1.0, z) - 0.5 * (dfn + dfd) * dfn / (dfd + dfn * z)


def f_in_dfn(z, dfn, dfd):
    u = log(dfn * z / dfd)
    return 0.5 * (beta_score_in_shape(u, 0.5 * dfn, 0.5 * dfd) + 1.0 - (dfn + dfd) / dfn * special.expit(u))


def f_in_dfd(z, dfn, dfd):
    u = log(dfn * z / dfd)
    return 0.5 * (beta_score_in_shape(-u, 0.5 * dfd, 0.5 * dfn) + (dfn + dfd) / dfd * special.expit(u) - dfn / dfd)


def f_shift_in_dfn(z, dfn, dfd):
    return product(z, 0.5 * beta_shift(log(dfn * z / dfd), 0.5 * dfn, 0.5 * dfd) - 1.0 / dfn)


def f_shift_in_dfd(z, dfn, dfd):
    return product(z, 1.0 / dfd - 0.5 * beta_shift(-log(dfn * z / dfd), 0.5 * dfd, 0.5 * dfn))


law(stats.f, f_score, (f_in_dfn, f_in_dfd), (f_shift_in_dfn, f_shift_in_dfd))


def t_score(z, df):
    return -(df + 1.0) * z / (df + z * z)


def t_in_df(z, df):
    u = z * z / df
    slope = special.digamma(0.5 * (df + 1.0)) - special.digamma(0.5 * df) - 1.0 / df
    return 0.5 * (slope - np.log1p(u) + (df + 1.0) / df * u / (1.0 + u))


def t_shift_in_df(z, df):  # z * z is an F variable with 1 and df degrees of freedom
    u = -special.logit(df / (df + z * z))
    return 0.5 * z * (1.0 / df - 0.5 * beta_shift(-u, 0.5 * df, np.full_like(u, 0.5)))


law(stats.t, t_score, (t_in_df,), (t_shift_in_df,))

# --- powers and exponentials of simple variables -----------------------------------------------------------------------


def lognorm_score(z, s):
    return -over(1.0 + log(z) / (s * s), z)


def lognorm_in_s(z, s):
    u = log(z) / s
    return (u * u - 1.0) / s


def lognorm_shift_in_s(z, s):  # z is exp(s * n)
    return special.xlogy(z, z) / s


law(stats.lognorm, lognorm_score, (lognorm_in_s,), (lognorm_shift_in_s,))


def weibull_min_score(z, c):
    return over(c - 1.0 - c * np.exp(c * log(z)), z)


def weibull_min_in_c(z, c):
    return 1.0 / c - log(z) * special.expm1(c * log(z))


def power_shift(z, c):  # z is e ** (1 / c)
    return -special.xlogy(z, z) / c


law(stats.weibull_min, weibull_min_score, (weibull_min_in_c,), (power_shift,))


def weibull_max_score(z, c):
    return -weibull_min_score(-z, c)


def weibull_max_in_c(z, c):
    return weibull_min_in_c(-z, c)


def weibull_max_shift_in_c(z, c):
    return -power_shift(-z, c)


law(stats.weibull_max, weibull_max_score, (weibull_max_in_c,), (weibull_max_shift_in_c,))


def powerlaw_score(z, a):
    return over(a - 1.0, z)


def powerlaw_in_a(z, a):
    return 1.0 / a + log(z)


law(stats.powerlaw, powerlaw_score, (powerlaw_in_a,), (power_shift,))


def pareto_score(z, b):
    return -over(b + 1.0, z)


def pareto_in_b(z, b):
    return 1.0 / b - log(z)


law(stats.pareto, pareto_score, (pareto_in_b,), (power_shift,))


def lomax_score(z, c):  # a Pareto variable less 1
    return -(c + 1.0) / (1.0 + z)


def lomax_in_c(z, c):
    return 1.0 / c - special.log1p(z)


def lomax_shift_in_c(z, c):
    return -special.xlog1py(1.0 + z, z) / c


law(stats.lomax, lomax_score, (lomax_in_c,), (lomax_shift_in_c,))

# --- of the normal distribution ----------------------------------------------------------------------------------------


def skewnorm_score(z, a):  # twice the density, times the probability of a * z
    return a * mills(a * z) - z


def skewnorm_in_a(z, a):
    return z * mills(a * z)


def skewnorm_shift_in_a(z, a):  # by the slope of `special.owens_t`
    return mills(a * z) / (1.0 + a * a)


law(stats.skewnorm, skewnorm_score, (skewnorm_in_a,), (skewnorm_shift_in_a,))


def log_mass(a, b):
    """The logarithm of the normal probability between `a` and `b`, in the tails too."""
    turned = np.greater(a, 0.0)
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    return special.log_ndtr(high) + special.log1p(-np.exp(special.log_ndtr(low) - special.log_ndtr(high)))


def truncnorm_score(z, a, b):
    return -z


def truncnorm_in_a(z, a, b):
    return np.exp(-0.5 * a * a - log_mass(a, b)) / math.sqrt(2.0 * math.pi)


def truncnorm_in_b(z, a, b):
    return -np.exp(-0.5 * b * b - log_mass(a, b)) / math.sqrt(2.0 * math.pi)


def truncnorm_shift_in_a(z, a, b):
    return np.exp(0.5 * (z * z - a * a)) * stats.truncnorm.sf(z, a, b)


def truncnorm_shift_in_b(z, a, b):
    return np.exp(0.5 * (z * z - b * b)) * stats.truncnorm.cdf(z, a, b)


law(stats.truncnorm, truncnorm_score, (truncnorm_in_a, truncnorm_in_b), (truncnorm_shift_in_a, truncnorm_shift_in_b))


def invgauss_score(z, mu):
    return over(0.5 * over(1.0, z) - 1.5, z) - 0.5 / (mu * mu)


def invgauss_in_mu(z, mu):
    return (z - mu) / (mu * mu * mu)


def invgauss_shift_in_mu(z, mu):  # Tweedie (1957): of two terms of the probability, the densities cancel
    root = np.sqrt(np.maximum(z, 0.0))
    beyond = over(z / mu + 1.0, root)
    return 2.0 / (mu * mu) * product(z * root, math.sqrt(0.5 * math.pi) * special.erfcx(beyond / math.sqrt(2.0)))


law(stats.invgauss, invgauss_score, (invgauss_in_mu,), (invgauss_shift_in_mu,))

# --- on an interval, and on a circle -----------------------------------------------------------------------------------


def triang_score(z, c):
    return np.where(np.less(z, c), over(1.0, z), -over(1.0, 1.0 - z))[()]


def triang_in_c(z, c):
    return np.where(np.less(z, c), -over(1.0, c), over(1.0, 1.0 - c))[()]


def triang_shift_in_c(z, c):
    return 0.5 * np.where(np.less(z, c), over(z, c), over(1.0 - z, 1.0 - c))[()]


law(stats.triang, triang_score, (triang_in_c,), (triang_shift_in_c,))


def vonmises_score(z, kappa):
    return -kappa * np.sin(z)


def vonmises_in_kappa(z, kappa):
    return np.cos(z) - mean_cosine(kappa)


law(stats.vonmises, vonmises_score, (vonmises_in_kappa,), (vonmises_shift,))
