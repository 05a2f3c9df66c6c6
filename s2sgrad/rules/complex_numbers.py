"""The functions whose rules hold for complex numbers, and the rules that complex numbers need of their own.

    w = z * z              ->      z_bar = w_bar * z + w_bar * z             holomorphic: the rule is that of real numbers
    y = np.abs(z)          ->      z_bar = y_bar * over(np.conj(z), y)       any other has a refinement for them

A cotangent `z_bar` stands for `dL = Re(z_bar * dz)`.  A holomorphic function multiplies it with its slope, a linear map with
its transpose, without a conjugate; `conj`, `real` and `imag` are linear over the real numbers alone.  Whatever is not listed
is refused with complex operands.
"""

from __future__ import annotations

import builtins
import cmath
import copy
import math
import operator

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import (
    builtin_functions,
    casts,
    contractions,
    einsum,
    elementwise,
    helpers,
    joins,
    linalg,
    masked,
    monomials,
    named_tuples,
    padding,
    picking,
    polynomials,
    reductions,
    scalar_math,
    scans,
    selections,
    sequences,
    shapes,
    statistics,
    ufunc_methods,
)
from s2sgrad.rules.arithmetic import power
from s2sgrad.rules.choices import absolute, conjugate
from s2sgrad.rules.elementwise import arcsinh
from s2sgrad.rules.table import (
    complex_of_real_numbers,
    existing,
    flat,
    flat_of_real_numbers,
    general,
    linear,
    of_complex_numbers,
    rule_of,
)
from s2sgrad.rules.table import elementwise as by_element
from s2sgrad.runtime import (
    copies,
    given,
    handed,
    item_slots,
    log_or_zero,
    over,
    power_slope,
    shadows,
    structure,
)

# --- rules of their own ----------------------------------------------------------------------------------------------


@absolute.refined(lambda complex: complex)
def _(g, y, x):
    return g * over(np.conj(x), y)


@conjugate.refined(lambda complex: complex)
def _(g, y, x):
    return np.conj(g)


@by_element(np.imag)  # 0 of real numbers
def imag(g, y, val):
    return 0.0 * g


@imag.refined(lambda complex: complex)
def _(g, y, val):
    return -1j * g


@by_element(np.angle)  # flat between the jumps, for real numbers
def angle(g, y, z, deg=False):
    return 0.0 * g


@angle.refined(lambda complex, deg: complex and not (deg.known and not deg.value))
def _(g, y, z, deg=False):
    return g * over(-1j * (z != 0), z) * (180.0 / math.pi if deg else 1.0)


@angle.refined(lambda complex, deg: complex and deg.known and not deg.value)
def _(g, y, z, deg=False):
    return g * over(-1j * (z != 0), z)


@by_element(complex)
def complex_(g, z, real, imag=0.0):
    return g


@complex_.keyword("imag")
def complex_imag(g, z, real, imag=0.0):
    return g * 1j


@arcsinh.refined(lambda complex: complex)
def arcsinh_of_complex(g, y, x):
    return g / np.sqrt(x * x + 1.0)


@power.refined(lambda complex, n: complex and not n.known)
def _(g, z, x, n):
    return g * power_slope(x, n), g * z * log_or_zero(x + 0j)


complex_of_real_numbers(complex)
assert scalar_math and shapes  # whose rules these change
of_complex_numbers(np.absolute, builtins.abs, np.conjugate, np.real, np.imag, np.angle, complex, np.arcsinh)

rule_of(np.angle).also(cmath.phase)
_OF_CMATH = {
    cmath.exp: np.exp, cmath.sqrt: np.sqrt, cmath.sin: np.sin, cmath.cos: np.cos, cmath.tan: np.tan, cmath.asin: np.arcsin,
    cmath.acos: np.arccos, cmath.atan: np.arctan, cmath.sinh: np.sinh, cmath.cosh: np.cosh, cmath.tanh: np.tanh,
    cmath.acosh: np.arccosh, cmath.atanh: np.arctanh, cmath.log10: np.log10,
}  # fmt: skip
for _of_cmath, _of_numpy in _OF_CMATH.items():
    by_element(_of_cmath)(rule_of(_of_numpy).pullback)
