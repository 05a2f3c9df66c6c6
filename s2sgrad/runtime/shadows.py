"""Shadows of arrays: the adjoint of a view is a view of the adjoint, at the same place of its memory.

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

from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal

_byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # NumPy 2 has moved it


class _Window:
    """A place in the memory of an array, for what lies like another one."""

    def __init__(self, like: np.ndarray, memory: np.ndarray, address: int) -> None:
        self.memory = memory  # which lives as long as what looks into it
        self.__array_interface__ = {
            "data": (address, False), "shape": like.shape, "strides": like.strides, "typestr": like.dtype.str, "version": 3,
        }  # fmt: skip


def shadow(x: np.ndarray) -> np.ndarray:
    """Zeros that lie in memory as `x` does."""
    if not isinstance(x, np.ndarray) or type(x) is not np.ndarray:
        raise Refusal(None, f"an array that may be written through several names is a plain one, not a {type(x).__name__}")
    dense = np.zeros_like(x)
    if dense.strides == x.strides or x.size == 0:
        return dense
    require_apart(x)
    low, high = _byte_bounds(x)
    memory = np.zeros(high - low, np.uint8)
    return np.asarray(_Window(x, memory, _address(memory) + _address(x) - low))


def laid_like(x_dot: Any, x: np.ndarray) -> np.ndarray:
    """New memory that holds `x_dot` and lies there as `x` does."""
    out = shadow(x)
    out[...] = x_dot
    return out


def shadow_of(v: Any, x: Any, x_bar: Any) -> Any:
    """The shadow of `v`: of its place in the memory of `x`, or of one of several; zeros where it is in none."""
    for y, y_bar in _pairs(x, x_bar):
        if np.may_share_memory(v, y):
            return _place_in(v, y, y_bar)
    return shadow(v)


def require_view(v: Any, x: Any, line: int) -> None:
    """Refusal where what a function without a derivative rule has made is no view of `x`, nor of one of several."""
    if not shares(v, x):
        raise Refusal(line, "what this makes is no view here, and has no derivative rule: use a function that has one")


def tangent_of(v: Any, x: Any, x_dot: Any, otherwise: Any) -> Any:
    """The tangent of `v`: its place in that of `x`, or of one of several; `otherwise` in new memory where it is in none."""
    return shadow_of(v, x, x_dot) if shares(v, x) else laid_like(otherwise, v)


def put(g: Any, v: Any, x: Any, x_bar: Any) -> Any:
    """What is like `x_bar` and holds `g` at the place of `v` in `x`; only zeros where it has none there."""
    out = tuple(map(shadow, x_bar)) if isinstance(x_bar, tuple) else shadow(x_bar)
    if shares(v, x):
        place = shadow_of(v, x, out)
        place += g
    return out


def unless_shared(g: Any, v: Any, x: Any) -> Any:
    """`g` where `v` has nothing of the memory of `x`, or of one of several; else zeros."""
    return np.zeros_like(g) if shares(v, x) else g


def unshared(v_bar: Any, x_bar: Any) -> Any:
    """The adjoint of what was a copy; zeros where it lies in the memory of `x_bar`, or of one of several.

    >>> x_bar = np.ones(3)
    >>> unshared(x_bar[1:], x_bar), unshared(x_bar.copy(), x_bar)
    (array([0., 0.]), array([1., 1., 1.]))
    """
    return unless_shared(v_bar, v_bar, x_bar)


def shares(v: Any, x: Any) -> bool:
    """Whether `v` has memory of `x`, or of one of several."""
    return any(np.may_share_memory(v, y) for y in (x if isinstance(x, tuple) else (x,)))


def _pairs(x: Any, x_bar: Any) -> Any:
    return zip(x, x_bar, strict=True) if isinstance(x, tuple) else [(x, x_bar)]


def _place_in(v: np.ndarray, x: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    inside = _byte_bounds(x)[0] <= _byte_bounds(v)[0] and _byte_bounds(v)[1] <= _byte_bounds(x)[1]
    if not inside or type(v) is not np.ndarray or v.dtype != x.dtype or x.strides != x_bar.strides:
        raise Refusal(None, "a view that is made by a library is written through, and cannot be followed: copy it first")
    require_apart(v)
    return np.asarray(_Window(v, x_bar, _address(x_bar) + _address(v) - _address(x)))


def require_apart(x: np.ndarray) -> None:
    """TypeError where two elements of an array may lie at one place, so that what is added to both would be lost."""
    extent = x.itemsize
    for n, stride in sorted(zip(x.shape, map(abs, x.strides), strict=True), key=lambda axis: axis[1]):
        if n > 1 and stride < extent:
            raise Refusal(None, "elements of an array that is written share one place in memory, which cannot be "
                                "followed: copy it first")  # fmt: skip
        extent += (n - 1) * stride


def _address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]
