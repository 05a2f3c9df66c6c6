"""Rules of the incomplete gamma and beta functions, of the probabilities that they are, and of all their inverses.

    p = special.gammainc(a, x)      ->   x_bar = p_bar * mass / x;    a_bar = -p_bar * mass * gamma_shift(log(x), a)
    x = special.gammaincinv(a, p)   ->   p_bar = x_bar * x / mass;    a_bar = x_bar * x * gamma_shift(log(x), a)

The mass is the density of log(x), or of logit(x) for the beta function (DLMF 8.8.13, 8.17.1); the shifts are those of
`quantiles`.  The others are these two functions of other arguments (DLMF 8.17.4, 8.17.5; Abramowitz and Stegun, 26.4 on).
An inverse in one argument has the slopes of the implicit function theorem: with p = F(.., u), u has the slope 1 / F_u in p,
and -F_v / F_u in another argument v.  Counts that SciPy rounds are constants.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.differences import chndtr_in_df, solved
from s2sgrad.rules.scipy.formulas import whole
from s2sgrad.rules.scipy.quantiles import beta_shift, gamma_shift, log
from s2sgrad.rules.table import elementwise
from s2sgrad.runtime import over, product

# --- gamma -----------------------------------------------------------------------------------------------------------


def gamma_mass(place, a):
    """The density of the logarithm of a gamma variable."""
    return np.exp(a * place - np.exp(place) - special.gammaln(a))


def gamma_in_a(a, x):
    """The slope of gammainc(a, x) in `a`."""
    return -product(gamma_mass(log(x), a), gamma_shift(log(x), a))


def gamma_in_x(a, x):
    """The slope of gammainc(a, x) in `x`."""
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@elementwise(special.gammainc)
def gammainc(g, y, a, x):
    return g * gamma_in_a(a, x), g * gamma_in_x(a, x)


@elementwise(special.gammaincc)
def gammaincc(g, y, a, x):
    return -g * gamma_in_a(a, x), -g * gamma_in_x(a, x)


@elementwise(special.gammaincinv)
def gammaincinv(g, x, a, p):
    return g * product(x, gamma_shift(log(x), a)), over(g, gamma_in_x(a, x))


@elementwise(special.gammainccinv)
def gammainccinv(g, x, a, p):
    return g * product(x, gamma_shift(log(x), a)), -over(g, gamma_in_x(a, x))


@elementwise(special.chdtr)  # gammainc(v / 2, x / 2)
def chdtr(g, p, v, x):
    return 0.5 * g * gamma_in_a(0.5 * v, 0.5 * x), 0.5 * g * gamma_in_x(0.5 * v, 0.5 * x)


@elementwise(special.chdtrc)
def chdtrc(g, p, v, x):
    return -0.5 * g * gamma_in_a(0.5 * v, 0.5 * x), -0.5 * g * gamma_in_x(0.5 * v, 0.5 * x)


@elementwise(special.chdtri)  # of chdtrc, in x
def chdtri(g, x, v, p):
    return 0.5 * g * product(x, gamma_shift(log(0.5 * x), 0.5 * v)), -over(2.0 * g, gamma_in_x(0.5 * v, 0.5 * x))


@elementwise(special.chdtriv)
def chdtriv(g, v, p, x):
    g = solved(special.chdtr(v, x), p, g)
    in_v = gamma_in_a(0.5 * v, 0.5 * x)
    return over(2.0 * g, in_v), -over(product(g, gamma_in_x(0.5 * v, 0.5 * x)), in_v)


@elementwise(special.gdtr)  # gammainc(b, a * x)
def gdtr(g, p, a, b, x):
    slope = gamma_in_x(b, a * x)
    return g * x * slope, g * gamma_in_a(b, a * x), g * a * slope


@elementwise(special.gdtrc)
def gdtrc(g, p, a, b, x):
    slope = gamma_in_x(b, a * x)
    return -g * x * slope, -g * gamma_in_a(b, a * x), -g * a * slope


@elementwise(special.gdtrix)
def gdtrix(g, x, a, b, p):
    return -g * x / a, g * product(x, gamma_shift(log(a * x), b)), over(g, a * gamma_in_x(b, a * x))


@elementwise(special.gdtria)
def gdtria(g, a, p, b, x):
    return over(g, x * gamma_in_x(b, a * x)), g * product(a, gamma_shift(log(a * x), b)), -g * a / x


@elementwise(special.gdtrib)
def gdtrib(g, b, a, p, x):
    g = solved(special.gdtr(a, b, x), p, g)
    in_b = gamma_in_a(b, a * x)
    slope = gamma_in_x(b, a * x)
    part = over(product(g, slope), in_b)
    return -product(part, x), over(g, in_b), -product(part, a)


@elementwise(special.pdtr)  # gammaincc(floor(k) + 1, m)
def pdtr(g, p, k, m):
    return None, -g * gamma_in_x(np.floor(k) + 1.0, m)


@elementwise(special.pdtrc)
def pdtrc(g, p, k, m):
    return None, g * gamma_in_x(np.floor(k) + 1.0, m)


@elementwise(special.pdtri)
def pdtri(g, m, k, y):
    return None, -over(g, gamma_in_x(whole(k) + 1.0, m))


@elementwise(special.pdtrik)
def pdtrik(g, k, p, m):
    g = solved(special.gammaincc(k + 1.0, m), p, g)
    in_k = gamma_in_a(k + 1.0, m)
    return -over(g, in_k), -over(g * gamma_in_x(k + 1.0, m), in_k)


for _rule in (pdtr, pdtrc, pdtri):
    _rule.constant("k")

# --- beta ------------------------------------------------------------------------------------------------------------


def beta_mass(place, a, b):
    """The density of the logit of a beta variable."""
    below, above = product(a, special.log_expit(place)), product(b, special.log_expit(-place))
    return np.exp(below + above - special.betaln(a, b))


def beta_in_a(place, a, b):
    """The slope in `a` of betainc(a, b, x), where logit(x) is `place`."""
    return -product(beta_mass(place, a, b), beta_shift(place, a, b))


def beta_in_b(place, a, b):
    """The slope in `b` of betainc(a, b, x), where logit(x) is `place`."""
    return product(beta_mass(place, a, b), beta_shift(-place, b, a))


def beta_in_x(a, b, x):
    """The slope of betainc(a, b, x) in `x`."""
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


@elementwise(special.betainc)
def betainc(g, y, a, b, x):
    place = special.logit(x)
    return g * beta_in_a(place, a, b), g * beta_in_b(place, a, b), g * beta_in_x(a, b, x)


@elementwise(special.betaincc)
def betaincc(g, y, a, b, x):
    place = special.logit(x)
    return -g * beta_in_a(place, a, b), -g * beta_in_b(place, a, b), -g * beta_in_x(a, b, x)


@elementwise(special.betaincinv)
def betaincinv(g, x, a, b, y):
    place = special.logit(x)
    width = g * x * (1.0 - x)
    in_a = product(width, beta_shift(place, a, b))
    in_b = -product(width, beta_shift(-place, b, a))
    return in_a, in_b, over(g, beta_in_x(a, b, x))


@elementwise(special.betainccinv)
def betainccinv(g, x, a, b, y):
    place = special.logit(x)
    width = g * x * (1.0 - x)
    in_a = product(width, beta_shift(place, a, b))
    in_b = -product(width, beta_shift(-place, b, a))
    return in_a, in_b, -over(g, beta_in_x(a, b, x))


@elementwise(special.btdtria)
def btdtria(g, a, p, b, x):
    g = solved(special.betainc(a, b, x), p, g)
    place = special.logit(x)
    in_a = beta_in_a(place, a, b)
    others = product(g, beta_in_b(place, a, b)), product(g, beta_in_x(a, b, x))
    return over(g, in_a), -over(others[0], in_a), -over(others[1], in_a)


@elementwise(special.btdtrib)
def btdtrib(g, b, a, p, x):
    g = solved(special.betainc(a, b, x), p, g)
    place = special.logit(x)
    in_b = beta_in_b(place, a, b)
    others = product(g, beta_in_a(place, a, b)), product(g, beta_in_x(a, b, x))
    return -over(others[0], in_b), over(g, in_b), -over(others[1], in_b)


# --- F: the odds dfn * x / dfd belong to a beta variable of half the degrees of freedom ----------------------------------


def f_in_dfn(dfn, dfd, x):
    """The slope of fdtr(dfn, dfd, x) in `dfn`."""
    place = log(dfn * x / dfd)
    return beta_mass(place, 0.5 * dfn, 0.5 * dfd) / dfn + 0.5 * beta_in_a(place, 0.5 * dfn, 0.5 * dfd)


def f_in_dfd(dfn, dfd, x):
    """The slope of fdtr(dfn, dfd, x) in `dfd`."""
    place = log(dfn * x / dfd)
    return 0.5 * beta_in_b(place, 0.5 * dfn, 0.5 * dfd) - beta_mass(place, 0.5 * dfn, 0.5 * dfd) / dfd


def f_in_x(dfn, dfd, x):
    """The slope of fdtr(dfn, dfd, x) in `x`."""
    return over(beta_mass(log(dfn * x / dfd), 0.5 * dfn, 0.5 * dfd), x)


@elementwise(special.fdtr)
def fdtr(g, p, dfn, dfd, x):
    return g * f_in_dfn(dfn, dfd, x), g * f_in_dfd(dfn, dfd, x), g * f_in_x(dfn, dfd, x)


@elementwise(special.fdtrc)
def fdtrc(g, p, dfn, dfd, x):
    return -g * f_in_dfn(dfn, dfd, x), -g * f_in_dfd(dfn, dfd, x), -g * f_in_x(dfn, dfd, x)


@elementwise(special.fdtri)
def fdtri(g, x, dfn, dfd, p):
    slope = over(g, f_in_x(dfn, dfd, x))
    return -product(slope, f_in_dfn(dfn, dfd, x)), -product(slope, f_in_dfd(dfn, dfd, x)), slope


@elementwise(special.fdtridfd)
def fdtridfd(g, dfd, dfn, p, x):
    g = solved(special.fdtr(dfn, dfd, x), p, g, dfd)
    slope = over(g, f_in_dfd(dfn, dfd, x))
    return -product(slope, f_in_dfn(dfn, dfd, x)), slope, -product(slope, f_in_x(dfn, dfd, x))


# --- Student's t: the square is an F variable with one degree of freedom above ------------------------------------------


def t_in_t(df, t):
    """The density of Student's t distribution."""
    place = -0.5 * (df + 1.0) * special.log1p(t * t / df)
    return np.exp(place - special.betaln(0.5 * df, 0.5 * np.ones_like(df))) / np.sqrt(df)


