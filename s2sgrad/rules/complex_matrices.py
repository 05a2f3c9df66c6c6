"""Rules of functions that conjugate, or take a modulus, with complex numbers: products, norms, variances, determinants.

    s = np.vdot(a, b)          ->      a_bar = np.conj(s_bar * b); b_bar = s_bar * np.conj(a)
    y = np.linalg.norm(z)      ->      z_bar = y_bar * over(np.conj(z), y)
    w = np.linalg.eigvalsh(a)  ->      a_bar = conj(u diag(w_bar) u^H), folded to a triangle

Those of matrices are the formulas of real ones (Giles 2008) with `^H` for `^T`, applied to the conjugate of the cotangent: a
cotangent here stands for `dL = Re(z_bar * dz)`.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.contractions import matvec, vdot, vecdot, vecmat
from s2sgrad.rules.decompositions import pinv
from s2sgrad.rules.helpers import power_or_zero
from s2sgrad.rules.linalg import adjoint, cofactors, cofactors_slope, folded, slogdet
from s2sgrad.rules.nans import nanstd, nanvar
from s2sgrad.rules.norms import extreme_weights, matrix_axes, matrix_norm, matrix_slope, norm, of_squares, vector_norm
from s2sgrad.rules.reductions import centered, count, std, tie_weights, var
from s2sgrad.rules.signals import convolve, correlate, cut_off
from s2sgrad.rules.spectra import frame, frames, per_gap, spectral, svdvals, unmixed_frame
from s2sgrad.rules.table import existing, of_complex_numbers
from s2sgrad.runtime import over, unbroadcast, unreduce


def given(complex):
    """Complex numbers may be among the arguments."""
    return complex


# --- products --------------------------------------------------------------------------------------------------------


@vdot.refined(given)
def _(g, z, a, b):
    return np.conj(g * np.reshape(b, np.shape(a))), g * np.conj(np.reshape(a, np.shape(b)))


@vecdot.refined(given)
def _(g, z, x1, x2, *, axis=-1):
    g = np.expand_dims(g, -1)
    x, y = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    first, second = unbroadcast(np.conj(g * y), x), unbroadcast(g * np.conj(x), y)
    return np.moveaxis(first, -1, axis), np.moveaxis(second, -1, axis)


@matvec.refined(given)
def _(g, z, x1, x2):
    x1_bar = unbroadcast(np.expand_dims(g, -1) * np.expand_dims(x2, -2), x1)
    return x1_bar, unbroadcast(np.vecmat(np.conj(g), x1), x2)


@vecmat.refined(given)
def _(g, z, x1, x2):
    x2_bar = unbroadcast(np.conj(np.expand_dims(x1, -1)) * np.expand_dims(g, -2), x2)
    return unbroadcast(np.conj(np.matvec(x2, g)), x1), x2_bar


@convolve.refined(given)
def _(g, y, a, v, mode="full"):
    whole = np.pad(g, cut_off(a, v, mode))
    a_bar = np.correlate(whole, np.conj(np.ravel(v)), "valid")
    v_bar = np.correlate(whole, np.conj(np.ravel(a)), "valid")
    return np.reshape(a_bar, np.shape(a)), np.reshape(v_bar, np.shape(v))


@correlate.refined(given)
def _(g, y, a, v, mode="valid"):
    whole = np.pad(g, cut_off(a, v, mode, True))
    return np.convolve(whole, np.conj(v), "valid"), np.conj(np.correlate(whole, np.conj(a), "valid")[::-1])


# --- norms and variances ---------------------------------------------------------------------------------------------


def direction(x):
    """The derivative of the modulus: 0 at 0."""
    return over(np.conj(x), np.abs(x))


def vector_slope(x, y, ord, axis):
    """The derivative of the norms `y` of vectors, in the shape of `x`."""
    if ord is None or ord == "fro" or ord == 2:
        return over(np.conj(x), y)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return direction(x)
    size = np.abs(x)
    if np.isinf(ord):
        return direction(x) * tie_weights(size, y, axis, True)
    return direction(x) * power_or_zero(over(size, y), ord - 1)


def norm_slope(y, x, ord=None, axis=None, keepdims=False):
    """The derivative of the norms `y`, each in the elements of `x` that it is made of, in the shape of `x`."""
    axes = matrix_axes(x, ord, axis)
    if len(axes) < 2:
        return vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)
    row, column = axes
    if ord == "nuc" or ord == 2 or ord == -2:
        return np.conj(matrix_slope(x, ord, row, column))
    if np.isinf(ord):  # the largest row and not the largest column
        row, column = column, row
    return direction(x) * extreme_weights(np.sum(np.abs(x), axis=row, keepdims=True), ord, column)


@norm.refined(given)
def _(g, y, x, ord=None, axis=None, keepdims=False):
    return unreduce(g, x, axis, keepdims) * norm_slope(y, x, ord, axis, keepdims)


@norm.refined(lambda complex, ord, axis: complex and of_squares(ord, ord) and axis.known and axis.value is None)
def _(g, y, x, ord=None, axis=None, keepdims=False):
    return g * over(np.conj(x), y)


@norm.forward(given)
def _(y, x, x_dot, ord=None, axis=None, keepdims=False):
    return np.sum(norm_slope(y, x, ord, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)


@vector_norm.refined(given)
def _(g, y, x, *, axis=None, keepdims=False, ord=2):
    return unreduce(g, x, axis, keepdims) * vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)


@vector_norm.forward(given)
def _(y, x, x_dot, *, axis=None, keepdims=False, ord=2):
    slope = vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)
    return np.sum(slope * x_dot, axis=axis, keepdims=keepdims)


@matrix_norm.refined(given)
def _(g, y, x, *, keepdims=False, ord="fro"):
    return unreduce(g, x, (-2, -1), keepdims) * norm_slope(y, x, ord, (-2, -1), keepdims)


@matrix_norm.forward(given)
def _(y, x, x_dot, *, keepdims=False, ord="fro"):
    return np.sum(norm_slope(y, x, ord, (-2, -1), keepdims) * x_dot, axis=(-2, -1), keepdims=keepdims)


for _rule in (var, std, nanvar, nanstd):
    _rule.refuse(
        lambda complex, where: complex and not (where.known and where.value is True),
        "the variance of some of complex numbers, which `where` tells, has no derivative rule: take it of those alone",
    )


@var.refined(given)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return unreduce(g, x, axis, keepdims) * (2.0 / (count(x, axis) - ddof)) * np.conj(centered(x, axis))


@var.forward(given)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    moved = np.conj(centered(x, axis)) * x_dot
    return np.sum(moved, axis=axis, keepdims=keepdims) * (2.0 / (count(x, axis) - ddof))


@std.refined(given)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    spread = unreduce(y, x, axis, keepdims) * (count(x, axis) - ddof)
    return unreduce(g, x, axis, keepdims) * over(np.conj(centered(x, axis)), spread)


@std.forward(given)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    moved = np.conj(centered(x, axis)) * x_dot
    return over(np.sum(moved, axis=axis, keepdims=keepdims), y * (count(x, axis) - ddof))


# --- determinants ----------------------------------------------------------------------------------------------------


@slogdet.refined(given)
def _(g, y, a):
    slope = g[1] + 1j * np.imag(g[0] * y[0])  # the sign turns with the argument of the determinant
    return np.expand_dims(slope, (-2, -1)) * np.swapaxes(np.linalg.inv(a), -1, -2)


@slogdet.forward(given)
def _(y, a, a_dot):
    trace = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    return y[0] * (1j * np.imag(trace)), np.real(trace)


# --- eigenvalues and singular values ---------------------------------------------------------------------------------


if svdvals.primitive is not None:

    @svdvals.refined(given)
    def svdvals_bar(g, s, x):
        sides = frames(x)
        return np.conj((sides[0] * np.expand_dims(g, -2)) @ sides[1])


# --- least squares ---------------------------------------------------------------------------------------------------


def complex_pinv_bar(g, p, a):
    """The cotangent of a matrix, given that of its pseudo-inverse `p`."""
    g_h, p_h = np.swapaxes(g, -1, -2), adjoint(p)
    bar = (g_h - a @ (p @ g_h)) @ p @ p_h + p_h @ p @ (g_h - (g_h @ p) @ a) - p_h @ np.conj(g) @ p_h
    return np.conj(bar)


@pinv.refined(given)
def _(g, p, a, rcond=None, *, rtol=None):
    return complex_pinv_bar(g, p, a)


@pinv.forward(given)
def _(p, a, a_dot, rcond=None, *, rtol=None):
    a_h = adjoint(a_dot)
    p_h = adjoint(p)
    return p @ (p_h @ (a_h - (a_h @ a) @ p)) + ((a_h - p @ (a @ a_h)) @ p_h) @ p - p @ a_dot @ p


of_complex_numbers(
    np.vdot, np.convolve, np.correlate, np.linalg.norm, np.var, np.std, np.linalg.det, cofactors,
    cofactors_slope, np.linalg.slogdet, np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd, np.linalg.cholesky,
    np.linalg.qr, np.linalg.pinv, np.linalg.lstsq, adjoint, folded, frame, frames, per_gap, spectral, unmixed_frame,
    *existing(np, "vecdot", "matvec", "vecmat"),
    *existing(np.linalg, "vecdot", "vector_norm", "matrix_norm", "svdvals"),
)  # fmt: skip
