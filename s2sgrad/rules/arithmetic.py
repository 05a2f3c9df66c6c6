"""Rules of the operators and their ufuncs: `x + y` is np.add, whatever its spelling.

z = x * y       ->      x_bar = z_bar * y;  y_bar = z_bar * x
z = x / y       ->      x_bar = z_bar / y;  y_bar = -z_bar * z / y
z = x ** n      ->      x_bar = z_bar * n * x ** (n - 1);  n_bar = z_bar * z * log(x), which is 0 where x is 0
"""

from __future__ import annotations

import builtins

import numpy as np

from s2sgrad.rules.table import elementwise, flat
from s2sgrad.runtime import log_or_zero, power_slope, times


@elementwise(np.add)
def add(g, z, x, y):
    return g, g


@elementwise(np.subtract)
def subtract(g, z, x, y):
    return g, -g


@elementwise(np.multiply)
def multiply(g, z, x, y):
    return g * y, g * x


@multiply.forward()
def _(z, x, y, x_dot, y_dot):
    return x_dot * y, x * y_dot


@elementwise(np.divide)
def divide(g, z, x, y):
    return g / y, -g * z / y


@divide.forward()
def _(z, x, y, x_dot, y_dot):
    return x_dot / y, -z * y_dot / y


@divide.forward_jointly()
def _(z, x, y, x_dot, y_dot):
    return (x_dot - z * y_dot) / y


@elementwise(np.negative)
def negative(g, y, x):
    return -g


@elementwise(np.positive)
def positive(g, y, x):
    return g


def plain_power(x, n):
    """The exponent is a constant of which one less is an exponent as well; no power of a number of Python's is complex."""
    known = n.known and isinstance(n.value, (int, float)) and (n.value >= 1 or n.value < 0)
    return known and (float(n.value).is_integer() or not x.may_be_python)


@elementwise(np.power, builtins.pow)
def power(g, z, x, n):
    return g * power_slope(x, n), g * z * log_or_zero(x)


@power.refined(lambda n: n.known and isinstance(n.value, (int, float)) and 0.5 <= n.value < 1)
def _(g, z, x, n):
    return times(g, power_slope(x, n)), None


@power.refined(plain_power)
def _(g, z, x, n):
    return g * (n * x ** (n - 1)), None


@power.forward(plain_power)
def _(z, x, n, x_dot, n_dot):
    return n * x ** (n - 1) * x_dot, None


flat(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
flat(np.logical_and, np.logical_or, np.logical_not, np.logical_xor)
