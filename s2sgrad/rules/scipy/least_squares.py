"""Rules of scipy.linalg: pseudo-inverses, least squares, and bases of the range and the null space.

    x = linalg.lstsq(a, b)[0]       ->     b_bar = p.T @ x_bar, with the pseudo-inverse p of `a`
    z = linalg.null_space(a)        ->     a_bar = -p.T @ z_bar @ z.T

The rank is constant (Golub and Pereyra, 1973).  A null space has no basis of its own: its rule is for functions of the
space, such as `z @ z.T`.  A cotangent that asks for what turns the basis is refused.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.complex_matrices import complex_pinv_bar
from s2sgrad.rules.decompositions import columns, of_its_rank, pinv_bar
from s2sgrad.rules.linalg import adjoint, filled
from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.scipy.linalg import folded, of_rank, turned
from s2sgrad.rules.spectra import frames, settled, svd_bar
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- pseudo-inverses -------------------------------------------------------------------------------------------------


def whole_pinv_bar(g, p, a):
    of_its_rank(a, p)
    return pinv_bar(g, p, a)


@general(linalg.pinv)
def pinv(g, y, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    return whole_pinv_bar(g[0], y[0], a) if return_rank else whole_pinv_bar(g, y, a)


@general(linalg.pinvh)
def pinvh(g, y, a, atol=None, rtol=None, lower=True, return_rank=False, *, check_finite=True):
    whole = filled(a, lower)
    bar = whole_pinv_bar(g[0], y[0], whole) if return_rank else whole_pinv_bar(g, y, whole)
    return folded(bar, lower)


@pinv.refined(lambda complex: complex)
def _(g, y, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    p, p_bar = (y[0], g[0]) if return_rank else (y, g)
    of_its_rank(a, p)
    return complex_pinv_bar(p_bar, p, a)


# --- least squares ---------------------------------------------------------------------------------------------------


def cutoff(a, b, cond):
    """The part of the largest singular value up to which the others count as 0."""
    return np.finfo(np.result_type(a, b, np.float32)).eps if cond is None else np.ravel(cond)[0]


flat(cutoff)


@general(linalg.lstsq)
def lstsq(g, y, a, b, cond=None, *, check_finite=True, lapack_driver=None):
    p = linalg.pinv(a, rtol=cutoff(a, b, cond))
    of_its_rank(a, p)
    x, x_bar, p_h = columns(y[0]), np.conj(columns(g[0])), adjoint(p)
    residual, back = columns(b) - a @ x, p_h @ x_bar
    a_bar = residual @ adjoint(p @ back) + (p_h @ x) @ adjoint(x_bar - adjoint(a) @ back) - back @ adjoint(x)
    if np.size(y[1]):
        spread = residual * (2.0 * np.real(np.reshape(g[1], -1)))
        back = back + spread
        a_bar = a_bar - spread @ adjoint(x)
    if y[3] is not None:
        sides = frames(a)
        a_bar = a_bar + (sides[0] * g[3]) @ sides[1]
    return np.conj(a_bar), np.reshape(np.conj(back), np.shape(b))


# --- spaces ----------------------------------------------------------------------------------------------------------


def is_null(a, z):
    """Raise for vectors that a large tolerance counts as null."""
    if np.max(np.abs(a @ z), initial=0.0) > 1e3 * np.finfo(z.dtype).eps * np.max(np.abs(a), initial=0.0) * len(z):
        raise Refusal(None, "a null space with singular values that are not 0 has no derivative rule: lower the tolerance")
    return of_rank(2, a)


def of_one(z):
    """Raise for several vectors, which are free to turn, where what is made of them is not known."""
    if np.shape(z)[-1] > 1:
        raise Refusal(None, "null_space of several vectors has no derivative rule in forward mode: use grad or vjp")
    return True


flat(is_null, of_one)


def null_along(a, z, a_dot):
    of_one(z)
    is_null(a, z)
    return -(linalg.pinv(a) @ a_dot @ z)


@general(linalg.null_space)
def null_space(g, z, A, rcond=None, *, check_finite=True, lapack_driver="gesdd"):
    is_null(A, z)
    settled(g, z)
    return -(turned(linalg.pinv(A)) @ g @ turned(z))


@null_space.forward()
def _(z, A, A_dot, rcond=None, *, check_finite=True, lapack_driver="gesdd"):
    return null_along(A, z, A_dot)


@general(linalg.orth)
def orth(g, q, A, rcond=None):
    of_rank(2, A)
    parts = linalg.svd(A, full_matrices=False)
    sides = np.concatenate((g, np.zeros_like(parts[0][:, np.shape(q)[-1] :])), axis=-1)
    return svd_bar((sides, np.zeros_like(parts[1]), np.zeros_like(parts[2])), parts, False, True)


of_complex_numbers(linalg.pinv, linalg.lstsq)


of_arrays(linalg.lstsq)
