"""Rules of scipy.linalg: products of triangles and permutations: lu, lu_factor, lu_solve, ldl.

    p, l, u = linalg.lu(a)     ->     a_bar = p @ l^-T @ (tril(l^T @ l_bar, -1) + triu(u_bar @ u^T)) @ u^-T

From `l^-1 @ a_dot @ u^-1 = l^-1 @ l_dot + u_dot @ u^-1`.  Its terms are a strictly lower and an upper triangle (de Hoog,
Anderssen and Lukas, 2011, "Differentiation of matrix functionals using triangular factorization").  What is below the square
of `l`, or right of that of `u`, is solved for first.  `ldl` has blocks in place of the diagonal.  Permutations are constant.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.scipy.linalg import conjugates, folded, is_vector, of_matrices, other_way, outer, turned
from s2sgrad.rules.table import flat, general, of_complex_numbers, structured, with_sizes_of_their_own
from s2sgrad.runtime import unbroadcast

# --- rows in another order -------------------------------------------------------------------------------------------


def rows(m, order):
    """The rows of matrices in this order."""
    return np.take_along_axis(m, np.expand_dims(order, -1), -2)


def row_order(y, a, permute_l, p_indices):
    """Row k of `a` is this row of the product of the triangles."""
    if permute_l:
        return linalg.lu(a, p_indices=True)[0]
    return y[0] if p_indices else np.argmax(y[0], axis=-1)


def back(order):
    """The inverse of a permutation."""
    return np.argsort(order, axis=-1)


def swapped(pivots, size):
    """The order of rows that swapping row k with row `pivots[k]`, one after the other, gives.

    >>> swapped(np.array([2, 1, 2]), 3).tolist()
    [2, 1, 0]
    """
    order = np.broadcast_to(np.arange(size), (*np.shape(pivots)[:-1], size)).copy()
    for k in range(np.shape(pivots)[-1]):
        chosen = pivots[..., k : k + 1]
        here, there = order[..., k : k + 1].copy(), np.take_along_axis(order, chosen, -1)
        np.put_along_axis(order, chosen, here, -1)
        order[..., k : k + 1] = there
    return order


flat(row_order, back, swapped)

# --- lu --------------------------------------------------------------------------------------------------------------


def product_bar(low, up, low_bar, up_bar):
    """The cotangent of `low @ up`, of which one is a triangle and the other begins with one."""
    k = np.shape(up)[-2]
    square, top = low[..., :k, :], up[..., :k]
    below, right = low[..., k:, :], up[..., k:]
    below_bar = turned(np.linalg.solve(top, turned(low_bar[..., k:, :])))
    right_bar = np.linalg.solve(turned(square), up_bar[..., k:])
    low_own = low_bar[..., :k, :] - right_bar @ turned(right)
    up_own = up_bar[..., :k] - turned(below) @ below_bar
    core = np.tril(turned(square) @ low_own, -1) + np.triu(up_own @ turned(top))
    bar = turned(np.linalg.solve(top, turned(np.linalg.solve(turned(square), core))))
    return np.concatenate((bar, below_bar), axis=-2) if np.size(below) else np.concatenate((bar, right_bar), axis=-1)


@general(linalg.lu)
def lu(g, y, a, permute_l=False, *, check_finite=True, p_indices=False):
    order = row_order(y, a, permute_l, p_indices)
    if permute_l:
        return rows(product_bar(rows(y[0], back(order)), y[1], rows(g[0], back(order)), g[1]), order)
    return rows(product_bar(y[1], y[2], g[1], g[2]), order)


def triangles(m):
    """What stands in the one array of both factors: the lower triangle, with its ones, and the upper."""
    k = min(np.shape(m)[-2], np.shape(m)[-1])
    return np.tril(m[..., :k], -1) + np.eye(np.shape(m)[-2], k, dtype=m.dtype), np.triu(m[..., :k, :])


@general(linalg.lu_factor)
def lu_factor(g, y, a, *, check_finite=True):
    low, up = triangles(y[0]) if of_matrices(a) else (y[0], y[0])
    k = np.shape(up)[-2]
    bar = product_bar(low, up, np.tril(g[0][..., :k], -1), np.triu(g[0][..., :k, :]))
    return rows(bar, back(swapped(y[1], np.shape(a)[-2])))


@general(linalg.lu_solve)
def lu_solve(g, y, lu_and_piv, b, trans=0, *, check_finite=True):
    m, pivots = lu_and_piv[0], lu_and_piv[1]
    straight, vector = other_way(trans), is_vector(m, b)
    if conjugates(trans):
        b_bar = np.conj(linalg.lu_solve((m, pivots), np.conj(g)))
        a_bar = np.conj(outer(y, b_bar, vector))
    else:
        b_bar = linalg.lu_solve((m, pivots), g, trans=straight)
        a_bar = outer(b_bar, y, vector) if straight else outer(y, b_bar, vector)
    low, up = triangles(m)
    core = rows(unbroadcast(-a_bar, m), swapped(pivots, np.shape(m)[-1]))
    return (np.tril(core @ turned(up), -1) + np.triu(turned(low) @ core), None), unbroadcast(b_bar, b)


# --- ldl -------------------------------------------------------------------------------------------------------------


def blocks_of(d):
    """Of a matrix with blocks of one or two on the diagonal: where the blocks are, and what is below them.

    >>> blocks_of(np.diag([1.0, 2.0]))[1].tolist()
    [[False, False], [True, False]]
    """
    inside = np.logical_or(np.eye(np.shape(d)[-1], dtype=bool), np.logical_or(d != 0, np.swapaxes(d, -1, -2) != 0))
    return inside, np.logical_and(np.tril(np.ones_like(d, dtype=bool)), np.logical_not(inside))


flat(blocks_of)


@general(linalg.ldl)
def ldl(g, y, A, lower=True, hermitian=True, *, check_finite=True):
    order, inside = y[2], blocks_of(y[1])[0] if of_matrices(A) else y[1]
    beside = blocks_of(y[1])[1] if lower else blocks_of(y[1])[1].T
    factor, bar = y[0][order], g[0][order]
    moved = np.linalg.solve(y[1], turned(factor.T @ bar)).T  # of `l_dot = l @ x`, `x @ d` is what is beside the blocks
    core = np.where(inside, g[1], np.where(beside, moved, 0.0))
    full = np.linalg.solve(factor.T, np.linalg.solve(factor.T, core.T).T)
    places = np.argsort(order)
    return folded(full[places][:, places], lower)


structured("lu_and_piv", linalg.lu_solve)


of_complex_numbers(linalg.lu, linalg.lu_factor, linalg.lu_solve)
with_sizes_of_their_own(linalg.lu_solve)  # samples of pivots would be places beyond the matrix, which LAPACK writes to
