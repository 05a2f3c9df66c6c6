"""Shadows of arrays: adjoints (or tangents) with the memory layout of the primal, so that the adjoint of a view is the
corresponding view of the adjoint.

>>> x = np.arange(6.0)
>>> x_bar = shadow(x)
>>> v = np.split(x, 2)[1]
>>> v_bar = shadow_of(v, x, x_bar)
>>> v_bar += 1.0
>>> x_bar
array([0., 0., 0., 1., 1., 1.])
>>> shadow_of(v * 2.0, x, x_bar)
array([0., 0., 0.])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.records import address, bounds, placed_at, root_of


class _Window:
    """An array-interface object for a view at `address` in `memory`, with the shape, strides and dtype of `like`."""

    def __init__(self, like: np.ndarray, memory: np.ndarray, address: int) -> None:
        self.base = memory  # keeps `memory` alive; `records.root_of` reads it
        self.__array_interface__ = {
            "data": (address, False), "shape": like.shape, "strides": like.strides, "typestr": like.dtype.str, "version": 3,
        }  # fmt: skip


def shadow(x: Any) -> Any:
    """Zeros with the memory layout of `x`.  For a list, tuple or dict: a list or dict of the shadows of its items, with the
    same aliasing among arrays, lists and dicts as in `x`.

    >>> u = np.ones(3)
    >>> u_bar, (v_bar,) = shadow((u, [u[1:]]))
    >>> v_bar += 1.0
    >>> u_bar
    array([0., 1., 1.])
    """
    if isinstance(x, (list, tuple, dict)):
        return _shadow_of_items(x, {}, {})
    if not isinstance(x, np.ndarray):
        return 0.0 if isinstance(x, (float, int, np.generic)) else None
    if type(x) is not np.ndarray:
        raise Refusal(None, f"an array that may be written through several names is a plain one, not a {type(x).__name__}")
    dense = np.zeros_like(x)
    if dense.strides == x.strides or x.size == 0:
        return dense
    require_apart(x)
    low, high = bounds(x)
    return placed_at(x, low, np.zeros(high - low, np.uint8))


def cell(x: Any) -> Any:
    """The shadow of a value that may be a number or an array: for a number, zero as an array of no axes.

    >>> x_bar = cell(2)
    >>> x_bar += 1.5
    >>> x_bar
    array(1.5)
    """
    if isinstance(x, (float, int, np.generic)):
        return np.zeros((), x.dtype if isinstance(x, np.inexact) else float)
    return shadow(x)


def _shadow_of_items(x: Any, memories: dict[int, tuple[int, np.ndarray]], places: dict[int, Any]) -> Any:
    """`memories`: for each base array the address where it begins, and the bytes of its shadow; `places`: shadows of lists
    and dicts, by identity."""
    if isinstance(x, tuple):
        return _each(lambda item: _shadow_of_items(item, memories, places), x)
    if isinstance(x, (list, dict)):
        if id(x) not in places:
            places[id(x)] = _each(lambda item: _shadow_of_items(item, memories, places), x)
        return places[id(x)]
    if type(x) is not np.ndarray or x.size == 0:
        return shadow(x)
    root = root_of(x)
    if id(root) not in memories:
        low, high = bounds(root)
        memories[id(root)] = low, np.zeros(high - low, np.uint8)
    require_apart(x)
    return placed_at(x, *memories[id(root)])


def shadow_of_argument(x: Any) -> Any:
    """The shadow of a list, tuple or dict that the caller passed; Refusal where two of its items alias, because the gradient
    of each alone is not defined."""
    _require_once(x)
    _require_separate(_arrays(x))
    return shadow(x)


def each_once(g: Any, x: Any) -> Any:
    """A copy of the cotangent `g` in which aliases count once.  Of the items of `x` that share memory, or are the same list
    or dict, the first keeps its cotangent and the others get zeros.

    >>> u_bar = np.ones(3)
    >>> x_bar = [u_bar, u_bar[1:], 2.0]
    >>> each_once(x_bar, x_bar)
    [array([1., 1., 1.]), array([0., 0.]), 2.0]
    """
    return _first(g, x, {}, set())


def _first(g: Any, x: Any, counted: dict[int, tuple[int, np.ndarray]], met_lists: set[int]) -> Any:
    """`counted`: for each base array the address where it begins, and a mask (bytes) of the elements that were visited."""
    if isinstance(x, (list, tuple, dict)):
        if g is None:
            return None
        if id(x) in met_lists and not isinstance(x, tuple):
            return of_copies(g, _nowhere(g))
        met_lists.add(id(x))
        return _each(lambda item, part: _first(item, part, counted, met_lists), g, x)
    if not isinstance(x, np.ndarray) or not isinstance(g, np.ndarray):
        return g
    out = g.copy()
    if x.size:
        root = root_of(x)
        if id(root) not in counted:
            low, high = bounds(root)
            counted[id(root)] = low, np.zeros(high - low, np.uint8)
        met = placed_at(x, *counted[id(root)])
        out[met != 0] = 0.0
        met[...] = 1
    return out


def laid_like(x_dot: Any, x: Any) -> Any:
    """A copy of `x_dot` with the memory layout of `x`."""
    return _filled(shadow(x), x_dot)


def _filled(out: Any, x_dot: Any) -> Any:
    """Copy the tangent `x_dot` into the arrays and lists of `out`; return `out`."""
    if isinstance(out, (list, dict)):
        if isinstance(x_dot, (list, tuple, dict)):
            for k in out if isinstance(out, dict) else range(len(out)):
                out[k] = _filled(out[k], x_dot[k])
        return out
    if not isinstance(out, np.ndarray):
        return x_dot
    out[...] = x_dot
    return out


def shadow_of(v: Any, x: Any, x_bar: Any) -> Any:
    """The shadow of `v`: the part of `x_bar` that corresponds to its memory within `x` (one array or several); zeros where
    `v` does not alias `x`.

    >>> rows, rows_bar = [[1.0], [2.0]], [[0.0], [0.0]]
    >>> shadow_of([rows[1], [5.0]], rows, rows_bar)[0] is rows_bar[1]
    True
    """
    if not isinstance(v, (np.ndarray, list, tuple, dict)):
        return cell(v)
    places = _places(x, x_bar) if isinstance(v, (list, tuple, dict)) else {}
    return _shadow_within(v, list(_pairs(x, x_bar)), places, {})


def _shadow_within(
    v: Any, known: list[tuple[np.ndarray, np.ndarray]], places: dict[int, Any], memories: dict[int, tuple[int, np.ndarray]]
) -> Any:
    """`known`: arrays with their shadows; `places`: shadows of lists and dicts, by identity; `memories`: shadows of new
    arrays (see `_shadow_of_items`)."""
    if isinstance(v, tuple):
        return _each(lambda item: _shadow_within(item, known, places, memories), v)
    if isinstance(v, (list, dict)):
        if id(v) not in places:
            places[id(v)] = _each(lambda item: _shadow_within(item, known, places, memories), v)
        return places[id(v)]
    for y, y_bar in known:
        if np.may_share_memory(v, y):
            return _place_in(v, y, y_bar)
    return _shadow_of_items(v, memories, places)


def require_view(v: Any, x: Any, line: int) -> None:
    """Refusal unless `v`, the result of a function without a derivative rule, is a view of `x` (one array or several)."""
    if not all(shares(item, x) for item in _arrays(v)):
        raise Refusal(line, "what this makes is no view here, and has no derivative rule: use a function that has one")


def tangent_of(v: Any, x: Any, x_dot: Any, otherwise: Any) -> Any:
    """The tangent of `v`: the part of `x_dot` that corresponds to its memory within `x` (one array or several); where `v`
    does not alias `x`, a copy of `otherwise`."""
    return _tangent_within(v, x, x_dot, otherwise, _places(x, x_dot) if isinstance(v, (list, tuple, dict)) else {})


def _tangent_within(v: Any, x: Any, x_dot: Any, otherwise: Any, places: dict[int, Any]) -> Any:
    """As `tangent_of`; `places`: tangents of lists and dicts, by identity."""
    if id(v) in places:
        return places[id(v)]
    if isinstance(v, (list, tuple, dict)) and isinstance(otherwise, (list, tuple, dict)):
        out = _each(lambda item, other: _tangent_within(item, x, x_dot, other, places), v, otherwise)
        if not isinstance(v, tuple):
            places[id(v)] = out
        return out
    return shadow_of(v, x, x_dot) if isinstance(v, np.ndarray) and shares(v, x) else laid_like(otherwise, v)


def put(g: Any, v: Any, x: Any, x_bar: Any) -> Any:
    """Zeros like `x_bar`, with `g` added at the part that corresponds to `v` in `x`, if any."""
    out = shadow(x_bar)
    for item, g_item in _pairs(v, g):  # a number, whatever its cotangent, shares nothing
        if shares(item, x):
            place = shadow_of(item, x, out)
            place += g_item
    return out


def unless_shared(g: Any, v: Any, x: Any) -> Any:
    """`g` where `v` shares no memory with `x` (one array or several); else zeros."""
    if isinstance(g, (list, tuple, dict)):
        if id(v) in _places(x, x):
            return of_copies(g, _nowhere(g))
        return _each(lambda g_item, item: unless_shared(g_item, item, x), g, v)
    return np.zeros_like(g) if shares(v, x) else g


def apart(v: Any, x: Any) -> Any:
    """Whether `v` shares no memory with `x` (one array or several); for a list or dict, the answer for each item.

    >>> x = np.ones(3)
    >>> apart(x[1:], x), apart([x.copy(), x], x)
    (False, [True, False])
    >>> rows = [[1.0], [2.0]]
    >>> apart([rows[1], [5.0]], rows)
    [[False], [True]]
    """
    if isinstance(v, (list, tuple, dict)):
        return _nowhere(v) if id(v) in _places(x, x) else _each(lambda item: apart(item, x), v)
    return not shares(v, x)


def _nowhere(v: Any) -> Any:
    """The result of `apart` for a list or dict that is itself part of the other value: False for each leaf."""
    return _each(_nowhere, v) if isinstance(v, (list, tuple, dict)) else False


def of_copies(g: Any, apart: Any) -> Any:
    """The part of the cotangent `g` that belongs to copies, given the result of `apart`; zeros for views."""
    if isinstance(g, (list, tuple, dict)):
        return _each(of_copies, g, apart)
    return g if apart or g is None else np.zeros_like(g) if isinstance(g, np.ndarray) else 0.0


def shares(v: Any, x: Any) -> bool:
    """Whether `v` shares memory with `x` (one array or several)."""
    return any(np.may_share_memory(v, y) for y in _arrays(x))


def add_into(x_bar: Any, g: Any) -> Any:
    """Add the cotangent of a list or dict (None: a zero) to its shadow, in place; return the shadow.

    >>> x_bar = [np.zeros(2), 0.0]
    >>> add_into(x_bar, (1.0, 2.0))
    [array([1., 1.]), 2.0]
    """
    for k, item in g.items() if isinstance(g, dict) else enumerate(() if g is None else g):
        if isinstance(x_bar[k], (list, dict)):
            add_into(x_bar[k], item)
        elif item is not None and x_bar[k] is not None and not _counts(x_bar[k]):
            x_bar[k] += item
    return x_bar


def _counts(x: Any) -> bool:
    """Whether this is an array of integers or booleans, which has no derivative."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def refilled(x: Any, old: Any) -> Any:
    """Restore a list or dict to the values `old`, writing into its arrays; return it.

    >>> x = [np.ones(2), 1.0]
    >>> refilled(x, [np.zeros(2), 2.0])
    [array([0., 0.]), 2.0]
    """
    for k, item in old.items() if isinstance(old, dict) else enumerate(old):
        if isinstance(x[k], (list, dict)):
            refilled(x[k], item)
        elif isinstance(x[k], np.ndarray):
            x[k][...] = item
        else:
            x[k] = item
    return x


