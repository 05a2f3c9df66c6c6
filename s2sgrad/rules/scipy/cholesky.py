"""Rules of scipy.linalg: Cholesky factors, and solving with them.

    c = linalg.cholesky(a)              ->      a_bar = cholesky_bar(c_bar, c, False)
    y = linalg.cho_solve((c, low), b)   ->      b_bar = linalg.cho_solve((c, low), y_bar)

Where SciPy reads one triangle of a matrix, the cotangent lies in that triangle.  The formulas are those of Murray (2016),
arXiv:1602.07527.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.linalg import adjoint, folded, hermitian
from s2sgrad.rules.linalg import lower as half_lower
from s2sgrad.rules.scipy.linalg import is_vector, outer, triangle, turned
from s2sgrad.rules.table import general, of_complex_numbers, structured
from s2sgrad.runtime import unbroadcast


def cholesky_bar(g, y, lower):
    """The cotangent of `a` in its triangular factor `y`, in the triangle of `a` that is read."""
    factor, y_h = (y, adjoint(y)) if lower else (adjoint(y), y)
    core = half_lower(y_h @ (np.conj(g) if lower else turned(g)))
    half = linalg.solve_triangular(factor, core, trans=2, lower=True)
    full = linalg.solve_triangular(factor, adjoint(half), trans=2, lower=True)
    return folded(full, "L" if lower else "U")


@general(linalg.cholesky)
def cholesky(g, y, a, lower=False, *, check_finite=True):
    return np.reshape(cholesky_bar(g, y, lower), np.shape(a))  # SciPy takes a number for a matrix


def matrices(a):
    return a.rank is not None and a.rank > 1


@cholesky.refined(matrices)
def _(g, y, a, lower=False, *, check_finite=True):
    return cholesky_bar(g, y, lower)


def cholesky_along(y, a_dot, lower):
    """The tangent of the triangular factor `y`."""
    y = y if lower else adjoint(y)
    half = linalg.solve_triangular(y, hermitian(a_dot, lower), lower=True)
    dot = y @ half_lower(linalg.solve_triangular(y, adjoint(half), lower=True))
    return dot if lower else adjoint(dot)


@cholesky.forward()
def _(y, a, a_dot, lower=False, *, check_finite=True):
    return cholesky_along(y, np.reshape(a_dot, np.shape(y)), lower)


@cholesky.forward(matrices)
def _(y, a, a_dot, lower=False, *, check_finite=True):
    return cholesky_along(y, a_dot, lower)


_KEEPS = bool(linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]), lower=True)[0][0, 1])
"""Whether this version of SciPy leaves the other triangle of an array as it is: younger ones clear it."""


def other_triangle(c, lower):
    return np.triu(c, 1) if lower else np.tril(c, -1)


def cho_factor_bar(c_bar, c, lower):
    """The cotangent of `a` in its factor `c`, whose other triangle is zero or left as it is in `a`."""
    bar = cholesky_bar(triangle(c_bar, lower), triangle(c, lower), lower)
    return bar + other_triangle(c_bar, lower) if _KEEPS or np.any(other_triangle(c, lower)) else bar


@general(linalg.cho_factor)
def cho_factor(g, y, a, lower=False, *, check_finite=True):
    return np.reshape(cho_factor_bar(g[0], y[0], lower), np.shape(a))


@cho_factor.refined(matrices)
def _(g, y, a, lower=False, *, check_finite=True):
    return cho_factor_bar(g[0], y[0], lower)


def cho_factor_along(c, a_dot, lower):
    """The tangent of the factor `c`, whose other triangle is zero or left as it is in `a`."""
    moved = cholesky_along(triangle(c, lower), a_dot, lower)
    return moved + other_triangle(a_dot, lower) if _KEEPS or np.any(other_triangle(c, lower)) else moved


@cho_factor.forward()
def _(y, a, a_dot, lower=False, *, check_finite=True):
    return cho_factor_along(y[0], np.reshape(a_dot, np.shape(y[0])), lower), 0.0


@cho_factor.forward(matrices)
def _(y, a, a_dot, lower=False, *, check_finite=True):
    return cho_factor_along(y[0], a_dot, lower), 0.0


def factor_slope(c, m, lower):
    """The cotangent of the factor `c` in the matrix, which has the cotangent `m`."""
    both = np.conj(m) + turned(m)
    bar = triangle(both @ triangle(c, True), True) if lower else triangle(triangle(c, False) @ both, False)
    return np.conj(bar)


@general(linalg.cho_solve)
def cho_solve(g, y, c_and_lower, b, *, check_finite=True):
    c, lower = c_and_lower[0], c_and_lower[1]
    vector = is_vector(c, b)
    b_bar = linalg.cho_solve((c, lower), g)
    return (unbroadcast(factor_slope(c, -outer(b_bar, y, vector), lower), c), None), b_bar


@cho_solve.refined(lambda complex: complex)
def _(g, y, c_and_lower, b, *, check_finite=True):
    c, lower = c_and_lower[0], c_and_lower[1]
    vector = is_vector(c, b)
    b_bar = np.conj(linalg.cho_solve((c, lower), np.conj(g)))
    return (unbroadcast(factor_slope(c, -outer(b_bar, y, vector), lower), c), None), b_bar


def factor_along(c_and_lower, c_and_lower_dot):
    """The tangent of the matrix whose factor this is."""
    lower = c_and_lower[1]
    c, c_dot = triangle(c_and_lower[0], lower), triangle(c_and_lower_dot[0], lower)
    half = c_dot @ adjoint(c) if lower else adjoint(c) @ c_dot
    return half + adjoint(half)


def of_columns(b):
    return b.rank in (1, 2)


@cho_solve.forward(of_columns)
def _(y, c_and_lower, b, c_and_lower_dot, b_dot, *, check_finite=True):
    change = factor_along(c_and_lower, c_and_lower_dot) @ y
    return -linalg.cho_solve(c_and_lower, change), linalg.cho_solve(c_and_lower, b_dot)


@cho_solve.forward_jointly(of_columns)
def _(y, c_and_lower, b, c_and_lower_dot, b_dot, *, check_finite=True):
    return linalg.cho_solve(c_and_lower, b_dot - factor_along(c_and_lower, c_and_lower_dot) @ y)


of_complex_numbers(linalg.cholesky, linalg.cho_factor, linalg.cho_solve)
structured("c_and_lower", linalg.cho_solve)
