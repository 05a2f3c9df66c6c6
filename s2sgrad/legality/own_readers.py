"""Lists, dicts, arrays and numbers whose class says by methods of its own how they are made, read or computed with: refused,
and so recorded.

for q in STEPS: ..        ->      Unsupported: `STEPS` is a Scaled, which is read by methods of its own ...
z = y.view(Doubled)       ->      Unsupported: `Doubled` is a class of arrays with methods of its own ...
p = Scaled(x, 2.0)        ->      Unsupported: `Scaled(..)` makes a Scaled, which says by methods of its own ...
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.plain_classes import LONGEST
from s2sgrad.analysis.value_kinds import Guest
from s2sgrad.ir.quote import nodes
from s2sgrad.legality.context import Context
from s2sgrad.runtime.subclasses import (
    NUMBERS,
    computes_otherwise,
    is_otherwise,
    makes_otherwise,
    reads_otherwise,
    refused_subclass,
)


def check(context: Context, statement: gast.AST) -> None:
    """Raise Unsupported where a statement reads such a list, dict or number, or makes a named tuple."""
    unit = context.unit
    for node in nodes(effects.header(statement)):
        if isinstance(node, (gast.Name, gast.Attribute)):
            kind, value = context.kind(node), unit.resolve(node)
            if isinstance(value, type) and issubclass(value, np.ndarray) and computes_otherwise(value):
                unit.refuse(node, f"`{value.__name__}` is a class of arrays with methods of its own, which cannot be "
                                  "followed: use plain arrays")  # fmt: skip
            if (cls := _of_kind(kind) or _held_by(value)) is not None:
                shown = unit.word(node.id) if isinstance(node, gast.Name) else f"`{emit.expression(node)}`"
                unit.refuse(node, f"{shown} is or holds {refused_subclass(cls)}")
        elif isinstance(node, gast.Call):
            made = unit.called(node)
            if isinstance(made, type) and (reads_otherwise(made) or makes_otherwise(made)):
                unit.refuse(node, f"`{emit.expression(node.func)}(..)` makes a {made.__name__}, which says by methods of "
                                  "its own how it is made or read, and cannot be followed: use a plain one")  # fmt: skip
            if isinstance(made, type) and issubclass(made, NUMBERS) and computes_otherwise(made):
                unit.refuse(node, f"`{emit.expression(node.func)}(..)` makes {refused_subclass(made)}")


def _of_kind(kind: Kind | None) -> type | None:
    """The class of such an object, where this is, or holds, one for certain."""
    if isinstance(kind, Container):
        return next(filter(None, map(_of_kind, kind.items if kind.items is not None else (kind.item,))), None)
    return kind.cls if isinstance(kind, Guest) and is_otherwise(kind.cls) else None


def _held_by(value: Any, depth: int = 3) -> type | None:
    """The class of a constant, or of an item of it, at any depth up to this one, that says itself how it is read."""
    if type(value) in (list, tuple, dict) and depth and len(value) <= LONGEST:
        items = value.values() if isinstance(value, dict) else value
        return next(filter(None, (_held_by(item, depth - 1) for item in items)), None)
    return type(value) if is_otherwise(type(value)) else None
