"""Rules of windows, and of np.i0, whose slope is a modified Bessel function that NumPy does not have.

y = np.i0(x)         ->  x_bar = y_bar * modified_bessel(x, 1)

The length of a window is a constant: where it is no whole number, the window depends on it.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import elementwise, flat, general
from s2sgrad.runtime import Refusal


def modified_bessel(x, n):
    """The modified Bessel function of the first kind, of an integer order.

    It is the mean of `exp(x * cos(t)) * cos(n * t)` over a period (Abramowitz and Stegun, 9.6.19). A sum over even steps is
    exact to rounding once they are more than the order and the size of `x`.

    >>> float(modified_bessel(1.0, 1))
    0.56515910399248...
    """
    x = np.asarray(x) * 1.0
    steps = 40 + abs(n) + 2 * int(np.ceil(np.max(np.abs(x), initial=0.0)))
    t = 2.0 * np.pi * np.arange(steps) / steps
    return np.mean(np.exp(x[..., None] * np.cos(t)) * np.cos(n * t), axis=-1).astype(x.dtype)[()]


@elementwise(modified_bessel)
def _(g, y, x, n=0):
    return g * 0.5 * (modified_bessel(x, n - 1) + modified_bessel(x, n + 1))


@elementwise(np.i0)
def i0(g, y, x):
    return g * modified_bessel(x, 1)


def roots(n, steps):
    """`sqrt(1 - t**2)` for the places of a window, of which `t` is 1 at the ends."""
    return np.sqrt(np.maximum(1.0 - (n / (0.5 * steps)) ** 2, 0.0)) if steps else np.zeros_like(n)


def middle(M):
    """The places of a window, counted from its middle."""
    return np.arange(M) - 0.5 * (M - 1)


def one_value(beta):
    """The parameter of a window, checked to be one number."""
    if np.size(beta) != 1:
        raise Refusal(None, "several windows at once have no derivative rule; make one for each parameter")


flat(roots, middle, one_value)


def kaiser_slope(n, steps, beta):
    """The slope of Kaiser's window `i0(beta * root) / i0(beta)` in `beta`; a window of one value is constant."""
    one_value(beta)
    r, whole = roots(n, steps), modified_bessel(beta, 0)
    slope = r * modified_bessel(beta * r, 1) - modified_bessel(beta * r, 0) * modified_bessel(beta, 1) / whole
    return slope / whole * (1.0 if steps else 0.0)


@general(np.kaiser)
def kaiser(g, y, M, beta):
    return None, np.reshape(np.sum(g * kaiser_slope(middle(M), M - 1, beta)), np.shape(beta))


@general(np.bartlett, np.blackman, np.hamming, np.hanning)
def window(g, y, M):
    return None


kaiser.constant("M")
window.constant("M")
