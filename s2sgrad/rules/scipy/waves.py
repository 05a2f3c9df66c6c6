"""Rules of functions that come with their slopes: Airy, parabolic cylinder, Mathieu, spheroidal wave functions.

    ai, aip, bi, bip = special.airy(x)     ->     x_bar = ai_bar * aip + aip_bar * x * ai + bi_bar * bip + bip_bar * x * bi

Each is given with its first derivative, and the second follows from the differential equation.  Orders, characteristic
values and other parameters are constants.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.table import complex_of_real_numbers, elementwise, flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal, product, unbroadcast

# --- Airy: DLMF 9.2.1 --------------------------------------------------------------------------------------------------


@general(special.airy)
def airy(g, y, z):
    return g[0] * y[1] + g[1] * z * y[0] + g[2] * y[3] + g[3] * z * y[2]


@airy.forward()
def _(y, z, z_dot):
    return z_dot * y[1], z_dot * z * y[0], z_dot * y[3], z_dot * z * y[2]


@general(special.airye)  # times exp(2 / 3 * z ** 1.5), the others times its reciprocal
def airye(g, y, z):
    root = np.sqrt(np.maximum(z, 0.0))
    falling = product(g[0], y[1] + root * y[0]) + product(g[1], z * y[0] + root * y[1])
    return falling + g[2] * (y[3] - root * y[2]) + g[3] * (z * y[2] - root * y[3])


@airye.forward()
def _(y, z, z_dot):
    root = z_dot * np.sqrt(np.maximum(z, 0.0))
    falling = z_dot * y[1] + root * y[0], z_dot * z * y[0] + root * y[1]
    return falling[0], falling[1], z_dot * y[3] - root * y[2], z_dot * z * y[2] - root * y[3]


# --- Kelvin functions: DLMF 10.61 --------------------------------------------------------------------------------------


@elementwise(special.ber)
def ber(g, y, x):
    return g * special.berp(x)


@elementwise(special.bei)
def bei(g, y, x):
    return g * special.beip(x)


@elementwise(special.ker)
def ker(g, y, x):
    return g * special.kerp(x)


@elementwise(special.kei)
def kei(g, y, x):
    return g * special.keip(x)


@elementwise(special.berp)
def berp(g, y, x):
    return -g * (special.bei(x) + y / x)


@elementwise(special.beip)
def beip(g, y, x):
    return g * (special.ber(x) - y / x)


@elementwise(special.kerp)
def kerp(g, y, x):
    return -g * (special.kei(x) + y / x)


@elementwise(special.keip)
def keip(g, y, x):
    return g * (special.ker(x) - y / x)


@general(special.kelvin)
def kelvin(g, y, x):
    first = g[0] * y[2] + product(g[1], y[3])
    second = product(g[2], 1j * y[0] - y[2] / x) + product(g[3], 1j * y[1] - y[3] / x)
    return np.real(first + second)


@kelvin.forward()
def _(y, x, x_dot):
    return x_dot * y[2], x_dot * y[3], x_dot * (1j * y[0] - y[2] / x), x_dot * (1j * y[1] - y[3] / x)


of_complex_numbers(special.kelvin)  # of which SciPy has none, but its results are
complex_of_real_numbers(special.kelvin)


# --- Dirichlet's kernel: sin(n * x / 2) / (n * sin(x / 2)), flat at its periods ---------------------------------------


@elementwise(special.diric)
def diric(g, y, x, n):
    low = np.sin(0.5 * x)
    at = np.abs(low) < 1e-5
    near = y * (1.0 - n * n) / 12.0 * np.sin(x)
    return g * np.where(at, near, 0.5 * (np.cos(0.5 * n * x) - y * np.cos(0.5 * x)) / np.where(at, 1.0, low)), None


diric.constant("n")

# --- parabolic cylinder functions: DLMF 12.2 ---------------------------------------------------------------------------


@general(special.pbdv)
def pbdv(g, y, v, x):
    return None, unbroadcast(g[0] * y[1] + g[1] * (0.25 * x * x - v - 0.5) * y[0], x)


@pbdv.forward()
def _(y, v, x, v_dot, x_dot):
    return None, (x_dot * y[1], x_dot * (0.25 * x * x - v - 0.5) * y[0])


@general(special.pbvv)
def pbvv(g, y, v, x):
    return None, unbroadcast(g[0] * y[1] + g[1] * (0.25 * x * x - v - 0.5) * y[0], x)


@pbvv.forward()
def _(y, v, x, v_dot, x_dot):
    return None, (x_dot * y[1], x_dot * (0.25 * x * x - v - 0.5) * y[0])


@general(special.pbwa)
def pbwa(g, y, a, x):
    return None, unbroadcast(g[0] * y[1] + g[1] * (a - 0.25 * x * x) * y[0], x)


@pbwa.forward()
def _(y, a, x, a_dot, x_dot):
    return None, (x_dot * y[1], x_dot * (a - 0.25 * x * x) * y[0])


def orders_until(v, y):
    """The orders of a sequence until `v`, two at least; of negative ones SciPy computes a slope 0 that is none."""
    if v < 0.0:
        raise Refusal(None, "a sequence of parabolic cylinder functions of negative orders has no derivative rule")
    return v - np.trunc(v) + np.arange(1.0 * np.size(y))


def slopes_of_slopes(y, v, x):
    """The second derivatives of a sequence: y" = (x^2 / 4 - v - 1/2) y, DLMF 12.2.2 with a = -v - 1/2."""
    return (0.25 * x * x - orders_until(v, y[0]) - 0.5) * y[0]