def t_in_df(df, t):
    """The slope of stdtr(df, t) in `df`."""
    place = special.logit(df / (df + t * t))
    return 0.5 * t * t_in_t(df, t) * (0.5 * beta_shift(place, 0.5 * df, np.full_like(place, 0.5)) - 1.0 / df)


@elementwise(special.stdtr)
def stdtr(g, p, df, t):
    return g * t_in_df(df, t), g * t_in_t(df, t)


@elementwise(special.stdtrit)
def stdtrit(g, t, df, p):
    slope = over(g, t_in_t(df, t))
    return -product(slope, t_in_df(df, t)), slope


@elementwise(special.stdtridf)
def stdtridf(g, df, p, t):
    g = solved(special.stdtr(df, t), p, g, df)
    slope = over(g, t_in_df(df, t))
    return slope, -product(slope, t_in_t(df, t))


# --- counts: bdtr(k, n, p) is betainc(n - k, k + 1, 1 - p), nbdtr(k, n, p) is betainc(n, k + 1, p) ---------------------


@elementwise(special.bdtr)
def bdtr(g, y, k, n, p):
    return None, None, -g * beta_in_x(whole(n) - np.floor(k), np.floor(k) + 1.0, 1.0 - p)


@elementwise(special.bdtrc)
def bdtrc(g, y, k, n, p):
    return None, None, g * beta_in_x(whole(n) - np.floor(k), np.floor(k) + 1.0, 1.0 - p)


