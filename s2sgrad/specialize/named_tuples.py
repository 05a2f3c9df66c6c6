"""Which attributes named tuples compute: methods and properties of their classes.

class Point(NamedTuple): .. def norm(self): ..      ->      `p.norm` may be one of `Point`, whatever `p` is
"""

from __future__ import annotations

import types
from collections import namedtuple
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import HELD_BY_DATA
from s2sgrad.analysis.reached_classes import is_named_tuple, reached
from s2sgrad.ir.unit import MISSING, Unit

_OF_ALL = {*dir(namedtuple("_Empty", "")), *HELD_BY_DATA}


class NamedTuples:
    """The named tuples in reach of a function, and what they compute."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.tuple_members: dict[str, list[type]] | None = None  # the classes that have each name, once it is asked for

    def member_classes(self, attribute: str) -> list[type]:
        """The named tuples in reach that compute an attribute of this name."""
        if attribute in _OF_ALL or attribute.startswith("_"):
            return []
        return self.members_by_name().get(attribute, [])

    def members_by_name(self) -> dict[str, list[type]]:
        """The named tuples in reach by the names of what they compute; empty where the module has none."""
        if self.tuple_members is None:
            self.tuple_members = {}
            home = self.unit.primal.function
            named = [*home.__globals__.values(), *self.unit.helpers.values()]
            classes = reached(home)[0] if any(map(is_named_tuple, named)) else ()
            cls: Any
            for cls in sorted(filter(is_named_tuple, classes), key=lambda c: c.__qualname__):
                for word in {w for k in cls.__mro__ for w in vars(k)} - {*cls._fields}:
                    self.tuple_members.setdefault(word, []).append(cls)
        return self.tuple_members

    def asks_tuples(self, target: types.FunctionType) -> bool:
        """Whether a user's function, or what it calls, may ask a named tuple for what it computes: it is written out, where
        the classes are in reach."""
        return bool(self.members_by_name()) and any(map(self.member_classes, reached(target)[1]))

    def may_be_of_tuple(self, node: gast.AST) -> bool:
        """Whether an attribute may be one that a named tuple computes."""
        if not isinstance(node, gast.Attribute) or not self.member_classes(node.attr):
            return False
        return self.unit.resolve(node) is MISSING
