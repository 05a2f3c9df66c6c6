"""Rules of products and of what runs along an axis: prod, cumsum, cumprod, diff, trapezoid.

    p = np.prod(x)         ->  x_bar = p_bar * products_before(x) * products_before(x, None, True)
    y = np.diff(x)         ->  x_bar = undiff(y_bar)

Products are exact where factors are 0: nothing is divided by a factor, the product of the others is formed instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.rules.reductions import reduced_axes, whole_dropped
from s2sgrad.rules.table import existing, flat, general, linear
from s2sgrad.runtime import unbroadcast, unreduce

# --- sums and differences --------------------------------------------------------------------------------------------


@linear(np.cumsum)
def cumsum(g, y, x, axis=None):
    if axis is None or np.ndim(x) == 0:
        return np.reshape(np.flip(np.cumsum(np.flip(g))), np.shape(x))
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@cumsum.refined(lambda x, axis: x.rank != 0 and axis.known and axis.value is not None)
def _(g, y, x, axis=None):
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@cumsum.refined(lambda x, axis: x.rank == 1 and axis.known and axis.value is None)
def _(g, y, x, axis=None):
    return np.cumsum(g[::-1])[::-1]


@linear(np.diff)
def diff(g, y, a, n=1, axis=-1, prepend=None, append=None):
    return undiffed(g, a, n, axis, prepend, append)[1]


@diff.refined(lambda n, prepend, append: alone(prepend, append) and n.known and n.value == 1)
def _(g, y, a, n=1, axis=-1, prepend=None, append=None):
    return undiff(g, n, axis)


@diff.keyword("prepend", "linear")
def _(g, y, a, n=1, axis=-1, prepend=None, append=None):
    return unbroadcast(undiffed(g, a, n, axis, prepend, append)[0], prepend)


@diff.keyword("append", "linear")
def _(g, y, a, n=1, axis=-1, prepend=None, append=None):
    return unbroadcast(undiffed(g, a, n, axis, prepend, append)[2], append)


diff.adds("prepend", "append")


def alone(prepend, append):
    """Nothing is joined to the array before the differences are taken."""
    return all(end.known and end.value is None for end in (prepend, append))


def end_size(end, axis):
    """How many places an end takes up along `axis`: a number takes one."""
    return 0 if end is None else np.shape(end)[axis] if np.ndim(end) else 1


flat(end_size)


def undiffed(g, a, n, axis, prepend, append):
    """The cotangents of what np.diff puts before `a`, of `a`, and of what it puts behind; without differences, nothing."""
    if n == 0:
        return np.zeros(np.shape(prepend)), g, np.zeros(np.shape(append))
    start, length = end_size(prepend, axis), np.shape(a)[axis]
    size = start + length + end_size(append, axis)
    joined = undiff(g, min(n, size), axis)  # no differences are left of fewer elements
    return np.split(joined, (start, start + length), axis)


def undiff(g, n=1, axis=-1):
    """The transpose of `np.diff`."""
    for _ in range(n):
        m = np.moveaxis(g, axis, -1)
        zero = np.zeros((*np.shape(m)[:-1], 1), m.dtype)
        g = np.moveaxis(np.concatenate((zero, m), -1) - np.concatenate((m, zero), -1), -1, axis)
    return g


@linear(undiff)
def _(g, y, x, n=1, axis=-1):
    return np.diff(g, n, axis)


@linear(np.ediff1d)
def ediff1d(g, y, ary):
    return np.reshape(undiff(g), np.shape(ary))


_INTEGRALS = existing(np, "trapezoid") or existing(np, "trapz")  # as a younger and an older NumPy call it
integral: Any = next(iter(_INTEGRALS), None)


def steps(x, dx, y, axis):
    """The widths of the intervals between the samples `y`, which broadcast to them."""
    if x is None:
        return dx
    return lined(np.diff(x), np.shape(y), axis) if np.ndim(x) == 1 else np.diff(x, axis=axis)


def heights_bar(g, y, x, dx, axis):
    """The cotangent of the samples `y`, where that of the area of each interval is `g`."""
    return spread_pairs(unbroadcast(0.5 * g * steps(x, dx, y, axis), add_neighbours(y, axis)), axis)


def places_bar(g, y, x, axis):
    """The cotangent of the places `x`."""
    areas = 0.5 * g * add_neighbours(y, axis)
    widths = unbroadcast(areas, steps(x, None, y, axis))
    return undiff(unlined(widths, np.diff(x), axis)) if np.ndim(x) == 1 else undiff(widths, 1, axis)


@linear(*_INTEGRALS)
def trapezoid(g, z, y, x=None, dx=1.0, axis=-1):
    return heights_bar(np.expand_dims(g, axis), y, x, dx, axis)


@trapezoid.keyword("dx", "general")
def trapezoid_dx(g, z, y, x=None, dx=1.0, axis=-1):
    if x is not None:
        return np.zeros_like(dx)
    return unbroadcast(0.5 * np.expand_dims(g, axis) * add_neighbours(y, axis), dx)


def evenly(x):
    """The samples are `dx` apart."""
    return x.known and x.value is None


@trapezoid_dx.refined(evenly)
def _(g, z, y, x=None, dx=1.0, axis=-1):
    return unbroadcast(0.5 * np.expand_dims(g, axis) * add_neighbours(y, axis), dx)


@trapezoid_dx.forward(evenly)
def _(z, y, dx_dot, x=None, dx=1.0, axis=-1):
    return integral(y, dx=dx_dot, axis=axis)


@trapezoid.keyword("x", "bilinear")
def trapezoid_x(g, z, y, x=None, dx=1.0, axis=-1):
    return places_bar(np.expand_dims(g, axis), y, x, axis)


@trapezoid_x.refined(lambda y, x: y.rank == 1 and x.rank == 1)
def _(g, z, y, x=None, dx=1.0, axis=-1):
    return undiff(0.5 * g * add_neighbours(y))


@trapezoid.refined(lambda y, x: y.rank == 1 and x.rank == 1)
def _(g, z, y, x=None, dx=1.0, axis=-1):
    return spread_pairs(0.5 * g * np.diff(x))


@trapezoid.refined(lambda y, x: y.rank == 1 and x.known and x.value is None)
def _(g, z, y, x=None, dx=1.0, axis=-1):
    return spread_pairs(np.full(np.size(y) - 1, 0.5 * g * dx))


def lined(w, shape, axis):
    """`w`, which has the axes `axis` alone, with axes of size 1 that make it broadcast to `shape`.

    >>> np.shape(lined(np.zeros(3), (2, 3, 4), 1)), np.shape(lined(np.zeros((2, 3)), (2, 3), None))
    ((1, 3, 1), (2, 3))
    """
    if axis is None or np.ndim(w) == len(shape):
        return w
    axes = [k % len(shape) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    sizes = dict(zip(axes, np.shape(w), strict=True))
    return np.reshape(np.transpose(w, np.argsort(axes)), [sizes.get(k, 1) for k in range(len(shape))])


def unlined(g, w, axis):
    """The transpose of `lined`, in the shape of `w`."""
    if axis is None or np.ndim(g) == np.ndim(w):
        return g
    axes = [k % np.ndim(g) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    order = np.argsort(axes)
    return np.transpose(np.reshape(g, [np.shape(w)[k] for k in order]), np.argsort(order))


@linear(lined)
def _(g, y, w, shape, axis):
    return unlined(g, w, axis), None, None


@linear(unlined)
def _(v, y, g, w, axis):
    return lined(v, np.shape(g), axis), None, None


def add_neighbours(x, axis=-1):
    """`x[i] + x[i + 1]` along an axis."""
    x = np.moveaxis(x, axis, -1)
    return np.moveaxis(x[..., :-1] + x[..., 1:], -1, axis)


def spread_pairs(m, axis=-1):
    """The transpose of `add_neighbours`: `m[i - 1] + m[i]`, where what is outside counts as 0."""
    m = np.moveaxis(m, axis, -1)
    zero = np.zeros((*np.shape(m)[:-1], 1), m.dtype)
    return np.moveaxis(np.concatenate((zero, m), -1) + np.concatenate((m, zero), -1), -1, axis)


@linear(add_neighbours)
def _(g, y, x, axis=-1):
    return spread_pairs(g, axis)


@linear(spread_pairs)
def _(g, y, m, axis=-1):
    return add_neighbours(g, axis)


# --- products --------------------------------------------------------------------------------------------------------


def rows(x, axis):
    """`x` with the axes in `axis` (None: all) as its last one, and the function that brings an array of rows back."""
    shape, axes = np.shape(x), reduced_axes(x, axis)
    moved = np.moveaxis(x, axes, range(len(shape) - len(axes), len(shape)))
    lead = moved.shape[: len(shape) - len(axes)]

    def back(r):
        return np.moveaxis(np.reshape(r, moved.shape), range(len(lead), len(shape)), axes)

    return np.reshape(moved, (*lead, int(np.prod(moved.shape[len(lead) :])))), back


def products_before(x, axis=None, reverse=False):
    """For each element the product of those before it along `axis` (after it with `reverse`).

    >>> products_before(np.array([2.0, 0.0, 5.0])), products_before(np.array([2.0, 0.0, 5.0]), None, True)
    (array([1., 2., 0.]), array([0., 5., 1.]))
    """
    lines, back = rows(x, axis)
    lines = lines[..., ::-1] if reverse else lines
    before = np.ones_like(lines)
    np.cumprod(lines[..., :-1], axis=-1, out=before[..., 1:])
    return back(before[..., ::-1] if reverse else before)


def carried(x, g, axis=None, reverse=False):
    """For each k the sum over later i of `g[i]` times the product of the `x` strictly between k and i."""
    lines, back = rows(x, axis)
    terms, _ = rows(g, axis)
    if reverse:
        lines, terms = lines[..., ::-1], terms[..., ::-1]
    out = np.zeros(lines.shape, np.result_type(lines, terms))
    for k in reversed(range(lines.shape[-1] - 1)):
        out[..., k] = terms[..., k + 1] + lines[..., k + 1] * out[..., k + 1]
    return back(out[..., ::-1] if reverse else out)


@general(products_before)
def _(g, y, x, axis=None, reverse=False):
    return y * carried(x, g, axis, reverse)


@general(carried)
def _(w, y, x, g, axis=None, reverse=False):
    back = carried(x, w, axis, not reverse)
    return back * y, back


def products_along(x, x_dot, axis=None):
    """The tangent of the running products of `x` along `axis`."""
    terms = x_dot * products_before(x, axis)
    return terms + x * carried(x, terms, axis, True)


@general(np.prod)
def prod(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    others = products_before(x, axis) * products_before(x, axis, True)
    return unreduce(g, x, axis, keepdims) * others


@prod.refined(lambda axis: axis.known and axis.value is None)
def _(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    return g * products_before(x) * products_before(x, None, True)


@prod.forward()
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=1, where=True):
    others = products_before(x, axis) * products_before(x, axis, True)
    return np.sum(x_dot * others, axis=axis, keepdims=keepdims)


@prod.forward(whole_dropped)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=1, where=True):
    return np.sum(x_dot * products_before(x) * products_before(x, None, True))


@general(np.cumprod)
def cumprod(g, y, x, axis=None):
    if axis is None or np.ndim(x) == 0:
        x_line = np.ravel(x)
        return np.reshape(products_before(x_line) * (g + carried(x_line, g * x_line)), np.shape(x))
    return products_before(x, axis) * (g + carried(x, g * x, axis))


@cumprod.forward(lambda x, axis: (axis.known and axis.value is not None) or x.rank == 1)
def _(y, x, x_dot, axis=None):
    return np.reshape(products_along(x, x_dot, axis), np.shape(y))


@cumprod.forward(lambda x, axis: axis.known and axis.value is None and x.rank != 1)
def _(y, x, x_dot, axis=None):
    return products_along(np.ravel(x), np.ravel(x_dot))


def one_axis(axis):
    """The axis that a scan runs along, which may be named by a tuple, or by None where there is one alone.

    >>> one_axis(None), one_axis((1,)), one_axis(-1)
    (0, 1, -1)
    """
    return 0 if axis is None else axis[0] if isinstance(axis, (tuple, list)) else axis


flat(one_axis)


@linear(*existing(np, "cumulative_sum"))
def cumulative_sum(g, y, x, *, axis=None, include_initial=False):
    along = one_axis(axis)
    if include_initial:
        g = np.delete(g, 0, along)
    return np.reshape(np.flip(np.cumsum(np.flip(g, along), along), along), np.shape(x))


@general(*existing(np, "cumulative_prod"))
def cumulative_prod(g, y, x, *, axis=None, include_initial=False):
    along = one_axis(axis)
    if include_initial:
        g = np.delete(g, 0, along)
    g = np.reshape(g, np.shape(x))  # NumPy makes a line of a number
    return products_before(x, along) * (g + carried(x, g * x, along))


@cumulative_prod.forward()
def _(y, x, x_dot, *, axis=None, include_initial=False):
    dot = products_along(x, x_dot, one_axis(axis))
    return after_zeros(np.atleast_1d(dot), one_axis(axis)) if include_initial else np.reshape(dot, np.shape(y))


def after_zeros(dot, axis):
    """The tangent of running products that begin with a 1."""
    first = np.zeros_like(np.take(dot, [0], axis))
    return np.concatenate((first, dot), axis)