@elementwise(special.bdtri)
def bdtri(g, p, k, n, y):
    return None, None, -over(g, beta_in_x(whole(n) - np.floor(k), np.floor(k) + 1.0, 1.0 - p))


@elementwise(special.bdtrik)
def bdtrik(g, k, y, n, p):
    whole = g
    g = solved(special.betainc(n - k, k + 1.0, 1.0 - p), y, g)
    place = -special.logit(p)
    a = n - k
    b = k + 1.0
    slope = over(g, beta_in_b(place, a, b) - beta_in_a(place, a, b))
    at_end = a < 1e-8 * (1.0 + n)  # of a probability of 1, which `n` itself has
    in_n = -product(slope, beta_in_a(place, a, b))
    in_p = product(slope, beta_in_x(a, b, 1.0 - p))
    return np.where(at_end, 0.0, slope), np.where(at_end, whole, in_n), np.where(at_end, 0.0, in_p)


@elementwise(special.bdtrin)
def bdtrin(g, n, k, y, p):
    g = solved(special.betainc(n - k, k + 1.0, 1.0 - p), y, g)
    place = -special.logit(p)
    a = n - k
    b = k + 1.0
    slope = over(g, beta_in_a(place, a, b))
    in_k = product(slope, beta_in_a(place, a, b) - beta_in_b(place, a, b))
    return in_k, slope, product(slope, beta_in_x(a, b, 1.0 - p))


@elementwise(special.nbdtr)
def nbdtr(g, y, k, n, p):
    return None, None, g * beta_in_x(whole(n), whole(k) + 1.0, p)


