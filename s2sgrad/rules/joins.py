"""Rules of joining and splitting arrays.

    y = np.concatenate([a, b])    ->  a_bar, b_bar = split_like(y_bar, [a, b])
    xs = x.tolist()               ->  x_bar = gathered(xs_bar, x)
    y = np.stack([a, b])          ->  the list's cotangent is y_bar itself: a_bar = y_bar[0]; b_bar = y_bar[1]

The cotangent of a list of arrays is a list, or an array that is indexed in the same way.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.casts import cast
from s2sgrad.rules.helpers import fit
from s2sgrad.rules.scans import one_axis
from s2sgrad.rules.table import existing, linear


def split_like(g, xs, axis=0):
    """Cut `g`, arrays of the sizes of `xs` joined along `axis` (None: raveled), into arrays of their shapes.

    >>> split_like(np.arange(3.0), [np.zeros(2), 5.0])
    [array([0., 1.]), np.float64(2.0)]
    """
    if axis is None:
        g, axis = np.reshape(g, -1), 0
    others = np.size(g) // g.shape[axis] if np.size(g) else 1
    pieces, start = [], 0
    for x in xs:
        stop = start + np.size(x) // others
        piece = g[(slice(None),) * (axis % g.ndim) + (slice(start, stop),)]
        pieces.append(np.reshape(piece, np.shape(x))[()])  # of a number: a number, which shares no memory
        start = stop
    if isinstance(xs, np.ndarray):
        return np.stack(pieces)
    return tuple(pieces) if isinstance(xs, tuple) else pieces


def join_like(ws, g, axis=0):
    """The transpose of `split_like`: arrays joined along `axis` to the shape of `g`."""
    if axis is None:
        return np.concatenate([np.reshape(w, -1) for w in ws])
    lead = list(np.shape(g))
    lead[axis] = -1
    if np.size(g) == 0:
        return np.zeros_like(g)
    return np.concatenate([np.reshape(w, lead) for w in ws if np.size(w)], axis=axis)


@linear(split_like)
def _(w, pieces, g, xs, axis=0):
    return join_like(w, g, axis), None


@linear(join_like)
def _(w, y, ws, g, axis=0):
    return split_like(w, ws, axis), None


@linear(np.concatenate)
def concatenate(g, y, arrays, axis=0, *, dtype=None, casting="same_kind"):
    return split_like(g, arrays, axis)


@linear(np.stack)
def stack(g, y, arrays, axis=0, *, dtype=None, casting="same_kind"):
    return np.moveaxis(g, axis, 0)


@stack.refined(lambda axis: axis.known and axis.value == 0)
def _(g, y, arrays, axis=0, *, dtype=None, casting="same_kind"):
    return g


@linear(np.vstack)
def vstack(g, y, tup, *, dtype=None, casting="same_kind"):
    return split_like(g, tup, 0)


@linear(np.hstack)
def hstack(g, y, tup, *, dtype=None, casting="same_kind"):
    return split_like(g, tup, min(np.ndim(g) - 1, 1))


for _rule in (concatenate, stack, vstack, hstack):
    _rule.refuse(cast, "a join to a dtype that is no float has no derivative rule: join first, and use `astype`")


@linear(np.dstack)
def dstack(g, y, tup):
    return split_like(g, tup, 2)


@linear(np.column_stack)
def column_stack(g, y, tup):
    return split_like(g, tup, 1)


def columns(parts):
    """`np.c_[parts]`, which is `np.column_stack` for numbers, vectors and matrices alone.

    >>> columns(([1.0, 2.0], [3.0, 4.0])).tolist(), columns([np.ones((2, 3, 1))] * 2).shape
    ([[1.0, 3.0], [2.0, 4.0]], (2, 3, 2))
    """
    return np.c_[tuple(parts)]


@linear(columns)
def _(g, y, parts):
    return split_like(g, parts, -1)


def gathered(g, x):
    """The cotangent of `x` in `x.tolist()`: nested lists `g` as an array.

    >>> gathered([[1.0, 2.0]], np.zeros((1, 2))), float(gathered(3.0, 5.0))
    (array([[1., 2.]]), 3.0)
    """
    return np.asarray(g, np.result_type(x))[()]


@linear(np.ndarray.tolist)
def tolist(g, y, x):
    return gathered(g, x)


@linear(gathered)
def _(w, y, g, x):
    return fit(w, g), None


@linear(np.append)
def append(g, y, arr, values, axis=None):
    return split_like(g, (arr, values), axis)


def unsplit(g, ary, places, axis=0):
    """The transpose of `np.split(ary, places, axis)` at places that may overlap or leave elements out.

    >>> unsplit([np.ones(3), np.ones(0), np.ones(2)], np.zeros(3), [3, 1], 0)
    array([1., 2., 2.])
    """
    out = np.zeros(np.shape(ary), dtype=g[0].dtype)
    for part, section in zip(g, np.array_split(out, places, axis), strict=True):
        section[tuple(map(slice, np.shape(part)))] += part  # of a list, NumPy takes the rows for the columns
    return out


@linear(unsplit)
def _(w, y, g, ary, places, axis=0):
    return np.array_split(w, places, axis), None, None


@linear(np.split, np.array_split)
def split(g, y, ary, indices_or_sections=None, axis=0):
    return unsplit(g, ary, indices_or_sections, axis)


def in_order(indices_or_sections):
    """Whether the parts of an array that is split follow one another: by a number of parts, or at places that ascend."""
    if indices_or_sections.rank == 0:
        return True
    items = getattr(indices_or_sections, "items", None)
    if items is None or not all(getattr(item, "known", False) for item in items):
        return False
    places = [item.value for item in items]
    return all(k >= 0 for k in places) and places == sorted(places)


@split.refined(in_order)
def _(g, y, ary, indices_or_sections=None, axis=0):
    return np.concatenate(g, axis)


@linear(np.hsplit)
def hsplit(g, y, ary, indices_or_sections=None):
    return unsplit(g, ary, indices_or_sections, min(np.ndim(ary) - 1, 1))


@hsplit.refined(in_order)
def _(g, y, ary, indices_or_sections=None):
    return np.hstack(g)


@linear(np.vsplit)
def vsplit(g, y, ary, indices_or_sections=None):
    return unsplit(g, ary, indices_or_sections, 0)


@vsplit.refined(in_order)
def _(g, y, ary, indices_or_sections=None):
    return np.vstack(g)


@linear(*existing(np, "unstack"))
def unstack(g, y, x, *, axis=0):
    return np.stack(g, one_axis(axis))


@linear(np.dsplit)
def dsplit(g, y, ary, indices_or_sections=None):
    return unsplit(g, ary, indices_or_sections, 2)


@dsplit.refined(in_order)
def _(g, y, ary, indices_or_sections=None):
    return np.dstack(g)


def unblock(g, arrays):
    """The transpose of `np.block(arrays)`: `g` cut into the nested lists of `arrays`.

    >>> unblock(np.arange(4.0).reshape(2, 2), [[np.zeros((1, 2))], [np.zeros((1, 1)), 5.0]])
    [[array([[0., 1.]])], [array([[2.]]), array(3.)]]
    """
    if not isinstance(arrays, list):
        return np.reshape(g, np.shape(arrays))
    axis, bars, start = np.ndim(g) - _depth(arrays), [], 0
    for part in arrays:
        stop = start + _extent(part, axis - np.ndim(g))
        bars.append(unblock(g[(slice(None),) * axis + (slice(start, stop),)], part))
        start = stop
    return bars


def _depth(arrays):
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _extent(part, axis):
    """The size of a block along an axis, counted from the last, along which its own parts are not joined."""
    if isinstance(part, list):
        return _extent(part[0], axis)
    return np.shape(part)[axis] if np.ndim(part) >= -axis else 1


@linear(unblock)
def _(w, bars, g, arrays):
    return np.reshape(np.block(w), np.shape(g)), None


@linear(np.block)
def block(g, y, arrays):
    return unblock(g, arrays)
