"""Rules of functions that move numbers about: shapes, axes, copies, and new arrays.

    y = np.reshape(x, (2, 3))     ->  x_bar = np.reshape(y_bar, np.shape(x))
    y = np.full(n, v)             ->  v_bar = np.sum(y_bar)

All of them are linear.  Joins are in `joins.py`; what takes numbers out by their places is in `selections.py`.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.casts import cast, not_cast, through_cast
from s2sgrad.rules.reductions import is_list
from s2sgrad.rules.table import existing, flat, general, linear
from s2sgrad.runtime import Refusal, unbroadcast

# --- shapes and axes -------------------------------------------------------------------------------------------------


def other_order(order):
    """The elements may be read in another order than NumPy's usual one."""
    return not order.known or order.value != "C"


def by_columns(order):
    return order.known and order.value == "F"


def memory_order(order):
    """The order of the elements depends on how they lie in memory."""
    return order.known and order.value not in ("C", "F")


def read_order(order):
    """`order`, checked: "A" and "K" ask how an array lies in memory, which its cotangent does not share."""
    if order not in ("C", "F"):
        raise Refusal(None, f'order={order!r} depends on memory and has no derivative rule: use "C" or "F"')
    return order


flat(read_order)


@linear(np.reshape)
def reshape(g, y, x, shape=None, order="C"):
    return np.reshape(g, np.shape(x))


@reshape.instead(other_order)
def _(g, y, x, shape=None, order="C"):
    return np.reshape(g, np.shape(x), order=read_order(order))


@linear(np.ravel)
def ravel(g, y, x, order="C"):
    return np.reshape(g, np.shape(x))


@ravel.instead(other_order)
def _(g, y, x, order="C"):
    return np.reshape(g, np.shape(x), order=read_order(order))


@reshape.refined(by_columns)
def _(g, y, x, shape=None, order="C"):
    return np.reshape(g, np.shape(x), order="F")


@ravel.refined(by_columns)
def _(g, y, x, order="C"):
    return np.reshape(g, np.shape(x), order="F")


for _rule in (reshape, ravel):
    _rule.refuse(memory_order, 'an order that depends on how an array lies in memory has no derivative rule: use "C" or "F"')


