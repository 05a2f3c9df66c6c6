"""Values as an operation sees them: plain to compute with, with their identity to be recorded."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.runtime.structure import rebuilt


class Operand:
    """What a tape can follow: an Array, or a Variable, of which an Array is read."""

    __slots__ = ()

    def _read(self) -> Any:
        """The Array that stands for the present value."""
        raise NotImplementedError

    def numpy(self) -> Any:
        """A copy of the value."""
        raise NotImplementedError


def opened(v: Any, found: list[Any]) -> tuple[Any, Any]:
    """(as it is recorded, as it is computed with); the Arrays in it are added to `found`."""
    if isinstance(v, Operand):
        array = v._read()
        found.append(array)
        return array, array._value
    if isinstance(v, (list, tuple, dict)):
        before = len(found)
        parts = rebuilt(v, lambda item: opened(item, found))
        if len(found) > before:
            return rebuilt(parts, lambda pair: pair[0]), rebuilt(parts, lambda pair: pair[1])
    return v, v


def unwrapped(v: Any) -> Any:
    """The plain value of anything."""
    return opened(v, [])[1]


def kept(v: Any) -> Any:
    """What a record keeps of an argument: an ndarray may be written later, so a copy of it."""
    if isinstance(v, np.ndarray):
        return v.copy() if v.flags.writeable or v.base is not None else v
    if type(v) in (list, tuple, dict):
        return rebuilt(v, kept)
    return v


def fresh(v: Any) -> Any:
    """A value in memory of its own, where somebody else may write it: what users' functions return."""
    if isinstance(v, np.ndarray):
        return v.copy() if v.flags.writeable or v.base is not None else v
    return rebuilt(v, fresh) if isinstance(v, (list, tuple, dict)) else v


def leaves(v: Any) -> list[Any]:
    """What lies in nested lists, tuples and dicts, in order."""
    if isinstance(v, (list, tuple, dict)):
        return [leaf for item in (v.values() if isinstance(v, dict) else v) for leaf in leaves(item)]
    return [v]


def beside(v: Any, other: Any) -> list[Any]:
    """What lies in `other` in the places of the leaves of `v`: dicts by their keys, None for all that is under a None.

    Raises ValueError where `other` has another structure.
    """
    if not isinstance(v, (list, tuple, dict)):
        return [other]
    if other is None:
        return [None] * len(leaves(v))
    if isinstance(v, dict):
        if not isinstance(other, dict) or v.keys() != other.keys():
            raise ValueError(f"a dict with the keys {list(v)} is needed, not {_shown(other)}")
        return [leaf for key in v for leaf in beside(v[key], other[key])]
    if not isinstance(other, (list, tuple)) or len(other) != len(v):
        raise ValueError(f"a {type(v).__name__} of {len(v)} is needed, not {_shown(other)}")
    return [leaf for item, theirs in zip(v, other, strict=True) for leaf in beside(item, theirs)]


def _shown(v: Any) -> str:
    if isinstance(v, dict):
        return f"one with the keys {list(v)}"
    return f"a {type(v).__name__} of {len(v)}" if isinstance(v, (list, tuple)) else f"a value of type {type(v).__name__}"


def packed(v: Any, items: Any) -> Any:
    """The structure of `v` with the next of `items` in the place of every leaf."""
    return _filled(iter(items), v)


def _filled(ready: Iterator[Any], v: Any) -> Any:
    return rebuilt(v, functools.partial(_filled, ready)) if isinstance(v, (list, tuple, dict)) else next(ready)
