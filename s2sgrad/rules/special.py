"""Rules of `math.gamma` and `math.lgamma`, whose slopes Python does not have: the polygamma functions are here.

y = math.lgamma(x)             ->  x_bar = y_bar * polygamma(x)
"""

from __future__ import annotations

import math

from s2sgrad.rules.table import elementwise

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)  # B2, B4, B6, ...


def polygamma(x, n=0):
    """The n-th derivative of the digamma function, that is of the slope of `math.lgamma`, for a number `x`.

    The recurrence in x leads to where the asymptotic series is exact to rounding (Abramowitz and Stegun, 6.4.6, 6.4.11).

    >>> polygamma(1.0)                          # less Euler's constant
    -0.57721566490153...
    >>> polygamma(1.0, 1) - math.pi**2 / 6
    0.0
    """
    x, total = float(x), 0.0
    if not math.isfinite(x) or (x <= 0.0 and x == math.floor(x)):
        return math.nan
    sign = -1.0 if n % 2 == 0 else 1.0  # of (-1) ** (n + 1)
    while x < 15.0 + n:
        total += sign * math.factorial(n) / x ** (n + 1)
        x += 1.0
    if n == 0:
        total += math.log(x) - 0.5 / x
    else:
        total += sign * (math.factorial(n - 1) / x**n + math.factorial(n) / (2.0 * x ** (n + 1)))
    for k, b in enumerate(_BERNOULLI, 1):
        total += sign * b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
    return total


@elementwise(polygamma)
def _(g, y, x, n=0):
    return g * polygamma(x, n + 1)


@elementwise(math.lgamma)
def lgamma(g, y, x):
    return g * polygamma(x)


@elementwise(math.gamma)
def gamma(g, y, x):
    return g * (y * polygamma(x))