@elementwise(special.nbdtrc)
def nbdtrc(g, y, k, n, p):
    return None, None, -g * beta_in_x(whole(n), whole(k) + 1.0, p)


@elementwise(special.nbdtri)
def nbdtri(g, p, k, n, y):
    return None, None, over(g, beta_in_x(whole(n), whole(k) + 1.0, p))


@elementwise(special.nbdtrik)
def nbdtrik(g, k, y, n, p):
    g = solved(special.betainc(n, k + 1.0, p), y, g)
    place = special.logit(p)
    b = k + 1.0
    slope = over(g, beta_in_b(place, n, b))
    return slope, -product(slope, beta_in_a(place, n, b)), -product(slope, beta_in_x(n, b, p))


@elementwise(special.nbdtrin)
def nbdtrin(g, n, k, y, p):
    g = solved(special.betainc(n, k + 1.0, p), y, g)
    place = special.logit(p)
    b = k + 1.0
    slope = over(g, beta_in_a(place, n, b))
    return -product(slope, beta_in_b(place, n, b)), slope, -product(slope, beta_in_x(n, b, p))


for _rule in (bdtr, bdtrc, bdtri, nbdtr, nbdtrc, nbdtri):
    _rule.constant("k")
    _rule.constant("n")

# --- noncentral chi-squared: Johnson, Kotz and Balakrishnan (1995), 29.4 ------------------------------------------------


def noncentral_density(x, df, nc):
    """The density of the noncentral chi-squared distribution: a Bessel function, scaled against overflow.

    >>> from scipy import stats
    >>> bool(np.isclose(noncentral_density(1.3, 2.5, 0.7), stats.ncx2.pdf(1.3, 2.5, 0.7)))
    True
    """
    small = np.less(np.multiply(x, nc), 1.0)  # at 0 the other form is 0 * inf
    x_, nc_ = np.where(small, 1.0, x), np.where(small, 1.0, nc)
    roots = np.sqrt(x_) - np.sqrt(nc_)
    power = np.exp((0.25 * df - 0.5) * (log(x_) - log(nc_)) - 0.5 * roots * roots)
    large = power * special.ive(0.5 * df - 1.0, np.sqrt(x_ * nc_))
    half = 0.5 * df
    central = np.exp(
        special.xlogy(half - 1.0, np.multiply(0.5, x)) - np.multiply(0.5, np.add(x, nc)) - special.gammaln(half)
    )
    series = central * special.hyp0f1(half, np.where(small, np.multiply(0.25 * x, nc), 0.0))
    return 0.5 * np.where(small, series, large)[()]


@elementwise(special.chndtr)
def chndtr(g, p, x, df, nc):
    return g * noncentral_density(x, df, nc), g * chndtr_in_df(x, df, nc), -g * noncentral_density(x, df + 2.0, nc)


@elementwise(special.chndtrix)
def chndtrix(g, x, p, df, nc):
    g = solved(special.chndtr(x, df, nc), p, g)
    slope = over(g, noncentral_density(x, df, nc))
    return slope, -product(slope, chndtr_in_df(x, df, nc)), product(slope, noncentral_density(x, df + 2.0, nc))


@elementwise(special.chndtrinc)
def chndtrinc(g, nc, x, df, p):
    g = solved(special.chndtr(x, df, nc), p, g)
    slope = over(g, noncentral_density(x, df + 2.0, nc))
    return product(slope, noncentral_density(x, df, nc)), product(slope, chndtr_in_df(x, df, nc)), -slope


@elementwise(special.chndtridf)
def chndtridf(g, df, x, p, nc):
    g = solved(special.chndtr(x, df, nc), p, g, df)
    slope = over(g, chndtr_in_df(x, df, nc))
    return -product(slope, noncentral_density(x, df, nc)), slope, product(slope, noncentral_density(x, df + 2.0, nc))


# --- normal ----------------------------------------------------------------------------------------------------------


@elementwise(special.ndtri_exp)
def ndtri_exp(g, x, y):
    return g * math.sqrt(2.0 * math.pi) * np.exp(y + 0.5 * x * x)


@elementwise(special.nrdtrimn)  # x - std * ndtri(p)
def nrdtrimn(g, mn, p, std, x):
    z = (x - mn) / std
    return -g * math.sqrt(2.0 * math.pi) * std * np.exp(0.5 * z * z), -g * z, g


@elementwise(special.nrdtrisd)  # (x - mn) / ndtri(p)
def nrdtrisd(g, std, mn, p, x):
    z = special.ndtri(p)
    return -g / z, -g * math.sqrt(2.0 * math.pi) * std * np.exp(0.5 * z * z) / z, g / z
