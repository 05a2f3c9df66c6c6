"""The adjoints of numbers in lists and dicts: slots in the shadow, which hold numbers in the place of arrays.

xs = [u, 2.0 * s]      ->      xs_bar = [u_bar, 0.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.structure import ABSENT


def cell_at(x_bar: Any, k: Any) -> Any:
    """The shadow of the item at `k`, which may be a number: its slot becomes an array of no axes, that of all names of it.

    >>> x_bar = [0.0, np.zeros(2)]
    >>> v_bar = cell_at(x_bar, 0)
    >>> v_bar += 1.5
    >>> x_bar
    [array(1.5), array([0., 0.])]
    """
    if isinstance(x_bar[k], (float, complex, np.inexact)):
        x_bar[k] = np.array(x_bar[k])
    return x_bar[k]


def slots(x_bar: Any, *sources: Any) -> Any:
    """The numbers in the shadow of a new list or dict. None in the place of what it shares with `sources`, the shadows of
    those that it was made of: arrays, lists, dicts, and cells that `cell_at` made before.

    >>> old = [0.0, np.array(2.0), np.ones(3)]
    >>> new = list(old)
    >>> cell_at(new, 0)[...] = 5.0
    >>> slots(new, old)
    [5.0, None, None]
    """
    if isinstance(x_bar, dict):
        items = slots([*x_bar.values()], *([*s.values()] if isinstance(s, dict) else s for s in sources))
        return dict(zip(x_bar, items, strict=True))
    shared = {id(item) for source in sources for item in source if isinstance(item, np.ndarray)}
    return [_number(item, shared) if isinstance(item, (np.ndarray, list, dict)) else item for item in x_bar]


def _number(item: Any, shared: set[int]) -> Any:
    """The number in a cell that is not shared; None for all else."""
    is_own = isinstance(item, np.ndarray) and item.ndim == 0 and id(item) not in shared
    return item.item() if is_own else None


def slot(x_bar: Any, key: Any) -> Any:
    """The number at a key of the shadow of a dict; 0 where there is none.

    >>> slot({"a": 2.0}, "a"), slot({"a": 2.0}, "b")
    (2.0, 0.0)
    """
    return x_bar.get(key, 0.0)


def slot_of(old: Any) -> Any:
    """The slot in a shadow for what `put_back` restores: none for what was absent.

    >>> slot_of(3.0), slot_of(ABSENT)
    (0.0, ABSENT)
    """
    return ABSENT if old is ABSENT else 0.0


def at_section(g: Any, x_bar: Any, index: slice) -> list[Any]:
    """A list of the length of `x_bar` with the items of `g` at the slice `index`, and None elsewhere.

    >>> at_section([2.0, 3.0], [0.0, 0.0, 0.0], slice(1, None))
    [None, 2.0, 3.0]
    """
    out = [None] * len(x_bar)
    out[index] = g
    return out


def at_item(g: Any, x_bar: Any, k: Any) -> Any:
    """A list or dict like `x_bar` with `g` at `k`, and None elsewhere.

    >>> at_item(2.0, [0.0, 0.0], -1), at_item(2.0, {"a": 0.0}, "a")
    ([None, 2.0], {'a': 2.0})
    """
    out = dict.fromkeys(x_bar) if isinstance(x_bar, dict) else [None] * len(x_bar)
    out[k] = g
    return out
