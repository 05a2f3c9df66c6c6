"""Records of pullbacks.  An adjoint consumes its record, so each call of a pullback gives it a fresh copy.

Aliasing is kept: views of one array become views of one copy.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from s2sgrad.runtime.checkpoints import Checkpoints
from s2sgrad.runtime.traits import traits

OWN_RECORDS = {float, int, bool, str, type(None), np.ndarray, np.float64, np.float32, np.int64, np.bool_}
"""Types that no adjoint consumes: arrays, numbers, strings, and pullbacks, which copy their own records."""

_byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # moved in NumPy 2


def spread(pullback: Any, bars: Any) -> tuple:
    """The result of `bwd` as a tuple with one cotangent per argument; zeros for those that `places` does not list."""
    places = pullback.places
    if len(places) == len(pullback.rest) > 1 and type(places[-1]) is int:
        return tuple(bars)
    out = list(pullback.rest)
    for place, bar in zip(pullback.places, (bars,) if len(pullback.places) == 1 else bars, strict=True):
        if isinstance(place, tuple):
            for k, part in zip(place, bar, strict=True):
                out[k] = part
        else:
            out[place] = bar
    return tuple(out)


def refilled(saved: Any, bwd: Any) -> Any:
    """A copy of the record in which lists and dicts, at any depth, are new, because the adjoint pops from them; arrays are
    copied too where the adjoint restores them in place.

    >>> steps = [([1.0], 2.0)]
    >>> mine = refilled((steps, {"a": steps}), None)
    >>> mine[0][0][0].pop(), mine[0].append(3.0), steps, mine[1]["a"] is mine[0]
    (1.0, None, [([1.0], 2.0)], True)
    """
    return _refilled(saved, {}, traits(bwd).restores)


def _refilled(saved: Any, own: dict[int, Any], arrays: bool) -> Any:
    """A part of the record; `own` maps identities to the copies of containers and of base arrays."""
    if isinstance(saved, tuple):
        if not arrays and OWN_RECORDS.issuperset(map(type, saved)):
            return saved
        items = [_refilled(item, own, arrays) for item in saved]
        return tuple.__new__(type(saved), items) if hasattr(saved, "_fields") else tuple(items)
    if isinstance(saved, Checkpoints):
        return saved.copied()
    if isinstance(saved, (list, dict)):
        if id(saved) not in own:
            made = own[id(saved)] = copy.copy(saved)
            held = made.values() if isinstance(made, dict) else made
            if arrays or not OWN_RECORDS.issuperset(map(type, held)):
                for k in list(made) if isinstance(made, dict) else range(len(made)):
                    made[k] = _refilled(made[k], own, arrays)
        return own[id(saved)]
    return array_of_its_own(saved, own) if arrays and isinstance(saved, np.ndarray) and not saved.dtype.hasobject else saved


def array_of_its_own(saved: np.ndarray, own: dict[int, Any]) -> np.ndarray:
    """A copy of an array; `own` maps the identities of base arrays to their copies, so that views stay views of one array.

    >>> x, own = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), {}
    >>> made, row = array_of_its_own(x, own), array_of_its_own(x[0], own)
    >>> row *= 5.0
    >>> made
    array([[ 5., 10.],
           [ 3.,  4.]])
    """
    if saved.size == 0:
        return saved.copy()
    root = root_of(saved)  # the base is copied once, and each view is placed in it
    if id(root) not in own:
        low, high = bounds(root)
        memory = np.empty(high - low, np.uint8)
        made = placed_at(root, low, memory)
        made[...] = root
        own[id(root)] = low, memory, made
    low, memory, made = own[id(root)]
    return made if root is saved else placed_at(saved, low, memory)


def root_of(x: np.ndarray) -> np.ndarray:
    """The base array of a view, found through intermediate objects: of NumPy, shadows, memory of Cython (its own base)."""
    root, base, last = x, x.base, None
    while base is not None and base is not last:
        root, last = (base if isinstance(base, np.ndarray) else root), base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return root


def bounds(x: np.ndarray) -> tuple[int, int]:
    """The addresses where the memory of an array begins and ends."""
    found: tuple[int, int] = _byte_bounds(_read_only(x))
    return found


def address(x: np.ndarray) -> int:
    """The address of the first element of an array."""
    first: int = _read_only(x).__array_interface__["data"][0]
    return first


def _read_only(x: np.ndarray) -> np.ndarray:
    """A view that nobody writes: NumPy warns whoever asks for the address of an array that it broadcast."""
    view = x.view()
    view.flags.writeable = False
    return view


def placed_at(x: np.ndarray, low: int, memory: np.ndarray) -> np.ndarray:
    """An array laid out like `x` in the buffer `memory`, whose first byte stands for the address `low`."""
    return np.ndarray(x.shape, x.dtype, memory, address(x) - low, x.strides)
