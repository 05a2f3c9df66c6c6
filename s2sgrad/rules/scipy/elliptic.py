"""Rules of elliptic integrals, by DLMF 19.4.1 to 19.4.7 with the parameter m = k**2.

y = special.ellipe(m)          ->      m_bar = y_bar * -0.5 * legendre_d(m)
y = special.ellipkinc(phi, m)  ->      phi_bar = y_bar / np.sqrt(1.0 - m * np.sin(phi) ** 2)
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.table import elementwise, general
from s2sgrad.runtime import over, product, ratio, unbroadcast


def legendre_d(m):
    """The complete elliptic integral D(m) = (K(m) - E(m)) / m, finite at 0 (DLMF 19.2.6).

    >>> float(legendre_d(0.0)) == np.pi / 4.0
    True
    """
    safe = np.where(m == 0.0, 0.5, m)
    return np.where(m == 0.0, 0.25 * np.pi, (special.ellipk(safe) - special.ellipe(safe)) / safe)


@elementwise(legendre_d)
def _(g, y, m):
    safe = np.where(m == 0.0, 0.5, m)
    slope = (special.ellipk(safe) - 2.0 * y + safe * y) / (2.0 * safe * (1.0 - safe))
    return g * np.where(m == 0.0, 0.09375 * np.pi, slope)


@elementwise(special.ellipk)
def ellipk(g, y, m):
    return g * (y - legendre_d(m)) / (2.0 * (1.0 - m))


@elementwise(special.ellipkm1)
def ellipkm1(g, y, p):
    return -g * (y - legendre_d(1.0 - p)) / (2.0 * p)


@elementwise(special.ellipe)
def ellipe(g, y, m):
    return -0.5 * g * legendre_d(m)


def legendre_d_until(phi, m):
    """The incomplete integral (F - E) / m at the amplitude `phi`, by Carlson's (DLMF 19.25.13), whole periods added.

    >>> bool(np.isclose(legendre_d_until(4.0, 0.3), (special.ellipkinc(4.0, 0.3) - special.ellipeinc(4.0, 0.3)) / 0.3))
    True
    """
    turns = np.round(phi / math.pi)
    sine = np.sin(phi - math.pi * turns)
    rest = sine**3 / 3.0 * special.elliprd(1.0 - sine * sine, 1.0 - m * sine * sine, np.ones_like(sine))
    return rest + 2.0 * turns * legendre_d(m)


@elementwise(legendre_d_until)
def _(g, y, phi, m):
    in_phi = np.sin(phi) ** 2 / np.sqrt(1.0 - m * np.sin(phi) ** 2)
    safe = np.where(m == 0.0, 0.5, m)
    slope = (ellipkinc_in_m(phi, safe) - 0.5 * y) / safe
    return g * in_phi, g * np.where(
        m == 0.0, 0.03125 * (6.0 * phi - 4.0 * np.sin(2.0 * phi) + 0.5 * np.sin(4.0 * phi)), slope
    )


def ellipkinc_in_m(phi, m):
    """The slope of `special.ellipkinc(phi, m)` in `m`."""
    root = np.sqrt(1.0 - m * np.sin(phi) ** 2)
    slope = special.ellipkinc(phi, m) - legendre_d_until(phi, m) - 0.5 * np.sin(2.0 * phi) / root
    return slope / (2.0 * (1.0 - m))


@elementwise(special.ellipkinc)
def ellipkinc(g, y, phi, m):
    return g / np.sqrt(1.0 - m * np.sin(phi) ** 2), g * ellipkinc_in_m(phi, m)


@elementwise(special.ellipeinc)
def ellipeinc(g, y, phi, m):
    return g * np.sqrt(1.0 - m * np.sin(phi) ** 2), -0.5 * g * legendre_d_until(phi, m)


# --- Jacobi's functions: of the amplitude at which ellipkinc is u (DLMF 22.16.11), by the implicit function theorem ------


@general(special.ellipj)
def ellipj(g, y, u, m):  # y: sn, cn, dn and the amplitude
    in_ph = g[0] * y[1] - g[1] * y[0] - g[2] * m * y[0] * y[1] / y[2] + g[3]
    in_m = -in_ph * y[2] * ellipkinc_in_m(y[3], m) - 0.5 * g[2] * y[0] * y[0] / y[2]
    return unbroadcast(in_ph * y[2], u), unbroadcast(in_m, m)


@ellipj.forward()
def _(y, u, m, u_dot, m_dot):
    by_m = -y[2] * ellipkinc_in_m(y[3], m) * m_dot
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


def d_slope(x, y, z, v):
    """The slope of `special.elliprd(x, y, z)`, which is `v`, in `x`: by partial fractions of the integrand, DLMF 19.16.5."""
    return ratio(0.5 * (special.elliprd(y, z, x) - v), x - z)  # nan where they are equal: the limit is another formula


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
    return ratio(0.5 * (special.elliprd(y, z, x) - v), x - p)


@elementwise(special.elliprj)
def elliprj(g, v, x, y, z, p):
    in_x = j_slope(x, y, z, p, v)
    in_y = j_slope(y, z, x, p, v)
    in_z = j_slope(z, x, y, p, v)
    whole = 1.5 * v + product(x, in_x) + product(y, in_y) + product(z, in_z)
    return g * in_x, g * in_y, g * in_z, -g * whole / p
