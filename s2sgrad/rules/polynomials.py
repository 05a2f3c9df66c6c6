"""Rules of polynomials: polyval, polyder, polyint, polyfit, vander, and polynomials that are objects, which are constants.

y = np.polyval(p, x)           ->  x_bar = y_bar * np.polyval(np.polyder(p), x); p_bar = y_bar @ np.vander(x, n)
p = np.polyfit(x, y, 3)        ->  y_bar = pinv(np.vander(x, 4)).T @ p_bar
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.coefficients import are_arrays
from s2sgrad.rules.decompositions import columns
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import power_slope


def exponents(v, increasing=False):
    """The exponents of the columns of `v`, a Vandermonde matrix.

    >>> exponents(np.vander([1.0, 2.0], 3))
    array([2., 1., 0.])
    """
    powers = np.arange(np.shape(v)[-1], dtype=np.result_type(v))
    return powers if increasing else powers[::-1]


flat(exponents)


@general(np.vander)
def vander(g, v, x, N=None, increasing=False):
    return np.sum(g * power_slope(np.expand_dims(x, -1), exponents(v, increasing)), axis=-1)


@vander.forward()
def _(v, x, x_dot, N=None, increasing=False):
    return np.expand_dims(x_dot, -1) * power_slope(np.expand_dims(x, -1), exponents(v, increasing))


@general(np.polyval)
def polyval(g, y, p, x):
    p_bar = np.ravel(g) @ np.vander(np.ravel(x), np.size(p))
    return p_bar, g * np.polyval(np.polyder(p), x)


@polyval.forward()
def _(y, p, x, p_dot, x_dot):
    return np.polyval(p_dot, x), x_dot * np.polyval(np.polyder(p), x)


polyval.refuse(
    lambda p: are_arrays(p),
    "`np.polyval` of coefficients that are arrays has no derivative rule: write the polynomial out",
)


def unpolyder(g, p, m=1):
    """The transpose of `np.polyder(p, m)`."""
    if m >= len(p):  # what is left is 0
        return np.zeros(np.shape(p), np.result_type(g))
    for k in range(m):
        n = len(p) - m + k + 1
        g = np.append(g * np.arange(n - 1, 0, -1, dtype=np.result_type(g)), np.zeros(1, np.result_type(g)))
    return g


@linear(unpolyder)
def _(w, y, g, p, m=1):
    return np.polyder(w, m), None


@linear(np.polyder)
def polyder(g, y, p, m=1):
    return unpolyder(g, p, m)


def unpolyint(g, m=1):
    """The transpose of `np.polyint(p, m)`."""
    for _ in range(m):
        g = g[:-1] / np.arange(len(g) - 1, 0, -1, dtype=np.result_type(g))
    return g


@linear(unpolyint)
def _(w, y, g, m=1):
    return np.polyint(w, m)


@linear(np.polyint)
def polyint(g, y, p, m=1):
    return unpolyint(g, m)


@general(np.polyfit)
def polyfit(g, p, x, y, deg=None, rcond=None):
    g, p, v = columns(g), columns(p), np.vander(x, int(deg) + 1)
    scale = np.sqrt(np.sum(v * v, axis=0))
    inverse = (np.linalg.pinv(v / scale).T / scale).T
    back = inverse.T @ g
    residual = columns(y) - v @ p
    v_bar = residual @ (inverse @ back).T - back @ p.T
    slope = power_slope(np.expand_dims(x, -1), exponents(v))
    return np.sum(v_bar * slope, axis=-1), np.reshape(back, np.shape(y))


polyfit.linear_in("y")
polyfit.refuse(
    lambda rcond: not (rcond.known and rcond.value is None),
    "`polyfit` with `rcond`, which leaves directions out, has no derivative rule: leave it out",
)


# --- polynomials that are objects: constants, called with an array -----------------------------------------------------


def slope_of(p, x, m=1):
    """The derivative of order `m` of a polynomial `p`, in any basis of `numpy.polynomial`, at `x`.

    >>> float(slope_of(np.polynomial.Chebyshev([0.0, 0.0, 1.0]), 0.5))
    2.0
    """
    return p.deriv(m)(x)


@general(np.poly1d.__call__, np.polynomial.Polynomial.__call__)
def valued(g, y, p, x):
    return None, g * slope_of(p, x)


@valued.forward()
def _(y, p, x, p_dot, x_dot):
    return None, x_dot * slope_of(p, x)


@general(slope_of)
def higher(g, y, p, x, m=1):
    return None, g * slope_of(p, x, m + 1)


@higher.forward()
def _(y, p, x, p_dot, x_dot, m=1):
    return None, x_dot * slope_of(p, x, m + 1)


for _rule in (valued, higher):
    _rule.constant("p", "the coefficients of a polynomial that is an object are constants: write `np.polyval(p, x)`")
