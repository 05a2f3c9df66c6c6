"""Rules of the eigenvalues of any square matrix: eig, eigvals.  Those of real matrices may be complex.

    w, v = np.linalg.eig(a)      ->      a_bar = inv(v).T @ (diag(w_bar) + (v.T @ v_bar) / gaps) @ v.T

Nelson (1976), "Simplified calculation of eigenvector derivatives".  Eigenvectors have length 1 and a free phase: what
depends on the phase is dropped.  Between equal eigenvalues it is as for symmetric matrices (`spectra`).
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.spectra import asked, mixing, on_diagonal, per_gap, rounding, sizes
from s2sgrad.rules.table import flat, general, may_turn_complex


def gaps_of(w):
    """The differences of eigenvalues."""
    return np.expand_dims(w, -2) - np.expand_dims(w, -1)


def eig_bar(w_bar, v_bar, w, v):
    """The cotangent of a matrix with the eigenvalues `w` and the eigenvectors `v`."""
    v_t = np.swapaxes(v, -1, -2)
    core = v_t @ (v_bar - np.conj(v) * np.sum(v * v_bar, axis=-2, keepdims=True))
    turned = per_gap(core, gaps_of(w), rounding(w), asked(sizes(v_bar), False))
    return np.linalg.solve(v_t, np.where(on_diagonal(core), np.expand_dims(w_bar, -1), turned) @ v_t)


@general(np.linalg.eig)
def eig(g, y, a):
    return eig_bar(g[0], g[1], y[0], y[1])


@eig.forward()
def _(y, a, a_dot):
    return eig_along(y[0], y[1], a_dot)


def eig_along(w, v, a_dot):
    """The tangents of eigenvalues and eigenvectors."""
    core = np.linalg.solve(v, a_dot @ v)
    moved = v @ per_gap(core, gaps_of(w), rounding(w), mixing(core, False))
    return np.diagonal(core, 0, -2, -1), moved - v * np.sum(np.conj(v) * moved, axis=-2, keepdims=True)


def order_of(w, others):
    """The places of the eigenvalues `w` among `others`, which are the same in some order."""
    if np.allclose(w, others, rtol=1e-6):
        return np.broadcast_to(np.arange(np.shape(w)[-1]), np.shape(w))
    return np.argmin(np.abs(np.expand_dims(w, -1) - np.expand_dims(others, -2)), axis=-1)


flat(order_of)


def vectors_of(a, w):
    """The eigenvectors of a matrix, in the order of its eigenvalues `w`."""
    parts = np.linalg.eig(a)
    return np.take_along_axis(parts[1], np.expand_dims(order_of(w, parts[0]), -2), -1)


@general(np.linalg.eigvals)
def eigvals(g, w, a):
    v_t = np.swapaxes(vectors_of(a, w), -1, -2)
    return np.linalg.solve(v_t, np.expand_dims(g, -1) * v_t)


@eigvals.forward()
def _(w, a, a_dot):
    v = vectors_of(a, w)
    return np.diagonal(np.linalg.solve(v, a_dot @ v), 0, -2, -1)


may_turn_complex(np.linalg.eig, np.linalg.eigvals)
