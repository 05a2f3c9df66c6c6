"""Rules of np.emath, whose results are complex where a real one would be nan; and of the roots of polynomials.

    y = np.emath.sqrt(x)      ->      x_bar = over(y_bar, 2.0 * y), of which a real `x` takes the real part

Inverse functions take their slopes from the result, which tells on which side of the cut they are.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad.rules.table import elementwise, general, may_turn_complex
from s2sgrad.runtime import over


@elementwise(np.emath.sqrt)
def sqrt(g, y, x):
    return over(g, 2.0 * y)


@elementwise(np.emath.log)
def log(g, y, x):
    return g / x


@elementwise(np.emath.log2)
def log2(g, y, x):
    return g / (x * math.log(2.0))


@elementwise(np.emath.log10)
def log10(g, y, x):
    return g / (x * math.log(10.0))


@elementwise(np.emath.logn)
def logn(g, y, n, x):
    return -g * y / (n * np.emath.log(n)), g / (x * np.emath.log(n))


def power_slope_of(x, p):
    """The derivative of `np.emath.power(x, p)` in `x`."""
    return p * np.emath.power(x, np.subtract(p, 1.0))


@elementwise(np.emath.power)
def power(g, y, x, p):
    return g * power_slope_of(x, p), g * y * np.emath.log(x)


@elementwise(np.emath.arcsin)
def arcsin(g, y, x):
    return over(g, np.cos(y))


@elementwise(np.emath.arccos)
def arccos(g, y, x):
    return -over(g, np.sin(y))


@elementwise(np.emath.arctanh)
def arctanh(g, y, x):
    return g / (1.0 - x * x)


@general(np.roots)
def roots(g, y, p):
    slope = np.polyval(np.polyder(p), y)
    return -np.sum(np.expand_dims(over(g, slope), -1) * np.vander(y, len(p)), axis=0)


@roots.forward()
def _(y, p, p_dot):
    return -over(np.polyval(p_dot, y), np.polyval(np.polyder(p), y))


may_turn_complex(
    np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10, np.emath.logn, np.emath.power, np.emath.arcsin,
    np.emath.arccos, np.emath.arctanh, np.roots,
)  # fmt: skip
