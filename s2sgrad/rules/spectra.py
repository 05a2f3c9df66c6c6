"""Rules of eigenvalues and singular values: eigh, eigvalsh, svd, svdvals.

    w, u = np.linalg.eigh(a)     ->  a_bar = u @ (diag(w_bar) + (u.T @ u_bar) / gaps) @ u.T, folded to a triangle

The formulas are those of Giles (2008), "Collected matrix derivative results for forward and reverse mode AD", and Townsend
(2016), "Differentiating the singular value decomposition", for stacks of matrices.  Equal values leave their vectors free to
turn.  Where only the vectors are used (`spans_of_eigh`, `spans_of_svd`), what turns them is dropped.  Where the values are
used as well it is nan: then the derivative does not follow from one choice of vectors.  The second derivative of a sum over
eigenvalues has one choice that does, the vectors that a change of the matrix does not mix (`unmixed_frame`).
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.linalg import adjoint, folded, hermitian, lower
from s2sgrad.rules.table import elementwise, existing, flat, general
from s2sgrad.runtime import Refusal, over, product

# --- eigenvalues -----------------------------------------------------------------------------------------------------


def on_diagonal(m):
    """A mask of the diagonal of matrices."""
    return np.eye(np.shape(m)[-1], dtype=bool)


def rounding(w):
    """Up to which difference eigenvalues or singular values count as equal."""
    size = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
    return np.expand_dims(4 * np.shape(w)[-1] * np.finfo(np.result_type(w, np.float32)).eps * size, -1)


def mixing(m, free):
    """Where a matrix asks for what depends on the choice of vectors; nowhere if they are `free` to turn."""
    m = np.abs(m) + np.abs(np.swapaxes(m, -1, -2))
    small = 1e-12 * np.max(m, axis=(-2, -1), keepdims=True, initial=0.0)
    return np.logical_not(free | on_diagonal(m)) & (m > small)


def sizes(bar):
    """The largest element of each column."""
    return np.max(np.abs(bar), axis=-2, initial=0.0)


def asked(size, free):
    """Where two vectors are mixed of which one is used, by the sizes of their cotangents; nowhere if they are `free`.

    What each of them contributes may cancel, as in `(v * np.exp(w)) @ inv(v)`: that says nothing of the limit.
    """
    used = size > 1e-12 * np.max(size, axis=-1, keepdims=True, initial=0.0)
    either = np.expand_dims(used, -2) | np.expand_dims(used, -1)
    return either & np.logical_not(free | on_diagonal(either))


def per_gap(m, gaps, size, mixed):
    """`m / gaps` between different values; between equal ones 0, or nan where it is `mixed`."""
    near = np.abs(gaps) <= size
    out = np.where(near, np.where(mixed, np.nan, 0.0), over(m, np.where(near, 1.0, gaps)))
    return out.astype(np.result_type(gaps, 1j) if np.iscomplexobj(m) else np.asarray(gaps).dtype)


@elementwise(per_gap)
def _(g, y, m, gaps, size, mixed):
    return per_gap(g, gaps, size, mixed), -per_gap(product(g, y), gaps, size, mixed), None, None


flat(on_diagonal, rounding, mixing, sizes, asked)


def eigh_bar(g, y, a, UPLO, free):
    """The cotangent of a Hermitian matrix; `free`: its eigenvalues are not used.  Phases of the vectors are dropped."""
    w, u = y[0], y[1]
    u_h = adjoint(u)
    gaps, core = np.expand_dims(w, -2) - np.expand_dims(w, -1), u_h @ np.conj(g[1])
    turned = per_gap(0.5 * (core - adjoint(core)), gaps, rounding(w), asked(sizes(g[1]), free))
    return folded(u @ np.where(on_diagonal(a), np.expand_dims(g[0], -1), turned) @ u_h, UPLO)


@general(np.linalg.eigh)
def eigh(g, y, a, UPLO="L"):
    return eigh_bar(g, y, a, UPLO, False)


@general()
def spans_of_eigh(g, y, a, UPLO="L"):
    """The cotangent of a matrix of which only the eigenvectors are used."""
    return eigh_bar(g, y, a, UPLO, True)


def frame(a, UPLO):
    """The eigenvectors of a symmetric matrix, for what its eigenvalues are used for as well."""
    return np.linalg.eigh(a, UPLO)[1]


@general(frame)
def frame_(g, u, a, UPLO):
    y = np.linalg.eigh(a, UPLO)
    return eigh_bar((np.zeros_like(y[0]), g), y, a, UPLO, False), None


def spectral(g, a, UPLO="L"):
    """The cotangent of a symmetric matrix, given that of its eigenvalues."""
    u = frame(a, UPLO)
    return folded((u * np.expand_dims(g, -2)) @ adjoint(u), UPLO)


@general(spectral)
def spectral_(v, y, g, a, UPLO="L"):
    u = frame(a, UPLO)
    bar = lower(np.conj(v) if UPLO == "L" else np.swapaxes(v, -1, -2))
    turned = np.conj(bar + adjoint(bar)) @ u
    parts = np.linalg.eigvalsh(a, UPLO), u
    u_bar = 2.0 * np.conj(turned) * np.expand_dims(g, -2)
    return np.real(np.sum(np.conj(u) * turned, axis=-2)), eigh_bar((np.zeros_like(g), u_bar), parts, a, UPLO, False)


@general(np.linalg.eigvalsh)
def eigvalsh(g, w, a, UPLO="L"):
    return spectral(g, a, UPLO)


@eigvalsh.refined(lambda UPLO: UPLO.known and UPLO.value == "L")
def _(g, w, a, UPLO="L"):
    return spectral(g, a)


@general()
def eigvalsh_beside_spectral(g, w, a, UPLO="L"):
    """The cotangent of a matrix of whose eigenvalues the function takes a cotangent, too."""
    return spectral(g, a, UPLO)


def turned_to(u, a_dot, UPLO):
    """The tangent of the matrix in the frame of the eigenvectors."""
    return adjoint(u) @ hermitian(a_dot, UPLO == "L") @ u


def eigh_along(y, a_dot, UPLO, free):
    """The tangents of eigenvalues and eigenvectors."""
    core = turned_to(y[1], a_dot, UPLO)
    gaps = np.expand_dims(y[0], -2) - np.expand_dims(y[0], -1)
    turned = per_gap(core, gaps, rounding(y[0]), mixing(core, free))
    return np.real(np.diagonal(core, 0, -2, -1)), y[1] @ turned


@eigh.forward()
def _(y, a, a_dot, UPLO="L"):
    return eigh_along(y, a_dot, UPLO, False)


@frame_.forward()
def _(u, a, UPLO, a_dot, UPLO_dot):
    return eigh_along(np.linalg.eigh(a, UPLO), a_dot, UPLO, False)[1], None


def unmixed_frame(a, a_dot, UPLO):
    """The eigenvectors that a change of the matrix does not mix among equal eigenvalues."""
    w, u = np.linalg.eigh(a, UPLO)
    core, n = turned_to(u, a_dot, UPLO), np.shape(w)[-1]
    apart = np.diff(w, axis=-1, prepend=w[..., :1]) > np.squeeze(rounding(w), -1)
    group = np.cumsum(apart, axis=-1)
    within = np.where(np.expand_dims(group, -1) == np.expand_dims(group, -2), core, 0.0)
    far = 1.0 + 2.0 * n * np.max(np.abs(within), axis=(-2, -1), keepdims=True, initial=0.0)
    return u @ np.linalg.eigh(within + far * (np.expand_dims(group, -2) * np.eye(n)))[1].astype(u.dtype)


@general(unmixed_frame)
def unmixed_frame_(g, u, a, a_dot, UPLO):
    parts = np.linalg.eigvalsh(a, UPLO), u
    return eigh_bar((np.zeros_like(parts[0]), g), parts, a, UPLO, False), None, None


@unmixed_frame_.forward()
def _(u, a, a_dot, UPLO, a__dot, a_dot_dot, UPLO_dot):
    return eigh_along((np.linalg.eigvalsh(a, UPLO), u), a__dot, UPLO, False)[1], None, None


@eigvalsh_beside_spectral.forward()
def _(w, a, a_dot, UPLO="L"):
    return np.diagonal(turned_to(unmixed_frame(a, a_dot, UPLO), a_dot, UPLO), 0, -2, -1)


def spectral_along(g, a, a_dot, UPLO, u):
    """The tangent of `spectral` in the matrix, in a frame of eigenvectors."""
    w, steps = np.linalg.eigvalsh(a, UPLO), np.expand_dims(g, -2) - np.expand_dims(g, -1)
    core, gaps = turned_to(u, a_dot, UPLO), np.expand_dims(w, -2) - np.expand_dims(w, -1)
    turned = per_gap(core * steps, gaps, rounding(w), mixing(core * steps, False))
    return folded(u @ turned @ adjoint(u), UPLO)


@spectral_.forward()
def _(y, g, a, g_dot, a_dot, UPLO="L"):
    return spectral(g_dot, a, UPLO), spectral_along(g, a, a_dot, UPLO, frame(a, UPLO))


def spectral_jointly(g, a, g_dot, a_dot, UPLO):
    """The tangent of `spectral`, where the cotangent of the eigenvalues changes as they do."""
    u = unmixed_frame(a, a_dot, UPLO)
    own = folded((u * np.expand_dims(g_dot, -2)) @ adjoint(u), UPLO)
    return own + spectral_along(g, a, a_dot, UPLO, u)


@spectral_.forward_jointly()
def _(y, g, a, g_dot, a_dot, UPLO="L"):
    return spectral_jointly(g, a, g_dot, a_dot, UPLO)


@spans_of_eigh.forward()
def _(y, a, a_dot, UPLO="L"):
    return eigh_along(y, a_dot, UPLO, True)


@eigvalsh.forward()
def _(w, a, a_dot, UPLO="L"):
    return np.diagonal(turned_to(frame(a, UPLO), a_dot, UPLO), 0, -2, -1)


# --- singular values -------------------------------------------------------------------------------------------------


def frames(a):
    """The singular vectors of a matrix on both sides, for what its singular values are used for as well."""
    parts = np.linalg.svd(a, full_matrices=False)
    return parts[0], parts[2]


@general(frames)
def frames_(g, y, a):
    parts = np.linalg.svd(a, full_matrices=False)
    return svd_bar((g[0], np.zeros_like(parts[1]), g[1]), parts, False, False)


@general(*existing(np.linalg, "svdvals"))
def svdvals(g, s, x):
    sides = frames(x)
    return (sides[0] * np.expand_dims(g, -2)) @ sides[1]


@general(np.linalg.svd)
def svd(g, y, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        sides = frames(a)
        return np.conj((sides[0] * np.expand_dims(g, -2)) @ sides[1])
    return svd_bar(g, y, full_matrices, False)


@general()
def spans_of_svd(g, y, a, full_matrices=True, compute_uv=True):
    """The cotangent of a matrix of which only the singular vectors are used."""
    return svd_bar(g, y, full_matrices, True)


def beyond(u, u_bar):
    """What of vectors is outside of the space of the columns of `u`: nothing where they span everything."""
    return u_bar - u @ (adjoint(u) @ u_bar) if np.shape(u)[-2] > np.shape(u)[-1] else np.zeros_like(u_bar)


def settled(g, z):
    """Raise where the cotangent of a basis of a null space asks for what turns it: `z.T @ g` is not symmetric."""
    core, size = adjoint(z) @ g, np.max(np.abs(g), initial=0.0)
    turning = np.where(on_diagonal(core), 0.0, np.abs(core - adjoint(core)))
    if np.max(turning, initial=0.0) > 1e5 * np.finfo(core.dtype).eps * size:
        raise Refusal(None, "which basis of a null space is given has no derivative: use what depends on the space alone")
    return True


flat(settled)


def svd_bar(g, y, full_matrices, free):
    """The cotangent of a matrix; `free`: its singular values are not used.  A phase common to a pair is dropped."""
    s, s_bar = y[1], g[1]
    k = np.shape(s)[-1]
    u, v = y[0][..., :k], adjoint(y[2][..., :k, :])
    u_bar, v_bar = np.conj(g[0][..., :k]), np.swapaxes(g[2][..., :k, :], -1, -2)
    u_h, v_h = adjoint(u), adjoint(v)
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    u_turn, v_turn = u_h @ u_bar, v_h @ v_bar
    both, apart, size = u_turn + v_turn, u_turn - v_turn, rounding(s)
    mixed = asked(sizes(u_bar) + sizes(v_bar), free)
    turned = per_gap(0.5 * (both - adjoint(both)), row - column, size, mixed)
    turned = turned + per_gap(0.5 * (apart - adjoint(apart)), row + column, size, False)
    core = turned + np.where(on_diagonal(turned), np.expand_dims(s_bar, -1), 0.0)
    bar = u @ core @ v_h + over(beyond(u, u_bar), row) @ v_h + u @ adjoint(over(beyond(v, v_bar), row))
    if full_matrices:  # the vectors beyond the first k turn against them
        u_rest, v_rest = y[0][..., k:], adjoint(y[2][..., k:, :])
        settled(np.conj(g[0][..., k:]), u_rest)
        settled(np.swapaxes(g[2][..., k:, :], -1, -2), v_rest)
        u_mixed = u_rest @ (np.swapaxes(g[0][..., k:], -1, -2) @ u)
        v_mixed = v_rest @ (np.conj(g[2][..., k:, :]) @ v)
        bar = bar - over(u_mixed, row) @ v_h - u @ adjoint(over(v_mixed, row))
    return np.conj(bar)


def svdvals_along(a, a_dot):
    """The tangent of the singular values."""
    sides = frames(a)
    return np.real(np.sum(np.conj(sides[0]) * (a_dot @ adjoint(sides[1])), axis=-2))


def svd_along(y, a_dot, full_matrices, free):
    """The tangents of the singular vectors and values; vectors beyond the first k turn against those alone."""
    s, k = y[1], np.shape(y[1])[-1]
    u, v = y[0][..., :k], adjoint(y[2][..., :k, :])
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    core, size = adjoint(u) @ a_dot @ v, rounding(s)
    core_h = adjoint(core)
    both = core + core_h
    together = per_gap(0.5 * both, row - column, size, mixing(both, free))
    apart = per_gap(0.5 * (core - core_h), row + column, size, False)
    u_dot = u @ (together + apart) + over(beyond(u, a_dot @ v), row)
    v_dot = v @ (together - apart) + over(beyond(v, adjoint(a_dot) @ u), row)
    if full_matrices:
        u_rest, v_rest = y[0][..., k:], adjoint(y[2][..., k:, :])
        u_dot = np.concatenate((u_dot, -(u @ (adjoint(u_dot) @ u_rest))), axis=-1)
        v_dot = np.concatenate((v_dot, -(v @ (adjoint(v_dot) @ v_rest))), axis=-1)
    return u_dot, np.real(np.diagonal(core, 0, -2, -1)), adjoint(v_dot)


@frames_.forward()
def _(y, a, a_dot):
    dots = svd_along(np.linalg.svd(a, full_matrices=False), a_dot, False, False)
    return dots[0], dots[2]


@svdvals.forward()
def _(s, x, x_dot):
    return svdvals_along(x, x_dot)


@svd.forward()
def _(y, a, a_dot, full_matrices=True, compute_uv=True):
    return svd_along(y, a_dot, full_matrices, False) if compute_uv else svdvals_along(a, a_dot)


@svd.forward(lambda compute_uv: compute_uv.known and bool(compute_uv.value))
def _(y, a, a_dot, full_matrices=True, compute_uv=True):
    return svd_along(y, a_dot, full_matrices, False)


@spans_of_svd.forward()
def _(y, a, a_dot, full_matrices=True, compute_uv=True):
    return svd_along(y, a_dot, full_matrices, True)


SPANS = {np.linalg.eigh: (spans_of_eigh, 0), np.linalg.svd: (spans_of_svd, 1)}
"""Decompositions: the rule where only the vectors are used, and the place of the values in the result."""
