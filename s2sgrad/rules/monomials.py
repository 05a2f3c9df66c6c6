"""Slopes of powers of roots in what is under the root.

    z = np.sqrt(s) ** 2               ->  s_bar = z_bar
    z = (np.sqrt(s) / w) ** 2         ->  s_bar = z_bar * w ** -2; w_bar = z_bar * (-2 * s * w ** -3)
    z = np.linalg.norm(x) ** 2        ->  x_bar = z_bar * (2.0 * x)

The compiler finds them (`transform.compounds`).  `c` is a factor, `p` and `q` are exponents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.rules.reductions import centered, count, whole
from s2sgrad.rules.table import elementwise, general, of_complex_numbers
from s2sgrad.runtime import as_weak, power_slope, share, unbroadcast, unreduce


def power(x, p):
    """`x ** p` in floating point, without warnings."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return as_weak(np.power(as_weak(np.multiply(x, 1.0), x), p), x, p)


@elementwise(power)
def of_power(g, z, x, p):
    return g * power_slope(x, p), None


def monomial(x, c, p):
    """`c * x ** p`."""
    return c * x**p


@elementwise(monomial)
def of_one(g, z, x, c, p):
    return g * (c * power_slope(x, p)), None, None


@of_one.refined(lambda p: p.known and isinstance(p.value, int))
def _(g, z, x, c, p):
    return g * (c * p * x ** (p - 1)), None, None


@of_one.refined(lambda p: p.known and p.value == 1)
def _(g, z, x, c, p):
    return g * c, None, None


def product_of_powers(x, w, c, p, q):
    """`c * x ** p * w ** q`."""
    return c * x**p * w**q


@elementwise(product_of_powers)
def of_two(g, z, x, w, c, p, q):
    return g * (c * power_slope(x, p) * power(w, q)), g * (c * power(x, p) * power_slope(w, q)), None, None, None


@of_two.refined(lambda p, q: p.known and p.value == 1 and q.known and q.value == 2)
def _(g, z, x, w, c, p, q):
    return g * (c * w * w), g * (c * 2 * x * w), None, None, None


@of_two.refined(lambda p, q: p.known and p.value == 1 and q.known and q.value == -2)
def _(g, z, x, w, c, p, q):
    return g * c / (w * w), -2 * g * z / w, None, None, None


def power_of_norm(x, y, c, p, *, axis=None, keepdims=False):
    """`c * y ** p` with the norm `y` of `x`."""
    return c * np.linalg.norm(x, axis=axis, keepdims=keepdims) ** p


@general(power_of_norm)
def of_norm(g, z, x, y, c, p, *, axis=None, keepdims=False):
    return unreduce(g * (c * p * y ** (p - 2)), x, axis, keepdims) * x, None, None, None


@of_norm.refined(lambda p: p.known and p.value == 2)
def _(g, z, x, y, c, p, *, axis=None, keepdims=False):
    return unreduce(g * (c * p), x, axis, keepdims) * x, None, None, None


@of_norm.refined(lambda p, axis: p.known and p.value == 2 and axis.known and axis.value is None)
def _(g, z, x, y, c, p, *, axis=None, keepdims=False):
    return g * (c * p * x), None, None, None


@of_norm.forward()
def _(z, x, y, c, p, x_dot, y_dot, c_dot, p_dot, *, axis=None, keepdims=False):
    return c * p * y ** (p - 2) * np.sum(x * x_dot, axis=axis, keepdims=keepdims), None, None, None


@of_norm.forward(lambda p: p.known and p.value == 2)
def _(z, x, y, c, p, x_dot, y_dot, c_dot, p_dot, *, axis=None, keepdims=False):
    return c * p * np.sum(x * x_dot, axis=axis, keepdims=keepdims), None, None, None


def square_of_scaled_norm(x, w, y, c, q, *, axis=None, keepdims=False):
    """`c * y ** 2 * w ** q` with the norm `y` of `x`."""
    return c * np.linalg.norm(x, axis=axis, keepdims=keepdims) ** 2 * w**q


@general(square_of_scaled_norm)
def of_scaled_norm(g, z, x, w, y, c, q, *, axis=None, keepdims=False):
    slope = unreduce(unbroadcast(g * (2.0 * c * power(w, q)), y), x, axis, keepdims) * x
    return slope, unbroadcast(g * (c * (y * y) * power_slope(w, q)), w), None, None, None


@of_scaled_norm.refined(lambda w, q: w.rank == 0 and q.known and q.value == -2)
def _(g, z, x, w, y, c, q, *, axis=None, keepdims=False):
    return unreduce(2 * c * g / (w * w), x, axis, keepdims) * x, np.sum(-2 * g * z) / w, None, None, None


@of_scaled_norm.forward()
def _(z, x, w, y, c, q, x_dot, w_dot, y_dot, c_dot, q_dot, *, axis=None, keepdims=False):
    along = np.sum(x * x_dot, axis=axis, keepdims=keepdims) * (2.0 * c * power(w, q))
    return along, c * (y * y) * power_slope(w, q) * w_dot, None, None, None


def sum_of_powers(x, c, p, *, axis=None, keepdims=False):
    """The sum of `c * x ** p`."""
    return c * np.sum(x**p, axis=axis, keepdims=keepdims)


@general(sum_of_powers)
def of_sum(g, z, x, c, p, *, axis=None, keepdims=False):
    return unreduce(g, x, axis, keepdims) * (c * power_slope(x, p)), None, None


