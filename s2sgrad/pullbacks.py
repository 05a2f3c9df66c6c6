"""Pullbacks that a user keeps: what they hold shares no memory with the arguments.

    y, pullback = vjp(f, x); x[:] = 0.0      ->      pullback(1.0) is what it would have been before
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.records import copied
from s2sgrad.runtime import Pullback
from s2sgrad.structure import rebuilt


def apart(saved: Any, others: Any) -> Any:
    """The record with copies of whatever shares memory with `others`, in containers of its own."""
    roots: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    taken = list(_arrays(others))
    kept = {id(x) for x in _arrays(saved) if not any(np.may_share_memory(x, y) for y in taken)}
    return _mine(kept, roots, saved)


def _mine(kept: set[int], roots: dict[int, tuple[np.ndarray, np.ndarray]], item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return item if id(item) in kept else copied(item, roots)
    if isinstance(item, Pullback):
        return Pullback(item.bwd, _mine(kept, roots, item.saved), item.places, item.rest, item.like)
    return rebuilt(item, functools.partial(_mine, kept, roots)) if type(item) in (list, tuple, dict) else item


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Pullback):
        yield from _arrays(value.saved)
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)
