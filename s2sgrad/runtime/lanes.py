"""Run-time helpers for batched tangents: the lanes are one more axis, the first.

    x: (3,), 5 lanes      ->      zero_lanes(x, 5): zeros of shape (5, 3)

>>> import numpy as np
>>> zero_lanes((2.0, np.ones((2, 1))), 3)[1].shape
(3, 2, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.runtime.records import refilled
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
    return stacked(out)


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
    """Stack tangents of the same structure into one batched tangent."""
    first = outs[0]
    if isinstance(first, dict):
        return {key: stacked([out[key] for out in outs]) for key in first}
    if isinstance(first, (list, tuple)):
        return rebuilt(first, lambda _, part: part, [stacked(list(parts)) for parts in zip(*outs, strict=True)])
    if attributes_of(first) is not None:
        return with_attributes(first, stacked([attributes_of(out) for out in outs]))
    return None if first is None else np.stack(outs)
