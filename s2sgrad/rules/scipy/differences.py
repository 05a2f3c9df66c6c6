"""Rules of scipy.special in parameters of which no formula is known: slopes by central differences.

    y = special.mathieu_a(m, q)     ->     q_bar = y_bar * mathieu_a_in_q(m, q)

The difference is that of fourth order, with a step of 0.002 times the parameter, and at least 0.002 where that may be
negative.  Of functions that SciPy computes to 1e-13 it is right to 1e-8.  Such a slope has no derivative of its own: second
orders are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from s2sgrad.rules.table import elementwise
from s2sgrad.runtime import over, product

STEP = 2e-3


def typed(x: Any, *arguments: Any) -> Any:
    """A result of double precision in that of the arrays among the arguments, which numbers of Python's do not widen.

    >>> typed(np.float64(0.5), 2.0).dtype, typed(np.float64(0.5), 2.0, np.float32(1.0)).dtype
    (dtype('float64'), dtype('float32'))
    """
    arrays = [a for a in arguments if isinstance(a, (np.ndarray, np.generic))]
    return x[()].astype(np.result_type(*arrays, np.float32) if arrays else float)


def difference(f: Callable[..., Any], arguments: tuple[Any, ...], number: int, least: float = 0.0) -> Any:
    """The slope of `f` in one of its arguments.

    >>> bool(np.isclose(difference(special.gammaln, (2.0,), 0), special.digamma(2.0), rtol=1e-9))
    True
    """
    before, x, after = arguments[:number], np.asarray(arguments[number], float), arguments[number + 1 :]
    step = STEP * np.maximum(np.where(x == 0.0, 1.0, np.abs(x)), least)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = f(*before, x + step, *after) - f(*before, x - step, *after)
        far = f(*before, x + 2.0 * step, *after) - f(*before, x - 2.0 * step, *after)
        slope = (8.0 * near - far) / (12.0 * step)
        if np.any(at_end := np.isnan(slope)):  # what is defined from 0 on has the slope to the right there
            one, two, three, four = (f(*before, x + k * step, *after) for k in (1.0, 2.0, 3.0, 4.0))
            right = (48.0 * one - 36.0 * two + 16.0 * three - 3.0 * four - 25.0 * f(*before, x, *after)) / (12.0 * step)
            slope = np.where(at_end & (x == 0.0), right, slope)
        return typed(np.asarray(slope), *arguments)


def solved(found, p, g, y=1.0):
    """`g` where an inverse has the probability `p`; 0 where SciPy gives the end of its range, `y` or another one."""
    return np.where(np.logical_and(np.abs(found - p) < 1e-3, np.less(1e-99, np.abs(y))), g, 0.0)[()]


def mathieu_a_in_q(m, q):
    return difference(special.mathieu_a, (m, q), 1, 1.0)


def mathieu_b_in_q(m, q):
    return difference(special.mathieu_b, (m, q), 1, 1.0)


def pro_cv_in_c(m, n, c):
    return difference(special.pro_cv, (m, n, c), 2)


def obl_cv_in_c(m, n, c):
    return difference(special.obl_cv, (m, n, c), 2)


def zeta_slope(x, q):
    """The slope of Hurwitz's zeta function in its exponent, which has a pole at 1."""
    return difference(_from_pole, (np.subtract(x, 1.0), q), 0)


def _from_pole(x, q):
    return special.zeta(x + 1.0, q)


def zetac_slope(x):
    """The slope of Riemann's zeta function."""
    return difference(_riemann_from_pole, (np.subtract(x, 1.0),), 0)


def _riemann_from_pole(x):
    return special.zetac(x + 1.0)


def chndtr_in_df(x, df, nc):
    return difference(special.chndtr, (x, df, nc), 1)


def nctdtr_in_df(df, nc, t):
    return difference(special.nctdtr, (df, nc, t), 0)


def nctdtr_in_nc(df, nc, t):
    return difference(special.nctdtr, (df, nc, t), 1, 1.0)


def nctdtr_in_t(df, nc, t):
    return difference(special.nctdtr, (df, nc, t), 2, 1.0)


def ncfdtr_in_dfn(dfn, dfd, nc, f):
    return difference(special.ncfdtr, (dfn, dfd, nc, f), 0)


def ncfdtr_in_dfd(dfn, dfd, nc, f):
    return difference(special.ncfdtr, (dfn, dfd, nc, f), 1)


def ncfdtr_in_nc(dfn, dfd, nc, f):
    return difference(special.ncfdtr, (dfn, dfd, nc, f), 2)


def ncfdtr_in_f(dfn, dfd, nc, f):
    return difference(special.ncfdtr, (dfn, dfd, nc, f), 3)


_WHY = "a slope of scipy.special that is a difference has no derivative of its own: first derivatives alone are known"


@elementwise(mathieu_a_in_q, mathieu_b_in_q)
def of_mathieu(g, y, m, q):
    return None, None


@elementwise(zetac_slope)
def of_zetac(g, y, x):
    return None


@elementwise(zeta_slope)
def of_zeta(g, y, x, q):
    return None, None


@elementwise(pro_cv_in_c, obl_cv_in_c)
def of_spheroidal(g, y, m, n, c):
    return None, None, None


@elementwise(chndtr_in_df)
def of_chndtr(g, y, x, df, nc):
    return None, None, None


@elementwise(nctdtr_in_df, nctdtr_in_nc, nctdtr_in_t)
def of_nctdtr(g, y, df, nc, t):
    return None, None, None


@elementwise(ncfdtr_in_dfn, ncfdtr_in_dfd, ncfdtr_in_nc, ncfdtr_in_f)
def of_ncfdtr(g, y, dfn, dfd, nc, f):
    return None, None, None, None