@linear(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def atleast_1d(g, y, x):
    return np.reshape(g, np.shape(x))


def is_number(x):
    return x.rank == 0


# The cotangent of a number is a number: an array without axes would share the memory of `g`.


@reshape.refined(is_number)
def _(g, y, x, shape=None, order="C"):
    return np.reshape(g, ())[()]


@ravel.refined(is_number)
def _(g, y, x, order="C"):
    return np.reshape(g, ())[()]


@atleast_1d.refined(is_number)
def _(g, y, x):
    return np.reshape(g, ())[()]


@linear(np.squeeze)
def squeeze(g, y, x, axis=None):
    return np.reshape(g, np.shape(x))


@linear(np.expand_dims)
def expand_dims(g, y, x, axis=None):
    return np.squeeze(g, axis)


expand_dims.refuse(
    lambda axis: is_list(axis),
    "`np.expand_dims` along a list of axes has no derivative rule: pass a tuple",
)


def inverse_axes(axes):
    """The permutation that undoes `axes`, for np.transpose.

    >>> inverse_axes((1, 2, 0)), inverse_axes(None)
    ((2, 0, 1), None)
    """
    if axes is None or np.ndim(axes) == 0:
        return axes
    axes = [k % len(axes) for k in axes]
    return tuple(axes.index(k) for k in range(len(axes)))


flat(inverse_axes)


@linear(np.transpose)
def transpose(g, y, x, axes=None):
    return np.transpose(g, inverse_axes(axes))


@transpose.refined(lambda axes: axes.known and axes.value is None)
def _(g, y, x, axes=None):
    return g.T


@transpose.refined(lambda axes, operand: axes.known and axes.value is None and operand.rank == 0)
def _(g, y, x, axes=None):
    return g


@linear(*existing(np, "matrix_transpose"), *existing(np.linalg, "matrix_transpose"))
def matrix_transpose(g, y, x):
    return np.swapaxes(g, -1, -2)


@linear(np.swapaxes)
def swapaxes(g, y, a, axis1=None, axis2=None):
    return np.swapaxes(g, axis1, axis2)


@linear(np.moveaxis)
def moveaxis(g, y, a, source=None, destination=None):
    return np.moveaxis(g, destination, source)


def rolled_to(axis, start, rank):
    """The place to which np.rollaxis brings an axis."""
    axis, start = axis % rank, start + rank if start < 0 else start
    return start - 1 if start > axis else start


flat(rolled_to)


@linear(np.rollaxis)
def rollaxis(g, y, a, axis=None, start=0):
    return np.moveaxis(g, rolled_to(axis, start, np.ndim(a)), axis)


@linear(np.broadcast_to)
def broadcast_to(g, y, x, shape=None):
    return unbroadcast(g, x)


@linear(np.roll)
def roll(g, y, a, shift=None, axis=None):
    return np.roll(g, np.negative(shift), axis)


@roll.refined(lambda shift: shift.known and isinstance(shift.value, int))
def _(g, y, a, shift=None, axis=None):
    return np.roll(g, -shift, axis)


@roll.refined(lambda shift, axis: shift.known and isinstance(shift.value, int) and axis.known and axis.value is None)
def _(g, y, a, shift=None, axis=None):
    return np.roll(g, -shift)


@linear(np.fft.fftshift)
def fftshift(g, y, x, axes=None):
    return np.fft.ifftshift(g, axes)


@linear(np.fft.ifftshift)
def ifftshift(g, y, x, axes=None):
    return np.fft.fftshift(g, axes)


@linear(np.flip)
def flip(g, y, m, axis=None):
    return np.flip(g, axis)


@linear(np.flipud)
def flipud(g, y, m):
    return np.flipud(g)


@linear(np.fliplr)
def fliplr(g, y, m):
    return np.fliplr(g)


@linear(np.rot90)
def rot90(g, y, m, k=1, axes=(0, 1)):
    return np.rot90(g, -k, axes)


@linear(np.triu)
def triu(g, y, m, k=0):
    return unbroadcast(np.triu(g, k), m)


@triu.refined(lambda operand: (operand.rank or 0) > 1)
def _(g, y, m, k=0):
    return np.triu(g, k)


@linear(np.tril)
def tril(g, y, m, k=0):
    return unbroadcast(np.tril(g, k), m)  # of a vector NumPy makes a matrix


@tril.refined(lambda operand: (operand.rank or 0) > 1)
def _(g, y, m, k=0):
    return np.tril(g, k)


# --- new arrays ------------------------------------------------------------------------------------------------------


@linear(np.full)
def full(g, y, shape, fill_value, dtype=None):
    return None, unbroadcast(through_cast(g, y), fill_value)


@full.forward(cast)
def _(y, shape, fill_value, shape_dot, fill_value_dot, dtype=None):
    return None, through_cast(np.full(shape, fill_value_dot, dtype), y)


@full.refined(lambda fill_value, dtype: fill_value.rank == 0 and not_cast(dtype))
def _(g, y, shape, fill_value, dtype=None):
    return None, np.sum(g)


@linear(np.full_like)
def full_like(g, y, a, fill_value, dtype=None):
    return None, unbroadcast(through_cast(g, y), fill_value)


@full_like.forward(lambda a, dtype: cast(dtype) or not (getattr(a, "dtype", None) or "").startswith("float"))
def _(y, a, fill_value, a_dot, fill_value_dot, dtype=None):
    return None, through_cast(np.full_like(y, fill_value_dot), y)


@full_like.refined(lambda fill_value: fill_value.rank == 0)
def _(g, y, a, fill_value, dtype=None):
    return None, np.sum(through_cast(g, y))


@linear(np.linspace)
def linspace(g, y, start, stop, num=50, endpoint=True):
    t = np.linspace(0.0, 1.0, num, endpoint, dtype=g.dtype)
    return unbroadcast(np.tensordot(1.0 - t, g, 1), start), unbroadcast(np.tensordot(t, g, 1), stop)


@linspace.refined(lambda start, stop: start.rank == 0 and stop.rank == 0)
def _(g, y, start, stop, num=50, endpoint=True):
    t = np.linspace(0.0, 1.0, num, endpoint, dtype=g.dtype)
    return g @ (1.0 - t), g @ t


@general(np.logspace)
def logspace(g, y, start, stop, num=50, endpoint=True, base=10.0):
    t = np.linspace(0.0, 1.0, num, endpoint, dtype=g.dtype)
    e = g * y * np.log(base, dtype=g.dtype)
    return unbroadcast(np.tensordot(1.0 - t, e, 1), start), unbroadcast(np.tensordot(t, e, 1), stop)


@general(np.geomspace)
def geomspace(g, y, start, stop, num=50, endpoint=True):
    t = np.linspace(0.0, 1.0, num, endpoint, dtype=g.dtype)
    e = g * y
    return unbroadcast(np.tensordot(1.0 - t, e, 1), start) / start, unbroadcast(np.tensordot(t, e, 1), stop) / stop


@general(np.arange)
def arange(g, y, start, stop=None, step=None, *, dtype=None):
    if stop is None:
        return 0.0  # the one argument is where to stop
    return np.sum(g)


@arange.refined(lambda stop: stop.rank == 0)
def _(g, y, start, stop=None, step=None, *, dtype=None):
    return np.sum(g)


@arange.keyword("stop")
def arange_stop(g, y, start, stop=None, step=None, *, dtype=None):
    return 0.0


@arange.keyword("step")
def arange_step(g, y, start, stop=None, step=None, *, dtype=None):
    return np.sum(g * np.arange(np.size(g)))


flat(np.shape, np.ndim, np.size, np.zeros, np.ones, np.empty, np.ndarray, np.zeros_like, np.ones_like, np.empty_like, np.eye)
flat(np.identity, np.tri, np.indices, np.triu_indices, np.tril_indices, np.diag_indices, np.unravel_index)
flat(np.ravel_multi_index, np.broadcast_shapes, np.result_type, np.promote_types, np.finfo, np.iinfo, np.isscalar)
flat(np.iscomplexobj, np.isrealobj, np.shares_memory, np.may_share_memory, np.isfortran, np.iterable, np.can_cast)
flat(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from, np.common_type, np.issubdtype, np.min_scalar_type)
