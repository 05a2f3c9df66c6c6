"""Rules of the methods of ufuncs: `outer`, `reduce`, `accumulate`, `reduceat`.

    z = np.subtract.outer(a, b)     ->  a_bar = np.sum(z_bar, axis=1); b_bar = -np.sum(z_bar, axis=0)
    s = np.multiply.reduce(x)       ->  as of np.prod(x, axis=0)

Unlike the functions, `reduce` and `accumulate` run along axis 0 if none is given.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.elementwise import exp_difference
from s2sgrad.rules.reductions import along, is_container, kept, tie_weights, whole
from s2sgrad.rules.scans import carried, one_axis, products_along, products_before
from s2sgrad.rules.selections import untake_along_axis
from s2sgrad.rules.table import bilinear, flat, general, linear
from s2sgrad.runtime import log_or_zero, over, power_slope, times, unreduce

# --- outer -----------------------------------------------------------------------------------------------------------


def leading(a):
    """The axes of `a` in an outer product of `a` and something."""
    return tuple(range(np.ndim(a)))


def trailing(a, b):
    """The axes of `b` in an outer product of `a` and `b`."""
    return tuple(range(np.ndim(a), np.ndim(a) + np.ndim(b)))


flat(leading, trailing)


def vectors(a, b):
    return a.rank == 1 and b.rank == 1


@linear(np.add.outer)
def add_outer(g, z, a, b):
    return np.sum(g, axis=trailing(a, b)), np.sum(g, axis=leading(a))


@add_outer.refined(vectors)
def _(g, z, a, b):
    return np.sum(g, axis=1), np.sum(g, axis=0)


@linear(np.subtract.outer)
def subtract_outer(g, z, a, b):
    return np.sum(g, axis=trailing(a, b)), -np.sum(g, axis=leading(a))


@subtract_outer.refined(vectors)
def _(g, z, a, b):
    return np.sum(g, axis=1), -np.sum(g, axis=0)


@bilinear(np.multiply.outer)
def multiply_outer(g, z, a, b):
    return np.tensordot(g, b, np.ndim(b)), np.tensordot(a, g, np.ndim(a))


@multiply_outer.refined(vectors)
def _(g, z, a, b):
    return g @ b, a @ g


@general(np.divide.outer)
def divide_outer(g, z, a, b):
    return np.sum(g / b, axis=trailing(a, b)), -np.sum(g * z, axis=leading(a)) / b


@divide_outer.forward()
def _(z, a, b, a_dot, b_dot):
    return np.divide.outer(a_dot, b), -z * b_dot / b


@general(np.power.outer)
def power_outer(g, z, a, b):
    x = np.expand_dims(a, trailing(a, b))
    return (
        np.sum(g * power_slope(x, b), axis=trailing(a, b)),
        np.sum(g * z * log_or_zero(x), axis=leading(a)),
    )


@power_outer.forward()
def _(z, a, b, a_dot, b_dot):
    x = np.expand_dims(a, trailing(a, b))
    return np.expand_dims(a_dot, trailing(a, b)) * power_slope(x, b), z * log_or_zero(x) * b_dot


@general(np.hypot.outer)
def hypot_outer(g, z, a, b):
    return (
        np.sum(g * over(np.expand_dims(a, trailing(a, b)), z), axis=trailing(a, b)),
        np.sum(g * over(b, z), axis=leading(a)),
    )


@hypot_outer.forward()
def _(z, a, b, a_dot, b_dot):
    return np.expand_dims(a_dot, trailing(a, b)) * over(np.expand_dims(a, trailing(a, b)), z), b_dot * over(b, z)


@general(np.maximum.outer, np.minimum.outer)
def maximum_outer(g, z, a, b):
    x = np.expand_dims(a, trailing(a, b))
    return (
        np.sum(np.where(x == b, 0.5 * g, np.where(x == z, g, 0.0)), axis=trailing(a, b)),
        np.sum(np.where(x == b, 0.5 * g, np.where(b == z, g, 0.0)), axis=leading(a)),
    )


@maximum_outer.forward()
def _(z, a, b, a_dot, b_dot):
    x = np.expand_dims(a, trailing(a, b))
    dot = np.expand_dims(a_dot, trailing(a, b))
    of_a = np.where(x == b, 0.5 * dot, np.where(x == z, dot, 0.0))
    return of_a, np.where(x == b, 0.5 * b_dot, np.where(b == z, b_dot, 0.0))


flat(np.equal.outer, np.not_equal.outer, np.less.outer, np.less_equal.outer, np.greater.outer, np.greater_equal.outer)

# --- reduce ----------------------------------------------------------------------------------------------------------


@linear(np.add.reduce)
def add_reduce(g, y, x, axis=0, *, keepdims=False, initial=0, where=True):
    return unreduce(g, x, axis, keepdims)


@add_reduce.refined(along)
def _(g, y, x, axis=0, *, keepdims=False, initial=0, where=True):
    return np.expand_dims(g, axis)


@add_reduce.refined(kept)
@add_reduce.refined(whole)
def _(g, y, x, axis=0, *, keepdims=False, initial=0, where=True):
    return g


@general(np.multiply.reduce)
def multiply_reduce(g, y, x, axis=0, *, keepdims=False, initial=1, where=True):
    return unreduce(g, x, axis, keepdims) * products_before(x, axis) * products_before(x, axis, True)


@multiply_reduce.forward()
def _(y, x, x_dot, axis=0, *, keepdims=False, initial=1, where=True):
    others = products_before(x, axis) * products_before(x, axis, True)
    return np.sum(x_dot * others, axis=axis, keepdims=keepdims)


@general(np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce)
def maximum_reduce(g, y, x, axis=0, *, keepdims=False, initial=None, where=True):
    return unreduce(g, x, axis, keepdims) * tie_weights(x, y, axis, keepdims)


@maximum_reduce.refined(along)
def _(g, y, x, axis=0, *, keepdims=False, initial=None, where=True):
    return np.expand_dims(g, axis) * tie_weights(x, y, axis)


@maximum_reduce.forward()
def _(y, x, x_dot, axis=0, *, keepdims=False, initial=None, where=True):
    return np.sum(times(tie_weights(x, y, axis, keepdims), x_dot), axis=axis, keepdims=keepdims)


@maximum_reduce.forward(along)
def _(y, x, x_dot, axis=0, *, keepdims=False, initial=None, where=True):
    return np.sum(times(tie_weights(x, y, axis), x_dot), axis=axis)


@general(np.logaddexp.reduce)
def logaddexp_reduce(g, y, x, axis=0, *, keepdims=False):
    return unreduce(g, x, axis, keepdims) * exp_difference(x, unreduce(y, x, axis, keepdims))


@logaddexp_reduce.refined(along)
def _(g, y, x, axis=0, *, keepdims=False):
    return np.expand_dims(g, axis) * exp_difference(x, np.expand_dims(y, axis))


@logaddexp_reduce.forward()
def _(y, x, x_dot, axis=0, *, keepdims=False):
    return np.sum(exp_difference(x, unreduce(y, x, axis, keepdims)) * x_dot, axis=axis, keepdims=keepdims)


flat(np.logical_and.reduce, np.logical_or.reduce, np.logical_xor.reduce)

# --- accumulate, reduceat --------------------------------------------------------------------------------------------


@linear(np.add.accumulate)
def add_accumulate(g, y, x, axis=0):
    axis = one_axis(axis)
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@general(np.multiply.accumulate)
def multiply_accumulate(g, y, x, axis=0):
    axis = one_axis(axis)
    return products_before(x, axis) * (g + carried(x, g * x, axis))


@multiply_accumulate.forward()
def _(y, x, x_dot, axis=0):
    return products_along(x, x_dot, one_axis(axis))


def records(x, y, axis=0):
    """Where along `axis` the running extreme values `y` of `x` were reached, the latest of equals.

    >>> records(np.array([1.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0]))
    array([0, 1, 1])
    """
    axis = one_axis(axis)
    place = np.arange(np.shape(x)[axis])
    place = np.reshape(place, [-1 if k == axis % np.ndim(x) else 1 for k in range(np.ndim(x))])
    return np.maximum.accumulate(np.where(np.equal(x, y) | np.isnan(x), place, 0), axis)


flat(records)


@general(np.maximum.accumulate, np.minimum.accumulate)
def maximum_accumulate(g, y, x, axis=0):
    return untake_along_axis(g, x, records(x, y, axis), one_axis(axis))


@maximum_accumulate.forward(lambda x: is_container(x))
def _(y, x, x_dot, axis=0):
    return np.take_along_axis(np.asarray(x_dot), records(x, y, axis), one_axis(axis))


@maximum_accumulate.forward(lambda x: not is_container(x))
def _(y, x, x_dot, axis=0):
    return np.take_along_axis(x_dot, records(x, y, axis), one_axis(axis))


def at_end(x, axis, first=False):
    """A mask of the last elements along `axis`, or of the first; it broadcasts to the shape of `x`.

    >>> at_end(np.zeros((2, 3)), 1).tolist()
    [[False, False, True]]
    """
    places = np.arange(np.shape(x)[axis])
    found = places == (0 if first else len(places) - 1)
    return np.reshape(found, [-1 if k == axis % np.ndim(x) else 1 for k in range(np.ndim(x))])


flat(at_end)


@general(np.logaddexp.accumulate)
def logaddexp_accumulate(g, y, x, axis=0):
    """x_bar[j] = exp(x[j] - y[j]) s[j] with s[j] = g[j] + exp(y[j] - y[j + 1]) s[j + 1]: no factor is over 1."""
    axis = one_axis(axis)
    shares = exp_difference(y, np.where(at_end(y, axis), np.inf, np.roll(y, -1, axis)))
    return exp_difference(x, y) * (g + shares * carried(shares, g, axis))


@logaddexp_accumulate.refined(lambda x: x.rank == 1)
def _(g, y, x, axis=0):
    shares = exp_difference(y, np.concatenate((y[1:], np.full_like(y[:1], np.inf))))
    return exp_difference(x, y) * (g + shares * carried(shares, g))


@logaddexp_accumulate.forward()
def _(y, x, x_dot, axis=0):
    axis = one_axis(axis)
    shares = exp_difference(np.where(at_end(y, axis, True), -np.inf, np.roll(y, 1, axis)), y)
    terms = exp_difference(x, y) * x_dot
    return terms + shares * carried(shares, terms, axis, True)


def unreduceat(g, x, indices, axis=0):
    """The transpose of `np.add.reduceat(x, indices, axis)`: each sum spread over its stretch of `x`.

    >>> unreduceat(np.array([1.0, 2.0]), np.zeros(4), [0, 1])
    array([1., 2., 2., 2.])
    """
    out, axis = np.zeros(np.shape(x), np.result_type(g)), one_axis(axis)
    low = np.asarray(indices)
    high = np.append(low[1:], np.shape(x)[axis])
    counts = np.where(high > low, high - low, 1)  # a stretch that does not go up is one number
    owners = np.repeat(np.arange(len(low)), counts)
    places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts) + low[owners]
    np.add.at(np.moveaxis(out, axis, 0), places, np.moveaxis(g, axis, 0)[owners])
    return out


@linear(unreduceat)
def _(w, y, g, x, indices=None, axis=0):
    return np.add.reduceat(w, indices, axis), None


@linear(np.add.reduceat)
def add_reduceat(g, y, x, indices=None, axis=0):
    return unreduceat(g, x, indices, axis)
