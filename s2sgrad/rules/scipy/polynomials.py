"""Rules of the orthogonal polynomials of scipy.special, in their argument: by DLMF 18.9.15 to 18.9.28, the derivative of one
is one of the degree below.

    y = special.eval_legendre(n, x)     ->      x_bar = y_bar * special.eval_gegenbauer(n - 1, 1.5, x)
    y = special.eval_chebyt(n, x)       ->      x_bar = y_bar * n * special.eval_chebyu(n - 1, x)

The slope of degree 0 is 0: SciPy's polynomials of degree -1 are 0 or nan, and those of Hermite are others.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.table import elementwise, existing, flat, general
from s2sgrad.runtime import unbroadcast


def below(n):
    """The degree below, but 0 below 0, where the slope is 0.

    >>> below(3), below(2.5), below(0)
    (2, 1.5, 0)
    """
    return n - (n != 0)


def folded(n, both):
    """The greater of two degrees that add up to `both`, whose polynomials are equal but for a sign.

    By DLMF 14.9.5 and 18.5.2, `P[-1 - n] = P[n]` and `U[-2 - n] = -U[n]`.

    >>> folded(np.array([3, -2, 0]), -1), folded(np.array([-1.0, 2.5]), -2)
    (array([3, 1, 0]), array([-1. ,  2.5]))
    """
    return np.where(np.less(n, both - n), both - n, n)[()]


flat(below, folded)


@elementwise(special.eval_jacobi)
def eval_jacobi(g, y, n, alpha, beta, x):
    slope = 0.5 * (n + alpha + beta + 1.0) * special.eval_jacobi(below(n), alpha + 1.0, beta + 1.0, x)
    return None, None, None, g * np.where(np.equal(n, 0), 0.0, slope)


@elementwise(special.eval_gegenbauer)
def eval_gegenbauer(g, y, n, alpha, x):
    return None, None, g * 2.0 * alpha * np.where(np.equal(n, 0), 0.0, special.eval_gegenbauer(below(n), alpha + 1.0, x))


@elementwise(special.eval_legendre)
def eval_legendre(g, y, n, x):
    m = folded(n, -1)
    return None, g * np.where(np.equal(m, 0), 0.0, special.eval_gegenbauer(below(m), 1.5, x))


@elementwise(special.eval_chebyt)
def eval_chebyt(g, y, n, x):
    return None, g * n * np.where(np.equal(n, 0), 0.0, special.eval_chebyu(below(n), x))


@elementwise(special.eval_chebyu)
def eval_chebyu(g, y, n, x):
    m = folded(n, -2)
    slope = np.where(np.equal(m * (m + 1), 0), 0.0, special.eval_gegenbauer(below(m), 2.0, x))
    return None, g * np.where(np.less(n, -1), -2.0, 2.0) * slope


@elementwise(special.eval_genlaguerre)
def eval_genlaguerre(g, y, n, alpha, x):
    return None, None, -g * np.where(np.equal(n, 0), 0.0, special.eval_genlaguerre(below(n), alpha + 1.0, x))


@elementwise(special.eval_laguerre)
def eval_laguerre(g, y, n, x):
    return None, -g * np.where(np.equal(n, 0), 0.0, special.eval_genlaguerre(below(n), 1.0, x))


@elementwise(special.eval_hermite)
def eval_hermite(g, y, n, x):
    return None, g * 2.0 * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(special.eval_hermitenorm)
def eval_hermitenorm(g, y, n, x):
    return None, g * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


for _rule in (eval_legendre, eval_chebyt, eval_chebyu, eval_laguerre, eval_hermite, eval_hermitenorm):
    _rule.constant("n")
for _name in ("n", "alpha"):
    eval_gegenbauer.constant(_name)
    eval_genlaguerre.constant(_name)
for _name in ("n", "alpha", "beta"):
    eval_jacobi.constant(_name)


# --- the same of other arguments: DLMF 18.7 -----------------------------------------------------------------------------


@elementwise(special.eval_chebyc)  # 2 * eval_chebyt(n, x / 2)
def eval_chebyc(g, y, n, x):
    return None, g * n * np.where(np.equal(n, 0), 0.0, special.eval_chebyu(below(n), 0.5 * x))


@elementwise(special.eval_chebys)  # eval_chebyu(n, x / 2)
def eval_chebys(g, y, n, x):
    m = folded(n, -2)
    slope = np.where(np.equal(m * (m + 1), 0), 0.0, special.eval_gegenbauer(below(m), 2.0, 0.5 * x))
    return None, g * np.where(np.less(n, -1), -1.0, 1.0) * slope


@elementwise(special.eval_sh_chebyt)  # the shifted ones are those of 2 * x - 1
def eval_sh_chebyt(g, y, n, x):
    return None, g * 2.0 * n * np.where(np.equal(n, 0), 0.0, special.eval_chebyu(below(n), 2.0 * x - 1.0))


@elementwise(special.eval_sh_chebyu)
def eval_sh_chebyu(g, y, n, x):
    m = folded(n, -2)
    slope = np.where(np.equal(m * (m + 1), 0), 0.0, special.eval_gegenbauer(below(m), 2.0, 2.0 * x - 1.0))
    return None, g * np.where(np.less(n, -1), -4.0, 4.0) * slope


@elementwise(special.eval_sh_legendre)
def eval_sh_legendre(g, y, n, x):
    m = folded(n, -1)
    return None, g * 2.0 * np.where(np.equal(m, 0), 0.0, special.eval_gegenbauer(below(m), 1.5, 2.0 * x - 1.0))


@elementwise(special.eval_sh_jacobi)
def eval_sh_jacobi(g, y, n, p, q, x):
    slope = (n + p) * special.eval_jacobi(below(n), p - q + 1.0, q, 2.0 * x - 1.0) / special.binom(2.0 * n + p - 1.0, n)
    return None, None, None, g * np.where(np.equal(n, 0), 0.0, slope)


@elementwise(special.lpmv)  # DLMF 14.10.5
def lpmv(g, y, m, v, x):
    return None, None, g * (v * x * y - (v + m) * special.lpmv(m, v - 1.0, x)) / (x * x - 1.0)


for _rule in (eval_chebyc, eval_chebys, eval_sh_chebyt, eval_sh_chebyu, eval_sh_legendre, eval_sh_jacobi, lpmv):
    for _name in _rule.differentiable[:-1]:
        _rule.constant(_name)

# --- Legendre functions with their derivatives, which are those along the first axis: of one degree, and of all --------

_no = "a Legendre function has a derivative rule for `diff_n` of 0 and 1"


@general(*existing(special, "legendre_p"))
def legendre_p(g, y, n, z, *, diff_n=0):
    slopes = special.legendre_p(n, z, diff_n=diff_n + 1)[1:]
    return None, unbroadcast(np.sum(g * slopes, axis=0), z)


@general(*existing(special, "legendre_p_all"))
def legendre_p_all(g, y, n, z, *, diff_n=0):
    slopes = special.legendre_p_all(n, z, diff_n=diff_n + 1)[1:]
    return None, np.sum(g * slopes, axis=(0, 1))


@general(*existing(special, "assoc_legendre_p"))
def assoc_legendre_p(g, y, n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    slopes = special.assoc_legendre_p(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)[1:]
    return None, None, unbroadcast(np.sum(g * slopes, axis=0), z)


@general(*existing(special, "assoc_legendre_p_all"))
def assoc_legendre_p_all(g, y, n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    slopes = special.assoc_legendre_p_all(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)[1:]
    return None, None, np.sum(g * slopes, axis=(0, 1, 2))


@general(*existing(special, "sph_legendre_p"))
def sph_legendre_p(g, y, n, m, theta, *, diff_n=0):
    slopes = special.sph_legendre_p(n, m, theta, diff_n=diff_n + 1)[1:]
    return None, None, unbroadcast(np.sum(g * slopes, axis=0), theta)


@general(*existing(special, "sph_legendre_p_all"))
def sph_legendre_p_all(g, y, n, m, theta, *, diff_n=0):
    slopes = special.sph_legendre_p_all(n, m, theta, diff_n=diff_n + 1)[1:]
    return None, None, np.sum(g * slopes, axis=(0, 1, 2))


for _rule in (legendre_p, legendre_p_all, assoc_legendre_p, assoc_legendre_p_all, sph_legendre_p, sph_legendre_p_all):
    _rule.refuse(lambda diff_n: not diff_n.known or diff_n.value not in (0, 1), _no)
    for _name in _rule.differentiable[:-1]:
        _rule.constant(_name)

# --- places and polynomials that whole numbers tell alone ------------------------------------------------------------

_TOLD = """ai_zeros bi_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros ber_zeros bei_zeros berp_zeros beip_zeros
ker_zeros kei_zeros kerp_zeros keip_zeros kelvin_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros yn_zeros ynp_zeros y0_zeros
y1_zeros y1p_zeros bernoulli euler stirling2 roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys
roots_laguerre roots_hermite roots_hermitenorm roots_sh_legendre roots_sh_chebyt roots_sh_chebyu"""
flat(*existing(special, *_TOLD.split()))
