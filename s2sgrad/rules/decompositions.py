"""Rules of matrix decompositions: cholesky, qr; and of what they solve: pinv, lstsq.

    y = np.linalg.pinv(a)        ->  a_bar = .. - y.T @ y_bar @ y.T

The formulas are those of Giles (2008), "Collected matrix derivative results for forward and reverse mode AD".  For cholesky
Murray (2016), arXiv:1602.07527.  For qr Walter and Lehmann (2010), arXiv:1001.1654, and Roberts and Roberts (2020),
arXiv:2009.10071.  For pinv Golub and Pereyra (1973).  All take stacks of matrices.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.linalg import adjoint, folded, hermitian, lower
from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.spectra import frames, on_diagonal
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal


def columns(x):
    """A vector as a matrix of one column; a matrix as it is."""
    return np.reshape(x, (np.shape(x)[0], -1))


# --- cholesky --------------------------------------------------------------------------------------------------------


@general(np.linalg.cholesky)
def cholesky(g, y, a, *, upper=False):
    y_t = np.swapaxes(y, -1, -2)
    half = np.linalg.solve(y_t, lower(y_t @ g))
    full = np.linalg.solve(y_t, np.swapaxes(half, -1, -2))
    return lower(full + np.swapaxes(full, -1, -2))


@cholesky.instead(lambda complex, upper: complex or not upper.known or upper.value)
def _(g, y, a, *, upper=False):
    y_h = y if upper else adjoint(y)
    half = np.linalg.solve(y_h, lower(y_h @ (np.swapaxes(g, -1, -2) if upper else np.conj(g))))
    return folded(np.linalg.solve(y_h, adjoint(half)), "U" if upper else "L")


def cholesky_along(y, a_dot, upper=False):
    """The tangent of the triangular factor `y`."""
    y = adjoint(y) if upper else y
    half = np.linalg.solve(y, hermitian(a_dot, not upper))
    dot = y @ lower(np.linalg.solve(y, adjoint(half)))
    return adjoint(dot) if upper else dot


@cholesky.forward()
def _(y, a, a_dot, *, upper=False):
    return cholesky_along(y, a_dot, upper)


@cholesky.forward(lambda upper: upper.known and not upper.value)
def _(y, a, a_dot, *, upper=False):
    return cholesky_along(y, a_dot)


# --- qr --------------------------------------------------------------------------------------------------------------


def qr_mode(mode, a):
    """`mode`, checked: "reduced", "r", and for square matrices "complete"."""
    square = np.shape(a)[-1] >= np.shape(a)[-2]
    if mode not in ("reduced", "r") and not (mode == "complete" and square):
        raise Refusal(None, f"np.linalg.qr with mode={mode!r} has no derivative rule; use reduced or r")
    return mode


flat(qr_mode)


@general(np.linalg.qr)
def qr(g, y, a, mode="reduced"):
    if qr_mode(mode, a) == "r":
        parts = np.linalg.qr(a)
        q, r, q_bar, r_bar = parts[0], parts[1], np.zeros_like(parts[0]), g
    else:
        q, r, q_bar, r_bar = y[0], y[1], g[0], g[1]
    q_bar, r_bar, k = np.conj(q_bar), np.conj(r_bar), np.shape(q)[-1]
    rest = q @ r_bar[..., k:]  # of a wide matrix: what its further columns owe
    q_bar = q_bar + a[..., k:] @ adjoint(r_bar[..., k:])
    r, r_bar = r[..., :k], r_bar[..., :k]
    b = q_bar + q @ hermitian(r @ adjoint(r_bar) - adjoint(q_bar) @ q, True)  # the diagonal of `r` is real
    bar = adjoint(np.linalg.solve(r, adjoint(b)))
    return np.conj(np.concatenate((bar, rest), axis=-1))


def qr_along(q, r, a_dot):
    """The tangents of both factors."""
    k = np.shape(q)[-1]
    q_h, square = adjoint(q), adjoint(r[..., :k])
    scaled = adjoint(np.linalg.solve(square, adjoint(a_dot[..., :k])))  # a_dot @ inv(r)
    core = q_h @ scaled
    turn = np.tril(core, -1)
    turn = turn - adjoint(turn) + np.where(on_diagonal(core), 0.5 * (core - adjoint(core)), 0.0)
    q_dot = q @ turn + scaled - q @ core
    r_dot = (core - turn) @ r[..., :k]
    rest = adjoint(q_dot) @ (q @ r[..., k:]) + q_h @ a_dot[..., k:]
    return q_dot, np.concatenate((np.triu(r_dot), rest), axis=-1)


@qr.forward()
def _(y, a, a_dot, mode="reduced"):
    parts = np.linalg.qr(a) if qr_mode(mode, a) == "r" else y
    dots = qr_along(parts[0], parts[1], a_dot)
    return dots[1] if mode == "r" else dots


@qr.forward(lambda mode: mode.known and mode.value == "reduced")
def _(y, a, a_dot, mode="reduced"):
    return qr_along(y[0], y[1], a_dot)


qr.refuse(
    lambda mode: mode.known and mode.value not in ("reduced", "r", "complete"),
    "`np.linalg.qr` in this mode has no derivative rule: use reduced or r",
)

# --- least squares ---------------------------------------------------------------------------------------------------


def of_its_rank(a, p):
    """Raise where `p` is the pseudo-inverse of less than `a`: a cutoff has left out singular values that are not 0."""
    size, most, eps = np.max(np.abs(a), initial=0.0), np.max(np.abs(p), initial=0.0), np.finfo(p.dtype).eps
    small = max(1e-7, 1e3 * eps) + 10.0 * eps * size * most
    if np.max(np.abs(a - a @ p @ a), initial=0.0) > small * size:
        raise Refusal(None, "a pseudo-inverse that leaves out singular values has no derivative rule: lower the tolerance")
    return True


flat(of_its_rank)


def pinv_bar(g, p, a):
    """The cotangent of a matrix, given that of its pseudo-inverse `p`."""
    g_t, p_t = np.swapaxes(g, -1, -2), np.swapaxes(p, -1, -2)
    return (g_t - a @ (p @ g_t)) @ p @ p_t + p_t @ p @ (g_t - (g_t @ p) @ a) - p_t @ g @ p_t


@general(np.linalg.pinv)
def pinv(g, p, a, rcond=None, *, rtol=None):
    of_its_rank(a, p)
    return pinv_bar(g, p, a)


def pinv_along(p, a, a_dot):
    """The tangent of the pseudo-inverse."""
    of_its_rank(a, p)
    a_t, p_t = np.swapaxes(a_dot, -1, -2), np.swapaxes(p, -1, -2)
    return p @ (p_t @ (a_t - (a_t @ a) @ p)) + ((a_t - p @ (a @ a_t)) @ p_t) @ p - p @ a_dot @ p


@pinv.forward()
def _(p, a, a_dot, rcond=None, *, rtol=None):
    return pinv_along(p, a, a_dot)


def cutoff(a, b, rcond):
    """The part of the largest singular value of `a` up to which the others count as 0 to np.linalg.lstsq."""
    eps = np.finfo(np.result_type(np.asarray(a), np.asarray(b), np.float32)).eps
    if rcond is None:
        return eps * max(np.shape(a))
    return rcond if 0 < rcond < 1 else eps  # as LAPACK's dlalsd has it


flat(cutoff)


@general(np.linalg.lstsq)
def lstsq(g, y, a, b, rcond=None):
    p = np.linalg.pinv(a, cutoff(a, b, rcond))
    of_its_rank(a, p)
    x, x_bar, p_h = columns(y[0]), np.conj(columns(g[0])), adjoint(p)
    residual = columns(b) - a @ x
    back = p_h @ x_bar
    a_bar = residual @ adjoint(p @ back) + (p_h @ x) @ adjoint(x_bar - adjoint(a) @ back) - back @ adjoint(x)
    if np.size(y[1]):
        spread = residual * (2.0 * g[1])
        back = back + spread
        a_bar = a_bar - spread @ adjoint(x)
    if np.any(g[3]):
        sides = frames(a)
        a_bar = a_bar + (sides[0] * g[3]) @ sides[1]
    return np.conj(a_bar), np.reshape(np.conj(back), np.shape(b))


def lstsq_along_matrix(y, a, b, a_dot, rcond):
    """What the tangent of the matrix adds to that of the solution, of the sums of squares and of the singular values."""
    p, x = np.linalg.pinv(a, cutoff(a, b, rcond)), columns(y[0])
    of_its_rank(a, p)
    a_dot, p_h = np.asarray(a_dot), adjoint(p)
    residual, change, turned = columns(b) - a @ x, a_dot @ x, adjoint(a_dot)
    back = turned @ (p_h @ x)
    x_dot = p @ (p_h @ (turned @ residual) - change) + back - p @ (a @ back)
    sides = frames(a)
    s_dot = np.real(np.sum(np.conj(sides[0]) * (a_dot @ adjoint(sides[1])), axis=0))
    return np.reshape(x_dot, np.shape(y[0])), squares_along(y, residual, -change), 0.0, s_dot


def lstsq_along_side(y, a, b, b_dot, rcond):
    """What the tangent of the right side adds to them."""
    p, change = np.linalg.pinv(a, cutoff(a, b, rcond)), columns(b_dot)
    residual = columns(b) - a @ columns(y[0])
    return np.reshape(p @ change, np.shape(y[0])), squares_along(y, residual, change), 0.0, np.zeros_like(y[3])


def squares_along(y, residual, change):
    """The tangent of the sums of the squares of the residuals, which are left out where the rank is not full."""
    return 2.0 * np.real(np.sum(np.conj(residual) * change, axis=0)) if np.size(y[1]) else np.zeros_like(y[1])


@lstsq.forward()
def _(y, a, b, a_dot, b_dot, rcond=None):
    return lstsq_along_matrix(y, a, b, a_dot, rcond), lstsq_along_side(y, a, b, b_dot, rcond)


of_arrays(np.linalg.qr)
