"""Rules of NumPy's elementwise functions.

    y = np.tanh(x)         ->  x_bar = y_bar * (1.0 - y * y)
    z = np.hypot(x, y)     ->  x_bar = z_bar * over(x, z); y_bar = z_bar * over(y, z)

Numbers in the formulas are Python floats, so that float32 stays float32.  Where a slope can be infinite although the
function is finite the rule divides with `over`.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad.rules.table import elementwise
from s2sgrad.runtime import log_or_zero, over, power_slope

# --- exponentials, logarithms, roots ---------------------------------------------------------------------------------


@elementwise(np.exp)
def exp(g, y, x):
    return g * y


@elementwise(np.exp2)
def exp2(g, y, x):
    return g * y * math.log(2.0)


@elementwise(np.expm1)
def expm1(g, y, x):
    return g * (y + 1.0)


@elementwise(np.log)
def log(g, y, x):
    return g / x


@elementwise(np.log2)
def log2(g, y, x):
    return g / (x * math.log(2.0))


@elementwise(np.log10)
def log10(g, y, x):
    return g / (x * math.log(10.0))


@elementwise(np.log1p)
def log1p(g, y, x):
    return g / (1.0 + x)


@elementwise(np.sqrt)
def sqrt(g, y, x):
    return over(g, 2.0 * y)


@elementwise(np.cbrt)
def cbrt(g, y, x):
    return over(g, 3.0 * y * y)


@elementwise(np.square)
def square(g, y, x):
    return 2.0 * g * x


@elementwise(np.reciprocal)
def reciprocal(g, y, x):
    return -g * y * y


# --- trigonometric and hyperbolic functions --------------------------------------------------------------------------


@elementwise(np.sin)
def sin(g, y, x):
    return g * np.cos(x)


@elementwise(np.cos)
def cos(g, y, x):
    return -g * np.sin(x)


@elementwise(np.tan)
def tan(g, y, x):
    return g * (1.0 + y * y)


@elementwise(np.arcsin)
def arcsin(g, y, x):
    return over(g, np.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(np.arccos)
def arccos(g, y, x):
    return -over(g, np.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(np.arctan)
def arctan(g, y, x):
    return g / (1.0 + x * x)


@elementwise(np.sinh)
def sinh(g, y, x):
    return g * np.cosh(x)


@elementwise(np.cosh)
def cosh(g, y, x):
    return g * np.sinh(x)


@elementwise(np.tanh)
def tanh(g, y, x):
    return g * (1.0 - y * y)


@elementwise(np.arcsinh)
def arcsinh(g, y, x):
    return g / np.hypot(x, 1.0)


@elementwise(np.arccosh)
def arccosh(g, y, x):
    return over(g, np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh)
def arctanh(g, y, x):
    return g / ((1.0 - x) * (1.0 + x))


@elementwise(np.rad2deg, np.degrees)
def rad2deg(g, y, x):
    return np.rad2deg(g)


@elementwise(np.deg2rad, np.radians)
def deg2rad(g, y, x):
    return np.deg2rad(g)


def sinc_slope(x, n=1):
    """The n-th derivative of `np.sinc`, finite and exact at 0 too."""
    u = np.multiply(x, math.pi)
    near = np.abs(u) < 1.0 + n
    far = np.where(near, 1.0 + n, u)
    slope = np.sin(far) / far
    for k in range(1, n + 1):
        slope = (np.sin(far + 0.5 * math.pi * k) - k * slope) / far
    small = np.where(near, u, 0.0)
    series = np.zeros_like(u)
    for k in reversed(range((n + 1) // 2, n + 14)):  # the terms (-1)**k u**(2k) / (2k + 1)!, differentiated n times
        power = 2 * k - n
        series = series + (-1.0) ** k * math.perm(2 * k, n) / math.factorial(2 * k + 1) * small**power
    return np.where(near, series, slope)[()] * math.pi**n


@elementwise(np.sinc)
def sinc(g, y, x):
    return g * sinc_slope(x)


@elementwise(sinc_slope)
def _(g, y, x, n=1):
    return g * sinc_slope(x, n + 1)


# --- functions of two arguments --------------------------------------------------------------------------------------


def exp_difference(x, z):
    """`exp(x - z)` for a sum `z` of exponentials that holds `x`: 0 where `x` is -inf, 1 where both are inf."""
    with np.errstate(invalid="ignore"):
        return np.exp(np.where(np.equal(x, z), np.where(np.equal(x, -math.inf), x, 0.0), np.subtract(x, z)))[()]


@elementwise(exp_difference)
def _(g, y, x, z):
    return g * y, -g * y


@elementwise(np.logaddexp)
def logaddexp(g, z, x, y):
    return g * exp_difference(x, z), g * exp_difference(y, z)


@elementwise(np.logaddexp2)
def logaddexp2(g, z, x, y):
    log_2 = math.log(2.0)
    return g * exp_difference(log_2 * x, log_2 * z), g * exp_difference(log_2 * y, log_2 * z)


@elementwise(np.hypot)
def hypot(g, z, x, y):
    return g * over(x, z), g * over(y, z)


@elementwise(np.arctan2)
def arctan2(g, z, y, x):
    r = np.hypot(x, y)
    return g * over(over(x, r), r), -g * over(over(y, r), r)


@elementwise(np.remainder)  # x % y
def remainder(g, z, x, y):
    return g, -g * np.floor_divide(x, y)


@elementwise(np.fmod)
def fmod(g, z, x, y):
    return g, -g * np.rint((x - z) / y)


@elementwise(np.copysign)
def copysign(g, z, x, y):
    return g * np.sign(x) * np.sign(z), None


@elementwise(np.ldexp)
def ldexp(g, y, x, n):
    return np.ldexp(g, n), None


@elementwise(np.float_power)
def float_power(g, z, x, n):
    return g * power_slope(x, n), g * z * log_or_zero(x)
