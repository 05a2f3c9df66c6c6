"""Values as operations see them: a plain value to compute with, and an Array to record."""

from __future__ import annotations

from typing import Any

from s2sgrad.recorded.patterns import kept_plain
from s2sgrad.runtime.structure import leaves, rebuilt


class Operand:
    """A value that a tape can follow: an Array, or a Variable, which is read as an Array."""

    __slots__ = ()
    _value: Any
    uid: int

    def _read(self) -> Any:
        """The Array with the current value."""
        raise NotImplementedError

    def numpy(self) -> Any:
        """A copy of the value."""
        raise NotImplementedError


def opened(v: Any, operands: list[Any]) -> tuple[Any, Any]:
    """The value twice, (recorded, plain); the Arrays in it are appended to `found`."""
    if isinstance(v, Operand):
        array = v._read()
        operands.append(array)
        return array, array._value
    if isinstance(v, (list, tuple, dict)):
        before = len(operands)
        parts = rebuilt(v, lambda item: opened(item, operands))
        if len(operands) > before:
            return rebuilt(parts, lambda pair: pair[0]), rebuilt(parts, lambda pair: pair[1])
    return v, v


def unwrapped(v: Any) -> Any:
    """The plain value, with ndarrays and numbers in the place of Arrays."""
    return opened(v, [])[1]


def fresh(v: Any) -> Any:
    """A value of the user's, copied where others may still write it."""
    return rebuilt(v, fresh) if isinstance(v, (list, tuple, dict)) else kept_plain(v)


def beside(v: Any, other: Any) -> list[Any]:
    """The parts of `other` that correspond to the leaves of `v`: dicts by key; None for all leaves below a None.

    Raises ValueError where the structures differ.
    """
    if not isinstance(v, (list, tuple, dict)):
        return [other]
    if other is None:
        return [None] * len(leaves(v))
    if isinstance(v, dict):
        if not isinstance(other, dict) or v.keys() != other.keys():
            raise ValueError(f"a dict with the keys {list(v)} is needed, not {_described(other)}")
        return [leaf for key in v for leaf in beside(v[key], other[key])]
    if not isinstance(other, (list, tuple)) or len(other) != len(v):
        raise ValueError(f"a {type(v).__name__} of {len(v)} is needed, not {_described(other)}")
    return [leaf for item, theirs in zip(v, other, strict=True) for leaf in beside(item, theirs)]


def _described(v: Any) -> str:
    if isinstance(v, dict):
        return f"one with the keys {list(v)}"
    return f"a {type(v).__name__} of {len(v)}" if isinstance(v, (list, tuple)) else f"a value of type {type(v).__name__}"