def of_sequences(y, v, x, v_dot, x_dot):
    return None, (x_dot * y[1], x_dot * slopes_of_slopes(y, v, x))


@general(special.pbdv_seq)
def pbdv_seq(g, y, v, x):
    return None, np.sum(g[0] * y[1] + g[1] * slopes_of_slopes(y, v, x))


@general(special.pbvv_seq)
def pbvv_seq(g, y, v, x):
    return None, np.sum(g[0] * y[1] + g[1] * slopes_of_slopes(y, v, x))


pbdv_seq.forward()(of_sequences)
pbvv_seq.forward()(of_sequences)
pbdv_seq.constant("v")
pbvv_seq.constant("v")
flat(orders_until)
pbdv.constant("v")
pbvv.constant("v")
pbwa.constant("a")

# --- Mathieu functions of an angle in degrees, and modified ones: DLMF 28.2.1, 28.20.1 ---------------------------------

DEGREE = math.pi / 180.0


def mathieu_bar(g, y, value, q, x):
    """The cotangent of the angle; SciPy's slopes are those in radians."""
    return DEGREE * (g[0] * y[1] + g[1] * product(2.0 * q * special.cosdg(2.0 * x) - value, y[0]))


@general(special.mathieu_cem)
def mathieu_cem(g, y, m, q, x):
    return None, None, unbroadcast(mathieu_bar(g, y, special.mathieu_a(m, q), q, x), x)


@mathieu_cem.forward()
def _(y, m, q, x, m_dot, q_dot, x_dot):
    curve = (2.0 * q * special.cosdg(2.0 * x) - special.mathieu_a(m, q)) * y[0]
    return None, None, (DEGREE * x_dot * y[1], DEGREE * x_dot * curve)


@general(special.mathieu_sem)
def mathieu_sem(g, y, m, q, x):
    return None, None, unbroadcast(mathieu_bar(g, y, special.mathieu_b(m, q), q, x), x)


@mathieu_sem.forward()
def _(y, m, q, x, m_dot, q_dot, x_dot):
    curve = product(2.0 * q * special.cosdg(2.0 * x) - special.mathieu_b(m, q), y[0])  # of order 0 it is 0, not nan
    return None, None, (DEGREE * x_dot * y[1], DEGREE * x_dot * curve)


def modified_bar(g, y, value, q, x):
    """The cotangent of the argument of a modified Mathieu function."""
    return g[0] * y[1] + g[1] * (value - 2.0 * q * np.cosh(2.0 * x)) * y[0]


@general(special.mathieu_modcem1, special.mathieu_modcem2)
def mathieu_modcem(g, y, m, q, x):
    return None, None, unbroadcast(modified_bar(g, y, special.mathieu_a(m, q), q, x), x)


