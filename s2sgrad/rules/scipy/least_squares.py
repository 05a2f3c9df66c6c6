"""Rules of scipy.linalg: pseudo-inverses, least squares, and bases of the range and the null space.

    x = linalg.lstsq(a, b)[0]       ->     b_bar = p.T @ x_bar, with the pseudo-inverse p of `a`
    z = linalg.null_space(a)        ->     a_bar = -p.T @ z_bar @ z.T

The rank is constant (Golub and Pereyra, 1973).  A null space has no basis of its own: its rule is for functions of the
space, such as `z @ z.T`.  Where a cotangent asks for what turns the basis, it is nan.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.decompositions import columns
from s2sgrad.rules.linalg import filled
from s2sgrad.rules.scipy.linalg import folded, of_rank, turned
from s2sgrad.rules.spectra import frames, svd_bar
from s2sgrad.rules.table import flat, general

# --- pseudo-inverses -------------------------------------------------------------------------------------------------


def pinv_bar(g, p, a):
    g_t, p_t = turned(g), turned(p)
    return (g_t - a @ (p @ g_t)) @ p @ p_t + p_t @ p @ (g_t - (g_t @ p) @ a) - p_t @ g @ p_t


@general(linalg.pinv)
def pinv(g, y, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    return pinv_bar(g[0], y[0], a) if return_rank else pinv_bar(g, y, a)


@general(linalg.pinvh)
def pinvh(g, y, a, atol=None, rtol=None, lower=True, return_rank=False, *, check_finite=True):
    whole = filled(a, lower)
    bar = pinv_bar(g[0], y[0], whole) if return_rank else pinv_bar(g, y, whole)
    return folded(bar, lower)


# --- least squares ---------------------------------------------------------------------------------------------------


def cutoff(a, b, cond):
    """The part of the largest singular value up to which the others count as 0."""
    return np.finfo(np.result_type(a, b, np.float32)).eps if cond is None else cond


flat(cutoff)


@general(linalg.lstsq)
def lstsq(g, y, a, b, cond=None, *, check_finite=True, lapack_driver=None):
    p = linalg.pinv(a, rtol=cutoff(a, b, cond))
    x, x_bar = columns(y[0]), columns(g[0])
    residual, back = columns(b) - a @ x, p.T @ x_bar
    a_bar = residual @ (p @ back).T + (p.T @ x) @ (x_bar - a.T @ back).T - back @ x.T
    if np.size(y[1]):
        spread = residual * (2.0 * np.reshape(g[1], -1))
        back = back + spread
        a_bar = a_bar - spread @ x.T
    if y[3] is not None:
        sides = frames(a)
        a_bar = a_bar + (sides[0] * g[3]) @ sides[1]
    return a_bar, np.reshape(back, np.shape(b))


# --- spaces ----------------------------------------------------------------------------------------------------------


def turns(g, z):
    """Whether a cotangent of a basis asks for what turns it: `z.T @ z_bar` is not symmetric.

    >>> bool(turns(np.eye(2), np.eye(2))), bool(turns(np.ones((2, 2)) + np.tri(2), np.eye(2)))
    (False, True)
    """
    core = np.swapaxes(z, -1, -2) @ g
    size = np.max(np.abs(g), initial=0.0)
    return np.max(np.abs(core - np.swapaxes(core, -1, -2)), initial=0.0) > 1e4 * np.finfo(core.dtype).eps * size


flat(turns)


@general(linalg.null_space)
def null_space(g, z, A, rcond=None, *, check_finite=True, lapack_driver="gesdd"):
    of_rank(2, A)
    return np.where(turns(g, z), np.nan, -(turned(linalg.pinv(A)) @ g @ turned(z)))


@general(linalg.orth)
def orth(g, q, A, rcond=None):
    of_rank(2, A)
    parts = linalg.svd(A, full_matrices=False)
    sides = np.concatenate((g, np.zeros_like(parts[0][:, np.shape(q)[-1] :])), axis=-1)
    return svd_bar((sides, np.zeros_like(parts[1]), np.zeros_like(parts[2])), parts, False, True)
