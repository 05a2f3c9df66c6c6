"""Rules of scipy.special, continued: Bessel functions, exponential integrals, confluent hypergeometric functions.

    y = special.j0(x)        ->  x_bar = -y_bar * special.j1(x)
    y = special.kv(v, x)     ->  x_bar = -0.5 * y_bar * (special.kv(v - 1.0, x) + special.kv(v + 1.0, x))

Slopes of order 1 are differences of two orders, which unlike `j0(x) - j1(x) / x` hold at 0 too.  In the order of a function
there is no derivative: such calls are refused.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.formulas import exprel_slope, whole
from s2sgrad.rules.table import complex_of_real_numbers, elementwise, existing, flat, of_complex_numbers
from s2sgrad.runtime import Refusal, over

# --- Bessel functions: DLMF 10.6.1, 10.6.3 ---------------------------------------------------------------------------


@elementwise(special.j0)
def j0(g, y, x):
    return -g * special.j1(x)


@elementwise(special.j1)
def j1(g, y, x):
    return 0.5 * g * (special.j0(x) - special.jv(2.0, x))


@elementwise(special.jv)
def jv(g, y, v, x):
    return None, 0.5 * g * (special.jv(v - 1.0, x) - special.jv(v + 1.0, x))


@elementwise(special.y0)
def y0(g, y, x):
    return -g * special.y1(x)


@elementwise(special.y1)
def y1(g, y, x):
    return 0.5 * g * (special.y0(x) - special.yv(2.0, x))


@elementwise(special.yv)
def yv(g, y, v, x):
    return None, 0.5 * g * (special.yv(v - 1.0, x) - special.yv(v + 1.0, x))


@elementwise(special.yn)
def yn(g, y, n, x):
    n = whole(n)
    return None, 0.5 * g * (special.yn(n - 1.0, x) - special.yn(n + 1.0, x))


# --- modified Bessel functions: DLMF 10.29.1, 10.29.3; the scaled ones by the product rule ---------------------------


@elementwise(special.i0)
def i0(g, y, x):
    return g * special.i1(x)


@elementwise(special.i1)
def i1(g, y, x):
    return 0.5 * g * (special.i0(x) + special.iv(2.0, x))


@elementwise(special.iv)
def iv(g, y, v, x):
    return None, 0.5 * g * (special.iv(v - 1.0, x) + special.iv(v + 1.0, x))


@elementwise(special.i0e)
def i0e(g, y, x):
    return g * (special.i1e(x) - np.sign(x) * y)


@elementwise(special.i1e)
def i1e(g, y, x):
    return g * (0.5 * (special.i0e(x) + special.ive(2.0, x)) - np.sign(x) * y)


@elementwise(special.ive)
def ive(g, y, v, x):
    return None, g * (0.5 * (special.ive(v - 1.0, x) + special.ive(v + 1.0, x)) - np.sign(x) * y)


@elementwise(special.k0)
def k0(g, y, x):
    return -g * special.k1(x)


@elementwise(special.k1)
def k1(g, y, x):
    return -0.5 * g * (special.k0(x) + special.kv(2.0, x))


@elementwise(special.kv)
def kv(g, y, v, x):
    return None, -0.5 * g * (special.kv(v - 1.0, x) + special.kv(v + 1.0, x))


@elementwise(special.k0e)
def k0e(g, y, x):
    return g * (y - special.k1e(x))


@elementwise(special.k1e)
def k1e(g, y, x):
    return g * (y - 0.5 * (special.k0e(x) + special.kve(2.0, x)))


@elementwise(special.kve)
def kve(g, y, v, x):
    return None, g * (y - 0.5 * (special.kve(v - 1.0, x) + special.kve(v + 1.0, x)))


# --- exponential integrals: DLMF 6.2.1, 6.2.5, 8.19.13 ---------------------------------------------------------------


@elementwise(special.exp1)
def exp1(g, y, x):
    return -g * np.exp(-x) / x


@elementwise(special.expi)
def expi(g, y, x):
    return g * np.exp(x) / x


@elementwise(special.expn)
def expn(g, y, n, x):
    n = whole(n)
    at_zero = over(np.exp(-x) - (n - 1.0) * y, x)  # DLMF 8.19.12: SciPy has no orders below 0
    return None, -g * np.where(np.less(n, 1.0), at_zero, special.expn(np.maximum(n - 1.0, 0.0), x))


# --- confluent hypergeometric functions: DLMF 13.3.15 ----------------------------------------------------------------


@elementwise(special.hyp1f1)
def hyp1f1(g, y, a, b, x):
    return None, None, g * (a / b) * special.hyp1f1(a + 1.0, b + 1.0, x)


@elementwise(special.exprel)
def exprel(g, y, x):  # exprel(x) is hyp1f1(1, 2, x)
    return g * exprel_slope(x)


for _rule in (jv, yv, iv, ive, kv, kve):
    _rule.constant("v")
for _rule in (yn, expn):
    _rule.constant("n")
for _name in ("a", "b"):
    hyp1f1.constant(_name)


# --- scaled ones of real arguments, where the scale is 1 outside of the complex plane; integer orders; Hankel, Struve ------


@elementwise(special.jve)
def jve(g, y, v, x):
    return None, 0.5 * g * (special.jve(v - 1.0, x) - special.jve(v + 1.0, x))


@elementwise(special.yve)
def yve(g, y, v, x):
    return None, 0.5 * g * (special.yve(v - 1.0, x) - special.yve(v + 1.0, x))


@elementwise(special.kn)
def kn(g, y, n, x):
    n = whole(n)
    return None, -0.5 * g * (special.kv(n - 1.0, x) + special.kv(n + 1.0, x))


@elementwise(special.hankel1)
def hankel1(g, y, v, z):
    return None, 0.5 * g * (special.hankel1(v - 1.0, z) - special.hankel1(v + 1.0, z))


@elementwise(special.hankel2)
def hankel2(g, y, v, z):
    return None, 0.5 * g * (special.hankel2(v - 1.0, z) - special.hankel2(v + 1.0, z))


@elementwise(special.hankel1e)
def hankel1e(g, y, v, z):
    return None, g * (0.5 * (special.hankel1e(v - 1.0, z) - special.hankel1e(v + 1.0, z)) - 1.0j * y)


@elementwise(special.hankel2e)
def hankel2e(g, y, v, z):
    return None, g * (0.5 * (special.hankel2e(v - 1.0, z) - special.hankel2e(v + 1.0, z)) + 1.0j * y)


@elementwise(special.struve)  # DLMF 11.4.27
def struve(g, y, v, x):
    return None, g * (special.struve(v - 1.0, x) - v * y / x)


@elementwise(special.modstruve)  # DLMF 11.4.28
def modstruve(g, y, v, x):
    return None, g * (special.modstruve(v - 1.0, x) - v * y / x)


# --- hypergeometric functions in their argument: DLMF 15.5.1, 16.3.1, 13.3.22; Wright's, Lambert's ------------------------


@elementwise(special.hyp0f1)
def hyp0f1(g, y, v, z):
    return None, g * special.hyp0f1(v + 1.0, z) / v


@elementwise(special.hyp2f1)
def hyp2f1(g, y, a, b, c, z):
    return None, None, None, g * (a * b / c) * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


@elementwise(special.hyperu)
def hyperu(g, y, a, b, x):
    return None, None, -g * a * special.hyperu(a + 1.0, b + 1.0, x)


@elementwise(special.wright_bessel)  # by its series, DLMF 10.46.1
def wright_bessel(g, y, a, b, x):
    return None, None, g * special.wright_bessel(a, a + b, x)


@elementwise(*existing(special, "log_wright_bessel"))
def log_wright_bessel(g, y, a, b, x):
    return None, None, g * np.exp(special.log_wright_bessel(a, a + b, x) - y)


@elementwise(special.wrightomega)  # y + log(y) is z
def wrightomega(g, y, z):
    return g * y / (1.0 + y)


for _rule, _names in (
    (jve, "v"), (yve, "v"), (kn, "n"), (hankel1, "v"), (hankel2, "v"), (hankel1e, "v"), (hankel2e, "v"), (struve, "v"),
    (modstruve, "v"), (hyp0f1, "v"), (hyp2f1, "abc"), (hyperu, "ab"), (wright_bessel, "ab"), (log_wright_bessel, "ab"),
):  # fmt: skip
    for _name in _names:
        _rule.constant(_name)


@elementwise(special.lambertw)  # y * exp(y) is z
def lambertw(g, y, z, k=0, tol=1e-8):
    return g * np.exp(-y) / (1.0 + y)


def is_solution(y, z):
    """Raise Refusal where `y` is not the solution to single precision: a large `tol` stops before."""
    if not np.all(np.abs(y * np.exp(y) - z) <= 1e-7 * np.abs(z)):
        raise Refusal(None, "`lambertw` with so large a `tol` solves no equation, and has no derivative: leave it out")
    return True


flat(is_solution)


@lambertw.instead(lambda tol: not (tol.known and isinstance(tol.value, (int, float)) and tol.value <= 1e-6))
def _(g, y, z, k=0, tol=1e-8):
    return np.where(is_solution(y, z), g * np.exp(-y) / (1.0 + y), 0.0)


of_complex_numbers(
    special.hankel1, special.hankel2, special.hankel1e, special.hankel2e, special.hyp0f1, special.hyp2f1,
    special.wrightomega, special.lambertw,
)  # fmt: skip
complex_of_real_numbers(special.hankel1, special.hankel2, special.hankel1e, special.hankel2e, special.lambertw)


@ive.refined(lambda complex: complex)  # the factor of the real part is not holomorphic
def _(g, y, v, x):
    slope = 0.5 * (special.ive(v - 1.0, x) + special.ive(v + 1.0, x))
    return None, g * slope - np.real(g * y) * np.sign(np.real(x))


@ive.forward(lambda complex: complex)
def _(y, v, x, v_dot, x_dot):
    slope = 0.5 * (special.ive(v - 1.0, x) + special.ive(v + 1.0, x))
    return None, x_dot * slope - y * np.real(x_dot) * np.sign(np.real(x))


of_complex_numbers(
    special.jv, special.yv, special.iv, special.ive, special.kv, special.kve, special.hyp1f1, special.exp1, special.expi
)
