"""Rules of scipy.signal's splines of signals, and of its filters that go on as in a mirror.

    c = signal.cspline1d(s)                   ->    6 * (-z) / ((1 - z / x) * (1 - z * x)) of s, z = -2 + sqrt(3)
    y = signal.cspline1d_eval(c, t)           ->    sum(c[j] * B(t - j)) of the B-spline of the third order
    y = signal.symiirorder1(s, c, z)          ->    c / ((1 - z / x) * (1 - z * x)) of s
    y = signal.symiirorder2(s, r, w)          ->    d ** 2 / (p(1 / x) * p(x)) of s, d = p(1) = 1 - 2 * r * cos(w) + r ** 2

Each runs forwards and backwards (`lfilter`), from the sums of the mirrored signal.  (Unser, Aldroubi and Eden, "B-Spline
Signal Processing", I and II, 1993.)  How many terms of a sum count is a constant.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal

# --- a pole ----------------------------------------------------------------------------------------------------------


def one_axis(s, name):
    """Raise Refusal for a signal of several axes."""
    if np.ndim(s) != 1:
        raise Refusal(None, f"`signal.{name}` has a derivative rule for a signal of one axis: call it for each")
    return True


def counted(weights, precision, s, turned):
    """How many of these weights SciPy sums up: until the square of one is small, or all where there is no precision."""
    if precision is None:
        return len(weights)
    least = precision if 0.0 < precision <= 1.0 else 1e-6 if s.dtype == np.float32 else 1e-11
    small = np.flatnonzero(np.asarray(weights) ** 2 <= (least if turned else least * least))
    return int(small[0]) + 1 if len(small) else len(weights)


flat(one_axis, counted)


def run(s, start, gain, a):
    """What a filter of one pole makes of a signal whose first result is `start`."""
    return signal.lfilter(np.ones(1), a, np.concatenate((start[..., None], gain * s[..., 1:]), axis=-1))


def summed(weights, s, precision, turned=False):
    """The sum of a signal with weights, from its end on where it is turned."""
    n = counted(weights, precision, s, turned)
    return np.sum(weights[:n] * s[..., :n], axis=-1)


def mirrored(s, z, c, precision):
    """A signal after a filter of one pole, forwards and backwards."""
    a = np.stack((1.0 + 0.0 * z, -z))
    before = summed(z ** np.arange(1, np.shape(s)[-1] + 1), s, precision)
    forth = run(s, s[..., 0] + before, 1.0, a)
    back = run(np.flip(forth, axis=-1), c / (1.0 - z) * forth[..., -1], c, a)
    return np.flip(back, axis=-1)


@restates(signal.symiirorder1)
def symiirorder1(signal, c0, z1, precision=-1.0):
    return mirrored(1.0 * np.asarray(signal), 1.0 * z1, 1.0 * c0, precision)


# --- two poles -------------------------------------------------------------------------------------------------------


def run_two(s, first, second, d, a2, a3):
    """What a filter of two poles makes of a signal whose first results are these."""
    a = np.stack((1.0 + 0.0 * d, -a2, -a3))
    starts = np.stack((first, second - a2 * first), axis=-1)
    return signal.lfilter(np.ones(1), a, np.concatenate((starts, d * s[..., 2:]), axis=-1))


def forth_weight(k, d, r, omega):
    """The response of two poles to an impulse."""
    return d / np.sin(omega) * r**k * np.sin(omega * (k + 1))


def both_ways_weight(k, d, r, omega):
    """The response of two poles, forwards and backwards."""
    k, square = np.abs(k), r * r
    c = d * d * (1.0 + square) / (1.0 - square) / (1.0 - 2.0 * square * np.cos(2.0 * omega) + square * square)
    return c * r**k * (np.cos(omega * k) + (1.0 - square) / (1.0 + square) / np.tan(omega) * np.sin(omega * k))


def mirrored_two(s, r, omega, precision, places=(1, 0)):
    """A signal after a filter of two poles, forwards and backwards; the second result begins with these two samples."""
    a2, a3 = 2.0 * r * np.cos(omega), -r * r
    d, k = 1.0 - a2 - a3, np.arange(np.shape(s)[-1])
    start = forth_weight(0, d, r, omega)
    first = start * s[..., 0] + summed(forth_weight(k + 1, d, r, omega), s, precision)
    second = start * s[..., places[0]] + forth_weight(1, d, r, omega) * s[..., places[1]]
    second = second + summed(forth_weight(k + 2, d, r, omega), s, precision)
    forth = run_two(s, first, second, d, a2, a3)
    turned = np.flip(s, axis=-1)
    last = summed(both_ways_weight(k, d, r, omega) + both_ways_weight(k + 1, d, r, omega), turned, precision, True)
    before = summed(both_ways_weight(k - 1, d, r, omega) + both_ways_weight(k + 2, d, r, omega), turned, precision, True)
    return np.flip(run_two(np.flip(forth, axis=-1), last, before, d, a2, a3), axis=-1)


@restates(signal.symiirorder2)
def symiirorder2(input, r, omega, precision=-1.0):
    return mirrored_two(1.0 * np.asarray(input), 1.0 * r, 1.0 * omega, precision)


# --- coefficients of splines -----------------------------------------------------------------------------------------


def smoothing(lamb):
    """The pole of a smoothing spline: its size and its angle."""
    root = np.sqrt(3.0 + 144.0 * lamb)
    xi = 1.0 - 96.0 * lamb + 24.0 * lamb * root
    size = (24.0 * lamb - 1.0 - np.sqrt(xi)) / (24.0 * lamb) * np.sqrt((48.0 * lamb + 24.0 * lamb * root) / xi)
    return float(size), float(np.arctan2(np.sqrt(144.0 * lamb - 1.0), np.sqrt(xi)))


flat(smoothing)


def interpolating(s, z, scale):
    """The coefficients of the spline through a signal."""
    s = 1.0 * np.asarray(s)
    n = np.size(s)
    start = np.sum(z ** np.arange(n) * s)
    if n == 1:
        return z / (z - 1.0) * (1.0 + z) * s  # as SciPy has it
    a = np.array([1.0, -z])
    forth = run(s, s[0] + z * start, 1.0, a)
    back = run(np.flip(forth), z / (z - 1.0) * forth[-1], -z, a)
    return scale * np.flip(back)


@restates(signal.cspline1d)
def cspline1d(signal, lamb=0.0):
    one_axis(signal, "cspline1d")
    if lamb == 0.0:
        return interpolating(signal, -2.0 + np.sqrt(3.0), 6.0)
    r, omega = smoothing(lamb)
    return mirrored_two(1.0 * np.asarray(signal), r, omega, None, (0, 1))  # SciPy exchanges them


@restates(signal.qspline1d)
def qspline1d(signal, lamb=0.0):
    one_axis(signal, "qspline1d")
    return interpolating(signal, -3.0 + 2.0 * np.sqrt(2.0), 8.0)


# --- values of splines -----------------------------------------------------------------------------------------------


def folded(u, n):
    """The sign and the offset that take places into a signal of `n` samples, which goes on as in a mirror.

    >>> folded(np.array([-1.5, 1.0, 4.5]), 4)
    (array([-1.,  1., -1.]), array([0., 0., 6.]))
    """
    u = np.asarray(u, float)
    period = 2.0 * (n - 1)
    turns = np.floor(u / period) if n > 1 else 0.0 * u
    back = u - turns * period > n - 1
    return np.where(back, -1.0, 1.0), np.where(back, (turns + 1.0) * period, 0.0 - turns * period)


def first_beside(v, width):
    """The number of the first coefficient beside places."""
    return np.floor(v - width).astype(int) + 1


def kept_inside(j, n):
    """Numbers of coefficients, those beyond the ends in their places."""
    return np.clip(j, 0, n - 1)


flat(folded, first_beside, kept_inside)


@restates(signal.cspline1d_eval, moving=("dx", "x0"))
def cspline1d_eval(cj, newx, dx=1.0, x0=0):
    c, u = np.asarray(cj), (np.asarray(newx) - x0) / dx
    n = np.size(c)
    sign, offset = folded(u, n)
    v = sign * u + offset
    j = first_beside(v, 2.0)
    w = v - (j + 1)
    x = 1.0 - w
    y = x**3 / 6.0 * np.take(c, kept_inside(j, n)) + w**3 / 6.0 * np.take(c, kept_inside(j + 3, n))
    y = y + (2.0 / 3.0 - w**2 + w**3 / 2.0) * np.take(c, kept_inside(j + 1, n))
    return y + (2.0 / 3.0 - x**2 + x**3 / 2.0) * np.take(c, kept_inside(j + 2, n))


@restates(signal.qspline1d_eval, moving=("dx", "x0"))
def qspline1d_eval(cj, newx, dx=1.0, x0=0):
    c, u = np.asarray(cj), (np.asarray(newx) - x0) / dx
    n = np.size(c)
    sign, offset = folded(u, n)
    v = sign * u + offset
    j = first_beside(v, 1.5)
    w = v - j - 0.5
    y = 0.5 * (1.0 - w) ** 2 * np.take(c, kept_inside(j, n)) + 0.5 * w**2 * np.take(c, kept_inside(j + 2, n))
    return y + (0.75 - (w - 0.5) ** 2) * np.take(c, kept_inside(j + 1, n))