@of_sum.refined(lambda p: p.known and p.value == 1)
def _(g, z, x, c, p, *, axis=None, keepdims=False):
    return unreduce(g * c, x, axis, keepdims), None, None


@of_sum.refined(lambda x, p, axis: p.known and p.value == 1 and whole(x, axis))
def _(g, z, x, c, p, *, axis=None, keepdims=False):
    return g * c, None, None


@of_sum.refined(lambda x, c, p, axis: p.known and p.value == c.value == 1 and whole(x, axis))
def _(g, z, x, c, p, *, axis=None, keepdims=False):
    return g, None, None


@of_sum.forward()
def _(z, x, c, p, x_dot, c_dot, p_dot, *, axis=None, keepdims=False):
    return np.sum(c * power_slope(x, p) * x_dot, axis=axis, keepdims=keepdims), None, None


@of_sum.forward(lambda p: p.known and p.value == 1)
def _(z, x, c, p, x_dot, c_dot, p_dot, *, axis=None, keepdims=False):
    return c * np.sum(x_dot, axis=axis, keepdims=keepdims), None, None


def power_of_distance(x, y, z, c, p):
    """`c * z ** p` with the distance `z` of the point `(x, y)` from the origin."""
    return c * np.hypot(x, y) ** p


@elementwise(power_of_distance)
def of_distance(g, power, x, y, z, c, p):
    slope = g * (c * p * z ** (p - 2))
    return slope * x, slope * y, None, None, None


@of_distance.refined(lambda p: p.known and p.value == 2)
def _(g, power, x, y, z, c, p):
    return g * (c * p) * x, g * (c * p) * y, None, None, None


def scaled_variance(x, c, axis=None, *, ddof=0, keepdims=False):
    """`c * np.var(x)`."""
    return c * np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


@general(scaled_variance)
def of_variance(g, z, x, c, axis=None, *, ddof=0, keepdims=False):
    return unreduce(g, x, axis, keepdims) * (2.0 * c / (count(x, axis) - ddof)) * centered(x, axis), None


@of_variance.forward()
def _(z, x, c, x_dot, c_dot, axis=None, *, ddof=0, keepdims=False):
    return np.sum(centered(x, axis) * x_dot, axis=axis, keepdims=keepdims) * (2.0 * c / (count(x, axis) - ddof)), None


def square_of_modulus(z):
    """The square of the modulus of complex numbers.

    >>> float(square_of_modulus(3.0 + 4j))
    25.0
    """
    return np.abs(z) ** 2


@elementwise(square_of_modulus)
def of_modulus(g, y, z):
    return 2.0 * g * np.conj(z)


of_complex_numbers(square_of_modulus)


def level(d, u, c):
    """`log(c + d)`, of what grows as `exp(u)`: where `d` has overflowed, the slope is that of `u`."""
    return np.log(c + d)


@elementwise(level)
def of_level(g, z, d, u, c):
    return g / (c + d), np.where(np.isinf(d), g, 0.0), None


# --- what levels off where an exponential overflows ------------------------------------------------------------------
#
# `e` is `exp(u)`, or a multiple of it, of which the slopes are the same multiple; `d` is `a + e`.


def over_level(n, u, d, a):
    """`n / d`."""
    return n / (a + np.exp(u))


@elementwise(over_level)
def of_over_level(g, z, n, u, d, a):
    return g / d, -g * z * (1 - a / d), None, None


@of_over_level.refined(lambda n, a: n.known and a.known and n.value == a.value)
def _(g, z, n, u, d, a):
    return g / d, -g * z * (1 - z), None, None


def over_power_of_level(n, u, d, a, p):
    """`n / d ** p`."""
    return n / (a + np.exp(u)) ** p


@elementwise(over_power_of_level)
def of_over_power(g, z, n, u, d, a, p):
    return g / d**p, -g * p * z * (1 - a / d), None, None, None


def power_of_level(u, d, a, p):
    """`d ** p`."""
    return (a + np.exp(u)) ** p


@elementwise(power_of_level)
def of_power_of_level(g, z, u, d, a, p):
    return g * p * z * (1 - a / d), None, None, None


@of_power_of_level.refined(lambda p: p.known and p.value == -1)
def _(g, z, u, d, a, p):
    return -g * z * (1 - a / d), None, None, None


@of_power_of_level.refined(lambda a, p: p.known and p.value == -1 and a.known and a.value == 1)
def _(g, z, u, d, a, p):
    return -g * z * (1 - z), None, None, None


def log_of_exponential(u, e, a):
    """`log(a + e)`."""
    return np.log(a + np.exp(u))


@elementwise(log_of_exponential)
def of_log_of_exponential(g, z, u, e, a):
    return g * share(e, a), None, None


def share_of_exponential(u, e, a):
    """`e / (a + e)`."""
    return share(np.exp(u), a)


@elementwise(share_of_exponential)
def of_share(g, z, u, e, a):
    return g * z * (1 - z), None, None


BESIDE: dict[Any, int] = {
    over_level: 2,
    over_power_of_level: 2,
    power_of_level: 1,
    log_of_exponential: 1,
    share_of_exponential: 1,
}
"""By function the operand that is known beside the exponent: nothing arrives there."""

for _rule in (
    of_power,
    of_one,
    of_two,
    of_norm,
    of_scaled_norm,
    of_level,
    of_sum,
    of_distance,
    of_variance,
    of_over_level,
    of_power_of_level,
    of_log_of_exponential,
    of_share,
):
    for _known in set(_rule.differentiable) & {"a", "c", "p", "q"}:
        _rule.constant(_known)
