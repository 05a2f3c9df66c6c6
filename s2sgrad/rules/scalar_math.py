"""Rules of Python's `math` module, on plain floats.

    y = math.sin(x)        ->  x_bar = y_bar * math.cos(x)
    y = math.log(x, 2)     ->  x_bar = y_bar / (x * math.log(2))

No rule raises where its function does not: `over` stands where a slope can be infinite.  gamma and lgamma are in
`special.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sgrad.rules.builtin_functions import regroup, spread
from s2sgrad.rules.scans import products_before
from s2sgrad.rules.table import elementwise, flat, general, linear
from s2sgrad.runtime import log_or_zero, over, power_slope, unbroadcast

# --- exponentials, logarithms, powers --------------------------------------------------------------------------------


@elementwise(math.exp)
def exp(g, y, x):
    return g * y


@elementwise(math.exp2)
def exp2(g, y, x):
    return g * y * math.log(2.0)


@elementwise(math.expm1)
def expm1(g, y, x):
    return g * (y + 1.0)


@elementwise(math.log)
def log(g, y, x, base=math.e):
    return g / (x * math.log(base))


@log.refined(lambda base: base.known and base.value == math.e)
def _(g, y, x, base=math.e):
    return g / x


@log.keyword("base")
def log_base(g, y, x, base=math.e):
    return -g * y / (base * math.log(base))


@elementwise(math.log2)
def log2(g, y, x):
    return g / (x * math.log(2.0))


@elementwise(math.log10)
def log10(g, y, x):
    return g / (x * math.log(10.0))


@elementwise(math.log1p)
def log1p(g, y, x):
    return g / (1.0 + x)


@elementwise(math.sqrt)
def sqrt(g, y, x):
    return over(g, 2.0 * y)


@elementwise(math.cbrt)
def cbrt(g, y, x):
    return over(g, 3.0 * y * y)


@elementwise(math.pow)
def pow_(g, z, x, y):
    return g * power_slope(x, y), g * z * log_or_zero(x)


@pow_.refined(lambda y: y.known and isinstance(y.value, (int, float)) and y.value >= 1)
def _(g, z, x, y):
    return g * (y * math.pow(x, y - 1.0)), None


# --- trigonometric and hyperbolic functions --------------------------------------------------------------------------


@elementwise(math.sin)
def sin(g, y, x):
    return g * math.cos(x)


@elementwise(math.cos)
def cos(g, y, x):
    return -g * math.sin(x)


@elementwise(math.tan)
def tan(g, y, x):
    return g * (1.0 + y * y)


@elementwise(math.asin)
def asin(g, y, x):
    return over(g, math.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(math.acos)
def acos(g, y, x):
    return -over(g, math.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(math.atan)
def atan(g, y, x):
    return g / (1.0 + x * x)


@elementwise(math.atan2)
def atan2(g, z, y, x):
    r = math.hypot(x, y)
    return g * over(over(x, r), r), -g * over(over(y, r), r)


@elementwise(math.sinh)
def sinh(g, y, x):
    return g * math.cosh(x)


@elementwise(math.cosh)
def cosh(g, y, x):
    return g * math.sinh(x)


@elementwise(math.tanh)
def tanh(g, y, x):
    return g * (1.0 - y * y)


@elementwise(math.asinh)
def asinh(g, y, x):
    return g / math.hypot(x, 1.0)


@elementwise(math.acosh)
def acosh(g, y, x):
    return over(g, math.sqrt(x - 1.0) * math.sqrt(x + 1.0))


@elementwise(math.atanh)
def atanh(g, y, x):
    return g / ((1.0 - x) * (1.0 + x))


@elementwise(math.degrees)
def degrees(g, y, x):
    return math.degrees(g)


@elementwise(math.radians)
def radians(g, y, x):
    return math.radians(g)


# --- the rest --------------------------------------------------------------------------------------------------------


@elementwise(math.erf)
def erf(g, y, x):
    return g * (1.1283791670955126 * math.exp(-x * x))  # 2 / sqrt(pi)


@elementwise(math.erfc)
def erfc(g, y, x):
    return -g * (1.1283791670955126 * math.exp(-x * x))  # 2 / sqrt(pi)


@elementwise(math.hypot)  # of two arguments
def hypot(g, z, x, y):
    return g * over(x, z), g * over(y, z)


def hypot_of(*xs):
    """`math.hypot` of three arguments or more."""
    return math.hypot(*xs)


@general(hypot_of)
def _(g, y, *xs):
    return regroup(g * over(np.array(xs), y), xs)


def hypot_of_all(xs):
    """`math.hypot(*xs)`."""
    return math.hypot(*xs)


@general(hypot_of_all)
def _(g, y, xs):
    return regroup(g * over(np.array(xs), y), xs)


@elementwise(math.fabs)
def fabs(g, y, x):
    return g * np.sign(x)


@elementwise(math.copysign)
def copysign(g, z, x, y):
    return g * np.sign(x) * np.sign(z), None


@elementwise(math.fmod, math.remainder)
def fmod(g, z, x, y):
    return g, -g * np.rint((x - z) / y)


@elementwise(math.ldexp)
def ldexp(g, y, x, i):
    return math.ldexp(g, i), None


@linear(math.modf)  # between the jumps
def modf(g, y, x):
    return g[0]


@modf.forward()
def _(y, x, x_dot):
    return x_dot, 0.0


@linear(math.frexp)
def frexp(g, y, x):
    return math.ldexp(g[0], -y[1])


@frexp.forward()
def _(y, x, x_dot):
    return math.ldexp(x_dot, -y[1]), 0.0


@linear(math.fsum)
def fsum(g, y, seq):
    return spread(g, seq)


def are_numbers(xs):
    """Whether the items of a sequence are numbers, and not arrays with axes."""
    return max([np.ndim(x) for x in xs], default=0) == 0


flat(are_numbers)


def factor_bars(g, xs, start):
    """The cotangents of factors that may be arrays, which broadcast: each is `g` times the product of the others.

    >>> [np.asarray(bar).tolist() for bar in factor_bars(1.0, [2.0, np.array([3.0, 5.0])], 1)]
    [8.0, [2.0, 2.0]]
    """
    before = start
    bars: list[Any] = []
    for k in range(len(xs)):
        others = before
        for j in range(k + 1, len(xs)):
            others = others * xs[j]
        bars = bars + [unbroadcast(g * others, xs[k])]
        before = before * xs[k]
    return bars


@general(math.prod)
def prod(g, y, iterable, *, start=1):
    if are_numbers(iterable) and np.ndim(start) == 0:
        factors = np.array(iterable)
        bars = g * start * products_before(factors) * products_before(factors, None, True)
    else:
        bars = factor_bars(g, iterable, start)
    return regroup(bars, iterable)


def prod_along(xs, xs_dot, start):
    """The tangent of the product of `start` and `xs`.

    >>> prod_along([2.0, 3.0], [1.0, 10.0], 1)
    23.0
    """
    before, total = start, 0.0
    for k in range(len(xs)):
        total = total * xs[k] + before * xs_dot[k]
        before = before * xs[k]
    return total


@prod.forward()
def _(y, iterable, iterable_dot, *, start=1):
    return prod_along(iterable, iterable_dot, start)


@prod.keyword("start", "bilinear")
def prod_start(g, y, iterable, *, start=1):
    return unbroadcast(g * math.prod(iterable), start)


@general(math.dist)
def dist(g, y, p, q):
    p_bar = g * over(np.array(p) - np.array(q), y)
    return regroup(p_bar, p), regroup(-p_bar, q)


@elementwise(float)
def float_(g, y, x):
    return g


flat(int, bool, math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite, math.isclose)
flat(math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt)
