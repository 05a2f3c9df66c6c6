"""Rules of random draws, in the parameters of their distributions: the draw moves with them as a transformed one does.

    y = rng.normal(m, s)         ->      m_bar = y_bar; s_bar = y_bar * (y - m) / s          y = m + s * z
    y = rng.exponential(s)       ->      s_bar = y_bar * y / s                               y = s * z

What is drawn underneath does not depend on the parameters; it is read off the result.
"""

from __future__ import annotations

import random

import numpy as np

from s2sgrad.rules.table import general, without_owner
from s2sgrad.runtime import log_or_zero, unbroadcast

NUMPY = (np.random.Generator, np.random.RandomState)


def _methods(*names):
    return tuple(getattr(cls, name) for cls in NUMPY for name in names)


# --- a location and a scale ------------------------------------------------------------------------------------------


@general(*_methods("normal", "logistic", "gumbel", "laplace"))
def normal(g, y, loc=0.0, scale=1.0, size=None):
    return None


@normal.keyword("loc")
def normal_loc(g, y, loc=0.0, scale=1.0, size=None):
    return unbroadcast(g, loc)


@normal_loc.forward()
def _(y, loc_dot, loc=0.0, scale=1.0, size=None):
    return loc_dot + np.zeros_like(y)


@normal.keyword("scale")
def normal_scale(g, y, loc=0.0, scale=1.0, size=None):
    return unbroadcast(g * ((y - loc) / scale), scale)


@normal_scale.forward()
def _(y, scale_dot, loc=0.0, scale=1.0, size=None):
    return scale_dot * ((y - loc) / scale)


@general(*_methods("lognormal"))
def lognormal(g, y, mean=0.0, sigma=1.0, size=None):
    return None


@lognormal.keyword("mean")
def lognormal_mean(g, y, mean=0.0, sigma=1.0, size=None):
    return unbroadcast(g * y, mean)


@lognormal_mean.forward()
def _(y, mean_dot, mean=0.0, sigma=1.0, size=None):
    return mean_dot * y


@lognormal.keyword("sigma")
def lognormal_sigma(g, y, mean=0.0, sigma=1.0, size=None):
    return unbroadcast(g * y * ((np.log(y) - mean) / sigma), sigma)


@lognormal_sigma.forward()
def _(y, sigma_dot, mean=0.0, sigma=1.0, size=None):
    return sigma_dot * y * ((np.log(y) - mean) / sigma)


# --- a scale ---------------------------------------------------------------------------------------------------------


@general(*_methods("exponential", "rayleigh"))
def exponential(g, y, scale=1.0, size=None):
    return None


@exponential.keyword("scale")
def exponential_scale(g, y, scale=1.0, size=None):
    return unbroadcast(g * (y / scale), scale)


@exponential_scale.forward()
def _(y, scale_dot, scale=1.0, size=None):
    return scale_dot * (y / scale)


# --- the ends of an interval -----------------------------------------------------------------------------------------


@general(*_methods("uniform"))
def uniform(g, y, low=0.0, high=1.0, size=None):
    return None


@uniform.keyword("low")
def uniform_low(g, y, low=0.0, high=1.0, size=None):
    return unbroadcast(g * ((high - y) / (high - low)), low)


@uniform_low.forward()
def _(y, low_dot, low=0.0, high=1.0, size=None):
    return low_dot * ((high - y) / (high - low))


@uniform.keyword("high")
def uniform_high(g, y, low=0.0, high=1.0, size=None):
    return unbroadcast(g * ((y - low) / (high - low)), high)


@uniform_high.forward()
def _(y, high_dot, low=0.0, high=1.0, size=None):
    return high_dot * ((y - low) / (high - low))


# --- a power of an exponential draw ----------------------------------------------------------------------------------


@general(*_methods("weibull", "power"))  # e ** (1 / a)
def weibull(g, y, a, size=None):
    return unbroadcast(g * power_slope(y, a), a)


def power_slope(y, a):
    """The slope of `e ** (1 / a)` in `a`; 0 where it is 0."""
    return -y * log_or_zero(y) / a


@weibull.forward()
def _(y, a, a_dot, size=None):
    return a_dot * power_slope(y, a)


@general(*_methods("pareto"))  # exp(e / a) - 1
def pareto(g, y, a, size=None):
    return unbroadcast(g * (-(1.0 + y) * np.log1p(y) / a), a)


@pareto.forward()
def _(y, a, a_dot, size=None):
    return a_dot * (-(1.0 + y) * np.log1p(y) / a)


# --- a triangle ------------------------------------------------------------------------------------------------------


@general(*_methods("triangular"))
def triangular(g, y, left, mode, right, size=None):
    slopes = triangle_slopes(y, left, mode, right)
    return unbroadcast(g * slopes[0], left), unbroadcast(g * slopes[1], mode), unbroadcast(g * slopes[2], right)


def triangle_slopes(y, left, mode, right):
    """The slopes of a draw in all three, by the inverse of the distribution.  `y - left` is the root of
    `u * (right - left) * (mode - left)` below the mode, `right - y` that of `(1 - u) * (right - left) * (right - mode)`."""
    below = np.less_equal(y, mode)
    s = 0.5 * np.where(below, y - left, right - y)
    whole = s / (right - left)
    part = s / np.where(below, mode - left, right - mode)
    return np.where(below, 1.0 - whole - part, whole), part, np.where(below, whole, 1.0 - whole - part)


@triangular.forward()
def _(y, left, mode, right, left_dot, mode_dot, right_dot, size=None):
    slopes = triangle_slopes(y, left, mode, right)
    return left_dot * slopes[0], mode_dot * slopes[1], right_dot * slopes[2]


# --- Python's --------------------------------------------------------------------------------------------------------


@general(random.Random.gauss, random.Random.normalvariate)
def gauss(g, y, mu=0.0, sigma=1.0):
    return None


@gauss.keyword("mu")
def gauss_mu(g, y, mu=0.0, sigma=1.0):
    return g


@gauss_mu.forward()
def _(y, mu_dot, mu=0.0, sigma=1.0):
    return mu_dot


@gauss.keyword("sigma")
def gauss_sigma(g, y, mu=0.0, sigma=1.0):
    return g * ((y - mu) / sigma)


@gauss_sigma.forward()
def _(y, sigma_dot, mu=0.0, sigma=1.0):
    return sigma_dot * ((y - mu) / sigma)


without_owner(*_methods("normal", "logistic", "gumbel", "laplace", "lognormal", "exponential", "rayleigh", "uniform"))
without_owner(*_methods("weibull", "power", "pareto", "triangular"))
without_owner(random.Random.gauss, random.Random.normalvariate)
