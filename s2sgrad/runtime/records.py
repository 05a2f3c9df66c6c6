"""Records of pullbacks: an adjoint takes its record apart, so it is given one of its own every time.

A record with views of one array becomes one with views of one copy.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from s2sgrad.runtime.checkpoints import Checkpoints

_LEAVES = frozenset((float, int, bool, str, type(None), np.ndarray, np.float64, np.float32, np.int64, np.bool_))
_byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # NumPy 2 has moved it


def refilled(saved: Any, bwd: Any) -> Any:
    """The record with lists and dicts of its own, which an adjoint takes apart, those within others too, and with arrays of
    its own where it restores them.

    >>> steps = [([1.0], 2.0)]
    >>> mine = refilled((steps, {"a": steps}), None)
    >>> mine[0][0][0].pop(), mine[0].append(3.0), steps, mine[1]["a"] is mine[0]
    (1.0, None, [([1.0], 2.0)], True)
    """
    return _refilled(saved, {}, getattr(bwd, "restores", False))


def _refilled(saved: Any, own: dict[int, Any], arrays: bool) -> Any:
    """A part of the record; `own` are the copies of containers, and of arrays that are no views, by what they are of."""
    if isinstance(saved, tuple):
        if not arrays and _LEAVES.issuperset(map(type, saved)):
            return saved
        items = [_refilled(item, own, arrays) for item in saved]
        return type(saved)(*items) if hasattr(saved, "_fields") else tuple(items)
    if isinstance(saved, Checkpoints):
        return saved.copied()
    if isinstance(saved, (list, dict)):
        if id(saved) not in own:
            made = own[id(saved)] = copy.copy(saved)
            held = made.values() if isinstance(made, dict) else made
            if arrays or not _LEAVES.issuperset(map(type, held)):
                for k in list(made) if isinstance(made, dict) else range(len(made)):
                    made[k] = _refilled(made[k], own, arrays)
        return own[id(saved)]
    return array_of_its_own(saved, own) if arrays and isinstance(saved, np.ndarray) and not saved.dtype.hasobject else saved


def array_of_its_own(saved: np.ndarray, own: dict[int, Any]) -> np.ndarray:
    """A copy of an array; `own` are those of the arrays that others are views of."""
    root = saved  # views of one array stay views of one array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if id(root) not in own:
        own[id(root)] = _same_layout(root)
    made = own[id(root)]
    if root is saved:
        return made
    offset = _byte_bounds(made)[0] - _byte_bounds(root)[0]
    return _at(saved, saved.__array_interface__["data"][0] + offset, made)


def _same_layout(x: np.ndarray) -> np.ndarray:
    """A copy of an array with its strides."""
    low, high = _byte_bounds(x)
    memory = np.empty(high - low, np.uint8)
    made = _at(x, memory.ctypes.data + x.__array_interface__["data"][0] - low, memory)
    made[...] = x
    return made


def _at(x: np.ndarray, address: int, memory: np.ndarray) -> np.ndarray:
    """An array like `x` at an address within `memory`."""
    low = _byte_bounds(memory)[0]
    whole = np.lib.stride_tricks.as_strided(memory.reshape(-1).view(np.uint8), (memory.nbytes,), (1,))
    return np.ndarray(x.shape, x.dtype, whole, address - low, x.strides)
