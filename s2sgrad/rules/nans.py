"""Rules of the reductions and scans that pass over nan.  The largest, smallest and middle are in their own files.

    m = np.nanmean(x)      ->  x_bar = np.where(np.isnan(x), 0.0, m_bar / present(x))

A nan never enters a product: it is replaced by what leaves the result as it is.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.reductions import along, is_several, whole, whole_dropped
from s2sgrad.rules.scans import carried, products_along, products_before
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import over, times, unreduce


def present(x, axis=None, keepdims=False):
    """How many numbers that are not nan a reduction of `x` over `axis` puts into one.

    >>> float(present(np.array([1.0, np.nan, 3.0])))
    2.0
    """
    return np.sum(~np.isnan(x), axis=axis, keepdims=keepdims, dtype=np.asarray(x).dtype)


flat(present)


@general(np.nansum)
def nansum(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(np.isnan(x), 0.0, unreduce(g, x, axis, keepdims))


@nansum.refined(whole)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(np.isnan(x), 0.0, g)


@nansum.refined(along)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(np.isnan(x), 0.0, np.expand_dims(g, axis))


@nansum.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot), axis=axis, keepdims=keepdims)


@nansum.forward(along)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot), axis=axis)


@nansum.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot))


@general(np.nanmean)
def nanmean(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.where(np.isnan(x), 0.0, unreduce(g / present(x, axis, keepdims), x, axis, keepdims))


@nanmean.refined(whole)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.where(np.isnan(x), 0.0, g / present(x))


@nanmean.refined(along)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.where(np.isnan(x), 0.0, np.expand_dims(g / present(x, axis), axis))


@nanmean.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot), axis=axis, keepdims=keepdims) / present(x, axis, keepdims)


@nanmean.forward(along)
def _(y, x, x_dot, axis=None, *, keepdims=False, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot), axis=axis) / present(x, axis)


@nanmean.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, keepdims=False, where=True):
    return np.sum(np.where(np.isnan(x), 0.0, x_dot)) / present(x)


@general(np.nanprod)
def nanprod(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    factors = np.where(np.isnan(x), 1.0, x)
    others = products_before(factors, axis) * products_before(factors, axis, True)
    return np.where(np.isnan(x), 0.0, unreduce(g, x, axis, keepdims) * others)


@nanprod.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=1, where=True):
    factors = np.where(np.isnan(x), 1.0, x)
    others = products_before(factors, axis) * products_before(factors, axis, True)
    return np.sum(np.where(np.isnan(x), 0.0, x_dot * others), axis=axis, keepdims=keepdims)


@general(np.nanvar)
def nanvar(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    mean = np.nanmean(x, axis=axis, keepdims=True)
    g = unreduce(g / (present(x, axis, keepdims) - ddof), x, axis, keepdims)
    return np.where(np.isnan(x), 0.0, g * 2.0 * (x - mean))


@nanvar.forward()
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = np.where(np.isnan(x), 0.0, x - np.nanmean(x, axis=axis, keepdims=True))
    total = np.sum(times(deviation, x_dot), axis=axis, keepdims=keepdims)
    return 2.0 * total / (present(x, axis, keepdims) - ddof)


@general(np.nanstd)
def nanstd(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    mean = np.nanmean(x, axis=axis, keepdims=True)
    spread = y * (present(x, axis, keepdims) - ddof)
    slope = over(np.where(np.isnan(x), 0.0, x - mean), unreduce(spread, x, axis, keepdims))
    return unreduce(g, x, axis, keepdims) * slope


@nanstd.forward()
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    deviation = np.where(np.isnan(x), 0.0, x - np.nanmean(x, axis=axis, keepdims=True))
    total = np.sum(times(deviation, x_dot), axis=axis, keepdims=keepdims)
    return over(total, y * (present(x, axis, keepdims) - ddof))


@general(np.nancumsum)
def nancumsum(g, y, x, axis=None):
    if axis is None or np.ndim(x) == 0:
        g = np.reshape(np.flip(np.cumsum(np.flip(g))), np.shape(x))
    else:
        g = np.flip(np.cumsum(np.flip(g, axis), axis), axis)
    return np.where(np.isnan(x), 0.0, g)


@nancumsum.forward()
def _(y, x, x_dot, axis=None):
    return np.cumsum(np.where(np.isnan(x), 0.0, x_dot), axis=axis)


for _rule in (nanvar, nanstd):
    _rule.refuse(
        lambda ddof: is_several(ddof),
        "a variance with several `ddof` has no derivative rule: call it for each",
    )


@general(np.nancumprod)
def nancumprod(g, y, x, axis=None):
    factors = np.where(np.isnan(x), 1.0, x)
    if axis is None or np.ndim(x) == 0:
        line = np.ravel(factors)
        bar = np.reshape(products_before(line) * (g + carried(line, g * line)), np.shape(x))
    else:
        bar = products_before(factors, axis) * (g + carried(factors, g * factors, axis))
    return np.where(np.isnan(x), 0.0, bar)


def products_over(x, x_dot, axis=None):
    """The tangent of the running products of `x`, nan passed over, along an axis, or along all in turn."""
    factors, dots = np.where(np.isnan(x), 1.0, x), np.where(np.isnan(x), 0.0, x_dot)
    if axis is None or np.ndim(x) == 0:
        return products_along(np.ravel(factors), np.ravel(dots))
    return products_along(factors, dots, axis)


@nancumprod.forward()
def _(y, x, x_dot, axis=None):
    return products_over(x, x_dot, axis)