for _rule in (of_mathieu, of_zeta, of_zetac, of_spheroidal, of_chndtr, of_nctdtr, of_ncfdtr):
    for _name in _rule.differentiable:
        _rule.constant(_name, _WHY)

# --- characteristic values ---------------------------------------------------------------------------------------------


@elementwise(special.mathieu_a)
def mathieu_a(g, y, m, q):
    return None, g * mathieu_a_in_q(m, q)


@elementwise(special.mathieu_b)
def mathieu_b(g, y, m, q):
    return None, g * mathieu_b_in_q(m, q)


@elementwise(special.pro_cv)
def pro_cv(g, y, m, n, c):
    return None, None, g * pro_cv_in_c(m, n, c)


@elementwise(special.obl_cv)
def obl_cv(g, y, m, n, c):
    return None, None, g * obl_cv_in_c(m, n, c)


for _rule in (mathieu_a, mathieu_b, pro_cv, obl_cv):
    for _name in _rule.differentiable[:-1]:
        _rule.constant(_name)


@elementwise(special.zeta)
def zeta(g, y, x, q=None):  # Riemann's without `q`
    return g * (zetac_slope(x) if q is None else zeta_slope(x, q))


@zeta.keyword("q")
def _(g, y, x, q=None):  # DLMF 25.11.17
    return -g * x * special.zeta(x + 1.0, q)


@elementwise(special.zetac)
def zetac(g, y, x):
    return g * zetac_slope(x)


# --- noncentral t and F: the inverses by the implicit function theorem -------------------------------------------------


@elementwise(special.nctdtr)
def nctdtr(g, p, df, nc, t):
    return g * nctdtr_in_df(df, nc, t), g * nctdtr_in_nc(df, nc, t), g * nctdtr_in_t(df, nc, t)


@elementwise(special.nctdtrit)
def nctdtrit(g, t, df, nc, p):
    g = solved(special.nctdtr(df, nc, t), p, g)
    slope = over(g, nctdtr_in_t(df, nc, t))
    return -product(slope, nctdtr_in_df(df, nc, t)), -product(slope, nctdtr_in_nc(df, nc, t)), slope


@elementwise(special.nctdtridf)
def nctdtridf(g, df, p, nc, t):
    g = solved(special.nctdtr(df, nc, t), p, g, df)
    slope = over(g, nctdtr_in_df(df, nc, t))
    return slope, -product(slope, nctdtr_in_nc(df, nc, t)), -product(slope, nctdtr_in_t(df, nc, t))


@elementwise(special.nctdtrinc)
def nctdtrinc(g, nc, df, p, t):
    found = special.nctdtr(df, nc, t)
    g = solved(found, p, g, found * p)  # of a probability of 0, SciPy gives the largest noncentrality that it tries
    slope = over(g, nctdtr_in_nc(df, nc, t))
    return -product(slope, nctdtr_in_df(df, nc, t)), slope, -product(slope, nctdtr_in_t(df, nc, t))


@elementwise(special.ncfdtr)
def ncfdtr(g, p, dfn, dfd, nc, f):
    in_df = g * ncfdtr_in_dfn(dfn, dfd, nc, f), g * ncfdtr_in_dfd(dfn, dfd, nc, f)
    return in_df[0], in_df[1], g * ncfdtr_in_nc(dfn, dfd, nc, f), g * ncfdtr_in_f(dfn, dfd, nc, f)


@elementwise(special.ncfdtri)
def ncfdtri(g, f, dfn, dfd, nc, p):
    g = solved(special.ncfdtr(dfn, dfd, nc, f), p, g)
    slope = over(g, ncfdtr_in_f(dfn, dfd, nc, f))
    in_df = -product(slope, ncfdtr_in_dfn(dfn, dfd, nc, f)), -product(slope, ncfdtr_in_dfd(dfn, dfd, nc, f))
    return in_df[0], in_df[1], -product(slope, ncfdtr_in_nc(dfn, dfd, nc, f)), slope


@elementwise(special.ncfdtrinc)
def ncfdtrinc(g, nc, dfn, dfd, p, f):
    found = special.ncfdtr(dfn, dfd, nc, f)
    g = solved(found, p, g, found * p)  # as of `nctdtrinc`
    slope = over(g, ncfdtr_in_nc(dfn, dfd, nc, f))
    in_df = -product(slope, ncfdtr_in_dfn(dfn, dfd, nc, f)), -product(slope, ncfdtr_in_dfd(dfn, dfd, nc, f))
    return in_df[0], in_df[1], slope, -product(slope, ncfdtr_in_f(dfn, dfd, nc, f))


@elementwise(special.ncfdtridfn)
def ncfdtridfn(g, dfn, p, dfd, nc, f):
    g = solved(special.ncfdtr(dfn, dfd, nc, f), p, g, dfn)
    slope = over(g, ncfdtr_in_dfn(dfn, dfd, nc, f))
    in_dfd = -product(slope, ncfdtr_in_dfd(dfn, dfd, nc, f))
    return slope, in_dfd, -product(slope, ncfdtr_in_nc(dfn, dfd, nc, f)), -product(slope, ncfdtr_in_f(dfn, dfd, nc, f))


@elementwise(special.ncfdtridfd)
def ncfdtridfd(g, dfd, dfn, p, nc, f):
    g = solved(special.ncfdtr(dfn, dfd, nc, f), p, g, dfd)
    slope = over(g, ncfdtr_in_dfd(dfn, dfd, nc, f))
    in_dfn = -product(slope, ncfdtr_in_dfn(dfn, dfd, nc, f))
    return in_dfn, slope, -product(slope, ncfdtr_in_nc(dfn, dfd, nc, f)), -product(slope, ncfdtr_in_f(dfn, dfd, nc, f))
