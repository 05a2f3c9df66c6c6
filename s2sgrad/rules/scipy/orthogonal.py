"""Rules of scipy.linalg: factors that are orthogonal: qr, rq, schur, polar, orthogonal_procrustes.

    q, r = linalg.qr(a)     ->     a_bar = (q_bar + q @ copied(r @ r_bar^T - q_bar^T @ q)) @ r^-T

`copied` copies the lower triangle to the upper one: Walter and Lehmann (2010), arXiv:1001.1654.  The columns may stand in
another order (`pivoting`), which is constant.  In `u, p = polar(a)` p is the root of `a^T @ a`, whose tangent is
`p @ p_dot + p_dot @ p` (Higham, 2008, "Functions of Matrices", chapter 8).

In `t, z = schur(a)` with `k = z^H @ z_dot`, which is skew, `z^H @ a_dot @ z + t @ k - k @ t` is a triangle.  Below the
diagonal that is a Sylvester equation, which the eigenvectors of `t` solve (Golub and Van Loan, 2013, "Matrix Computations",
section 7.6).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.linalg import adjoint, hermitian
from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.scipy.linalg import of_rank, turned
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal, over

# --- qr --------------------------------------------------------------------------------------------------------------


def by_transpose(m, r):
    """`m @ r^-H`."""
    return adjoint(np.linalg.solve(r, adjoint(m)))


def qr_bar(q, r, a, q_bar, r_bar):
    """The cotangent of `a = q @ r`, which may have more columns than rows.  The diagonal of `r` is real."""
    q_bar, r_bar, k = np.conj(q_bar), np.conj(r_bar), np.shape(q)[-1]
    rest = q @ r_bar[..., k:]  # what further columns owe
    q_bar = q_bar + a[..., k:] @ adjoint(r_bar[..., k:])
    m = r[..., :k] @ adjoint(r_bar[..., :k]) - adjoint(q_bar) @ q
    bar = by_transpose(q_bar + q @ hermitian(m, True), r[..., :k])
    return np.conj(np.concatenate((bar, rest), axis=-1))


def has_rule(mode, rows, columns):
    """Whether a mode asks for no vectors that are free to turn: those beyond the columns of a tall matrix."""
    if mode not in ("economic", "r") and not (mode == "full" and rows <= columns):
        raise Refusal(None, f"mode={mode!r} of a matrix of {rows} rows has no derivative rule: use 'economic' or 'r'")
    return True


def only_triangle(mode):
    return mode == "r"


def inverse(order):
    return np.argsort(order, axis=-1)


def in_rows(order):
    """The places of columns, the same in each row: whole numbers, which are constants where the matrix is not."""
    return np.expand_dims(order, -2)


flat(has_rule, only_triangle, inverse, in_rows)


def columns(m, order):
    """The columns of matrices in this order."""
    return np.take_along_axis(m, in_rows(order), -1)


@general(linalg.qr)
def qr(g, y, a, *, mode="full", pivoting=False, check_finite=True):
    has_rule(mode, np.shape(a)[-2], np.shape(a)[-1])
    parts = linalg.qr(a, mode="economic", pivoting=pivoting) if only_triangle(mode) else y
    q, k = parts[0], np.shape(parts[0])[-1]
    q_bar, r_bar = (np.zeros_like(q), g[0][..., :k, :]) if only_triangle(mode) else (g[0], g[1])
    if pivoting:
        return columns(qr_bar(q, parts[1], columns(a, parts[2]), q_bar, r_bar), inverse(parts[2]))
    return qr_bar(q, parts[1], a, q_bar, r_bar)


qr.refuse(lambda mode: mode.known and mode.value not in ("full", "r", "economic"), "`scipy.linalg.qr` in this mode has no "
          "derivative rule: use economic or r")  # fmt: skip


def reversed_rows(m):
    return m[..., ::-1, :]


def reversed_both(m):
    return m[..., ::-1, ::-1]


@general(linalg.rq)
def rq(g, y, a, *, mode="full", check_finite=True):
    has_rule(mode, np.shape(a)[-1], np.shape(a)[-2])
    k = min(np.shape(a)[-2], np.shape(a)[-1])
    parts = linalg.rq(a, mode="economic") if only_triangle(mode) else y
    q_bar = np.zeros_like(parts[1]) if only_triangle(mode) else g[1]
    r_bar = g[..., np.shape(a)[-1] - k :] if only_triangle(mode) else g[0]
    q, r, flipped = turned(reversed_rows(parts[1])), turned(reversed_both(parts[0])), turned(reversed_rows(a))
    return reversed_rows(turned(qr_bar(q, r, flipped, turned(reversed_rows(q_bar)), turned(reversed_both(r_bar)))))


# --- schur -----------------------------------------------------------------------------------------------------------


def triangular_vectors(t):
    """The eigenvectors of an upper triangle, with ones on the diagonal.

    >>> triangular_vectors(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    v = np.eye(len(t), dtype=t.dtype)
    for k in range(1, len(t)):
        with np.errstate(all="ignore"):
            v[:k, k] = linalg.solve_triangular(t[:k, :k] - t[k, k] * np.eye(k), -t[:k, k], check_finite=False)
    return v


def by_gaps(m, t):
    """`m` divided by the differences of the eigenvalues on the diagonal of `t`, and 0 on the diagonal."""
    w, here = np.diagonal(t), np.eye(np.shape(t)[0], dtype=bool)
    return np.where(here, 0.0, over(m, np.where(here, 1.0, np.expand_dims(w, 0) - np.expand_dims(w, 1))))


@general(triangular_vectors)
def _(g, v, t):
    return np.triu(np.linalg.solve(v.T, by_gaps(np.triu(v.T @ g, 1), t) @ v.T))


def is_triangle(t):
    """Whether a Schur form has no blocks of two; with them it has no rule."""
    if np.any(np.diagonal(t, -1)):
        raise Refusal(None, "schur of a real matrix with complex eigenvalues has no derivative rule")
    return True


flat(is_triangle)


@general(linalg.schur)
def schur(g, y, a, output="real", *, check_finite=True):
    of_rank(2, a)
    t, z = y[0], y[1]
    is_triangle(t)
    v, t_bar = triangular_vectors(t), np.triu(g[0])
    turn = t.T @ t_bar - t_bar @ t.T + z.T @ g[1]  # the cotangent of `z.T @ z_dot`, which is skew
    mixed = v.T @ by_transpose(np.tril(turn - turn.T, -1), v)
    core = t_bar + np.linalg.solve(v.T, by_gaps(mixed, t) @ v.T)
    return z @ core @ z.T


@schur.refined(lambda complex: complex)
def _(g, y, a, output="real", *, check_finite=True):
    """The same with adjoints, for the conjugates of cotangents.  What depends on the phases of the vectors is dropped."""
    of_rank(2, a)
    t, z = y[0], y[1]
    is_triangle(t)
    v, t_bar, t_h = triangular_vectors(t), np.triu(np.conj(g[0])), adjoint(t)
    turn = t_h @ t_bar - t_bar @ t_h + adjoint(z) @ np.conj(g[1])
    mixed = adjoint(v) @ adjoint(np.linalg.solve(v, adjoint(np.tril(turn - adjoint(turn), -1))))
    core = t_bar + np.linalg.solve(adjoint(v), by_gaps(mixed, np.conj(t)) @ adjoint(v))
    return np.conj(z @ core @ adjoint(z))


schur.refuse(
    lambda output: not output.known,
    "a Schur form of which only the run knows whether it is real has no derivative rule: write output= as a constant",
)

# --- polar -----------------------------------------------------------------------------------------------------------


def polar_bar(u, p, a, u_bar, p_bar):
    """The cotangent of `a = u @ p`."""
    along = by_transpose(np.conj(u_bar), p)
    p_own = np.conj(p_bar) - adjoint(u) @ along
    return np.conj(along + a @ linalg.solve_sylvester(p, p, p_own + adjoint(p_own)))


def is_left(side, a):
    """Which factor comes first, for a matrix of which the symmetric factor is regular."""
    of_rank(2, a)
    m, n = np.shape(a)
    s = np.linalg.svd(a, compute_uv=False)
    if s[-1] <= 1e-10 * s[0]:
        raise Refusal(None, "polar of a singular matrix has no derivative: its orthogonal factor is not unique")
    if (m < n and side == "right") or (m > n and side == "left"):
        raise Refusal(None, f"polar with side={side!r} of a matrix of {m} rows and {n} columns has no derivative rule")
    return side == "left"


flat(is_left)


@general(linalg.polar)
def polar(g, y, a, side="right"):
    if is_left(side, a):
        return polar_bar(y[0].T, y[1].T, a.T, g[0].T, g[1].T).T
    return polar_bar(y[0], y[1], a, g[0], g[1])


def procrustes_bar(g, r, a, b):
    """The cotangents of `m = a.T @ b`, whose orthogonal factor is `r`; the scale is the sum of its singular values.

    `p @ x + x @ p` is `r.T @ m_dot` less its transpose, where `r_dot` is `r @ x`: solved by the eigenvectors of p.  Of two
    directions in which both are 0 the factor is not told, and none is taken.
    """
    p = r.T @ (a.T @ b)
    w, q = np.linalg.eigh(0.5 * (p + p.T))
    sums = np.expand_dims(w, 0) + np.expand_dims(w, 1)
    told = np.logical_and(sums > 1e-10 * np.max(w), ~np.eye(np.shape(p)[0], dtype=bool))
    turning = q.T @ (r.T @ g[0] - g[0].T @ r) @ q
    bar = r @ (q @ np.where(told, turning / np.where(told, sums, 1.0), 0.0) @ q.T) + g[1] * r
    return b @ bar.T, a @ bar


def is_told(a, b):
    """Raise Refusal for sets of points whose turn is not unique."""
    s = np.linalg.svd(a.T @ b, compute_uv=False)
    if s[-1] <= 1e-10 * s[0]:
        raise Refusal(
            None, "orthogonal_procrustes has no derivative where the rotation is not unique: of fewer points than axes"
        )
    return True


flat(is_told)


@general(linalg.orthogonal_procrustes)
def orthogonal_procrustes(g, y, A, B, *, check_finite=True):
    of_rank(2, A, B)
    is_told(A, B)
    return procrustes_bar(g, y[0], A, B)


of_complex_numbers(linalg.qr, linalg.rq, triangular_vectors, linalg.schur, linalg.polar)


of_arrays(linalg.qr, linalg.rq, linalg.orthogonal_procrustes)
