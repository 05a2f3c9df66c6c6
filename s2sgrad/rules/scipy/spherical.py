"""Rules of scipy.special, continued: spherical Bessel functions and harmonics, derivatives of Bessel functions, counts.

    y = spherical_jn(0, z)        ->  z_bar = -y_bar * spherical_jn(1, z)
    y = jvp(v, z, n)              ->  z_bar = y_bar * jvp(v, z, n + 1)
    y = comb(N, k)                ->  N_bar = y_bar * y * (digamma(N + 1) - digamma(N - k + 1))
    Y = sph_harm_y(n, m, t, p)    ->  p_bar = Y_bar * 1j * m * Y; t_bar by the harmonics of the orders m - 1 and m + 1

(DLMF 10.51.2, 10.51.5; Edmonds, *Angular Momentum in Quantum Mechanics*, 1957, 2.5.)  Orders are constants.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.formulas import whole
from s2sgrad.rules.table import Rule, complex_of_real_numbers, elementwise, existing, general, of_complex_numbers
from s2sgrad.runtime import product

# --- spherical Bessel functions --------------------------------------------------------------------------------------


def neighbours(function, n, z, below, above, derivative):
    """The sum of the functions of the orders beside `n`, as their derivatives are made of them."""
    n = whole(n)
    before = n / (2.0 * n + 1.0) * function(np.maximum(n - 1, 0), z, derivative)
    return below * before + above * (n + 1.0) / (2.0 * n + 1.0) * function(n + 1, z, derivative)


@elementwise(special.spherical_jn)
def spherical_jn(g, y, n, z, derivative=False):
    return None, g * neighbours(special.spherical_jn, n, z, 1.0, -1.0, derivative)


@elementwise(special.spherical_yn)
def spherical_yn(g, y, n, z, derivative=False):
    return None, g * neighbours(special.spherical_yn, n, z, 1.0, -1.0, derivative)


@elementwise(special.spherical_in)
def spherical_in(g, y, n, z, derivative=False):
    return None, g * neighbours(special.spherical_in, n, z, 1.0, 1.0, derivative)


@elementwise(special.spherical_kn)
def spherical_kn(g, y, n, z, derivative=False):
    return None, g * neighbours(special.spherical_kn, n, z, -1.0, -1.0, derivative)


# --- derivatives of Bessel functions ---------------------------------------------------------------------------------


@elementwise(special.jvp)
def jvp(g, y, v, z, n=1):
    return None, g * special.jvp(v, z, n + 1)


@elementwise(special.yvp)
def yvp(g, y, v, z, n=1):
    return None, g * special.yvp(v, z, n + 1)


@elementwise(special.ivp)
def ivp(g, y, v, z, n=1):
    return None, g * special.ivp(v, z, n + 1)


@elementwise(special.kvp)
def kvp(g, y, v, z, n=1):
    return None, g * special.kvp(v, z, n + 1)


@elementwise(special.h1vp)
def h1vp(g, y, v, z, n=1):
    return None, g * special.h1vp(v, z, n + 1)


@elementwise(special.h2vp)
def h2vp(g, y, v, z, n=1):
    return None, g * special.h2vp(v, z, n + 1)


of_complex_numbers(special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp)
complex_of_real_numbers(special.h1vp, special.h2vp)

# --- harmonics -------------------------------------------------------------------------------------------------------


def harmonic_in_theta(n, m, theta, phi):
    """The slope in the polar angle."""
    up = np.sqrt((n - m) * (n + m + 1.0)) * np.exp(-1j * phi) * special.sph_harm_y(n, np.minimum(m + 1, n), theta, phi)
    down = np.sqrt((n + m) * (n - m + 1.0)) * np.exp(1j * phi) * special.sph_harm_y(n, np.maximum(m - 1, -n), theta, phi)
    return np.where(np.sin(theta) < 0.0, -0.5, 0.5) * (up - down)  # SciPy takes the cosine alone of the angle


for _harmonic in existing(special, "sph_harm_y"):

    @elementwise(_harmonic)
    def sph_harm_y(g, y, n, m, theta, phi, *, diff_n=0):
        return None, None, g * harmonic_in_theta(n, m, theta, phi), g * 1j * m * y

    of_complex_numbers(_harmonic)
    complex_of_real_numbers(_harmonic)
    sph_harm_y.refuse(
        lambda diff_n: not diff_n.known or diff_n.value != 0,
        "`sph_harm_y` with `diff_n` has no derivative rule: call it without",
    )

# --- Riccati and Bessel: x times the spherical functions of all orders, and their slopes ------------------------------


def bending(x, y):
    """What a function of each order is multiplied by in its second derivative: DLMF 10.47.1."""
    n = np.arange(1.0 * np.size(y))
    return n * (n + 1.0) / (x * x) - 1.0


@general(special.riccati_jn)
def riccati_jn(g, y, n, x):
    return None, np.sum(g[0] * y[1] + g[1] * bending(x, y[0]) * y[0])


@general(special.riccati_yn)
def riccati_yn(g, y, n, x):
    return None, np.sum(g[0] * y[1] + g[1] * bending(x, y[0]) * y[0])


for _riccati in (riccati_jn, riccati_yn):

    @_riccati.forward()
    def _(y, n, x, n_dot, x_dot):
        return None, (x_dot * y[1], x_dot * bending(x, y[0]) * y[0])


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    for _name in ("n", "v", "m"):
        if _name in _rule.differentiable:
            _rule.constant(_name)

# --- counts ----------------------------------------------------------------------------------------------------------


@elementwise(special.comb)
def comb(g, y, N, k, *, exact=False, repetition=False):
    rest = special.digamma(N - k + 1.0)
    return product(g * y, special.digamma(N + 1.0) - rest), product(g * y, rest - special.digamma(k + 1.0))


@elementwise(special.perm)
def perm(g, y, N, k, exact=False):
    rest = special.digamma(N - k + 1.0)
    return product(g * y, special.digamma(N + 1.0) - rest), product(g * y, rest)


@elementwise(special.factorial)
def factorial(g, y, n, exact=False, extend="zero"):
    return product(g * y, special.digamma(n + 1.0))


for _rule in (comb, perm, factorial):
    _rule.refuse(
        lambda exact: not exact.known or exact.value,
        "exact counts have no derivative rule: leave out `exact`, which gives the formula of the gamma function",
    )
comb.refuse(
    lambda repetition: not repetition.known or repetition.value,
    "`comb` with `repetition` has no derivative rule: write special.comb(N + k - 1, k)",
)
factorial.refuse(
    lambda extend: not extend.known or extend.value != "zero",
    "`factorial` with `extend` has no derivative rule: use special.gamma(n + 1)",
)
