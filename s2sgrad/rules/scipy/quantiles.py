"""How a quantile moves with a shape parameter, where no formula is known: of gamma, beta and von Mises distributions.

    x = gamma.ppf(q, a)        ->     a_bar = x_bar * x * gamma_shift(log(x), a)

    gamma_shift(place, a)      the slope of log(z) in a, at place = log(z), while gammainc(a, z) stays as it is
    beta_shift(place, a, b)    the slope of logit(z) in a, at place = logit(z), while betainc(a, b, z) stays as it is

With a density f, a probability F and s_a, the slope of log(f) in a, the quantile moves by -F_a / f.  F_a is the integral of
f * s_a up to z, or of -f * s_a from there on: the side is taken on which s_a does not change its sign, so that nothing
cancels.  The integrals are sums by the trapezoidal rule after the substitutions of Takahasi and Mori (1974).  Compared with
series and extrapolated differences they are right to 1e-9, for parameters from 0.01 to 1000, in both tails.

The shift itself, as a function of z, has the slope -(s_a + shift * s_z) by the same equation.  That in a is a difference of
fourth order, right to 1e-8; a third derivative in a shape is refused.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.differences import typed
from s2sgrad.rules.table import elementwise

_PLACES = np.linspace(-4.0, 4.6, 160)
NODES = np.exp(0.5 * math.pi * np.sinh(_PLACES))  # from 0 to infinity
WEIGHTS = (_PLACES[1] - _PLACES[0]) * 0.5 * math.pi * np.cosh(_PLACES) * NODES
_PLACES = np.linspace(-3.4, 3.4, 121)
INNER = np.tanh(0.5 * math.pi * np.sinh(_PLACES))  # from -1 to 1
INNER_WEIGHTS = (_PLACES[1] - _PLACES[0]) * 0.5 * math.pi * np.cosh(_PLACES) / np.cosh(0.5 * math.pi * np.sinh(_PLACES)) ** 2


def _summed(values, weights):
    """The weighted sum over the last axis; what has overflowed is where the integrand vanishes."""
    return np.sum(np.where(np.isnan(values), 0.0, values) * weights, axis=-1)


def _spread(*numbers):
    """The numbers with an axis for the nodes behind those that they share."""
    return [np.asarray(x, float)[..., None] for x in np.broadcast_arrays(*numbers)]


def _difference(f, arguments, number):
    """The slope of `f` in one of its arguments, which is positive, by the difference of fourth order."""
    before, x, after = arguments[:number], np.asarray(arguments[number], float), arguments[number + 1 :]
    step = 2e-3 * x
    near = f(*before, x + step, *after) - f(*before, x - step, *after)
    far = f(*before, x + 2.0 * step, *after) - f(*before, x - 2.0 * step, *after)
    return typed((8.0 * near - far) / (12.0 * step), *arguments)


def log(x):
    """The logarithm, in silence."""
    return special.xlogy(np.ones_like(x), x)


# --- gamma -----------------------------------------------------------------------------------------------------------


def gamma_score_in_shape(place, a):
    """The slope of the logarithm of the density in `a`."""
    return place - special.digamma(a)


def gamma_shift(place, a):
    """The slope of log(z) in `a` at constant `special.gammainc(a, z)`, where log(z) is `place`.

    >>> z = special.gammaincinv(np.array([2.0 - 1e-6, 2.0 + 1e-6]), 0.3)
    >>> bool(np.isclose(gamma_shift(np.log(special.gammaincinv(2.0, 0.3)), 2.0), np.diff(np.log(z))[0] / 2e-6))
    True
    """
    with np.errstate(all="ignore"):
        log_z, shape = _spread(place, a)
        z, score = np.exp(log_z), log_z - special.digamma(shape)
        above = (score > 0.0) & ((z > 0.3) | (shape > 0.1))  # z is moved to z * (1 + u) there, and below to z * exp(-u)
        width = 1.0 / (np.abs(shape - z) + np.sqrt(np.minimum(z, shape)))
        u = width * NODES
        w = np.where(above, np.log1p(u), -u)
        exponent = shape * w - z * np.where(above, u, np.expm1(-u)) - np.where(above, w, 0.0)
        total = _summed(np.exp(exponent) * (score + w), WEIGHTS) * width[..., 0]
        return typed(np.where(above[..., 0], 1.0, -1.0) * total, place, a)


@elementwise(gamma_shift)
def shift_of_gamma(g, y, place, a):
    return -g * (gamma_score_in_shape(place, a) + y * (a - np.exp(place))), g * gamma_shift_in_shape(place, a)


def gamma_shift_in_shape(place, a):
    """The slope of `gamma_shift` in `a`."""
    return _difference(gamma_shift, (place, a), 1)


@elementwise(gamma_shift_in_shape)
def shift_in_a(g, y, place, a):
    return g * (special.zeta(2.0, a) - gamma_shift(place, a) - y * (a - np.exp(place))), None


# --- beta ------------------------------------------------------------------------------------------------------------


def beta_score_in_shape(place, a, b):
    """The slope of the logarithm of the density in `a`."""
    return special.log_expit(place) - special.digamma(a) + special.digamma(a + b)


def beta_shift(place, a, b):
    """The slope of logit(z) in `a` at constant `special.betainc(a, b, z)`, where logit(z) is `place`; that in `b` is
    `-beta_shift(-place, b, a)`.

    >>> z = special.betaincinv(np.array([2.0 - 1e-6, 2.0 + 1e-6]), 1.5, 0.3)
    >>> place = special.logit(special.betaincinv(2.0, 1.5, 0.3))
    >>> bool(np.isclose(beta_shift(place, 2.0, 1.5), np.diff(special.logit(z))[0] / 2e-6))
    True
    """
    with np.errstate(all="ignore"):
        odds, shape, other = _spread(place, a, b)
        z, rest = special.expit(odds), special.expit(-odds)
        score = special.log_expit(odds) - special.digamma(shape) + special.digamma(shape + other)
        early = (shape > 0.1) | (z * (shape + other) > 0.3)
        above = (score > 0.0) & ((z > 0.3) | ((other >= 0.5) & early))
        by_odds = above & (other >= 0.5)  # the odds are multiplied by 1 + u there, by exp(u) above, and by exp(-u) below
        width = 1.0 / (np.abs(shape * rest - other * z) + np.sqrt((shape + other) * z * rest))
        u = width * NODES
        w = np.where(by_odds, np.log1p(u), np.where(above, u, -u))
        grown = np.where(above, -np.log1p(rest * np.expm1(-w)), w - np.log1p(z * np.expm1(w)))  # how log(z) grows
        exponent = shape * grown - other * (w - grown) - np.where(by_odds, w, 0.0)
        total = _summed(np.exp(exponent) * (score + grown), WEIGHTS) * width[..., 0]
        return typed(np.where(above[..., 0], 1.0, -1.0) * total, place, a, b)


@elementwise(beta_shift)
def shift_of_beta(g, y, place, a, b):
    in_place = -g * (beta_score_in_shape(place, a, b) + y * (a * special.expit(-place) - b * special.expit(place)))
    return in_place, g * beta_shift_in_shape(place, a, b), g * beta_shift_in_other(place, a, b)


def beta_shift_in_shape(place, a, b):
    """The slope of `beta_shift` in `a`."""
    return _difference(beta_shift, (place, a, b), 1)


def beta_shift_in_other(place, a, b):
    """The slope of `beta_shift` in `b`."""
    return _difference(beta_shift, (place, a, b), 2)


@elementwise(beta_shift_in_shape)
def shift_in_shape(g, y, place, a, b):
    slope = y * (a * special.expit(-place) - b * special.expit(place)) + beta_shift(place, a, b) * special.expit(-place)
    return g * (special.zeta(2.0, a) - special.zeta(2.0, a + b) - slope), None, None


@elementwise(beta_shift_in_other)
def shift_in_other(g, y, place, a, b):
    slope = y * (a * special.expit(-place) - b * special.expit(place)) - beta_shift(place, a, b) * special.expit(place)
    return -g * (special.zeta(2.0, a + b) + slope), None, None


# --- von Mises -------------------------------------------------------------------------------------------------------


def mean_cosine(kappa):
    """The mean of the cosine of an angle of this concentration."""
    return special.i1e(kappa) / special.i0e(kappa)


def vonmises_shift(z, kappa):
    """The slope of an angle in `kappa` at constant probability.

    >>> from scipy import stats
    >>> slope = (stats.vonmises.cdf(0.7, 2.0 + 1e-6) - stats.vonmises.cdf(0.7, 2.0 - 1e-6)) / 2e-6
    >>> bool(np.isclose(-vonmises_shift(0.7, 2.0) * stats.vonmises.pdf(0.7, 2.0), slope))
    True
    """
    angle, k = _spread(z, kappa)
    angle = angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi))
    away, mean = np.abs(angle), mean_cosine(k)
    end = np.where(np.cos(away) > mean, 0.0, math.pi)
    places = away + 0.5 * (end - away) * (1.0 + INNER)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.exp(k * (np.cos(places) - np.cos(away))) * (np.cos(places) - mean)
    total = _summed(values, INNER_WEIGHTS) * 0.5 * (end - away)[..., 0]
    return typed(np.sign(angle[..., 0]) * total, z, kappa)


@elementwise(vonmises_shift)
def shift_of_vonmises(g, y, z, kappa):
    return -g * (np.cos(z) - mean_cosine(kappa) - y * kappa * np.sin(z)), g * vonmises_shift_in_kappa(z, kappa)


def vonmises_shift_in_kappa(z, kappa):
    """The slope of `vonmises_shift` in `kappa`."""
    return _difference(vonmises_shift, (z, kappa), 1)


@elementwise(vonmises_shift_in_kappa)
def shift_in_kappa(g, y, z, kappa):
    mean = mean_cosine(kappa)
    return g * (1.0 - mean / kappa - mean * mean + (y * kappa + vonmises_shift(z, kappa)) * np.sin(z)), None


for _rule, _names in (
    (shift_in_a, "a"), (shift_in_shape, "ab"), (shift_in_other, "ab"), (shift_in_kappa, ("kappa",))
):  # fmt: skip
    for _name in _names:
        _rule.constant(_name, "no third derivative is known in the shape parameter of a gamma, beta or von Mises "
                              "distribution: use the density alone")  # fmt: skip
