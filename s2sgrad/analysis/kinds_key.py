"""The kinds of the arguments as a dict key that keeps no class of the user's alive.

    (("w", Array(float64, ("n",))), ("o", Instance(Layer, ..)))      ->      a key, equal while the class exists

>>> from s2sgrad.analysis.value_kinds import kinds_of
>>> Kinds(kinds_of((1.0, 2))) == Kinds(kinds_of((5.0, 7))), Kinds(kinds_of((1.0,))) == Kinds(kinds_of((1,)))
(True, False)
"""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

from s2sgrad.analysis.kinds import Container, Instance


class _Class:
    """A weak reference to a user's class, hashable."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, cls: type) -> None:
        self._ref, self._hash = weakref.ref(cls), id(cls)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Class) and self._ref() is not None and self._ref() is other._ref()


def _weak(value: Any) -> Any:
    """The kinds with weak references to classes; the same object where there are no instances."""
    if isinstance(value, Instance) and isinstance(value.cls, type):
        cls: Any = _Class(value.cls)
        return replace(value, cls=cls, items=tuple(map(_weak, value.items)))
    if isinstance(value, tuple):
        parts = tuple(map(_weak, value))
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    if isinstance(value, Container) and value.items:
        items = _weak(value.items)
        return value if items is value.items else replace(value, items=items)
    if isinstance(value, Container) and value.item is not None:
        return replace(value, item=_weak(value.item))
    return value


class Forgotten(LookupError):
    """A key that was stored without the classes of the arguments: it cannot be compiled for."""


class Kinds:
    """The kinds of the arguments as a key; the hash is computed once."""

    __slots__ = ("_hash", "_items", "_weak")

    def __init__(self, items: tuple) -> None:
        self._items: tuple | None = items
        self._weak = _weak(items)
        self._hash = hash(self._weak)

    @property
    def forgotten(self) -> bool:
        """Whether it was stored without the classes of the arguments."""
        return self._items is None

    @property
    def items(self) -> tuple:
        """The kinds; raises `Forgotten` if they were not stored."""
        if self._items is None:
            raise Forgotten
        return self._items

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kinds) and self._weak == other._weak

    def kept(self) -> Kinds:
        """The key for a dict that outlives the classes of the arguments."""
        if self._weak is self._items or self._items is None:
            return self
        out = Kinds(self._weak)
        out._items = None
        return out
