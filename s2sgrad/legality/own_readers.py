"""Lists, dicts and arrays whose class has methods of its own by which they are made or read: refused, and so recorded.

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
from s2sgrad.analysis.plain_classes import LONGEST, computes_otherwise, makes_otherwise, reads_otherwise
from s2sgrad.analysis.value_kinds import Guest
from s2sgrad.ir.quote import nodes
from s2sgrad.legality.context import Context


def check(context: Context, statement: gast.AST) -> None:
    """Raise Unsupported where a statement reads such a list, tuple or dict from outside, or makes a named tuple."""
    unit = context.unit
    for node in nodes(effects.header(statement)):
        if isinstance(node, (gast.Name, gast.Attribute)):
            kind, value = context.kind(node), unit.resolve(node)
            if isinstance(value, type) and issubclass(value, np.ndarray) and computes_otherwise(value):
                unit.refuse(node, f"`{value.__name__}` is a class of arrays with methods of its own, which cannot be "
                                  "followed: use plain arrays")  # fmt: skip
            cls = kind.cls if isinstance(kind, Guest) else _held_by(value)
            if reads_otherwise(cls) or computes_otherwise(cls):
                shown = unit.word(node.id) if isinstance(node, gast.Name) else f"`{emit.expression(node)}`"
                plain = next(t.__name__ for t in (list, tuple, dict, np.ndarray) if issubclass(cls, t))
                unit.refuse(node, f"{shown} is or holds a {cls.__name__}, which is read by methods of its own and "
                                  f"cannot be followed: use a plain {plain}")  # fmt: skip
        elif isinstance(node, gast.Call):
            made = unit.called(node)
            if isinstance(made, type) and (reads_otherwise(made) or makes_otherwise(made)):
                unit.refuse(node, f"`{emit.expression(node.func)}(..)` makes a {made.__name__}, which says by methods of "
                                  "its own how it is made or read, and cannot be followed: use a plain one")  # fmt: skip


def _held_by(value: Any, depth: int = 3) -> type:
    """The class of a constant, or of an item of it, at any depth up to this one, that says itself how it is read."""
    if type(value) in (list, tuple, dict) and depth and len(value) <= LONGEST:
        found = (_held_by(item, depth - 1) for item in (value.values() if isinstance(value, dict) else value))
        return next((cls for cls in found if reads_otherwise(cls) or computes_otherwise(cls)), type(value))
    return type(value)
