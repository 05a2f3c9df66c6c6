"""Digamma functions beside their poles, where they meet zeros of what they are multiplied by, or cancel.

    y = rgamma(x)      ->      x_bar = -y_bar * times_digamma(y, x, gamma(1 - x))      finite at 0, -1, -2, ..

By reflection, digamma(z) = digamma(1 - z) - pi * cot(pi * z) (DLMF 5.5.4).  Only the last term has poles, and
`y / sin(pi * z)` is a product of gamma functions without one.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.runtime import over


def sinpi(x):
    """`sin(pi * x)`, exactly 0 at whole numbers.

    >>> float(sinpi(2.0)), float(sinpi(1.5))
    (0.0, -1.0)
    """
    n = np.round(x)
    return np.cos(math.pi * n) * np.sin(math.pi * (x - n))


def cospi(x):
    """`cos(pi * x)`."""
    n = np.round(x)
    return np.cos(math.pi * n) * np.cos(math.pi * (x - n))


def times_digamma(y, z, reflected):
    """`y * digamma(z)`, given `pi * y / sin(pi * z)`, which is read below 1 / 2.

    >>> float(times_digamma(special.rgamma(-2.0), -2.0, special.gamma(3.0)))
    -2.0
    """
    low = z < 0.5
    smooth = y * special.digamma(np.where(low, 1.0 - z, z))
    return smooth - cospi(z) * np.where(low, reflected, 0.0)


def times_digammas(y, w, z, d, reflected):
    """`y * (digamma(w) - digamma(z))` of `w = z + d`, given `pi * y / sin(pi * z)`, which is read below 1 / 2.

    Poles that are apart by a whole number cancel.

    >>> float(times_digammas(special.poch(-2.0, 3.0), 1.0, -2.0, 3.0, 2.0))
    2.0
    """
    low = z < 0.5
    both = np.logical_and(low, w < 0.5)
    smooth = special.digamma(np.where(both, 1.0 - w, w)) - special.digamma(np.where(low, 1.0 - z, z))
    crossed = np.where(both, over(sinpi(d), np.where(both, sinpi(w), 1.0)), cospi(z))
    read = np.logical_and(low, np.logical_or(np.not_equal(crossed, 0.0), np.isfinite(reflected)))
    return y * smooth + crossed * np.where(read, reflected, 0.0)


def digammas(z, d):
    """`digamma(z + d) - digamma(z)`.

    >>> float(digammas(-2.0, 1.0))
    -0.5
    """
    return times_digammas(1.0, z + d, z, d, over(math.pi, np.where(z < 0.5, sinpi(z), 1.0)))
