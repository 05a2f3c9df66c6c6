"""Run-time helpers for batched tangents: the lanes are one more axis, the first.

    x: (3,), 5 lanes      ->      zero_lanes(x, 5): zeros of shape (5, 3)

>>> import numpy as np
>>> zero_lanes((2.0, np.ones((2, 1))), 3)[1].shape
(3, 2, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.runtime.records import address, bounds, refilled, root_of
from s2sgrad.runtime.structure import attributes_of, float_type, rebuilt, with_attributes


def zero_lanes(v: Any, lanes: int) -> Any:
    """`lanes` zero tangents of `v`, batched; None for leaves that are not numeric."""
    if isinstance(v, np.ndarray):
        return np.zeros((lanes, *v.shape), float_type(v.dtype))
    if isinstance(v, (list, tuple, dict)):
        return rebuilt(v, lambda item: zero_lanes(item, lanes))
    if (held := attributes_of(v)) is not None:
        return {k: zero_lanes(item, lanes) for k, item in held.items() if item is not v}
    if isinstance(v, complex):
        return np.zeros(lanes, complex)
    return np.zeros(lanes) if isinstance(v, (float, int, np.generic)) else None


def unbroadcast_lanes(g: np.ndarray, x: Any) -> np.ndarray:
    """Bring each lane of the cotangent `g` to the shape of `x`.

    >>> unbroadcast_lanes(np.ones((4, 2, 3)), np.zeros(3)).shape
    (4, 3)
    """
    shape = np.shape(x)
    extra = np.ndim(g) - 1 - len(shape)
    if extra > 0:
        g = np.sum(g, axis=tuple(range(1, extra + 1)))
    g = g.reshape(g.shape[:1] + (1,) * -min(extra, 0) + g.shape[1:])
    stretched = tuple(k + 1 for k, n in enumerate(shape) if n == 1 and g.shape[k + 1] != 1)
    if stretched:
        g = np.sum(g, axis=stretched, keepdims=True)
    return np.broadcast_to(g, (len(g), *shape))


def unreduce_lanes(g: np.ndarray, x: Any, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    """Spread each lane of the cotangent `g` of a reduction of `x` over `axis` back over the shape of `x`."""
    shape = list(np.shape(x))
    if not keepdims:
        for k in range(len(shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,):
            shape[k] = 1
        g = np.reshape(g, (len(g), *shape))
    return np.broadcast_to(g, (len(g), *np.shape(x)))


def like_lanes(x: Any, dots: Any) -> Any:
    """The gradient's tangents for the argument `x`, batched: with its structure, shape and dtype, in memory of their own."""
    if isinstance(x, (list, tuple, dict)):
        return rebuilt(x, like_lanes, dots)
    if isinstance(x, np.ndarray):
        dots = dots.real if x.dtype.kind == "f" else dots
        missing = x.ndim + 1 - dots.ndim
        wide = dots.reshape(dots.shape[:1] + (1,) * missing + dots.shape[1:])
        return np.array(np.broadcast_to(wide, (len(dots), *x.shape)), dtype=float_type(x.dtype))
    return dots if isinstance(x, complex) or not isinstance(dots, np.ndarray) else dots.real


def array_lanes(items: list[Any], lanes: int) -> np.ndarray:
    """The batched tangent of an array that is built from a list of items (possibly none); items of shape (lanes, ..)."""
    return np.stack(items, axis=1) if items else np.zeros((lanes, 0))


def by_lane(function: Callable[..., Any], *given: Any, place: int = -1, **keywords: Any) -> Any:
    """Apply `function` to each lane of the argument at `place`, one by one, and stack the results.  For an adjoint `place`
    is the last argument.

    >>> by_lane(np.diag, np.ones((4, 3))).shape
    (4, 3, 3)
    """
    out = []
    for k in range(count(given[place])):
        taken = [refilled(item, function) for item in given] if place == -1 and len(given) == 2 else [*given]
        taken[place] = lane(given[place], k)
        out.append(function(*taken, **keywords))
    return stacked_alike(out)


