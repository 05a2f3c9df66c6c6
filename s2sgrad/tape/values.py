"""Values as an operation sees them: plain to compute with, with their identity to be recorded."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.structure import rebuilt


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
        return array, array.value
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


def packed(v: Any, items: Any) -> Any:
    """The structure of `v` with the next of `items` in the place of every leaf."""
    return _filled(iter(items), v)


def _filled(ready: Iterator[Any], v: Any) -> Any:
    return rebuilt(v, functools.partial(_filled, ready)) if isinstance(v, (list, tuple, dict)) else next(ready)
