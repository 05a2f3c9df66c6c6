"""Names that may be unbound where they are recorded: they are bound to None, or to nothing like their values, at the start
of their block.

    if c: x = e           ->        x = None; if c: x = e; x_stack.append(x)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.flow.graph import Block
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir.quote import assign, constant
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit


class Unbound:
    """Such names of one function, by block; `shadows` maps names to their shadows."""

    def __init__(self, unit: Unit, lifetimes: Lifetimes, kinds: dict[str, Kind], shadows: dict[str, str]) -> None:
        self.unit, self.lifetimes, self.kinds, self.shadows = unit, lifetimes, kinds, shadows
        self.names: dict[int, list[str]] = {}

    def add(self, name: str) -> None:
        """Bind `name`, which may be unbound where it is recorded, to None at the start of its block."""
        names = self.names.setdefault(self.lifetimes.home[name], [])
        if name not in names:
            names.append(name)

    def head(self, body: Block) -> list[gast.AST]:
        """The initial bindings at the start of a block."""
        return [assign(name, self._dummy(name)) for name in self.names.get(id(body), ())]

    def _dummy(self, name: str) -> gast.AST:
        """The initial value of a possibly unbound name; with a shadow, a value of its kind, so that the join stays
        precise."""
        kind = self.kinds.get(name)
        return nothing_like(self.unit, kind) if name in self.unit.mirror.shadows | self.shadows.keys() else constant(None)


def nothing_like(unit: Unit, kind: Kind | None) -> gast.AST:
    """A minimal value of a kind: an empty array, a container of minimal items."""
    if isinstance(kind, Array):
        return call(unit, "unset", runtime.unset, constant(kind.rank or 0))
    if not isinstance(kind, Container) or kind.type not in (list, tuple, dict):
        return constant(0.0 if isinstance(kind, Number) else None)
    items = [nothing_like(unit, item) for item in kind.items or ()]
    if kind.type is dict:
        return gast.Dict([constant(k) for k in kind.keys or ()], items)
    return gast.Tuple(items, gast.Load()) if kind.type is tuple else gast.List(items, gast.Load())
