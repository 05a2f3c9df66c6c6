"""Rules of scipy.special, continued: powers and transformations of data, angles in degrees, losses.

y = special.boxcox(x, k)      ->      x_bar = y_bar * x ** (k - 1.0)
y = special.cosdg(x)          ->      x_bar = -y_bar * (math.pi / 180.0) * special.sindg(x)
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.formulas import exprel_slope
from s2sgrad.rules.scipy.reflected import times_digammas
from s2sgrad.rules.table import elementwise, existing, flat
from s2sgrad.runtime import over


@elementwise(special.exp10)
def exp10(g, y, x):
    return g * math.log(10.0) * y


@elementwise(special.powm1)
def powm1(g, z, x, y):
    return g * y * x ** (y - 1.0), special.xlogy(g * (z + 1.0), x)


def bounded_log(x):
    """`log(x)`, where at 0 a number below all other logarithms stands for minus infinity.

    >>> float(bounded_log(0.0))
    -10000.0
    """
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(x), -1e4)


@elementwise(bounded_log)
def _(g, y, x):
    return over(g, x)


def boxcox_in_lmbda(log_x, lmbda):
    """The slope of the transformation in its parameter, at a given logarithm."""
    return log_x * log_x * exprel_slope(lmbda * log_x)


@elementwise(special.boxcox)
def boxcox(g, y, x, lmbda):  # log(x) * exprel(lmbda * log(x))
    log_x = bounded_log(x)
    return g * x ** (lmbda - 1.0), g * boxcox_in_lmbda(log_x, lmbda)


@elementwise(special.boxcox1p)
def boxcox1p(g, y, x, lmbda):
    log_x = np.where(x < -0.5, bounded_log(1.0 + x), np.log1p(np.maximum(x, -0.5)))
    return g * (1.0 + x) ** (lmbda - 1.0), g * boxcox_in_lmbda(log_x, lmbda)


@elementwise(special.inv_boxcox)
def inv_boxcox(g, x, y, lmbda):  # of the inverse, by the implicit function theorem
    rest = 1.0 + lmbda * y
    return over(g * x, rest), -over(g * x, rest) * boxcox_in_lmbda(bounded_log(x), lmbda)


@elementwise(special.inv_boxcox1p)
def inv_boxcox1p(g, x, y, lmbda):
    slope = over(g * (1.0 + x), 1.0 + lmbda * y)
    return slope, -slope * boxcox_in_lmbda(np.log1p(x), lmbda)


@elementwise(special.cosm1)
def cosm1(g, y, x):
    return -g * np.sin(x)


@elementwise(special.sindg)
def sindg(g, y, x):
    return g * (math.pi / 180.0) * special.cosdg(x)


@elementwise(special.cosdg)
def cosdg(g, y, x):
    return -g * (math.pi / 180.0) * special.sindg(x)


@elementwise(special.tandg)
def tandg(g, y, x):
    return g * (math.pi / 180.0) * (1.0 + y * y)


@elementwise(special.cotdg)
def cotdg(g, y, x):
    return -g * (math.pi / 180.0) * (1.0 + y * y)


@elementwise(special.radian)
def radian(g, y, d, m, s):
    return g * (math.pi / 180.0), g * (math.pi / 10800.0), g * (math.pi / 648000.0)


@elementwise(special.huber)
def huber(g, y, delta, r):
    within = np.abs(r) <= delta
    return g * np.where(within, 0.0, np.abs(r) - delta), g * np.where(within, r, delta * np.sign(r))


@elementwise(special.pseudo_huber)
def pseudo_huber(g, y, delta, r):
    ratio = r / delta
    root = np.sqrt(1.0 + ratio * ratio)
    return g * delta * (2.0 * (root - 1.0) - ratio * ratio / root), g * r / root


@elementwise(special.tklmbda)  # of which (p ** lmbda - (1 - p) ** lmbda) / lmbda is the inverse
def tklmbda(g, p, x, lmbda):
    inside = np.where(np.greater(np.abs(x) * lmbda, 1.0), 0.0, g)  # of the support, which is bounded where lmbda > 0
    slope = inside / (np.exp(special.xlogy(lmbda - 1.0, p)) + np.exp(special.xlog1py(lmbda - 1.0, -p)))
    upper = bounded_log(p)
    lower = bounded_log(1.0 - p)
    return slope, -slope * (boxcox_in_lmbda(upper, lmbda) - boxcox_in_lmbda(lower, lmbda))


@elementwise(special.poch)
def poch(g, y, z, m):  # DLMF 5.2.5
    return g * poch_in_z(y, z, m), g * y * special.digamma(z + m)


def poch_in_z(y, z, m):
    """The slope of `special.poch` in `z`, also where that is 0, -1, -2, .., and the function 0."""
    return times_digammas(y, z + m, z, m, special.gamma(z + m) * special.gamma(np.where(z < 0.5, 1.0 - z, 1.0)))


@elementwise(*existing(special, "softplus"))
def softplus(g, y, x):
    return g * special.expit(x)


flat(special.round, special.gammasgn)
