"""What the trips of a loop read, add to and overwrite, and whether two different trips meet there.

    t = -a[i, j]; a[:i, j] += t * b[:i]      ->      `a[i, j]` is read and `a[:i, j]` added to: they lie apart
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import gast

from s2sgrad.analysis.kinds import Array
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.regions.disjointness import Indices


@dataclass(frozen=True)
class _Access:
    """A mention of an array: `parts` of its index (None: all of it); it is read, added to or overwritten ("r", "a", "w")."""

    array: str
    parts: list[gast.AST] | None
    how: str


class Touched:
    """The accesses of one loop, which is in the loops `around`."""

    def __init__(self, unit: Unit, indices: Indices, loop: gast.For, around: list[gast.For]) -> None:
        self.unit, self.indices, self.loop, self.around = unit, indices, loop, around
        self.accesses: list[_Access] = []

    def note(self, target: gast.AST, how: str) -> None:
        """A name or a section that is added to ("a") or overwritten ("w")."""
        whole = isinstance(target, gast.Name)
        array = target.id if whole else target.value.id
        self.accesses.append(_Access(array, None if whole else parts_of(target.slice), how))

    def read(self, node: gast.AST, own: Container[str]) -> None:
        """What an expression reads of arrays; `own` are variables of one trip."""
        inside = {id(n.value) for n in nodes(node) if isinstance(n, gast.Subscript)}
        for part in nodes(node):
            if isinstance(part, gast.Subscript) and isinstance(part.value, gast.Name):
                self.accesses.append(_Access(part.value.id, parts_of(part.slice), "r"))
            elif isinstance(part, gast.Name) and id(part) not in inside and isinstance(self.unit.kinds.get(part.id), Array):
                if part.id not in own:
                    self.accesses.append(_Access(part.id, None, "r"))

    def is_apart(self) -> bool:
        """Whether no trip meets what another one writes, but for sums."""
        arrays = {a.array for a in self.accesses}
        for one in self.accesses:
            if one.how == "r":
                continue
            if (self.unit.memory.at_once_with(one.array) - {one.array}) & arrays:
                return False
            for other in self.accesses:
                if other.array == one.array and not (one.how == other.how == "a") and not self._are_apart(one, other):
                    return False
        return True

    def _are_apart(self, one: _Access, other: _Access) -> bool:
        """Whether what two different trips touch is surely not the same."""
        if one.parts is None or other.parts is None:
            return False
        for a, b in zip(one.parts, other.parts, strict=False):
            offsets = [None if isinstance(p, gast.Slice) else self.indices.offset(p, self.loop.target.id) for p in (a, b)]
            if offsets[0] is not None and offsets[0] == offsets[1]:
                return True
        return self.indices.apart(one.parts, other.parts, self.around, inner=[self.loop])
