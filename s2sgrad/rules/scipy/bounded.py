"""Rules of scipy.optimize: least squares with bounds, by the numbers that no bound holds; Rosenbrock's function.

    x, r = nnls(A, b)     ->     with the columns P of A where x > 0:  w = inv(P.T @ P) @ x_bar,  b_bar = P @ w,
                                 A_bar = outer(b - A @ x, w) - outer(P @ w, x) there

What a bound holds stays there while nothing else changes sides (Nocedal and Wright, *Numerical Optimization*, 2006, 16.5).
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal, over

# --- with bounds -----------------------------------------------------------------------------------------------------


def free(x):
    """1 for each number that is not held at 0."""
    return (x > 0.0) * 1.0


def one_side(b):
    """Raise Refusal unless the right side is a line."""
    if np.ndim(b) != 1:
        raise Refusal(None, "`nnls` has a derivative rule for a right side of one axis")
    return True


flat(free, one_side)


def projected(A, v, held):
    """The numbers that are free, of normal equations with this right side; 0 for the others."""
    columns = A * held
    return held * np.linalg.solve(columns.T @ columns + np.diag(1.0 - held), held * v)


@general(optimize.nnls)
def nnls(g, y, A, b, *, maxiter=None):
    one_side(b)
    x, rest = y[0], b - A @ y[0]
    held = free(x)
    w = projected(A, g[0], held)
    moved = A @ w
    by_norm = over(g[1] * rest, y[1])
    return np.outer(rest, w) - np.outer(moved + by_norm, x), moved + by_norm


# --- Rosenbrock's function -------------------------------------------------------------------------------------------


@general(optimize.rosen)
def rosen(g, y, x):
    one_point(x)
    return g * optimize.rosen_der(x)


@general(optimize.rosen_der)
def rosen_der(g, y, x):
    one_point(x)
    return rosen_hess(x) @ g


def rosen_hess(x):
    """The matrix of second derivatives, as a text."""
    middle = np.concatenate((1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0, np.zeros_like(x[:1])))
    behind = np.concatenate((np.zeros_like(x[:1]), 200.0 * np.ones_like(x[1:])))
    return np.diag(middle + behind) + np.diag(-400.0 * x[:-1], 1) + np.diag(-400.0 * x[:-1], -1)


def one_point(x):
    """Raise Refusal unless the argument is a point."""
    if np.ndim(x) != 1 or np.size(x) < 2:
        raise Refusal(None, "Rosenbrock's function has a derivative rule for one point of two numbers or more")
    return True


flat(one_point)


@restates(optimize.rosen_hess)
def rosen_matrix(x):
    one_point(x)
    return rosen_hess(x)


@restates(optimize.rosen_hess_prod)
def rosen_product(x, p):
    one_point(x)
    return rosen_hess(x) @ p


for _rule in (nnls, rosen, rosen_der):
    _rule.refuse(lambda operand: is_container(operand), "a list has no derivative rule here: pass an array")
