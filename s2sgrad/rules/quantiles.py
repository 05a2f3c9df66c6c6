"""Rules of order statistics: sort, partition, median, quantile, percentile, and those that pass over nan.

    y = np.quantile(x, 0.9)    ->  x_bar = y_bar * quantile_weights(x, 0.9)
    y = np.sort(x)             ->  x_bar = np.take_along_axis(y_bar, np.argsort(np.argsort(x, kind="stable")), -1)

A quantile is a weighted mean of one or two elements; the weights do not change while no two elements change places.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.reductions import along, dropped, is_container, reduced_axes, whole, whole_dropped
from s2sgrad.rules.scans import rows
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal, times, unreduce


@general(np.sort)
def sort(g, y, a, axis=-1, kind=None):
    places = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.reshape(np.take_along_axis(g, places, axis), np.shape(a))


@sort.forward(lambda a: not is_container(a))
def _(y, a, a_dot, axis=-1, kind=None):
    return np.take_along_axis(a_dot, np.argsort(a, axis=axis, kind="stable"), axis)


@general(np.partition)
def partition(g, y, a, kth=None, axis=-1):
    if axis is None:
        g = np.take(g, np.argsort(y, kind="stable"))
    else:
        g = np.take_along_axis(g, np.argsort(y, axis=axis, kind="stable"), axis)
    places = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.reshape(np.take_along_axis(g, places, axis), np.shape(a))


@partition.forward(lambda a: not is_container(a))
def _(y, a, a_dot, kth=None, axis=-1):
    return picked_along(y, a, a_dot, axis)


def picked_along(y, a, a_dot, axis):
    """The tangent of `y`, in which the elements of `a` stand in another order; equal ones are told apart by their places."""
    if axis is None:
        a, a_dot, axis = np.ravel(a), np.ravel(a_dot), 0
    ranks = np.argsort(np.argsort(y, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(a_dot, np.take_along_axis(np.argsort(a, axis=axis, kind="stable"), ranks, axis), axis)


def quantile_weights(x, q, axis=None, method="linear", nan=False):
    """The weights with which `np.quantile(x, q, axis, method=method)` averages `x`, in the shapes of `q` and `x` joined.

    `nan`: those of np.nanquantile.  Equal elements are told apart by their places, as a stable sort does.

    >>> quantile_weights(np.array([5.0, 1.0, 3.0]), [0.5, 0.75])
    array([[0. , 0. , 1. ],
           [0.5, 0. , 0.5]])
    """
    if nan and np.ndim(q) > 1 and isinstance(axis, tuple) and len(axis) > 1:  # NumPy exchanges axes of the result
        raise Refusal(None, "np.nanquantile over several axes, of probabilities with several, has no derivative rule")
    lines, back = rows(x, axis)
    order = np.argsort(lines, axis=-1, kind="stable")  # nan comes last
    counts = np.sum(~np.isnan(lines), axis=-1) if nan else np.full(lines.shape[:-1], lines.shape[-1])
    out = []
    for probability in np.ravel(q):
        place = np.zeros(counts.shape)
        for n in np.unique(counts[counts > 0]):  # the quantile of 0, 1, 2, ... is its place among them
            place[counts == n] = np.quantile(np.arange(float(n)), probability, method=method)
        low = np.floor(place).astype(int)
        high = np.minimum(low + 1, lines.shape[-1] - 1)
        weights = np.zeros_like(lines)
        for k, share in ((low, 1.0 - (place - low)), (high, place - low)):
            k = np.take_along_axis(order, k[..., None], -1)
            np.put_along_axis(weights, k, np.take_along_axis(weights, k, -1) + share[..., None], -1)
        out.append(back(np.where(counts[..., None] > 0, weights, 0.0).astype(weights.dtype)))
    return np.reshape(np.stack(out) if out else np.zeros((0, *np.shape(x))), np.shape(q) + np.shape(x))


def spread_shape(q, x, axis):
    """The shape that makes a quantile of `x` broadcast to the shapes of `q` and `x` joined."""
    over = reduced_axes(x, axis)
    return np.shape(q) + tuple(1 if k in over else n for k, n in enumerate(np.shape(x)))


def leading_axes(q):
    """The axes that an array `q` of probabilities puts in front."""
    return tuple(range(np.ndim(q)))


def axes_behind(q, x, axis):
    """The axes of `x` over which a quantile is taken, where those of `q` stand in front of them."""
    return tuple(np.ndim(q) + k for k in reduced_axes(x, axis))


def hundredth(q):
    """`q` percent, as NumPy rounds it."""
    return np.true_divide(q, 100.0)


flat(quantile_weights, spread_shape, leading_axes, axes_behind, hundredth)


def of_all(operand, q, axis):
    return q.rank == 0 and whole(operand, axis)


def of_all_linearly(operand, q, axis, method):
    return of_all(operand, q, axis) and method.known and method.value == "linear"


def of_all_linearly_dropped(operand, q, axis, method, keepdims):
    return of_all_linearly(operand, q, axis, method) and dropped(keepdims)


def of_each(operand, q, axis, keepdims):
    return q.rank == 0 and along(operand, axis, keepdims)


@general(np.quantile)
def quantile(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    weights = quantile_weights(a, q, axis, method)
    return np.sum(np.reshape(g, spread_shape(q, a, axis)) * weights, axis=leading_axes(q))


@quantile.refined(of_all)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return g * quantile_weights(a, q, axis, method)


@quantile.refined(of_all_linearly)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return g * quantile_weights(a, q)


@quantile.refined(of_each)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return np.expand_dims(g, axis) * quantile_weights(a, q, axis, method)


@general(np.percentile)
def percentile(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    weights = quantile_weights(a, hundredth(q), axis, method)
    return np.sum(np.reshape(g, spread_shape(q, a, axis)) * weights, axis=leading_axes(q))


@percentile.refined(of_all)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return g * quantile_weights(a, q / 100.0, axis, method)


@percentile.refined(of_all_linearly)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return g * quantile_weights(a, q / 100.0)


@percentile.refined(of_each)
def _(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    return np.expand_dims(g, axis) * quantile_weights(a, q / 100.0, axis, method)


@general(np.nanquantile)
def nanquantile(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    weights = quantile_weights(a, q, axis, method, True)
    return np.sum(np.reshape(g, spread_shape(q, a, axis)) * weights, axis=leading_axes(q))


@general(np.nanpercentile)
def nanpercentile(g, y, a, q=None, axis=None, *, method="linear", keepdims=False):
    weights = quantile_weights(a, hundredth(q), axis, method, True)
    return np.sum(np.reshape(g, spread_shape(q, a, axis)) * weights, axis=leading_axes(q))


@general(np.median)
def median(g, y, a, axis=None, *, keepdims=False):
    return unreduce(g, a, reduced_axes(a, axis), keepdims) * quantile_weights(a, 0.5, axis)


@median.refined(along)
def _(g, y, a, axis=None, *, keepdims=False):
    return np.expand_dims(g, axis) * quantile_weights(a, 0.5, axis)


@median.refined(whole)
def _(g, y, a, axis=None, *, keepdims=False):
    return g * quantile_weights(a, 0.5)


@general(np.nanmedian)
def nanmedian(g, y, a, axis=None, *, keepdims=False):
    return unreduce(g, a, reduced_axes(a, axis), keepdims) * quantile_weights(a, 0.5, axis, "linear", True)


def weighed(weights, a_dot, q, axis=None, keepdims=False):
    """The means of `a_dot` with these weights, in which the axes of `q` stand in front."""
    return np.sum(times(weights, a_dot), axis=axes_behind(q, a_dot, axis), keepdims=keepdims)


@quantile.forward()
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return weighed(quantile_weights(a, q, axis, method), a_dot, q, axis, keepdims)


@percentile.forward()
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return weighed(quantile_weights(a, hundredth(q), axis, method), a_dot, q, axis, keepdims)


@nanquantile.forward()
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return weighed(quantile_weights(a, q, axis, method, True), a_dot, q, axis, keepdims)


@nanpercentile.forward()
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return weighed(quantile_weights(a, hundredth(q), axis, method, True), a_dot, q, axis, keepdims)


@median.forward()
def _(y, a, a_dot, axis=None, *, keepdims=False):
    return np.sum(times(quantile_weights(a, 0.5, axis), a_dot), axis=reduced_axes(a, axis), keepdims=keepdims)


@median.forward(along)
def _(y, a, a_dot, axis=None, *, keepdims=False):
    return np.sum(times(quantile_weights(a, 0.5, axis), a_dot), axis=axis)


@median.forward(whole_dropped)
def _(y, a, a_dot, axis=None, *, keepdims=False):
    return np.sum(times(quantile_weights(a, 0.5), a_dot))


@quantile.forward(of_all_linearly_dropped)
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return np.sum(times(quantile_weights(a, q), a_dot))


@quantile.forward(of_each)
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return np.sum(times(quantile_weights(a, q, axis, method), a_dot), axis=axis)


@percentile.forward(of_all_linearly_dropped)
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return np.sum(times(quantile_weights(a, q / 100.0), a_dot))


@percentile.forward(of_each)
def _(y, a, a_dot, q=None, axis=None, *, method="linear", keepdims=False):
    return np.sum(times(quantile_weights(a, q / 100.0, axis, method), a_dot), axis=axis)


@nanmedian.forward()
def _(y, a, a_dot, axis=None, *, keepdims=False):
    weights = quantile_weights(a, 0.5, axis, "linear", True)
    return np.sum(times(weights, a_dot), axis=reduced_axes(a, axis), keepdims=keepdims)
