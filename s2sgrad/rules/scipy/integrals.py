"""Rules of functions that are integrals: their slopes are what is integrated.

    s, c = special.fresnel(z)     ->      z_bar = s_bar * sin(pi / 2 * z ** 2) + c_bar * cos(pi / 2 * z ** 2)
    y = special.spence(z)         ->      z_bar = -y_bar * special.hyp2f1(1, 1, 2, 1 - z)         # log(z) / (1 - z)

"DLMF" is the Digital Library of Mathematical Functions of NIST.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules.table import complex_of_real_numbers, elementwise, general, of_complex_numbers
from s2sgrad.runtime import over, product

# --- sine, cosine, Fresnel: DLMF 6.2, 7.2 ------------------------------------------------------------------------------


@general(special.sici)
def sici(g, y, x):
    return g[0] * np.sinc(x / math.pi) + product(g[1], np.cos(x) / x)


@sici.forward()
def _(y, x, x_dot):
    return x_dot * np.sinc(x / math.pi), x_dot * np.cos(x) / x


@general(special.shichi)
def shichi(g, y, x):  # sinh(x) / x is the mean of exprel on both sides
    return 0.5 * g[0] * (special.exprel(x) + special.exprel(-x)) + product(g[1], np.cosh(x) / x)


@shichi.forward()
def _(y, x, x_dot):
    return 0.5 * x_dot * (special.exprel(x) + special.exprel(-x)), x_dot * np.cosh(x) / x


@general(special.fresnel)
def fresnel(g, y, z):
    angle = 0.5 * math.pi * z * z
    return g[0] * np.sin(angle) + g[1] * np.cos(angle)


@fresnel.forward()
def _(y, z, z_dot):
    angle = 0.5 * math.pi * z * z
    return z_dot * np.sin(angle), z_dot * np.cos(angle)


# DLMF 7.2.8: the integral of exp(1j * t * t) from x on, and the same by exp(1j * (x * x + pi / 4)) * sqrt(pi); its conjugate


@general(special.modfresnelp)
def modfresnelp(g, y, x):
    own = 2j * x * y[1] + np.exp(-0.25j * math.pi) / math.sqrt(math.pi)
    return np.real(-g[0] * np.exp(1j * x * x) - g[1] * own)


@general(special.modfresnelm)
def modfresnelm(g, y, x):
    own = 2j * x * y[1] - np.exp(0.25j * math.pi) / math.sqrt(math.pi)
    return np.real(-g[0] * np.exp(-1j * x * x) + g[1] * own)


@modfresnelp.forward()
def _(y, x, x_dot):
    own = 2j * x * y[1] + np.exp(-0.25j * math.pi) / math.sqrt(math.pi)
    return -x_dot * np.exp(1j * x * x), -x_dot * own


@modfresnelm.forward()
def _(y, x, x_dot):
    own = 2j * x * y[1] - np.exp(0.25j * math.pi) / math.sqrt(math.pi)
    return -x_dot * np.exp(-1j * x * x), x_dot * own


of_complex_numbers(special.modfresnelp, special.modfresnelm)  # of which SciPy has none, but their results are
complex_of_real_numbers(special.modfresnelp, special.modfresnelm)


@elementwise(special.spence)
def spence(g, y, z):  # DLMF 25.12.1, 15.4.1
    return -g * special.hyp2f1(1.0, 1.0, 2.0, 1.0 - z)


# --- Faddeeva and Voigt functions: DLMF 7.10.2, 7.19 -------------------------------------------------------------------


@elementwise(special.wofz)
def wofz(g, y, z):
    return g * (2.0j / math.sqrt(math.pi) - 2.0 * z * y)


of_complex_numbers(special.wofz, special.spence)
complex_of_real_numbers(special.wofz)


def voigt_place(x, sigma, gamma):
    """Where the Faddeeva function is taken, whose real part the profile is, but for a factor."""
    return (x + 1.0j * gamma) / (sigma * math.sqrt(2.0))


def faddeeva_slope(z):
    """The slope of the Faddeeva function.

    >>> complex(faddeeva_slope(0j)) == 2j / np.sqrt(np.pi)
    True
    """
    return 2.0j / math.sqrt(math.pi) - 2.0 * z * special.wofz(z)


@elementwise(special.voigt_profile)
def voigt_profile(g, y, x, sigma, gamma):
    is_cauchy = np.equal(sigma, 0.0)
    square = x * x + gamma * gamma
    width = np.where(is_cauchy, 1.0, sigma)
    z = voigt_place(x, width, gamma)
    slope = faddeeva_slope(z)
    unit = 2.0 * math.sqrt(math.pi) * width * width
    in_sigma = -y / width - np.real(z * slope) / (math.sqrt(2.0 * math.pi) * width * width)
    in_x = np.where(is_cauchy, over(-2.0 * x * y, square), np.real(slope) / unit)
    in_gamma = np.where(is_cauchy, over(x * x - gamma * gamma, math.pi * square * square), -np.imag(slope) / unit)
    return g * in_x, g * np.where(is_cauchy, 0.0, in_sigma), g * in_gamma


# --- Owen's T: Owen (1956), and the distribution of Kolmogorov ---------------------------------------------------------


@elementwise(special.owens_t)
def owens_t(g, y, h, a):
    in_h = -np.exp(-0.5 * h * h) * special.erf(a * h / math.sqrt(2.0)) / (2.0 * math.sqrt(2.0 * math.pi))
    square = 1.0 + a * a
    return g * in_h, g * np.exp(-0.5 * h * h * square) / (2.0 * math.pi * square)


def kolmogorov_density(y):
    """The density of Kolmogorov's distribution: of two series, related by Jacobi's theta function, the one that converges.

    >>> slope = (special.kolmogorov(0.9 - 1e-6) - special.kolmogorov(0.9 + 1e-6)) / 2e-6
    >>> bool(np.isclose(kolmogorov_density(0.9), slope))
    True
    """
    far, near = np.maximum(y, 0.8), np.clip(y, 0.03, 0.8)
    above, below = np.zeros_like(y), np.zeros_like(y)
    for k in range(1, 9):
        above = above - 8.0 * (-1.0) ** k * k * k * far * np.exp(-2.0 * (k * k) * far * far)
        square = (2.0 * k - 1.0) ** 2 * math.pi**2 / 8.0 / (near * near)
        below = below + math.sqrt(2.0 * math.pi) / (near * near) * (2.0 * square - 1.0) * np.exp(-square)
    return np.where(np.less(y, 0.03), 0.0, np.where(np.less(y, 0.8), below, above))[()]


@elementwise(special.kolmogorov)
def kolmogorov(g, p, y):
    return -g * kolmogorov_density(y)


@elementwise(special.kolmogi)
def kolmogi(g, y, p):
    return -over(g, kolmogorov_density(y))


def smirnov_slope(n, d):
    """The slope of Smirnov's sum of `(1 - d)**n` and `d * binom(n, j) * (d + j / n)**(j - 1) * (1 - d - j / n)**(n - j)`.

    >>> slope = (special.smirnov(5, 0.4 + 1e-6) - special.smirnov(5, 0.4 - 1e-6)) / 2e-6
    >>> bool(np.isclose(smirnov_slope(5, 0.4), slope))
    True
    """
    total = -n * np.maximum(1.0 - d, 0.0) ** (n - 1.0)
    for j in range(1, int(np.max(n))):
        a, b = d + j / n, 1.0 - d - j / n
        held = np.where(b > 0.0, b, 1.0)
        log = special.gammaln(n + 1.0) - math.lgamma(j + 1.0) - special.gammaln(np.maximum(n - j, 0.0) + 1.0)
        log = log + (j - 2.0) * np.log(a) + (n - j - 1.0) * np.log(held)
        total = total + np.where(b > 0.0, np.exp(log) * (a * b + d * ((j - 1.0) * b - (n - j) * a)), 0.0)
    return total


@elementwise(special.smirnov)  # Birnbaum and Tingey, 1951
def smirnov(g, y, n, d):
    return None, g * smirnov_slope(np.floor(n), d)


@elementwise(special.smirnovi)
def smirnovi(g, y, n, p):
    return None, over(g, smirnov_slope(np.floor(n), y))


smirnov.constant("n")
smirnovi.constant("n")

# --- integrals of Bessel, Struve and Airy functions: DLMF 10.22, 10.43, 9.10 -------------------------------------------


@general(special.itj0y0)
def itj0y0(g, y, x):
    return g[0] * special.j0(x) + product(g[1], special.y0(x))


@itj0y0.forward()
def _(y, x, x_dot):
    return x_dot * special.j0(x), x_dot * special.y0(x)


@general(special.iti0k0)
def iti0k0(g, y, x):
    return g[0] * special.i0(x) + product(g[1], special.k0(x))


@iti0k0.forward()
def _(y, x, x_dot):
    return x_dot * special.i0(x), x_dot * special.k0(x)


@general(special.it2j0y0)
def it2j0y0(g, y, x):  # of (1 - j0(t)) / t from 0 on, and of y0(t) / t from x on
    return g[0] * over(1.0 - special.j0(x), x) - product(g[1], over(special.y0(x), x))


@it2j0y0.forward()
def _(y, x, x_dot):
    return x_dot * over(1.0 - special.j0(x), x), -x_dot * over(special.y0(x), x)


@general(special.it2i0k0)
def it2i0k0(g, y, x):
    return g[0] * over(special.i0(x) - 1.0, x) - product(g[1], over(special.k0(x), x))


@it2i0k0.forward()
def _(y, x, x_dot):
    return x_dot * over(special.i0(x) - 1.0, x), -x_dot * over(special.k0(x), x)


@elementwise(special.it2struve0)
def it2struve0(g, y, x):
    return -g * over(special.struve(np.zeros_like(x), x), x)


@elementwise(special.itmodstruve0)
def itmodstruve0(g, y, x):
    return g * special.modstruve(np.zeros_like(x), x)


@general(special.itairy)
def itairy(g, y, x):
    above = special.airy(x)
    below = special.airy(-x)
    return g[0] * above[0] + g[1] * above[2] + g[2] * below[0] + g[3] * below[2]


@itairy.forward()
def _(y, x, x_dot):
    above = special.airy(x)
    below = special.airy(-x)
    return x_dot * above[0], x_dot * above[2], x_dot * below[0], x_dot * below[2]


@elementwise(special.besselpoly)
def besselpoly(g, y, a, lmb, nu):  # of x ** lmb * jv(nu, 2 * a * x) from 0 to 1, by parts
    return g * (special.jv(nu, 2.0 * a) - (lmb + 1.0) * y) / a, None, None


besselpoly.constant("lmb")
besselpoly.constant("nu")

# --- the mean of Gauss: DLMF 19.8.5 ------------------------------------------------------------------------------------


def agm_slope(y, a, b):
    """The slope of `special.agm(a, b)`, which is `y`, in `a`: where `y` is 0 it is infinite in the number that is 0."""
    total = a + b
    m = np.where(np.equal(y, 0.0), 0.25, ((a - b) / total) ** 2)
    k, e = special.ellipk(m), special.ellipe(m)
    in_m = 0.5 * np.where(m < 1e-8, 0.5, (e - (1.0 - m) * k) / np.where(m < 1e-8, 1.0, m * (1.0 - m) * k))
    slope = y / total * (1.0 - in_m * 4.0 * b * (a - b) / (total * total))
    return np.where(np.equal(y, 0.0) & np.not_equal(b, 0.0), np.inf, slope)


@elementwise(special.agm)
def agm(g, y, a, b):
    return g * agm_slope(y, a, b), g * agm_slope(y, b, a)


of_complex_numbers(special.sici, special.fresnel)