def count(dots: Any) -> int:
    """The number of lanes of a batched tangent."""
    if isinstance(dots, (list, tuple, dict)):
        counts = map(count, dots.values() if isinstance(dots, dict) else dots)
        return next((n for n in counts if n), 0)
    return len(dots) if isinstance(dots, np.ndarray) else 0


def lane(dots: Any, k: int) -> Any:
    """Lane `k` of a batched tangent."""
    if isinstance(dots, (list, tuple, dict)):
        return rebuilt(dots, lambda d: lane(d, k))
    return None if dots is None else dots[k]


def stacked(outs: list[Any]) -> Any:
    """Stack tangents of the same structure into one batched tangent; its parts share no memory."""
    return _stacked(outs, {}, None)


def stacked_alike(outs: list[Any]) -> Any:
    """Stack tangents of the same structure into one batched tangent, whose parts share memory as those of the first do.

    >>> row, twice = np.ones(2), [np.zeros(2)] * 2
    >>> rows = stacked_alike([(row, row[1:], twice), (row, row[1:], twice)])
    >>> np.shares_memory(rows[0], rows[1]), rows[0].shape, np.shares_memory(*rows[2])
    (True, (2, 2), True)
    """
    if isinstance(outs[0], np.ndarray):
        return np.stack(outs)
    together: dict[int, list[np.ndarray]] = {}
    for x in _arrays_in(outs[0]):
        together.setdefault(id(root_of(x)), []).append(x)
    return _stacked(outs, {root: _Memory(parts, len(outs)) for root, parts in together.items() if len(parts) > 1}, {})


class _Memory:
    """Memory with lanes for arrays that share theirs."""

    def __init__(self, parts: list[np.ndarray], lanes: int) -> None:
        lows, highs = zip(*map(bounds, parts), strict=True)
        self.low, self.lanes = min(lows), lanes
        self.span = -(-(max(highs) - self.low) // ALIGNED) * ALIGNED
        self.bytes = np.zeros(lanes * self.span, np.uint8)

    def of(self, x: np.ndarray) -> np.ndarray:
        """The array with lanes that lies in this memory as `x` lies in its own."""
        strides = (self.span, *x.strides)
        return np.ndarray((self.lanes, *x.shape), x.dtype, self.bytes, address(x) - self.low, strides)


ALIGNED = 64  # bytes, a multiple of the size of any number


def _arrays_in(out: Any) -> Iterator[np.ndarray]:
    """The arrays in a tangent that may be written, and so may share memory."""
    if isinstance(out, (list, tuple, dict)):
        for part in out.values() if isinstance(out, dict) else out:
            yield from _arrays_in(part)
    elif type(out) is np.ndarray and out.size and out.flags.writeable:
        yield out
    elif (held := attributes_of(out)) is not None:
        yield from _arrays_in(held)


def _stacked(outs: list[Any], memories: dict[int, _Memory], places: dict[int, Any] | None) -> Any:
    """`memories`: by the base arrays of the first tangent; `places`: its lists and dicts, by identity."""
    first = outs[0]
    if isinstance(first, (list, dict)) and places is not None:
        if id(first) not in places:
            places[id(first)] = _items_stacked(outs, memories, places)
        return places[id(first)]
    if isinstance(first, (list, tuple, dict)):
        return _items_stacked(outs, memories, places)
    if (held := attributes_of(first)) is not None:
        return with_attributes(first, _stacked([held, *map(attributes_of, outs[1:])], memories, places))
    if type(first) is np.ndarray and first.flags.writeable and (memory := memories.get(id(root_of(first)))) is not None:
        out = memory.of(first) if first.size else np.stack(outs)
        out[...] = outs
        return out
    return None if first is None else np.stack(outs)


def _items_stacked(outs: list[Any], memories: dict[int, _Memory], places: dict[int, Any] | None) -> Any:
    first = outs[0]
    if isinstance(first, dict):
        return {key: _stacked([out[key] for out in outs], memories, places) for key in first}
    parts = [_stacked(list(parts), memories, places) for parts in zip(*outs, strict=True)]
    return rebuilt(first, lambda _, part: part, parts)
