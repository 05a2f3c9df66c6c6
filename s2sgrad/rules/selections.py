"""Rules of functions that take numbers out of an array by their places: take, diag, repeat, tile, pad, sort.

    y = np.take(x, k)      ->  x_bar = untake(y_bar, x, k)
    y = np.sort(x)         ->  x_bar = np.take_along_axis(y_bar, np.argsort(np.argsort(x, kind="stable")), -1)

Each has a transpose that puts numbers back, and adds up those from one place; the two are each other's rule.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import unbroadcast

# --- by index --------------------------------------------------------------------------------------------------------


def untake(g, x, indices, axis=None):
    """The transpose of `np.take(x, indices, axis)`: `g` added up at its places in an array of the shape of `x`.

    >>> untake(np.array([1.0, 2.0, 4.0]), np.zeros(3), [0, 2, 0])
    array([5., 0., 2.])
    """
    out = np.zeros(np.shape(x), np.result_type(g))
    if axis is None:
        np.add.at(np.reshape(out, -1), indices, g)
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
    places = list(np.ogrid[tuple(slice(n) for n in np.shape(g))])
    places = [place if n > 1 else 0 for place, n in zip(places, out.shape, strict=True)]
    places[axis] = np.broadcast_to(indices, np.shape(g))
    np.add.at(out, tuple(places), g)
    return out


@linear(untake_along_axis)
def _(w, y, g, x, indices=None, axis=None):
    return np.take_along_axis(w, indices, axis), None


@linear(np.take_along_axis)
def take_along_axis(g, y, arr, indices=None, axis=-1):
    return untake_along_axis(g, arr, indices, axis)


@general(np.sort)
def sort(g, y, a, axis=-1):
    places = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.reshape(np.take_along_axis(g, places, axis), np.shape(a))


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
    if axis is None:
        return np.reshape(unrepeat(g, np.reshape(x, -1), repeats, 0), np.shape(x))
    n = np.shape(x)[axis]
    if np.size(repeats) == 1:
        axis %= np.ndim(x)
        return np.sum(np.reshape(g, (*np.shape(x)[: axis + 1], -1, *np.shape(x)[axis + 1 :])), axis=axis + 1)
    return untake(g, x, np.repeat(np.arange(n), repeats), axis)


@linear(unrepeat)
def _(w, y, g, x, repeats=None, axis=None):
    return np.repeat(w, repeats, axis), None


@linear(np.repeat)
def repeat(g, y, a, repeats=None, axis=None):
    return unrepeat(g, a, repeats, axis)


def unpad(g, x, pad_width, mode="constant"):
    """The transpose of `np.pad(x, pad_width, mode)` for the modes that fill with 0 or with copies."""
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric"):
        raise NotImplementedError(f"np.pad with mode={mode!r} has no derivative rule; use constant, edge, wrap, ...")
    shape = np.shape(x)
    if mode == "constant":
        widths = np.broadcast_to(pad_width, (len(shape), 2))
        return g[tuple(slice(int(low), int(low) + n) for (low, _), n in zip(widths, shape, strict=True))]
    places = np.pad(np.reshape(np.arange(np.size(x)), shape), pad_width, mode=mode)
    return untake(g, x, places)


@linear(unpad)
def _(w, y, g, x, pad_width=None, mode="constant"):
    return np.pad(w, pad_width, mode), None


@linear(np.pad)
def pad(g, y, array, pad_width=None, mode="constant"):
    return unpad(g, array, pad_width, mode)


def mesh_axes(k, n, indexing):
    """The axes along which np.meshgrid of `n` arrays repeats the k-th."""
    own = 1 - k if indexing == "xy" and n > 1 and k < 2 else k
    return tuple(axis for axis in range(n) if axis != own)


flat(mesh_axes)


@linear(np.meshgrid)
def meshgrid(g, y, *xi, indexing="xy"):
    bars = ()
    for k in range(len(xi)):
        bar = np.sum(g[k], axis=mesh_axes(k, len(xi), indexing))
        bars = (*bars, np.reshape(bar, np.shape(xi[k])))
    return bars