def _arrays(x: Any) -> list[np.ndarray]:
    """The arrays in a value, in order."""
    if isinstance(x, (list, tuple, dict)):
        return [array for item in (x.values() if isinstance(x, dict) else x) for array in _arrays(item)]
    return [x] if isinstance(x, np.ndarray) else []


def _pairs(x: Any, x_bar: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The arrays in a value with their shadows, in order."""
    if isinstance(x, (list, tuple, dict)):
        for k in x if isinstance(x, dict) else range(len(x)):
            yield from _pairs(x[k], x_bar[k])
    elif isinstance(x, np.ndarray):
        yield x, x_bar


def _each(run: Any, v: Any, *others: Any) -> Any:
    """A list or dict of the results of `run` on corresponding items."""
    if isinstance(v, dict):
        return {k: run(item, *(o[k] for o in others)) for k, item in v.items()}
    return [run(*items) for items in zip(v, *others, strict=True)]


def _place_in(v: np.ndarray, x: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    """The view of `x_bar` that corresponds to the view `v` of `x`; Refusal where the layouts do not correspond."""
    inside = bounds(x)[0] <= bounds(v)[0] and bounds(v)[1] <= bounds(x)[1]
    alike = (x.shape, x.strides, x.itemsize) == (x_bar.shape, x_bar.strides, x_bar.itemsize)  # else other offsets
    if not inside or not alike or type(v) is not np.ndarray or v.dtype != x.dtype:
        raise Refusal(None, "a view that is made by a library is written through, and cannot be followed: copy it first")
    require_apart(v)
    return np.asarray(_Window(v, x_bar, address(x_bar) + address(v) - address(x)))


def _places(x: Any, x_bar: Any) -> dict[int, Any]:
    """The shadows of the lists and dicts in `x`, including `x`, by the identity of the originals."""
    if not isinstance(x, (list, tuple, dict)) or not isinstance(x_bar, (list, tuple, dict)):
        return {}
    out = {} if isinstance(x, tuple) else {id(x): x_bar}
    for k in x if isinstance(x, dict) else range(len(x)):
        out |= _places(x[k], x_bar[k])
    return out


def _require_once(x: Any) -> None:
    """Refusal where a list or dict occurs in `x` twice."""
    lists = _lists(x)
    if len(set(lists)) < len(lists):
        raise Refusal(None, "a list that is written is in a list more than once: make a new one for each place")


def _lists(x: Any) -> list[int]:
    """The identities of the lists and dicts in a value, itself included; those of only strings and integers are left out."""
    items = list(x.values() if isinstance(x, dict) else x) if isinstance(x, (list, tuple, dict)) else []
    own = isinstance(x, (list, dict)) and not (items and all(isinstance(item, (int, str, type(None))) for item in items))
    return [id(x)] * own + [found for item in items for found in _lists(item)]


def _require_separate(arrays: list[np.ndarray]) -> None:
    """Refusal where two of these arrays share memory: their shadows would not."""
    for k, array in enumerate(arrays):
        if shares(array, arrays[:k]):
            raise Refusal(None, "an array that is written is in a list more than once: make a new one for each place")


def require_apart(x: np.ndarray) -> None:
    """Refusal (TypeError) where two elements of an array may be the same memory: `+=` on its shadow would lose an update."""
    extent = x.itemsize
    for n, stride in sorted(zip(x.shape, map(abs, x.strides), strict=True), key=lambda axis: axis[1]):
        if n > 1 and stride < extent:
            raise Refusal(None, "elements of an array that is written share one place in memory, which cannot be "
                                "followed: copy it first")  # fmt: skip
        extent += (n - 1) * stride
