"""Rules of np.linalg: inv, det, slogdet, solve, matrix_power.  Decompositions and norms are in files of their own.

    y = np.linalg.solve(a, b)     ->  b_bar = np.linalg.solve(a.T, y_bar); a_bar = -np.outer(b_bar, y)

All take stacks of matrices; where the argument is one matrix the text is shorter.
"""

from __future__ import annotations

import contextlib

import numpy as np

from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import unbroadcast


def one_matrix(a):
    return a.rank == 2


# --- inverse and determinant -----------------------------------------------------------------------------------------


@general(np.linalg.inv)
def inv(g, y, a):
    y_t = np.swapaxes(y, -1, -2)
    return -(y_t @ g @ y_t)


@inv.refined(one_matrix)
def _(g, y, a):
    return -(y.T @ g @ y.T)


@inv.forward()
def _(y, a, a_dot):
    return -(y @ a_dot @ y)


WELL = 1e6  # matrices with a condition number below this are inverted


def cofactors(a):
    """The derivative of `np.linalg.det`: `det(a) * inv(a).T`, exact for singular matrices too."""
    if np.ndim(a) == 2:
        with contextlib.suppress(np.linalg.LinAlgError):
            inverse = np.linalg.inv(a)
            if float(np.vdot(a, a).real) * float(np.vdot(inverse, inverse).real) < WELL**2:  # of floats, which do not warn
                return np.linalg.det(a) * inverse.T
    u, s, vt = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * np.conj((u * _products_without(s, 1)[..., None, :]) @ vt)


def _products_without(s, count):
    """The products of all of `s` but one (`count` 1), or but each pair of two (`count` 2)."""
    n = s.shape[-1]
    factors = np.where(np.eye(n, dtype=bool), 1.0, s[..., None, :]).astype(s.dtype)
    if count == 1:
        return np.prod(factors, axis=-1)
    return np.prod(np.where(np.eye(n, dtype=bool), 1.0, factors[..., None, :]).astype(s.dtype), axis=-1)


def cofactors_slope(w, a):
    """The cotangent of `a` in `cofactors(a)`, exact for singular matrices too; symmetric as a map of `w`."""
    u, s, vt = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    ut, v = np.conj(np.swapaxes(u, -1, -2)), np.conj(np.swapaxes(vt, -1, -2))
    core = ut @ w @ v
    pairs = _products_without(s, 2)
    index = np.arange(s.shape[-1])
    pairs[..., index, index] = 0.0
    slope = -np.swapaxes(core, -1, -2) * pairs
    slope[..., index, index] = np.einsum("...ij,...j->...i", pairs, np.diagonal(core, 0, -2, -1))
    return sign[..., None, None] * (np.conj(u) @ slope @ np.conj(vt))


@general(cofactors)
def _(w, y, a):
    return cofactors_slope(w, a)


@general(cofactors_slope)
def _(v, y, w, a):
    b = np.swapaxes(np.linalg.inv(a), -1, -2)  # of regular matrices: the third derivative of a determinant
    bv = b @ np.swapaxes(v, -1, -2)
    bw = b @ np.swapaxes(w, -1, -2)
    v_trace = np.expand_dims(np.trace(bv, 0, -2, -1), (-2, -1))
    w_trace = np.expand_dims(np.trace(bw, 0, -2, -1), (-2, -1))
    both = np.expand_dims(np.trace(bv @ bw, 0, -2, -1), (-2, -1))
    rest = (v_trace * w_trace - both) * b - v_trace * (bw @ b) - w_trace * (bv @ b) + bv @ bw @ b + bw @ bv @ b
    return cofactors_slope(v, a), np.expand_dims(np.linalg.det(a), (-2, -1)) * rest


@general(np.linalg.det)
def det(g, y, a):
    return np.expand_dims(g, (-2, -1)) * cofactors(a)


@det.refined(one_matrix)
def _(g, y, a):
    return g * cofactors(a)


@det.forward()
def _(y, a, a_dot):
    return np.sum(cofactors(a) * a_dot, axis=(-2, -1))


@det.forward(one_matrix)
def _(y, a, a_dot):
    return np.sum(cofactors(a) * a_dot)


@general(np.linalg.slogdet)
def slogdet(g, y, a):
    return np.expand_dims(g[1], (-2, -1)) * np.swapaxes(np.linalg.inv(a), -1, -2)


@slogdet.refined(one_matrix)
def _(g, y, a):
    return g[1] * np.linalg.inv(a).T


@slogdet.forward()
def _(y, a, a_dot):
    return np.zeros_like(y[0]), np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)


