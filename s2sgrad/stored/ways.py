"""How the objects that a text depends on are found again, from the function that is differentiated.

    def loss(w): return model.predict(w) - batch      ->      loss; its name `model`; the attribute `predict` of that

Each object has a number; its way names the number of an earlier one.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from s2sgrad.analysis.kinds import Container, Instance
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.ir.lookups import Lookups, member_of
from s2sgrad.ir.unit import MISSING
from s2sgrad.primitives import libraries
from s2sgrad.source import look_up
from s2sgrad.stored.marks import CONSTANTS, Unmarked, address, at

Way = tuple[str, Any, Any]  # how, the number of an earlier object, a name

_PARTS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "func": ((types.MethodType, staticmethod, classmethod), lambda v: v.__func__),
    "self": ((types.MethodType,), lambda v: v.__self__),
    "fget": ((property,), lambda v: v.fget),
    "fset": ((property,), lambda v: v.fset),
    "fdel": ((property,), lambda v: v.fdel),
    "called": ((functools.partial,), lambda v: v.func),
    "wrapped": ((types.FunctionType,), lambda v: getattr(v, "__wrapped__", None)),
}


def classes_in(kind: Any) -> Iterator[type]:
    """The user's classes in the kinds of arguments, in order."""
    parts = kind if isinstance(kind, tuple) else ()
    if isinstance(kind, Instance):
        yield kind.cls
        parts = kind.items
    elif isinstance(kind, Container):
        parts = kind.items or (kind.item,)
    for part in parts:
        yield from classes_in(part)


class Ways:
    """The ways to all objects that lookups were made in, or found."""

    def __init__(self, function: types.FunctionType, kinds: Any, lookups: Lookups) -> None:
        self.objects: list[Any] = []
        self.ways: list[Way] = []
        self._numbers: dict[int, int] = {}
        self._add(function, ("entry", None, None))
        for k, cls in enumerate(classes_in(kinds)):
            self._add(cls, ("class", k, None))
        for name, module in lookups.modules.items():
            self._add(module, ("module", name, None))
        before = -1
        while before < len(self.objects):
            before = len(self.objects)
            for owner, name, binding in lookups.names.values():
                if binding is not None and (number := self.known(owner)) is not None:
                    self._add(binding.value, ("name", number, name))
            for owner, name, value in lookups.attributes.values():
                if value is not MISSING and (number := self.known(owner)) is not None:
                    self._add(value, ("attribute", number, name))
            for cls, name, value in lookups.members.values():
                if (number := self.known(cls)) is not None:
                    self._add(value, ("member", number, name))

    def known(self, value: Any) -> int | None:
        """The number of an object; None if there is no way to it."""
        number = self._numbers.get(id(value))
        if number is None and (found := address(value)) is not None:
            self._add(value, ("address", *found))
            number = self._numbers.get(id(value))
        return number

    def number(self, value: Any) -> int:
        """The number of an object; raises `Unmarked` if there is no way to it."""
        number = self.known(value)
        if number is None:
            raise Unmarked
        return number

    def _add(self, value: Any, way: Way) -> None:
        waiting = [(value, way)]
        while waiting:
            value, way = waiting.pop()
            if isinstance(value, CONSTANTS) or id(value) in self._numbers:
                continue
            number = self._numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.ways.append(way)
            waiting += [
                (part(value), (how, number, None)) for how, (types_, part) in _PARTS.items() if isinstance(value, types_)
            ]
            if isinstance(value, type) and not libraries.is_installed(value):
                waiting += [(base, ("base", number, k)) for k, base in enumerate(value.__mro__) if k]
            elif attributes_of(value) is not None:
                waiting.append((type(value), ("type", number, None)))


def found(ways: list[Way], function: types.FunctionType, kinds: Any) -> list[Any]:
    """The objects at the ends of these ways, in this process; raises LookupError or AttributeError where one ends."""
    objects: list[Any] = []
    classes = list(classes_in(kinds))
    begun: dict[str, Callable[[Any, Any], Any]] = {
        "entry": lambda what, name: function,
        "class": lambda what, name: classes[what],
        "module": lambda what, name: sys.modules[what],
        "address": at,
    }
    for how, what, name in ways:
        objects.append(begun[how](what, name) if how in begun else _next(how, objects[what], name))
    return objects


def _next(how: str, before: Any, name: Any) -> Any:
    """The next object on a way."""
    if how == "name":
        binding = look_up(before, name)
        if binding is None:
            raise LookupError(name)
        return binding.value
    if how == "attribute":
        return getattr(before, name)
    if how == "member":
        return member_of(before, name)
    if how == "base":
        return before.__mro__[name]
    return type(before) if how == "type" else _PARTS[how][1](before)
