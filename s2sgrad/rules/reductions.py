"""Rules of reductions: sums, means, squares, extremes.  Products are in `scans.py`, the middle in `quantiles.py`.

    s = np.sum(a * b)            ->  a_bar = s_bar * b; b_bar = s_bar * a
    m = np.max(x, axis=1)        ->  x_bar = np.expand_dims(m_bar, 1) * tie_weights(x, m, 1)
    y = np.var(x)                ->  x_bar = y_bar * (2.0 / np.size(x)) * (x - np.mean(x))

Where the axis is known the cotangent is a number or keeps the reduced axis: the compiler spreads it.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad.rules.table import flat, general, linear, rule_of
from s2sgrad.runtime import over, spreading, times, unreduce


def whole(operand, axis):
    """The reduction runs over all axes of an array: its cotangent is a number."""
    return axis.known and axis.value is None and not is_container(operand)


def along(operand, axis, keepdims):
    """The reduction drops known axes of what may be an array: NumPy takes `axis=0` of a number as well."""
    dropped = axis.known and axis.value is not None and keepdims.known and not keepdims.value
    return dropped and operand.rank != 0 and not is_container(operand)


def along_one(operand, axis, keepdims):
    return along(operand, axis, keepdims) and isinstance(axis.value, int)


def along_of_array(operand, axis, keepdims):
    """The same of what is known to have axes: the cotangents have its shape."""
    return along(operand, axis, keepdims) and operand.rank is not None


def kept(operand, keepdims):
    """The reduction of an array keeps its axes, so its cotangent broadcasts."""
    return keepdims.known and bool(keepdims.value) and not is_container(operand)


def kept_one(operand, axis, keepdims):
    """It keeps the one axis along which it runs."""
    return kept(operand, keepdims) and axis.known and isinstance(axis.value, int) and operand.rank != 0


def is_container(kind):
    """A list or a tuple, whose cotangent is indexed and does not broadcast."""
    return hasattr(kind, "items")


def is_several(kind):
    """A list, a tuple or an array, where one number is meant."""
    return is_container(kind) or kind.rank not in (None, 0)


def is_list(kind):
    """A list, where NumPy and SciPy take a tuple of axes as well."""
    return isinstance(kind.value, list) or getattr(kind, "type", None) is list


def are_numbers(kinds):
    """Numbers, at least one."""
    return bool(kinds) and all(not is_container(k) and getattr(k, "rank", None) == 0 for k in kinds)


def is_of_rows(kind):
    """A list or a tuple of anything but numbers, or lists of as many numbers each: of arrays, of rows of any length."""
    if not is_container(kind) or are_numbers(kind.items or (kind.item,)):
        return False
    rows = kind.items or ()
    told = bool(rows) and all(is_container(row) and are_numbers(row.items) for row in rows)
    return not told or len({len(row.items) for row in rows}) > 1


def of_arrays(*primitives):
    """List primitives whose rules take no list of arrays for an array: it is refused where the call stands."""
    for primitive in primitives:
        words = f"`{primitive.__name__}` of a list has no derivative rule: pass an array"
        rule_of(primitive).refuse(lambda operand: is_of_rows(operand), words)


def dropped(keepdims):
    """The reduced axes are known to be dropped."""
    return keepdims.known and not keepdims.value


def whole_dropped(operand, axis, keepdims):
    return whole(operand, axis) and dropped(keepdims)


def reduced_axes(x, axis):
    """The axes of `x` that a reduction over `axis` runs over; of a number none.

    >>> reduced_axes(np.ones((2, 3)), None), reduced_axes(np.ones((2, 3)), -1), reduced_axes(5.0, 0)
    ((0, 1), (1,), ())
    """
    rank = np.ndim(x)
    axes = range(rank) if axis is None or not rank else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(k % rank for k in axes)


def count(x, axis=None):
    """How many elements of `x` a reduction over `axis` puts into one."""
    return np.size(x) if axis is None else math.prod(np.shape(x)[k] for k in reduced_axes(x, axis))


flat(count, reduced_axes)

# --- sums ------------------------------------------------------------------------------------------------------------


@linear(np.sum)
def sum_(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return unreduce(g, x, axis, keepdims)


@sum_.refined(along)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.expand_dims(g, axis)


@sum_.refined(kept)
@sum_.refined(whole)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return g


@linear(np.mean)
def mean(g, y, x, axis=None, *, keepdims=False, where=True):
    return unreduce(g, x, axis, keepdims) / count(x, axis)


@mean.refined(along)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.expand_dims(g, axis) / count(x, axis)


@mean.refined(along_one)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.expand_dims(g, axis) / np.size(x, axis)


@mean.refined(kept)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return g / count(x, axis)


@mean.refined(kept_one)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return g / np.size(x, axis)


@mean.refined(whole)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return g / np.size(x)


# --- means of squares ------------------------------------------------------------------------------------------------


@general(np.var)
def var(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return unreduce(g, x, axis, keepdims) * (2.0 / (count(x, axis) - ddof)) * centered(x, axis)


@var.refined(whole)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return g * (2.0 / (np.size(x) - ddof)) * (x - np.mean(x))


@var.refined(along_one)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    return np.expand_dims(g, axis) * (2.0 / (np.size(x, axis) - ddof)) * deviation


@var.forward()
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return np.sum(centered(x, axis) * x_dot, axis=axis, keepdims=keepdims) * (2.0 / (count(x, axis) - ddof))


@var.forward(along_one)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    return np.sum(deviation * x_dot, axis=axis) * (2.0 / (np.size(x, axis) - ddof))


@var.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return np.sum((x - np.mean(x)) * x_dot) * (2.0 / (np.size(x) - ddof))


def evenly(ddof):
    return ddof.known and ddof.value == 0


@var.forward(lambda operand, axis, keepdims, ddof: along_one(operand, axis, keepdims) and evenly(ddof))
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return 2.0 * np.mean((x - np.mean(x, axis=axis, keepdims=True)) * x_dot, axis=axis)


@var.forward(lambda operand, axis, keepdims, ddof: whole_dropped(operand, axis, keepdims) and evenly(ddof))
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return 2.0 * np.mean((x - np.mean(x)) * x_dot)


def centered(x, axis=None):
    """`x` less its mean, exactly 0 where all of `x` is one number."""
    x = np.asarray(x)
    if np.size(x) == 0:
        return x
    corner = [slice(None)] * np.ndim(x)
    for k in reduced_axes(x, axis):
        corner[k] = slice(0, 1)
    x = x - x[tuple(corner)]
    return x - np.mean(x, axis=axis, keepdims=True)


@linear(centered)
def _(g, y, x, axis=None):
    return g - np.mean(g, axis=axis, keepdims=True)


@general(np.std)
def std(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    spread = unreduce(y, x, axis, keepdims) * (count(x, axis) - ddof)
    return unreduce(g, x, axis, keepdims) * over(centered(x, axis), spread)


@std.refined(whole)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return g * over(centered(x), y * (np.size(x) - ddof))


@std.refined(along_one)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return np.expand_dims(g, axis) * over(centered(x, axis), np.expand_dims(y, axis) * (np.size(x, axis) - ddof))


@std.forward()
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return over(np.sum(centered(x, axis) * x_dot, axis=axis, keepdims=keepdims), y * (count(x, axis) - ddof))


@std.forward(along_one)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return over(np.sum(centered(x, axis) * x_dot, axis=axis), y * (np.size(x, axis) - ddof))


@std.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    return over(np.sum(centered(x) * x_dot), y * (np.size(x) - ddof))


# --- largest and smallest --------------------------------------------------------------------------------------------


def tie_weights(x, y, axis=None, keepdims=False, where=True, initial=None):
    """1 where `x` is the extreme value `y` of its axis, shared evenly by ties, and 0 elsewhere.

    `initial` is one more candidate, which has no weight here; `where` says which elements are candidates.

    >>> tie_weights(np.array([3.0, 1.0, 3.0]), 3.0)
    array([0.5, 0. , 0.5])
    """
    y = spreading(y, x, axis, keepdims)
    ties = np.equal(x, y) if where is True else np.equal(x, y) & where
    alone = where is True and initial is None
    if alone and type(x) is np.ndarray and x.dtype.kind == "f" and np.count_nonzero(ties) == np.size(y):
        if math.isfinite(np.vdot(y, y)):  # none of them is nan, so each is met, and once
            return ties.astype(x.dtype)
    began = 0 if initial is None else np.equal(initial, y)
    count = np.add.reduce(ties, axis=axis, keepdims=True) + began
    if not count.all():  # an extreme value that is nan equals none
        ties = ties | (np.isnan(x) & np.isnan(y) & where)
        count = np.maximum(np.add.reduce(ties, axis=axis, keepdims=True) + began, 1)
    weights = ties / count
    return weights.astype(x.dtype) if getattr(x, "dtype", weights.dtype) != weights.dtype else weights


flat(tie_weights)


EXTREMES = (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)


@general(*EXTREMES)
def max_(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return spreading(g, x, axis, keepdims) * tie_weights(x, y, axis, keepdims)


@max_.refined(along_of_array, exact=True)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return np.expand_dims(g, axis) * tie_weights(x, y, axis)


@max_.refined(kept, exact=True)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return g * tie_weights(x, y, axis, True)


@max_.refined(whole, exact=True)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return g * tie_weights(x, y)


@max_.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(times(tie_weights(x, y, axis, keepdims), x_dot), axis=axis, keepdims=keepdims)


@max_.forward(along)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(times(tie_weights(x, y, axis), x_dot), axis=axis)


@max_.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(times(tie_weights(x, y), x_dot))


@general(np.ptp)
def ptp(g, y, x, axis=None, *, keepdims=False):
    top = tie_weights(x, np.max(x, axis=axis, keepdims=True), axis, True)
    bottom = tie_weights(x, np.min(x, axis=axis, keepdims=True), axis, True)
    return unreduce(g, x, axis, keepdims) * (top - bottom)


@ptp.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False):
    top = tie_weights(x, np.max(x, axis=axis, keepdims=True), axis, True)
    bottom = tie_weights(x, np.min(x, axis=axis, keepdims=True), axis, True)
    return np.sum(times(top - bottom, x_dot), axis=axis, keepdims=keepdims)


flat(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argpartition, np.lexsort, np.count_nonzero)
flat(np.any, np.all, np.searchsorted, np.digitize, np.nonzero, np.flatnonzero, np.argwhere, np.isin)
