"""Trust: how much is known about the class of a value before its methods and operators run.

    an array of floats        ARRAY: no user-defined methods, holds numbers
    [y, {"a": y}]             DATA: arrays in built-in containers
    random.Random(0)          DRAWING
    Model()                   ANY: it may define operators and methods

>>> trust_of_object([1.0, np.zeros(3)]).name, trust_of_object(np.array([None])).name, trust_of_object(2.0)
('DATA', 'ANY', None)
"""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.kinds import (
    Array,
    Container,
    Drawing,
    Instance,
    Kind,
    Known,
    Number,
    Opaque,
    Plain,
    Slicing,
    Text,
)
from s2sgrad.analysis.plain_classes import draws
from s2sgrad.ir.unit import MISSING, Unit

_FIXED = (int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type, types.ModuleType, types.FunctionType,
          types.BuiltinFunctionType, types.MethodType)  # fmt: skip
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict, collections.Counter,
              collections.defaultdict)  # fmt: skip
_MOST = 1000  # items that are examined in a container
_DEEPEST = 6


class Trust(IntEnum):
    """What is known about a value: an array or a number; arrays in built-in containers; a random generator; anything,
    possibly with its own methods.
    """

    ARRAY, DATA, DRAWING, ANY = range(4)


def is_writable(found: Any) -> bool:
    """Whether the value of a free name (MISSING: a local one) may be, or hold, writable memory."""
    return not isinstance(found, _FIXED) and found is not None


def trust_of_object(found: Any, depth: int = 0) -> Trust | None:
    """The trust of an existing object; None if it has no writable memory."""
    if not is_writable(found):
        return None
    if type(found) is np.ndarray:
        return Trust.ARRAY if found.dtype.kind in "fiubc" else Trust.ANY
    if draws(found):
        return Trust.DRAWING
    if type(found) not in CONTAINERS or len(found) > _MOST or depth > _DEEPEST:
        return Trust.ANY
    items: Iterable[Any] = found.values() if isinstance(found, dict) else found
    return max((Trust.DATA, *(trust_of_object(item, depth + 1) or Trust.DATA for item in items)))


def trust_of_kind(kind: Kind | None) -> Trust:
    """The trust of a value of this kind; a value of unknown kind counts as data unless the kind is `Opaque`."""
    if isinstance(kind, (Array, Number, Text, Slicing, Plain)):
        return Trust.ARRAY
    if isinstance(kind, Known):
        return trust_of_object(kind.value) or Trust.ARRAY
    if isinstance(kind, Container):
        items = kind.items if kind.items is not None else (kind.item,)
        return max((Trust.DATA, *map(trust_of_kind, items)))
    if isinstance(kind, Drawing):
        return Trust.DRAWING
    return Trust.ANY if isinstance(kind, (Instance, Opaque)) else Trust.DATA


def class_of_kind(kind: Kind | None) -> type | None:
    """The class of values of a kind as far as methods are concerned; None where it is unknown."""
    if isinstance(kind, Array):
        return np.ndarray
    if isinstance(kind, (Number, Container)):
        return kind.type
    if isinstance(kind, Known):
        return type(kind.value)
    return str if isinstance(kind, Text) else None


def class_of_owner(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> type | None:
    """The class of the object whose method is called; items and attributes of an array count as arrays."""
    if isinstance(node, gast.Name):
        return class_of_kind(kinds.get(node.id))
    if isinstance(node, gast.Call):
        from s2sgrad.primitives import catalogue  # which a text that was kept does not need

        return np.ndarray if catalogue.of(unit.resolve(node.func)).gives_array else None
    taken = isinstance(node, (gast.Subscript, gast.Attribute)) and class_of_owner(unit, node.value, kinds) is np.ndarray
    return np.ndarray if taken else None


def trust_of_owner(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> Trust:
    """The trust of the object whose method is called."""
    found = unit.resolve(node)
    if found is not MISSING:
        return trust_of_object(found) or Trust.ARRAY
    if isinstance(node, gast.Name):
        return trust_of_kind(kinds.get(node.id)) if node.id in unit.locals else Trust.ANY
    if isinstance(node, (gast.Attribute, gast.Subscript)):
        return trust_of_owner(unit, node.value, kinds)
    return Trust.DATA
