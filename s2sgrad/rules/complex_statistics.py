"""Rules of statistics, of choices and of fits with complex numbers.

    c = np.cov(z)                  ->      z_bar = (c_bar @ np.conj(centered(z, 1)) + ..) / (n - 1), for c = z z^H / (n - 1)
    w = np.maximum(a, b)           ->      by selection: NumPy orders complex numbers by their real parts, then the imaginary

A cotangent `z_bar` stands for `dL = Re(z_bar * dz)`.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad.rules import casts, joins, quantiles, scalar_math, selections, shapes, signals, ufunc_methods
from s2sgrad.rules.choices import chosen, maximum, minimum, nan_to_num, shares
from s2sgrad.rules.complex_matrices import given
from s2sgrad.rules.decompositions import columns
from s2sgrad.rules.linalg import adjoint
from s2sgrad.rules.nans import nanstd, nanvar, present
from s2sgrad.rules.polynomials import exponents, polyfit
from s2sgrad.rules.reductions import centered
from s2sgrad.rules.statistics import corrcoef, corrcoef_y, cov, cov_along, cov_y, divisor, unvariables, variables
from s2sgrad.rules.table import of_complex_numbers
from s2sgrad.runtime import over, power_slope, unreduce

# --- covariance ------------------------------------------------------------------------------------------------------


def both_sides(g, rows):
    """The cotangent of `rows`, of that of `rows @ adjoint(rows)`."""
    g = np.atleast_2d(g)
    return g @ np.conj(rows) + np.conj(np.transpose(g) @ rows)


def cov_bars(g, m, y, rowvar, bias, ddof):
    """The cotangents of `m` and `y` in their covariance."""
    rows = centered(variables(m, y, rowvar), 1)
    return unvariables(both_sides(g, rows) / divisor(rows, bias, ddof), m, y, rowvar)


@cov.refined(given)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return cov_bars(g, m, y, rowvar, bias, ddof)[0]


@cov_y.refined(given)
def _(g, c, m, y=None, rowvar=True, bias=False, ddof=None):
    return cov_bars(g, m, y, rowvar, bias, ddof)[1]


@cov.forward(given)
def _(c, m, m_dot, y=None, rowvar=True, bias=False, ddof=None):
    other = None if y is None else np.zeros_like(y)
    return cov_along(c, variables(m, y, rowvar), variables(m_dot, other, rowvar), bias, ddof)


def corrcoef_bars(g, x, y, rowvar):
    """The cotangents of `x` and `y` in their correlations."""
    rows = centered(variables(x, y, rowvar), 1)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = over(rows, length)
    bar = both_sides(g, unit)
    along = np.real(np.sum(unit * bar, axis=1, keepdims=True))
    return unvariables(over(bar - np.conj(unit) * along, length), x, y, rowvar)


@corrcoef.refined(given)
def _(g, c, x, y=None, rowvar=True):
    return corrcoef_bars(g, x, y, rowvar)[0]


@corrcoef_y.refined(given)
def _(g, c, x, y=None, rowvar=True):
    return corrcoef_bars(g, x, y, rowvar)[1]


# --- what passes over nan --------------------------------------------------------------------------------------------


@nanvar.refined(given)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    mean = np.nanmean(x, axis=axis, keepdims=True)
    g = unreduce(g / (present(x, axis, keepdims) - ddof), x, axis, keepdims)
    return np.where(np.isnan(x), 0.0, g * 2.0 * np.conj(x - mean))


@nanvar.forward(given)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = np.where(np.isnan(x), 0.0, x - np.nanmean(x, axis=axis, keepdims=True))
    moved = np.where(np.isnan(x), 0.0, np.conj(deviation) * x_dot)
    return 2.0 * np.sum(moved, axis=axis, keepdims=keepdims) / (present(x, axis, keepdims) - ddof)


@nanstd.refined(given)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    mean = np.nanmean(x, axis=axis, keepdims=True)
    spread = y * (present(x, axis, keepdims) - ddof)
    slope = over(np.conj(np.where(np.isnan(x), 0.0, x - mean)), unreduce(spread, x, axis, keepdims))
    return unreduce(g, x, axis, keepdims) * slope


@nanstd.forward(given)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = np.where(np.isnan(x), 0.0, x - np.nanmean(x, axis=axis, keepdims=True))
    moved = np.where(np.isnan(x), 0.0, np.conj(deviation) * x_dot)
    return over(np.sum(moved, axis=axis, keepdims=keepdims), y * (present(x, axis, keepdims) - ddof))


# --- choices ---------------------------------------------------------------------------------------------------------


@maximum.refined(given)
def _(g, z, x, y):
    return chosen(g, np.greater(x, y), np.equal(x, y)), chosen(g, np.greater(y, x), np.equal(x, y))


@minimum.refined(given)
def _(g, z, x, y):
    return chosen(g, np.less(x, y), np.equal(x, y)), chosen(g, np.less(y, x), np.equal(x, y))


@nan_to_num.refined(given)
def _(g, y, x, *, nan=0.0, posinf=None, neginf=None):
    real, imaginary = np.where(np.isfinite(np.real(x)), np.real(g), 0.0), np.where(np.isfinite(np.imag(x)), np.imag(g), 0.0)
    return real + 1j * imaginary


@nan_to_num.forward(given)
def _(y, x, x_dot, *, nan=0.0, posinf=None, neginf=None):
    real = np.where(np.isfinite(np.real(x)), np.real(x_dot), 0.0)
    return real + 1j * np.where(np.isfinite(np.imag(x)), np.imag(x_dot), 0.0)


# --- fits ------------------------------------------------------------------------------------------------------------


@polyfit.refined(given)
def _(g, p, x, y, deg=None, rcond=None):
    g, p, v = np.conj(columns(g)), columns(p), np.vander(x, int(deg) + 1)
    scale = np.linalg.norm(v, axis=0)
    inverse = np.transpose(np.transpose(np.linalg.pinv(v / scale)) / scale)
    back = adjoint(inverse) @ g
    residual = columns(y) - v @ p
    v_bar = np.conj(residual @ adjoint(inverse @ back) - back @ adjoint(p))
    slope = power_slope(np.expand_dims(x, -1), exponents(v))
    return np.sum(v_bar * slope, axis=-1), np.reshape(np.conj(back), np.shape(y))


of_complex_numbers(np.cov, np.corrcoef, np.nanvar, np.nanstd, np.polyfit, np.nan_to_num)
assert casts and joins and quantiles and scalar_math and shapes and ufunc_methods  # whose rules these change
of_complex_numbers(
    np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.max, np.min, np.nanmax, np.nanmin, np.ptp, np.maximum.reduce,
    np.minimum.reduce, np.fmax.reduce, np.fmin.reduce, np.maximum.accumulate, np.minimum.accumulate, np.maximum.outer,
    np.minimum.outer, np.sort, np.partition, np.median, np.nanmedian, chosen, shares,
)  # fmt: skip
of_complex_numbers(
    np.float_power, np.power.outer, np.nanprod, np.nancumsum, np.nancumprod, np.arange, np.geomspace, np.logspace,
    np.interp, np.gradient, np.histogram, np.asarray_chkfinite, np.require, np.ndarray.tolist, math.prod,
    signals.ungradient, selections.picked, selections.unpicked,
)  # fmt: skip
