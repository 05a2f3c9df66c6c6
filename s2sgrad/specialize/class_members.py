"""What a class says of its objects; each answer becomes a guard of the text.

looked_up(Layer, "forward")      ->      the function `Layer.forward`, as long as the class keeps it
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import member
from s2sgrad.ir.lookups import note_member
from s2sgrad.ir.quote import name
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.specialize.static_values import Object


def looked_up(cls: type, attribute: str) -> Any:
    """The class member of this name, which becomes a guard of the text.  A derivative made in the class binds itself."""
    note_member(cls, attribute)
    found = member(cls, attribute, MISSING)
    below = underlying(found)
    binds_itself = hasattr(type(found), "__get__") and not isinstance(found, types.FunctionType)
    return found if binds_itself and isinstance(below, types.FunctionType) else below


def object_with(value: Any, word: str) -> Object | None:
    """The object with this special method that a value is."""
    has = isinstance(value, Object) and isinstance(looked_up(value.cls, word), types.FunctionType)
    return value if has else None


def class_name(unit: Unit, cls: type) -> gast.Name:
    """A name for a class."""
    plain = name(cls.__name__)
    return plain if unit.resolve(plain) is cls else name(unit.helper(cls.__name__, cls))
