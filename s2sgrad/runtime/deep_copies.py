"""Deep copies of data beside and within objects that a function makes, one call for each attribute.

    memo = Memo(); b = deep_copy(a, memo); d = deep_copy(c, memo)

Each of these calls gives new memory, for nothing that could be written occurs in two of them: that is checked.
"""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.references import Reference


class Memo:
    """The copies so far, by the identity of what was copied; `deepcopy` takes it for a dict."""

    places: list[list[int]]  # of the objects that are copied, by family

    def __init__(self) -> None:
        self.copies: dict[int, Any] = {}
        self.now: set[int] = set()  # what this call copies

    def __getitem__(self, key: int) -> Any:
        return self.copies[key]

    def __setitem__(self, key: int, value: Any) -> None:
        self.copies[key] = value
        self.now.add(key)

    def get(self, key: int, otherwise: Any = None) -> Any:
        """The copy, as `deepcopy` asks for it; Refusal (TypeError) for memory that an earlier call copied."""
        found = self.copies.get(key, otherwise)
        anew = key in self.copies and key not in self.now
        if anew and not isinstance(found, (np.generic, Reference)):
            raise Refusal(None, f"a {type(found).__name__} that two attributes hold is copied for each of them, which "
                                "cannot be followed: copy what holds both")  # fmt: skip
        return found


def deep_copy(x: Any, memo: Memo) -> Any:
    """`copy.deepcopy(x, memo)`, checked.

    >>> memo, held = Memo(), [1.0]
    >>> deep_copy((held, held), memo)
    ([1.0], [1.0])
    >>> deep_copy(held, memo)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: a list that two attributes hold is copied for each of them, which cannot be followed: ...
    """
    memo.now = set()
    return copy.deepcopy(x, memo)


def objects_under(x: Any, *families: tuple[tuple[type, ...], tuple[list[Any], ...]]) -> Memo:
    """A memo with new references for all objects that can be reached from `x`; each family has the classes and the lists of
    attributes, which are given copies at the end, in the order of `places_under`.  Refusal (TypeError) for a class with a
    `__deepcopy__` of its own, and for what may hold objects unseen.

    >>> class Node: pass
    >>> a, b = Reference(Node, 0), Reference(Node, 1)
    >>> memo = objects_under([b], ((Node,), ([None, a], [1.0, 2.0])))
    >>> places_under(memo, 0), [ref.place for ref in deep_copy([a, b], memo)]
    ([1, 0], [3, 2])
    """
    memo, waiting = Memo(), [x]
    memo.places = [[] for _ in families]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop()
        if item is None or isinstance(item, (*_SIMPLE, np.ndarray)) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Reference):
            number = next((k for k, (classes, _) in enumerate(families) if item.cls in classes), None)
            if number is None or hasattr(item.cls, "__deepcopy__"):
                raise Refusal(None, f"a deep copy of an object of `{item.cls.__name__}` that is made here, and is within "
                                    "another one, cannot be followed: copy its attributes")  # fmt: skip
            columns, places = families[number][1], memo.places[number]
            memo.copies[id(item)] = Reference(item.cls, len(columns[0]) + len(places))
            places.append(item.place)
            waiting += [column[item.place] for column in columns]
        elif type(item) in (list, tuple, dict):
            waiting += item.values() if isinstance(item, dict) else item
        else:
            raise Refusal(None, f"a deep copy of an object that is made here and holds a {type(item).__name__} cannot be "
                                "followed: copy its attributes")  # fmt: skip
    return memo


def places_under(memo: Memo, family: int) -> list[int]:
    """Where the objects of a family that are copied have their attributes."""
    return memo.places[family]


_SIMPLE = (int, float, complex, str, bytes, np.generic, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
