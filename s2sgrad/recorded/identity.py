"""Which object a value is to the program: what was given is copied for the run, and what is followed stands behind handles.

x is A      ->   itself(x) is itself(A)        x: the copy of an array that was given, A: that array, found by a name
x in xs     ->   x in Holding(xs)              asks `is` of each item before `==`
id(x)       ->   id(itself(x))
"""

from __future__ import annotations

import collections
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from s2sgrad.recorded.runs import AFTERWARDS, EVERYWHERE
from s2sgrad.recorded.values import Array, Number, bottom

_NO_COPIES = frozenset({int, bool, str, bytes, type(None), type, types.FunctionType, types.ModuleType})
"""Of these, nothing is ever a copy."""


def itself(value: Any) -> Any:
    """The object that a value stands for in the program."""
    kind = type(value)
    if kind in _NO_COPIES:
        return value
    if kind is Number or kind is Array:
        value = bottom(value)
    elif kind is Holding:
        value = value.held
    for run in [*reversed(EVERYWHERE)]:
        pair = run.given.get(id(value))
        if pair is not None:
            value = pair[0]
    return value


class Holding:
    """What `in` asks: items that may be handles, or copies of what was given."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __contains__(self, value: Any) -> bool:
        held = self.held
        contains = getattr(type(held), "__contains__", None)
        if _is_itself(value) or contains not in _BY_ITEMS or not hasattr(type(held), "__iter__"):
            return value in held
        return any(True for _ in _places(held, value))


_BY_ITEMS = (None, list.__contains__, tuple.__contains__, collections.deque.__contains__)
"""How a class answers `in` that asks its items one by one; None: it has no answer of its own."""


def _is_itself(value: Any) -> bool:
    """Whether `is` says no more of a value than `==` does."""
    kind = type(value)
    return kind in _NO_COPIES or (kind is Number and bool(value == value))


def _places(items: Iterable[Any], value: Any) -> Iterator[int]:
    """Where a value, or an equal one, is among items."""
    own = itself(value)
    return (k for k, item in enumerate(items) if itself(item) is own or item == value)


def _contains(items: Any, value: Any) -> bool:
    return value in Holding(items)


def _index(items: Any, value: Any, start: int = 0, stop: int = sys.maxsize) -> int:
    if not _is_itself(value):
        among = range(len(items))[start:stop]
        for k in _places([items[k] for k in among], value):
            return among[k]
        items = type(items)()
    place: int = items.index(value, start, stop)  # raises as Python does
    return place


def _count(items: Any, value: Any) -> int:
    return items.count(value) if _is_itself(value) else sum(1 for _ in _places(items, value))


def _remove(items: Any, value: Any) -> None:
    if _is_itself(value):
        items.remove(value)
    else:
        del items[_index(items, value)]


ASKING: dict[str, Callable[..., Any]] = {
    f.__name__: own for f, own in ((list.index, _index), (list.count, _count), (list.remove, _remove))
}
"""Methods of lists, tuples and deques that look for a value."""
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    id: lambda value: id(itself(value)),
    operator.is_: lambda a, b: itself(a) is itself(b),
    operator.is_not: lambda a, b: itself(a) is not itself(b),
    operator.contains: _contains,
    operator.indexOf: lambda items, value: next(_places(items, value), -1),
    operator.countOf: lambda items, value: sum(1 for _ in _places(items, value)),
}
"""What is called in the place of functions that ask which object a value is."""


# --- objects that are copied -------------------------------------------------------------------------------------------


def _equals(a: Any, b: Any) -> Any:
    return True if itself(a) is itself(b) else NotImplemented


def _hashed(a: Any) -> int:
    return object.__hash__(itself(a))


def follow_identity(cls: type) -> None:
    """Let a copy of an object equal what it was made of, where its class says no more than Python, until no run is open."""
    for name, own, new in (("__eq__", object.__eq__, _equals), ("__hash__", object.__hash__, _hashed)):
        if getattr(cls, name) is own:
            type.__setattr__(cls, name, new)
            AFTERWARDS.append(functools.partial(type.__delattr__, cls, name))
