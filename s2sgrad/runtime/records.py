"""Records of pullbacks: an adjoint takes its record apart, so it is given one of its own every time.

A record with views of one array becomes one with views of one copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.checkpoints import Checkpoints

_byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # NumPy 2 has moved it


def refilled(saved: Any, bwd: Any) -> Any:
    """The record with lists and dicts of its own, which an adjoint takes apart, and with arrays of its own where it restores
    them."""
    return copied(saved, {} if getattr(bwd, "restores", False) else None)


def copied(saved: Any, roots: dict[int, tuple[np.ndarray, np.ndarray]] | None) -> Any:
    """The record with lists and dicts, and with arrays by their `roots` (None: no arrays), of its own."""
    if isinstance(saved, tuple):
        items = (copied(item, roots) for item in saved)
        return type(saved)(*items) if hasattr(saved, "_fields") else tuple(items)
    if isinstance(saved, Checkpoints):
        return saved.copied()
    if isinstance(saved, list):
        return list(saved) if roots is None else [copied(item, roots) for item in saved]
    if type(saved) is dict:
        return dict(saved) if roots is None else {k: copied(item, roots) for k, item in saved.items()}
    if roots is None or not isinstance(saved, np.ndarray) or saved.dtype.hasobject:
        return saved
    root = saved  # views of one array stay views of one array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if id(root) not in roots:
        roots[id(root)] = root, _same_layout(root)
    copy = roots[id(root)][1]
    if root is saved:
        return copy
    offset = _byte_bounds(copy)[0] - _byte_bounds(root)[0]
    return _at(saved, saved.__array_interface__["data"][0] + offset, copy)


def _same_layout(x: np.ndarray) -> np.ndarray:
    """A copy of an array with its strides."""
    low, high = _byte_bounds(x)
    memory = np.empty(high - low, np.uint8)
    copy = _at(x, memory.ctypes.data + x.__array_interface__["data"][0] - low, memory)
    copy[...] = x
    return copy


def _at(x: np.ndarray, address: int, memory: np.ndarray) -> np.ndarray:
    """An array like `x` at an address within `memory`."""
    low = _byte_bounds(memory)[0]
    whole = np.lib.stride_tricks.as_strided(memory.reshape(-1).view(np.uint8), (memory.nbytes,), (1,))
    return np.ndarray(x.shape, x.dtype, whole, address - low, x.strides)
