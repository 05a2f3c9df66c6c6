"""Rules of np.linalg.norm, in all its orders.

    y = np.linalg.norm(x)            ->  x_bar = y_bar * over(x, y)
    y = np.linalg.norm(a, 2)         ->  a_bar = y_bar * np.outer(u, v), the singular vectors of the largest value

Where several rows, or several singular values, are the largest, they share evenly, as in np.max.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.helpers import power_or_zero
from s2sgrad.rules.reductions import along, dropped, is_container, tie_weights, whole
from s2sgrad.rules.table import existing, flat, general
from s2sgrad.runtime import Refusal, over, unreduce


def matrix_axes(x, ord, axis):
    """The axes of the rows and of the columns of a matrix norm; of a norm of vectors none."""
    if np.ndim(ord):
        raise Refusal(None, "a norm of several orders at once has no derivative: give one number")
    if axis is None and np.ndim(x) == 2:
        axis = (0, 1)
    if ord is None or ord == "fro" or not isinstance(axis, tuple) or len(axis) == 1:
        return ()
    return axis[0] % np.ndim(x), axis[1] % np.ndim(x)


def extreme_weights(values, ord, axis):
    """What each value along `axis` counts in a norm: all alike in the nuclear norm, else the largest or the smallest."""
    if ord == "nuc":
        return np.ones_like(values)
    extreme = np.max(values, axis=axis, keepdims=True) if ord > 0 else np.min(values, axis=axis, keepdims=True)
    return tie_weights(values, extreme, axis, True)


flat(matrix_axes, extreme_weights)


def vector_slope(x, y, ord, axis):
    """The derivative of the norms `y` of vectors, in the shape of `x`."""
    if ord is None or ord == "fro" or ord == 2:
        return over(x, y)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return np.sign(x)
    if np.isinf(ord):
        return np.sign(x) * tie_weights(np.abs(x), y, axis, True)
    return np.sign(x) * power_or_zero(over(np.abs(x), y), ord - 1)


def matrix_slope(x, ord, row, column):
    """The derivative of the norms of matrices, whose rows and columns are numbered along these axes of `x`."""
    if ord == "nuc" or ord == 2 or ord == -2:
        parts = np.linalg.svd(np.moveaxis(x, (row, column), (-2, -1)), full_matrices=False)
        weights = np.expand_dims(extreme_weights(parts[1], ord, -1), -2)
        return np.moveaxis((parts[0] * weights) @ parts[2], (-2, -1), (row, column))
    if np.isinf(ord):  # the largest row and not the largest column
        row, column = column, row
    return np.sign(x) * extreme_weights(np.sum(np.abs(x), axis=row, keepdims=True), ord, column)


def norm_slope(y, x, ord=None, axis=None, keepdims=False):
    """The derivative of the norms `y`, each in the elements of `x` that it is made of, in the shape of `x`."""
    axes = matrix_axes(x, ord, axis)
    if len(axes) == 2:
        return matrix_slope(x, ord, axes[0], axes[1])
    return vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)


@general(np.linalg.norm)
def norm(g, y, x, ord=None, axis=None, keepdims=False):
    return unreduce(g, x, axis, keepdims) * norm_slope(y, x, ord, axis, keepdims)


@norm.forward()
def _(y, x, x_dot, ord=None, axis=None, keepdims=False):
    return np.sum(norm_slope(y, x, ord, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)


@general(*existing(np.linalg, "vector_norm"))
def vector_norm(g, y, x, *, axis=None, keepdims=False, ord=2):
    return unreduce(g, x, axis, keepdims) * vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)


@vector_norm.forward()
def _(y, x, x_dot, *, axis=None, keepdims=False, ord=2):
    slope = vector_slope(x, unreduce(y, x, axis, keepdims), ord, axis)
    return np.sum(slope * x_dot, axis=axis, keepdims=keepdims)


@general(*existing(np.linalg, "matrix_norm"))
def matrix_norm(g, y, x, *, keepdims=False, ord="fro"):
    return unreduce(g, x, (-2, -1), keepdims) * norm_slope(y, x, ord, (-2, -1), keepdims)


@matrix_norm.forward()
def _(y, x, x_dot, *, keepdims=False, ord="fro"):
    return np.sum(norm_slope(y, x, ord, (-2, -1), keepdims) * x_dot, axis=(-2, -1), keepdims=keepdims)


@norm.refined(lambda ord, axis: ord.known and ord.value is None and axis.known and axis.value is None)
def _(g, y, x, ord=None, axis=None, keepdims=False):
    return g * over(x, y)


@norm.refined(lambda x, ord: x.rank == 1 and ord.known and ord.value in (None, 2))
def _(g, y, x, ord=None, axis=None, keepdims=False):
    return g * over(x, y)


def along_squares(x, ord, axis, keepdims):
    """Norms of vectors along known axes, which are dropped."""
    euclidean = ord.known and (ord.value is None or (ord.value == 2 and type(axis.value) is int))
    return euclidean and along(x, axis, keepdims)


@norm.refined(along_squares)
def _(g, y, x, ord=None, axis=None, keepdims=False):
    return np.expand_dims(g, axis) * over(x, np.expand_dims(y, axis))


def of_squares(x, ord):
    return ord.known and ord.value is None and not is_container(x)


def of_squares_dropped(x, ord, keepdims):
    return of_squares(x, ord) and dropped(keepdims)


@norm.forward(of_squares)
def _(y, x, x_dot, ord=None, axis=None, keepdims=False):
    return over(np.sum(x * x_dot, axis=axis, keepdims=keepdims), y)


@norm.forward(of_squares_dropped)
def _(y, x, x_dot, ord=None, axis=None, keepdims=False):
    return over(np.sum(x * x_dot, axis=axis), y)


@norm.forward(lambda x, ord, axis, keepdims: of_squares_dropped(x, ord, keepdims) and whole(x, axis))
def _(y, x, x_dot, ord=None, axis=None, keepdims=False):
    return over(np.sum(x * x_dot), y)
