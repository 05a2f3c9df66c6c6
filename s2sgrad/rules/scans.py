"""Rules of products and of what runs along an axis: prod, cumsum, cumprod, diff, trapezoid.

    p = np.prod(x)         ->  x_bar = p_bar * products_before(x) * products_before(x, None, True)
    y = np.diff(x)         ->  x_bar = undiff(y_bar)

Products are exact where factors are 0: nothing is divided by a factor, the product of the others is formed instead.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import general, linear
from s2sgrad.runtime import unreduce

# --- sums and differences --------------------------------------------------------------------------------------------


@linear(np.cumsum)
def cumsum(g, y, x, axis=None):
    if axis is None:
        return np.reshape(np.flip(np.cumsum(np.flip(g))), np.shape(x))
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@cumsum.refined(lambda axis: axis.known and axis.value is not None)
def _(g, y, x, axis=None):
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@cumsum.refined(lambda x, axis: x.rank == 1 and axis.known and axis.value is None)
def _(g, y, x, axis=None):
    return np.cumsum(g[::-1])[::-1]


@linear(np.diff)
def diff(g, y, a, n=1, axis=-1):
    return undiff(g, n, axis)


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


@linear(np.trapezoid)
def trapezoid(g, z, y, x=None, dx=1.0, axis=-1):
    half = 0.5 * np.expand_dims(g, axis)
    pairs = add_neighbours(y, axis)
    if x is None:
        return spread_pairs(np.broadcast_to(half * dx, np.shape(pairs)), axis)
    step = lined(np.diff(x, axis=-1 if np.ndim(x) == 1 else axis), np.shape(pairs), axis)
    return spread_pairs(np.broadcast_to(half * step, np.shape(pairs)), axis)


def lined(w, shape, axis):
    """`w`, one number per place along `axis`, with the axes it needs to broadcast to `shape`; `w` of `shape` stays."""
    if np.ndim(w) == 1 and axis is not None:
        axes = [1] * len(shape)
        axes[axis[0] if isinstance(axis, tuple) else axis] = np.size(w)
        return np.reshape(w, axes)
    return w


@linear(lined)
def _(g, y, w, shape, axis):
    return np.reshape(g, np.shape(w)), None, None


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
    shape = np.shape(x)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(k % len(shape) for k in axes)
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


@general(np.prod)
def prod(g, y, x, axis=None, *, keepdims=False):
    others = products_before(x, axis) * products_before(x, axis, True)
    return unreduce(g, x, axis, keepdims) * others


@prod.refined(lambda axis: axis.known and axis.value is None)
def _(g, y, x, axis=None, *, keepdims=False):
    return g * products_before(x) * products_before(x, None, True)


@general(np.cumprod)
def cumprod(g, y, x, axis=None):
    if axis is None:
        x_line = np.ravel(x)
        return np.reshape(products_before(x_line) * (g + carried(x_line, g * x_line)), np.shape(x))
    return products_before(x, axis) * (g + carried(x, g * x, axis))
