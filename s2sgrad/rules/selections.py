"""Rules of functions that take numbers out of an array by their places: take, compress, delete, diag, repeat, tile.

    y = np.take(x, k)             ->  x_bar = untake(y_bar, x, k)
    y = np.compress(mask, x)      ->  x_bar = untake(y_bar, x, np.flatnonzero(mask))

Each has a transpose that puts numbers back, and adds up those from one place; the two are each other's rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.rules.table import existing, flat, linear
from s2sgrad.runtime import unbroadcast

# --- by index --------------------------------------------------------------------------------------------------------


def untake(g, x, indices, axis=None):
    """The transpose of `np.take(x, indices, axis)`: `g` added up at its places in an array of the shape of `x`.

    >>> untake(np.array([1.0, 2.0, 4.0]), np.zeros(3), [0, 2, 0])
    array([5., 0., 2.])
    """
    out, indices = np.zeros(np.shape(x), np.result_type(g)), np.asarray(indices, np.intp)  # truth values are 0 and 1
    if axis is None or not out.size or not out.ndim:
        np.add.at(np.reshape(out, -1), indices if out.size else [], g if out.size else 0.0)
        return out
    axis %= out.ndim
    rank = np.ndim(indices)
    np.add.at(np.moveaxis(out, axis, 0), indices, np.moveaxis(g, range(axis, axis + rank), range(rank)))
    return out


@linear(untake)
def _(w, y, g, x, indices=None, axis=None):
    return np.take(w, indices, axis=axis), None


@linear(np.take)
def take(g, y, a, indices=None, axis=None):
    return untake(g, a, indices, axis)


def untake_along_axis(g, x, indices, axis):
    """The transpose of `np.take_along_axis(x, indices, axis)`."""
    out = np.zeros(np.shape(x), np.result_type(g))
    if axis is None:
        np.add.at(np.reshape(out, -1), indices, g)
        return out
    grid = list(np.ogrid[tuple(slice(n) for n in np.shape(g))])
    places: list[Any] = [place if n > 1 else 0 for place, n in zip(grid, out.shape, strict=True)]
    places[axis] = np.broadcast_to(indices, np.shape(g))
    np.add.at(out, tuple(places), g)
    return out


@linear(untake_along_axis)
def _(w, y, g, x, indices=None, axis=None):
    return np.take_along_axis(w, indices, axis), None


@linear(np.take_along_axis)
def take_along_axis(g, y, arr, indices=None, axis=-1):
    return untake_along_axis(g, arr, indices, axis)


# --- by mask ---------------------------------------------------------------------------------------------------------


@linear(np.compress)
def compress(g, y, condition, a, axis=None):
    return None, untake(g, a, np.flatnonzero(condition), axis)


@linear(np.extract)
def extract(g, y, condition, arr):
    return None, untake(g, arr, np.flatnonzero(condition))


def unchoose(g, a, choices, mode="raise"):
    """The transpose of `np.choose(a, choices)` in the choices: `g` where each was taken.

    >>> [bar.tolist() for bar in unchoose(np.array([1.0, 2.0]), np.array([1, 0]), [5.0, np.zeros(2)])]
    [2.0, [1.0, 0.0]]
    """
    if mode == "wrap":
        a = np.mod(a, len(choices))
    elif mode == "clip":
        a = np.clip(a, 0, len(choices) - 1)
    bars = [unbroadcast(np.where(np.equal(a, k), g, 0.0), x) for k, x in enumerate(choices)]
    return np.stack(bars) if isinstance(choices, np.ndarray) else type(choices)(bars)


@linear(unchoose)
def _(w, bars, g, a, choices, mode="raise"):
    return np.choose(a, w, mode=mode), None, None


@linear(np.choose)
def choose(g, y, a, choices, *, mode="raise"):
    return None, unchoose(g, a, choices, mode)


def first_of(condlist):
    """The number of the first condition that holds, place by place; how many there are where none does."""
    return np.argmax(np.stack([*np.broadcast_arrays(*condlist), np.ones(np.broadcast(*condlist).shape, bool)]), axis=0)


flat(first_of)


def unselect(g, condlist, choicelist):
    """The transpose of `np.select(condlist, choicelist)` in the choices."""
    return unchoose(g, first_of(condlist), choicelist)


@linear(unselect)
def _(w, bars, g, condlist, choicelist):
    return np.select(condlist, w), None, None


@linear(np.select)
def select(g, y, condlist, choicelist, default=0):
    return None, unselect(g, condlist, choicelist)


@select.keyword("default")
def select_default(g, y, condlist, choicelist, default=0):
    return unbroadcast(np.where(first_of(condlist) == len(condlist), g, 0.0), default)


# --- rearranged ------------------------------------------------------------------------------------------------------


def numbered(x):
    """The places of an array: 0, 1, 2, ... in the shape of `x`."""
    return np.reshape(np.arange(np.size(x)), np.shape(x))


flat(numbered)


@linear(np.delete)
def delete(g, y, arr, obj=None, axis=None):
    return untake(g, arr, np.delete(numbered(arr), obj, axis))


@linear(np.resize)
def resize(g, y, a, new_shape=None):
    return untake(g, a, np.resize(numbered(a), new_shape))


def uninsert(g, arr, obj, values, axis=None):
    """The transpose of `np.insert(arr, obj, values, axis)`: what belongs to `arr`, and what to `values`."""
    places = np.insert(numbered(arr), obj, -1 - numbered(values), axis)
    own = places >= 0
    return untake(g[own], arr, places[own]), untake(g[~own], values, -1 - places[~own])


@linear(uninsert)
def _(w, bars, g, arr, obj, values, axis=None):
    return np.insert(w[0], obj, w[1], axis), None, None, None


@linear(np.insert)
def insert(g, y, arr, obj, values, axis=None):
    bars = uninsert(g, arr, obj, values, axis)
    return bars[0], None, bars[1]


# --- diagonals -------------------------------------------------------------------------------------------------------


def undiagonal(g, x, offset=0, axis1=0, axis2=1):
    """The transpose of `np.diagonal(x, offset, axis1, axis2)`: `g` on the diagonal of zeros of the shape of `x`."""
    out = np.zeros(np.shape(x), np.result_type(g))
    plane = np.moveaxis(out, (axis1, axis2), (-2, -1))
    k = np.arange(np.diagonal(plane, offset, -2, -1).shape[-1])
    plane[..., k + max(-offset, 0), k + max(offset, 0)] = g
    return out


@linear(undiagonal)
def _(w, y, g, x, offset=0, axis1=0, axis2=1):
    return unbroadcast(np.diagonal(w, offset, axis1, axis2), g), None


@linear(np.diagonal)
def diagonal(g, y, a, offset=0, axis1=0, axis2=1):
    return undiagonal(g, a, offset, axis1, axis2)


@linear(*existing(np.linalg, "diagonal"))
def linalg_diagonal(g, y, x, *, offset=0):
    return undiagonal(g, x, offset, -2, -1)


@linear(*existing(np.linalg, "trace"))
def linalg_trace(g, y, x, *, offset=0):
    return undiagonal(np.expand_dims(g, -1), x, offset, -2, -1)


@linear(np.diagflat)
def diagflat(g, y, v, k=0):
    return np.reshape(np.diagonal(g, k), np.shape(v))


@linear(np.trace)
def trace(g, y, a, offset=0, axis1=0, axis2=1):
    return undiagonal(np.expand_dims(g, -1), a, offset, axis1, axis2)


@linear(np.diag)
def diag(g, y, v, k=0):
    if np.ndim(v) == 1:
        return np.diagonal(g, k)
    return undiagonal(g, v, k)


@diag.refined(lambda v: v.rank == 1)
def _(g, y, v, k=0):
    return np.diagonal(g, k)


@diag.refined(lambda v: v.rank == 2)
def _(g, y, v, k=0):
    return undiagonal(g, v, k)


# --- copies of parts -------------------------------------------------------------------------------------------------


def untile(g, x, reps):
    """The transpose of `np.tile(x, reps)`: the copies added up."""
    reps = tuple(reps) if np.ndim(reps) else (int(reps),)
    rank = max(len(reps), np.ndim(x))
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return np.reshape(np.sum(np.reshape(g, pairs), axis=tuple(range(0, 2 * rank, 2))), np.shape(x))


@linear(untile)
def _(w, y, g, x, reps=None):
    return np.tile(w, reps), None


@linear(np.tile)
def tile(g, y, A, reps=None):
    return untile(g, A, reps)


def unrepeat(g, x, repeats, axis=None):
    """The transpose of `np.repeat(x, repeats, axis)`: the copies added up."""
    if axis is None or np.ndim(x) == 0:
        return np.reshape(unrepeat(g, np.reshape(x, -1), repeats, 0), np.shape(x))
    n = np.shape(x)[axis]
    if np.size(repeats) == 1 and np.size(g):
        axis %= np.ndim(x)
        return np.sum(np.reshape(g, (*np.shape(x)[: axis + 1], -1, *np.shape(x)[axis + 1 :])), axis=axis + 1)
    return untake(g, x, np.repeat(np.arange(n), repeats), axis)


@linear(unrepeat)
def _(w, y, g, x, repeats=None, axis=None):
    return np.repeat(w, repeats, axis), None


@linear(np.repeat)
def repeat(g, y, a, repeats=None, axis=None):
    return unrepeat(g, a, repeats, axis)


def _mesh_axis(k, n, indexing):
    """The axis along which np.meshgrid of `n` arrays lays the k-th."""
    return 1 - k if indexing == "xy" and n > 1 and k < 2 else k


def unmesh(g, xs, indexing="xy"):
    """The transpose of `np.meshgrid(*xs, indexing=indexing)`: each grid summed over the other axes.

    >>> unmesh([np.ones((3, 2)), np.ones((3, 2))], [np.zeros(2), np.zeros(3)])
    [array([3., 3.]), array([2., 2., 2.])]
    """
    bars = []
    for k, x in enumerate(xs):
        others = tuple(axis for axis in range(len(xs)) if axis != _mesh_axis(k, len(xs), indexing))
        bars.append(np.reshape(np.sum(g[k], axis=others), np.shape(x)))
    return bars


def mesh(xs, like, indexing="xy"):
    """The grids of np.meshgrid, in the shapes of those in `like`."""
    grids = []
    for k, x in enumerate(xs):
        column = [1] * len(xs)
        column[_mesh_axis(k, len(xs), indexing)] = -1
        grids.append(np.broadcast_to(np.reshape(x, column), np.shape(like[k])))
    return grids


@linear(unmesh)
def _(w, bars, g, xs, indexing="xy"):
    return mesh(w, g, indexing), None


@linear(mesh)
def _(g, grids, xs, like, indexing="xy"):
    return unmesh(g, xs, indexing), None


@linear(np.meshgrid)
def meshgrid(g, y, *xi, indexing="xy", sparse=False, copy=True):
    return unmesh(g, xi, indexing)


def unbroadcast_each(g, xs):
    """The cotangents `g` of several arrays, each brought to the shape of its array in `xs`.

    >>> [bar.tolist() for bar in unbroadcast_each([np.ones(2), np.ones(2)], [np.zeros(2), 5.0])]
    [[1.0, 1.0], 2.0]
    """
    return [unbroadcast(bar, x) for bar, x in zip(g, xs, strict=True)]


@linear(unbroadcast_each)
def _(w, bars, g, xs):
    return unbroadcast_each(w, g), None


@linear(np.broadcast_arrays)
def broadcast_arrays(g, y, *args):
    return unbroadcast_each(g, args)


def unwindow(g, x, window_shape, axis=None):
    """The transpose of `sliding_window_view(x, window_shape, axis)`: the windows added up at their places.

    >>> unwindow(np.ones((2, 2)), np.zeros(3), 2)
    array([1., 2., 1.])
    """
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = tuple(range(np.ndim(x))) if axis is None else tuple(axis) if np.iterable(axis) else (axis,)
    out = np.zeros(np.shape(x), np.result_type(g))
    for shift in np.ndindex(*sizes):
        place = [slice(None)] * np.ndim(x)
        for k, n in zip(axes, shift, strict=True):
            low = n + (place[k].start or 0)
            place[k] = slice(low, low + np.shape(g)[k % np.ndim(x)])
        out[tuple(place)] += g[(..., *shift)]
    return out


@linear(unwindow)
def _(w, y, g, x, window_shape=None, axis=None):
    return np.lib.stride_tricks.sliding_window_view(w, window_shape, axis), None


@linear(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(g, y, x, window_shape=None, axis=None, *, writeable=False):
    return unwindow(g, x, window_shape, axis)


# --- x[index] --------------------------------------------------------------------------------------------------------


def picked(x, index):
    """`x[index]`."""
    return x[index]


def unpicked(g, x, index):
    """The transpose of `x[index]`: `g` at its places in zeros of the shape of `x`; repeated places add up.

    >>> unpicked(np.array([1.0, 2.0]), np.zeros(3), [1, 1])
    array([0., 3., 0.])
    """
    out = np.zeros(np.shape(x), np.result_type(g))
    parts = index if isinstance(index, tuple) else (index,)
    if all(part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice)) for part in parts):
        out[index] = g
    else:
        np.add.at(out, index, g)
    return out


@linear(picked)
def _(g, y, x, index=None):
    return unpicked(g, x, index)


@linear(unpicked)
def _(w, y, g, x, index=None):
    return unbroadcast(picked(w, index), g), None