@slogdet.forward(one_matrix)
def _(y, a, a_dot):
    return 0.0, np.trace(np.linalg.solve(a, a_dot))


# --- solving ---------------------------------------------------------------------------------------------------------


@general(np.linalg.solve)
def solve(g, y, a, b):
    if np.ndim(y) < np.ndim(a):  # of vectors: which `b` is one was told by other ranks before NumPy 2
        columns = np.linalg.solve(np.swapaxes(a, -1, -2), np.expand_dims(g, -1))
        return -columns * np.expand_dims(y, -2), unbroadcast(columns[..., 0], b)
    b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), g)
    return unbroadcast(-(b_bar @ np.swapaxes(y, -1, -2)), a), unbroadcast(b_bar, b)


@solve.refined(lambda a, b: (a.rank, b.rank) == (2, 1))
def _(g, y, a, b):
    b_bar = np.linalg.solve(a.T, g)
    return -np.outer(b_bar, y), b_bar


@solve.refined(lambda a, b: (a.rank, b.rank) == (2, 2))
def _(g, y, a, b):
    b_bar = np.linalg.solve(a.T, g)
    return -(b_bar @ y.T), b_bar


def aligned(a, b):
    """The right side has as many axes as the result."""
    return (a.rank == 2 and b.rank in (1, 2)) or (a.rank is not None and a.rank == b.rank)


@solve.forward(aligned)
def _(y, a, b, a_dot, b_dot):
    return -np.linalg.solve(a, a_dot @ y), np.linalg.solve(a, b_dot)


@solve.forward_jointly(aligned)
def _(y, a, b, a_dot, b_dot):
    return np.linalg.solve(a, b_dot - a_dot @ y)


def lower(m):
    """The lower triangle of `m`, its diagonal halved."""
    return 0.5 * (np.tril(m) + np.tril(m, -1))


@linear(lower)
def _(g, y, m):
    return lower(g)


def filled(m, lower):
    """The symmetric matrix of which one triangle is read."""
    m = m if lower else np.swapaxes(m, -1, -2)
    return np.tril(m) + np.swapaxes(np.tril(m, -1), -1, -2)


def adjoint(m):
    """The conjugate transpose of matrices.

    >>> adjoint(np.array([[1.0, 2j]])).tolist()
    [[(1-0j)], [-2j]]
    """
    turned = np.swapaxes(m, -1, -2)
    return np.conj(turned) if np.iscomplexobj(turned) else turned


@linear(adjoint)
def _(g, y, m):
    return adjoint(g)


def hermitian(m, lower):
    """The Hermitian matrix of which one triangle is read, and of its diagonal the real part."""
    m = m if lower else adjoint(m)
    below = np.tril(m, -1)
    return below + adjoint(below) + np.where(np.eye(np.shape(m)[-1], dtype=bool), np.real(m), 0.0)


def folded(full, UPLO):
    """The cotangent of the triangle that is read of a Hermitian matrix, from the conjugate of that of the whole.

    >>> folded(np.array([[1.0, 2.0], [3.0, 4.0]]), "L").tolist()
    [[1.0, 0.0], [5.0, 4.0]]
    """
    bar = lower(full + adjoint(full))
    return np.conj(bar) if UPLO == "L" else np.swapaxes(bar, -1, -2)


@linear(folded)
def _(g, y, full, UPLO):
    bar = lower(np.conj(g) if UPLO == "L" else np.swapaxes(g, -1, -2))
    return bar + adjoint(bar), None


@general(np.linalg.matrix_power)
def matrix_power(g, y, a, n):
    b = np.swapaxes(np.linalg.inv(a) if n < 0 else a, -1, -2)
    bar = np.zeros_like(g)
    for k in range(abs(n)):  # of b ** |n| by Horner's rule: bar = sum of b ** k @ g @ b ** (|n| - 1 - k)
        bar = b @ bar + g @ np.linalg.matrix_power(b, k)
    return -(b @ bar @ b) if n < 0 else bar, None


def power_along(a, n, a_dot):
    """The tangent of `np.linalg.matrix_power(a, n)`: each factor in turn is replaced."""
    b = np.linalg.inv(a) if n < 0 else a
    dot = -(b @ a_dot @ b) if n < 0 else a_dot
    total = np.zeros_like(a_dot)
    for k in range(abs(n)):
        total = b @ total + dot @ np.linalg.matrix_power(b, k)
    return total


@matrix_power.forward()
def _(y, a, n, a_dot, n_dot):
    return power_along(a, n, a_dot), None


flat(np.linalg.matrix_rank)
