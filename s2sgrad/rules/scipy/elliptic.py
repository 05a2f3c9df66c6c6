"""Rules of elliptic integrals, by DLMF 19.4.1 to 19.4.7 with the parameter m = k**2.

y = special.ellipe(m)          ->      m_bar = -0.5 * y_bar * complete(1, 1, m)
y = special.ellipkinc(phi, m)  ->      phi_bar = y_bar / np.sqrt(1.0 - m * np.sin(phi) ** 2)
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.table import elementwise, general
from s2sgrad.runtime import over, product, ratio, unbroadcast

# --- Carlson's integrals with any powers, which are their own slopes -----------------------------------------------------

STEP = 0.5
"""Of the trapezoidal rule in the logarithm of `t`: the integrand is analytic in a strip of 2 pi, and no digit is lost."""


def carlson(a, b, c, d, x, y, z, p, where=True):
    """The integral over `t > 0` of `(t + x)**-a * (t + y)**-b * (t + z)**-c * (t + p)**-d`, element by element.

    It is 0 where `where` is false, which costs nothing.  The sum of the powers exceeds 1.

    >>> bool(1.5 * carlson(0.5, 0.5, 1.5, 0.0, 1.0, 2.0, 3.0, 1.0) == special.elliprd(1.0, 2.0, 3.0))
    True
    """
    kind = np.result_type(x, y, z, p)
    x, y, z, p, where = np.broadcast_arrays(x, y, z, p, where)
    out = np.zeros(where.shape, kind)
    if where.any():
        out[where] = _trapezoid((a, b, c, d), np.stack([x[where], y[where], z[where], p[where]]))
    return out[()]


def _trapezoid(powers, bases):
    """What `carlson` is, of bases in rows; infinite where bases of 0 have powers of 1 and more together."""
    used = [k for k, power in enumerate(powers) if power]
    powers, bases = np.array(powers)[used, None], bases[used]
    size = np.max(bases, axis=0)
    bases = bases / size
    positive = bases[bases > 0.0]
    lowest = np.log(np.min(positive, initial=1.0)) - (80.0 if np.any(bases == 0.0) else 40.0)
    t = np.exp(np.arange(lowest, 40.0 / (np.sum(powers) - 1.0), STEP))
    with np.errstate(all="ignore"):
        terms = np.prod((t[:, None, None] + bases) ** -powers, axis=1)
        total = STEP * np.sum(t[:, None] * terms, axis=0) * size ** (1.0 - np.sum(powers))
    return np.where(np.sum(np.where(bases == 0.0, powers, 0.0), axis=0) >= 1.0, np.inf, total)


@elementwise(carlson)
def carlson_rule(g, v, a, b, c, d, x, y, z, p, where=True):
    in_x = -a * carlson(a + 1.0, b, c, d, x, y, z, p, where)
    in_y = -b * carlson(a, b + 1.0, c, d, x, y, z, p, where)
    in_z = -c * carlson(a, b, c + 1.0, d, x, y, z, p, where)
    in_p = -d * carlson(a, b, c, d + 1.0, x, y, z, p, where)
    return None, None, None, None, g * in_x, g * in_y, g * in_z, g * in_p


for _name in "abcd":
    carlson_rule.constant(_name)


# --- Legendre's: integrals of powers of sines and of roots, which are their own slopes -----------------------------------


def legendre(k, n, phi, m):
    """The integral up to `phi` of `sin(t)**(2 * k) * (1 - m * sin(t)**2)**(-n / 2)`, by Carlson's; whole periods added.

    >>> bool(np.isclose(legendre(0, 1, 4.0, 0.3), special.ellipkinc(4.0, 0.3), rtol=1e-14))
    True
    """
    turns = np.round(np.divide(phi, math.pi))
    whole = _legendre(k, n, np.minimum(np.abs(turns), 1.0), m)
    return _legendre(k, n, np.sin(phi - math.pi * turns), m) + 2.0 * turns * whole


def complete(k, n, m):
    """The same up to a quarter of a period.

    >>> bool(complete(0, 1, 0.3) == special.ellipk(0.3))
    True
    """
    return _legendre(k, n, 1.0, m)


def _legendre(k, n, sine, m):
    """The same up to a quarter of a period, by the sine of its end."""
    square, root = 1.0 - sine * sine, 1.0 - np.multiply(m, sine * sine)
    if (k, n) == (1, 1):
        return sine**3 / 3.0 * special.elliprd(square, root, 1.0)
    if (k, n) == (1, 3):
        return sine**3 / 3.0 * special.elliprd(square, 1.0, root)
    return 0.5 * sine ** (2 * k + 1) * carlson(0.5, 0.5 * n, k + 1.0 - 0.5 * n, 0.0, square, root, 1.0, 1.0)


@elementwise(legendre)
def legendre_rule(g, v, k, n, phi, m):
    sine = np.sin(phi)
    in_phi = sine ** (2 * k) * (1.0 - m * sine * sine) ** (-0.5 * n)
    return None, None, g * in_phi, g * (0.5 * n) * legendre(k + 1, n + 2, phi, m)


@elementwise(complete)
def complete_rule(g, v, k, n, m):
    return None, None, g * (0.5 * n) * complete(k + 1, n + 2, m)


for _rule in (legendre_rule, complete_rule):
    _rule.constant("k")
    _rule.constant("n")


@elementwise(special.ellipk)
def ellipk(g, y, m):
    return 0.5 * g * complete(1, 3, m)


@elementwise(special.ellipkm1)
def ellipkm1(g, y, p):
    return -g / 6.0 * special.elliprd(0.0, 1.0, p)


@elementwise(special.ellipe)
def ellipe(g, y, m):
    return -0.5 * g * complete(1, 1, m)


@elementwise(special.ellipkinc)
def ellipkinc(g, y, phi, m):
    return g / np.sqrt(1.0 - m * np.sin(phi) ** 2), 0.5 * g * legendre(1, 3, phi, m)


@elementwise(special.ellipeinc)
def ellipeinc(g, y, phi, m):
    return g * np.sqrt(1.0 - m * np.sin(phi) ** 2), -0.5 * g * legendre(1, 1, phi, m)


# --- Jacobi's functions: of the amplitude at which ellipkinc is u (DLMF 22.16.11), by the implicit function theorem ------


@general(special.ellipj)
def ellipj(g, y, u, m):  # y: sn, cn, dn and the amplitude
    in_ph = g[0] * y[1] - g[1] * y[0] - g[2] * m * y[0] * y[1] / y[2] + g[3]
    in_m = -in_ph * y[2] * (0.5 * legendre(1, 3, y[3], m)) - 0.5 * g[2] * y[0] * y[0] / y[2]
    return unbroadcast(in_ph * y[2], u), unbroadcast(in_m, m)


@ellipj.forward()
def _(y, u, m, u_dot, m_dot):
    by_m = -y[2] * (0.5 * legendre(1, 3, y[3], m)) * m_dot
    in_u = u_dot * y[2] * y[1], -u_dot * y[2] * y[0], -u_dot * m * y[0] * y[1], u_dot * y[2]
    in_m = by_m * y[1], -by_m * y[0], -(by_m * m * y[0] * y[1] + 0.5 * m_dot * y[0] * y[0]) / y[2], by_m
    return in_u, in_m


# --- Carlson's symmetric integrals: DLMF 19.18.1, 19.16.5 ------------------------------------------------------------------


@elementwise(special.elliprf)
def elliprf(g, v, x, y, z):
    return -g / 6.0 * special.elliprd(y, z, x), -g / 6.0 * special.elliprd(z, x, y), -g / 6.0 * special.elliprd(x, y, z)


@elementwise(special.elliprc)
def elliprc(g, v, x, y):
    in_x = np.where(np.greater(y, 0.0), -special.elliprd(y, y, x) / 6.0, over(0.5 * (v - over(1.0, np.sqrt(x))), y - x))
    return g * in_x, -g * over(0.5 * v + product(x, in_x), y)  # homogeneous, of degree -1 / 2


def near(x, z):
    """Whether two arguments are so close that a difference of integrals by theirs would lose digits."""
    return np.greater(np.add(x, z), 0.0) & np.less_equal(np.abs(np.subtract(x, z)), 0.02 * np.add(x, z))


def d_slope(x, y, z, v):
    """The slope of `special.elliprd(x, y, z)`, which is `v`, in `x`: by partial fractions of the integrand, DLMF 19.16.5."""
    close = near(x, z)
    apart = ratio(0.5 * (special.elliprd(y, z, x) - v), np.where(close, 1.0, x - z))
    return np.where(close, -0.75 * carlson(1.5, 0.5, 1.5, 0.0, x, y, z, 1.0, close), apart)[()]


@elementwise(special.elliprd)  # homogeneous, of degree -3 / 2
def elliprd(g, v, x, y, z):
    in_x = d_slope(x, y, z, v)
    in_y = d_slope(y, x, z, v)
    return g * in_x, g * in_y, -g * (1.5 * v + product(x, in_x) + product(y, in_y)) / z


def g_slope(x, y, z, v):
    """The slope of `special.elliprg(x, y, z)`, which is `v`, in `x`; it is half the root of `x` where the others are 0."""
    slope = special.elliprf(x, y, z) - product(x / 3.0, special.elliprd(y, z, x))
    return np.where(np.add(y, z) == 0.0, over(0.5 * v, x), 0.25 * slope)[()]


@elementwise(special.elliprg)
def elliprg(g, v, x, y, z):
    return g * g_slope(x, y, z, v), g * g_slope(y, z, x, v), g * g_slope(z, x, y, v)


def j_slope(x, y, z, p, v):
    """The slope of `special.elliprj(x, y, z, p)`, which is `v`, in `x`, likewise."""
    close = near(x, p)
    apart = ratio(0.5 * (special.elliprd(y, z, x) - v), np.where(close, 1.0, x - p))
    return np.where(close, -0.75 * carlson(1.5, 0.5, 0.5, 1.0, x, y, z, p, close), apart)[()]


@elementwise(special.elliprj)
def elliprj(g, v, x, y, z, p):
    in_x = j_slope(x, y, z, p, v)
    in_y = j_slope(y, z, x, p, v)
    in_z = j_slope(z, x, y, p, v)
    whole = 1.5 * v + product(x, in_x) + product(y, in_y) + product(z, in_z)
    return g * in_x, g * in_y, g * in_z, -g * whole / p