by_element(cmath.asinh)(arcsinh_of_complex)


@by_element(cmath.log)
def log(g, y, x, base=None):
    return g / x if base is None else g / (x * np.log(base + 0j))


@log.keyword("base")
def log_base(g, y, x, base=None):
    return -g * y / (base * np.log(base + 0j))


@by_element(cmath.rect)
def rect(g, z, r, phi):
    return g * np.exp(1j * phi), g * 1j * z


@general(cmath.polar)
def polar(g, y, z):
    return g[0] * over(np.conj(z), y[0]) + g[1] * over(-1j, z)


@polar.forward()
def _(y, z, z_dot):
    return np.real(over(np.conj(z), y[0]) * z_dot), np.imag(over(z_dot, z))


flat(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)


@linear(np.real_if_close)
def real_if_close(g, y, a, tol=100):
    return g


@real_if_close.forward()
def _(y, a, a_dot, tol=100):
    return a_dot


of_complex_numbers(float)  # that is `z.item()`
of_complex_numbers(*_OF_CMATH, cmath.asinh)
complex_of_real_numbers(*_OF_CMATH, cmath.asinh, cmath.log, cmath.rect)
of_complex_numbers(cmath.log, cmath.rect, cmath.polar, np.real_if_close, np.ndarray.view, casts.viewed, casts.unviewed)

if np.sign(3 + 4j) != 1.0:  # z / abs(z); before NumPy 2 the sign of one of the parts

    @by_element()
    def sign(g, y, x):
        across = np.where(np.equal(x, 0.0), 0.0, g - np.real(g * y) * np.conj(y))
        return over(across, np.abs(x))

    @sign.forward()
    def _(y, x, x_dot):
        return over(np.where(np.equal(x, 0.0), 0.0, x_dot - y * np.real(np.conj(y) * x_dot)), np.abs(x))

    flat_of_real_numbers(np.sign, sign)

# --- those of real numbers -------------------------------------------------------------------------------------------

of_complex_numbers(
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.power, builtins.pow, np.square, np.reciprocal,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.sin, np.cos, np.tan, np.arcsin, np.arccos,
    np.arctan, np.sinh, np.cosh, np.tanh, np.arccosh, np.arctanh, np.sinc, np.where,
)  # fmt: skip
of_complex_numbers(
    np.sum, np.mean, np.prod, np.cumsum, np.cumprod, np.nansum, np.nanmean, np.average, np.diff, np.ediff1d,
    builtins.sum, np.add.reduce, np.multiply.reduce, np.add.accumulate, np.multiply.accumulate, np.add.outer,
    np.subtract.outer, np.multiply.outer, np.divide.outer, np.add.reduceat,
    *existing(np, "cumulative_sum", "cumulative_prod"), *(existing(np, "trapezoid") or existing(np, "trapz")),
)  # fmt: skip
of_complex_numbers(
    np.dot, np.matmul, np.inner, np.outer, np.tensordot, np.einsum, np.kron, np.cross, np.trace, np.linalg.inv,
    np.linalg.solve, np.linalg.matrix_power, np.linalg.multi_dot,
    *existing(np.linalg, "cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace"),
)  # fmt: skip
of_complex_numbers(
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy, np.ndarray.astype, np.full,
    np.full_like, copy.copy, copy.deepcopy, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis,
    np.expand_dims, np.squeeze, np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d, np.atleast_3d,
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.append, np.insert, np.delete,
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.tile, np.repeat, np.roll, np.flip, np.fliplr, np.flipud,
    np.rot90, np.pad, np.tril, np.triu, np.diag, np.diagflat, np.diagonal, np.vander, np.resize, np.meshgrid, np.select,
    np.choose, np.compress, np.extract, np.take, np.take_along_axis, np.fft.fftshift, np.fft.ifftshift, np.linspace,
    np.lib.stride_tricks.sliding_window_view, *existing(np, "matrix_transpose", "unstack"),
)  # fmt: skip
of_complex_numbers(
    np.polyval, np.polyder, np.polyint, np.poly1d.__call__, builtins.dict, builtins.list, builtins.tuple, operator.concat,
)  # fmt: skip