@mathieu_modcem.forward()
def _(y, m, q, x, m_dot, q_dot, x_dot):
    curve = (special.mathieu_a(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]
    return None, None, (x_dot * y[1], x_dot * curve)


@general(special.mathieu_modsem1, special.mathieu_modsem2)
def mathieu_modsem(g, y, m, q, x):
    return None, None, unbroadcast(modified_bar(g, y, special.mathieu_b(m, q), q, x), x)


@mathieu_modsem.forward()
def _(y, m, q, x, m_dot, q_dot, x_dot):
    curve = (special.mathieu_b(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]
    return None, None, (x_dot * y[1], x_dot * curve)


for _rule in (mathieu_cem, mathieu_sem, mathieu_modcem, mathieu_modsem):
    _rule.constant("m")
    _rule.constant("q")

# --- spheroidal wave functions: DLMF 30.2.1; the square of c is negative for oblate ones, whose radius is imaginary -----


def spheroidal_curve(y, m, value, square, x):
    """The second derivative of a spheroidal wave function with the characteristic value `value`."""
    rest = 1.0 - x * x
    return (2.0 * x * y[1] - (value - square * x * x - m * m / rest) * y[0]) / rest


def oblate_radial_curve(y, m, value, c, x):
    """That of an oblate radial function."""
    more = 1.0 + x * x
    return ((value - c * c * x * x - m * m / more) * y[0] - 2.0 * x * y[1]) / more


def characteristic(cv, value):
    """`cv`, where it is the characteristic value: with another one, SciPy's sums solve no equation."""
    if not np.all(np.isclose(cv, value, 1e-6, 1e-6)):
        raise Refusal(None, "spheroidal functions have a derivative rule where `cv` is what `pro_cv` or `obl_cv` gives")
    return cv


def sound(first, second, wronskian):
    """1, where the Wronskian of the radial functions says that SciPy's value of the second is one."""
    left, right = first[0] * second[1], first[1] * second[0]
    if np.any(np.abs(left - right - wronskian) > 1e-5 * (np.abs(left) + np.abs(right))):
        raise Refusal(None, "SciPy's spheroidal function of the second kind is too inaccurate here for a derivative")
    return 1.0


flat(characteristic, sound)


@general(special.pro_ang1, special.pro_rad1)
def prolate(g, y, m, n, c, x):
    curve = spheroidal_curve(y, m, special.pro_cv(m, n, c), c * c, x)
    return None, None, None, unbroadcast(g[0] * y[1] + g[1] * curve, x)


@prolate.forward()
def _(y, m, n, c, x, m_dot, n_dot, c_dot, x_dot):
    curve = spheroidal_curve(y, m, special.pro_cv(m, n, c), c * c, x)
    return None, None, None, (x_dot * y[1], x_dot * curve)


@general(special.pro_rad2)
def prolate_second(g, y, m, n, c, x):
    one = sound(special.pro_rad1(m, n, c, x), y, 1.0 / (c * (x * x - 1.0)))
    curve = spheroidal_curve(y, m, special.pro_cv(m, n, c), c * c, x)
    return None, None, None, unbroadcast(one * (g[0] * y[1] + g[1] * curve), x)


@prolate_second.forward()
def _(y, m, n, c, x, m_dot, n_dot, c_dot, x_dot):
    one = sound(special.pro_rad1(m, n, c, x), y, 1.0 / (c * (x * x - 1.0)))
    return None, None, None, (one * x_dot * y[1], one * x_dot * spheroidal_curve(y, m, special.pro_cv(m, n, c), c * c, x))


@general(special.pro_ang1_cv, special.pro_rad1_cv)
def prolate_of_value(g, y, m, n, c, cv, x):
    value = characteristic(cv, special.pro_cv(m, n, c))
    return None, None, None, None, unbroadcast(g[0] * y[1] + g[1] * spheroidal_curve(y, m, value, c * c, x), x)


@prolate_of_value.forward()
def _(y, m, n, c, cv, x, m_dot, n_dot, c_dot, cv_dot, x_dot):
    value = characteristic(cv, special.pro_cv(m, n, c))
    return None, None, None, None, (x_dot * y[1], x_dot * spheroidal_curve(y, m, value, c * c, x))


@general(special.pro_rad2_cv)
def prolate_second_of_value(g, y, m, n, c, cv, x):
    value = characteristic(cv, special.pro_cv(m, n, c))
    one = sound(special.pro_rad1(m, n, c, x), y, 1.0 / (c * (x * x - 1.0)))
    return None, None, None, None, unbroadcast(one * (g[0] * y[1] + g[1] * spheroidal_curve(y, m, value, c * c, x)), x)


@prolate_second_of_value.forward()
def _(y, m, n, c, cv, x, m_dot, n_dot, c_dot, cv_dot, x_dot):
    value = characteristic(cv, special.pro_cv(m, n, c))
    one = sound(special.pro_rad1(m, n, c, x), y, 1.0 / (c * (x * x - 1.0)))
    return None, None, None, None, (one * x_dot * y[1], one * x_dot * spheroidal_curve(y, m, value, c * c, x))


@general(special.obl_ang1)
def oblate_angular(g, y, m, n, c, x):
    curve = spheroidal_curve(y, m, special.obl_cv(m, n, c), -c * c, x)
    return None, None, None, unbroadcast(g[0] * y[1] + g[1] * curve, x)


@oblate_angular.forward()
def _(y, m, n, c, x, m_dot, n_dot, c_dot, x_dot):
    curve = spheroidal_curve(y, m, special.obl_cv(m, n, c), -c * c, x)
    return None, None, None, (x_dot * y[1], x_dot * curve)


@general(special.obl_ang1_cv)
def oblate_angular_of_value(g, y, m, n, c, cv, x):
    value = characteristic(cv, special.obl_cv(m, n, c))
    return None, None, None, None, unbroadcast(g[0] * y[1] + g[1] * spheroidal_curve(y, m, value, -c * c, x), x)


@oblate_angular_of_value.forward()
def _(y, m, n, c, cv, x, m_dot, n_dot, c_dot, cv_dot, x_dot):
    value = characteristic(cv, special.obl_cv(m, n, c))
    return None, None, None, None, (x_dot * y[1], x_dot * spheroidal_curve(y, m, value, -c * c, x))


@general(special.obl_rad1)
def oblate_radial(g, y, m, n, c, x):
    curve = oblate_radial_curve(y, m, special.obl_cv(m, n, c), c, x)
    return None, None, None, unbroadcast(g[0] * y[1] + g[1] * curve, x)


@oblate_radial.forward()
def _(y, m, n, c, x, m_dot, n_dot, c_dot, x_dot):
    curve = oblate_radial_curve(y, m, special.obl_cv(m, n, c), c, x)
    return None, None, None, (x_dot * y[1], x_dot * curve)


@general(special.obl_rad2)
def oblate_second(g, y, m, n, c, x):
    one = sound(special.obl_rad1(m, n, c, x), y, np.divide(1.0, c * (x * x + 1.0)))
    curve = oblate_radial_curve(y, m, special.obl_cv(m, n, c), c, x)
    return None, None, None, unbroadcast(one * (g[0] * y[1] + g[1] * curve), x)


@oblate_second.forward()
def _(y, m, n, c, x, m_dot, n_dot, c_dot, x_dot):
    one = sound(special.obl_rad1(m, n, c, x), y, np.divide(1.0, c * (x * x + 1.0)))
    return None, None, None, (one * x_dot * y[1], one * x_dot * oblate_radial_curve(y, m, special.obl_cv(m, n, c), c, x))


@general(special.obl_rad1_cv)
def oblate_radial_of_value(g, y, m, n, c, cv, x):
    value = characteristic(cv, special.obl_cv(m, n, c))
    return None, None, None, None, unbroadcast(g[0] * y[1] + g[1] * oblate_radial_curve(y, m, value, c, x), x)


@oblate_radial_of_value.forward()
def _(y, m, n, c, cv, x, m_dot, n_dot, c_dot, cv_dot, x_dot):
    value = characteristic(cv, special.obl_cv(m, n, c))
    return None, None, None, None, (x_dot * y[1], x_dot * oblate_radial_curve(y, m, value, c, x))


@general(special.obl_rad2_cv)
def oblate_second_of_value(g, y, m, n, c, cv, x):
    value = characteristic(cv, special.obl_cv(m, n, c))
    one = sound(special.obl_rad1(m, n, c, x), y, np.divide(1.0, c * (x * x + 1.0)))
    return None, None, None, None, unbroadcast(one * (g[0] * y[1] + g[1] * oblate_radial_curve(y, m, value, c, x)), x)


@oblate_second_of_value.forward()
def _(y, m, n, c, cv, x, m_dot, n_dot, c_dot, cv_dot, x_dot):
    value = characteristic(cv, special.obl_cv(m, n, c))
    one = sound(special.obl_rad1(m, n, c, x), y, np.divide(1.0, c * (x * x + 1.0)))
    return None, None, None, None, (one * x_dot * y[1], one * x_dot * oblate_radial_curve(y, m, value, c, x))


SPHEROIDAL = (prolate, prolate_second, prolate_of_value, prolate_second_of_value, oblate_angular, oblate_angular_of_value,
              oblate_radial, oblate_second, oblate_radial_of_value, oblate_second_of_value)  # fmt: skip
for _rule in SPHEROIDAL:
    for _name in _rule.differentiable[:-1]:
        _rule.constant(_name)


of_complex_numbers(special.airy)
