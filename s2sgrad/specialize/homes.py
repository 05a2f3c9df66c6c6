"""Where function values are made, and values that must last.

for k in ..: f = lambda t: w * t; if c: g = f      ->      refused: `f` is kept in a branch of the loop that makes it
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import gast

from s2sgrad.ir.quote import assign, name
from s2sgrad.ir.unit import Unit
from s2sgrad.specialize.names import Names
from s2sgrad.specialize.static_values import Choice, Derivative, Display, Function, Object, Partial, Value, keep_objects
from s2sgrad.specialize.writer import Writer


class Homes:
    """Knows where function values are made, and keeps values as they are now."""

    def __init__(self, unit: Unit, names: Names, writer: Writer) -> None:
        self.unit, self.names, self.writer = unit, names, writer
        self.made: dict[int, tuple[int, tuple[int, ...], Any]] = {}  # function values: their block and enclosing loops

    def moves(self, value: Any) -> bool:
        """Whether a function value made in a loop is bound or passed in another block of it: its captures may be rebound
        before it is called."""
        block = self.writer.blocks[-1] if self.writer.blocks else 0
        in_loop = False
        for part in self.made_of(value):
            if isinstance(part, Object):
                home, loops = part.block, part.loops
            else:
                home, loops, _ = self.made.setdefault(id(part), (block, tuple(self.writer.loops), part))
            in_loop = in_loop or (bool(loops) and home != block)
        return in_loop

    def made_of(self, value: Any) -> list[Any]:
        """The function values within a value that capture something when they are made, and the objects of methods."""
        if isinstance(value, Function):
            plain = value.unit is self.unit and not value.defaults and not self.writer.running
            return [] if plain and id(value) not in self.made else [value]
        parts: Collection[Any] = value.options if isinstance(value, Choice) else []
        parts = value.items.values() if isinstance(value, Display) else parts
        parts = [value.inner, *value.given, *value.keywords.values()] if isinstance(value, Partial) else parts
        own: list[Any] = [value] if isinstance(value, (Derivative, Partial)) else []
        own += [part for part in parts if isinstance(part, Object) and isinstance(value, Partial)]
        return own + [p for part in parts for p in self.made_of(part)]

    def require_here(self, value: Any, node: gast.AST) -> None:
        """Refuse to keep a function value that was made elsewhere in a loop."""
        if self.moves(value):
            self.unit.refuse(node, "a function that a loop makes in each trip is kept in a branch of it, which cannot be "
                                   "followed: make it there")  # fmt: skip

    def lasting(self, value: Any) -> Any:
        """A value as it is now, copied to a new name if its variable may be rebound."""
        if isinstance(value, Value):
            self.require_here(value, getattr(value, "node", self.unit.primal.tree))
        keep_objects(value)
        anew = bool(self.writer.loops)  # one binding in the text may run in each trip
        moves = isinstance(value, gast.Name) and (anew or value.id in self.names.shared or not self.names.is_fixed(value.id))
        if moves and value.id in self.unit.locals:
            holder = self.unit.local(value.id)
            self.writer.out.append(assign(holder, value))
            return name(holder)
        return value