@linear(runtime.projected, runtime.wide)
def projected(w, y, x_bar, x):
    return w, None


@projected.forward()
def _(y, x_bar, x, x_bar_dot, x_dot):
    return runtime.projected(x_bar_dot, x), None


@linear(runtime.widened)
def widened(w, y, x_bar, x):
    return w, None


@widened.forward()
def _(y, x_bar, x, x_bar_dot, x_dot):
    return runtime.widened(x_bar_dot, x), None


@linear(runtime.conjugated)
def conjugated(w, y, x_bar):
    return runtime.conjugated(w)


of_complex_numbers(runtime.conjugated)
of_complex_numbers(runtime.projected, runtime.wide, runtime.widened, runtime.holomorphic_seed)

# --- what their derivatives call -------------------------------------------------------------------------------------

of_complex_numbers(
    runtime.add, runtime.add_at, runtime.held, runtime.like, runtime.own, runtime.put_back, runtime.restored,
    runtime.seed_like, runtime.sequence, runtime.spreading, runtime.unbroadcast, runtime.unreduce, runtime.require_array,
    given.fitted, runtime.log_or_zero, runtime.over, runtime.power_slope, runtime.product, runtime.times, copies.copied,
    copies.copied_as_laid, handed.require_still, item_slots.at_item, item_slots.at_section,
    item_slots.cell_at, item_slots.slot, item_slots.slots, shadows.add_into, shadows.each_once,
    shadows.laid_like, shadows.of_copies, shadows.put,
    shadows.refilled, shadows.shadow_of, shadows.tangent_of, shadows.unless_shared, structure.as_dict, structure.lacking,
    structure.moved, structure.repeated, structure.with_fields,
)  # fmt: skip
of_complex_numbers(
    builtin_functions.arranged, builtin_functions.placed, builtin_functions.preceded, builtin_functions.regroup,
    builtin_functions.spread, builtin_functions.sum_of, builtin_functions.unarranged, casts.through_cast,
    contractions.kron_left, contractions.kron_right, contractions.matmul_left, contractions.matmul_right,
    contractions.tensordot_left, contractions.tensordot_right, einsum.contracted, einsum.einsum_bars, einsum.replaced,
    elementwise.sinc_slope, helpers.fit, helpers.fit_given, helpers.power_or_zero, helpers.walked, joins.columns,
    joins.gathered, joins.join_like, joins.split_like, joins.unblock, joins.unsplit, linalg.lower, masked.deviations,
    monomials.monomial, monomials.power, monomials.product_of_powers, named_tuples.fields, named_tuples.of_dict,
    named_tuples.unfields, padding.unpad, picking.picked, picking.unpicked, polynomials.slope_of, polynomials.unpolyder,
    polynomials.unpolyint, reductions.centered, scans.add_neighbours, scans.carried, scans.lined, scans.products_before,
    scans.spread_pairs, scans.undiff, scans.unlined, selections.mesh, selections.unbroadcast_each, selections.unchoose,
    selections.undiagonal, selections.uninsert, selections.unmesh, selections.unrepeat, selections.unselect,
    selections.untake, selections.untake_along_axis, selections.untile, selections.unwindow, sequences.alone,
    sequences.completed, sequences.entry, sequences.folded, sequences.without, statistics.unvariables, statistics.variables,
    ufunc_methods.unreduceat,
)  # fmt: skip
