"""Loop-carried dependence: what the trips of a loop read, accumulate into and overwrite, and whether two trips conflict.

t = -a[i, j]; a[:i, j] += t * b[:i]      ->      reads `a[i, j]`, accumulates into `a[:i, j]`: disjoint
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
    """An access to an array: `parts` of the index (None: all of it), and "r" read, "a" accumulated into or "w"
    overwritten."""

    array: str
    parts: list[gast.AST] | None
    how: str


class Touched:
    """The accesses of one loop, which is inside of the loops `around`."""

    def __init__(self, unit: Unit, indices: Indices, loop: gast.For, around: list[gast.For]) -> None:
        self.unit, self.indices, self.loop, self.around = unit, indices, loop, around
        self.accesses: list[_Access] = []

    def note(self, target: gast.AST, how: str) -> None:
        """Note a write to a name or a section: accumulation ("a") or overwrite ("w")."""
        whole = isinstance(target, gast.Name)
        array = target.id if whole else target.value.id
        self.accesses.append(_Access(array, None if whole else parts_of(target.slice), how))

    def read(self, node: gast.AST, own: Container[str]) -> None:
        """Note the arrays that an expression reads; `own` are variables local to a trip."""
        inside = {id(n.value) for n in nodes(node) if isinstance(n, gast.Subscript)}
        for part in nodes(node):
            if isinstance(part, gast.Subscript) and isinstance(part.value, gast.Name):
                self.accesses.append(_Access(part.value.id, parts_of(part.slice), "r"))
            elif isinstance(part, gast.Name) and id(part) not in inside and isinstance(self.unit.kinds.get(part.id), Array):
                if part.id not in own:
                    self.accesses.append(_Access(part.id, None, "r"))

    def is_independent(self) -> bool:
        """Whether no trip accesses what another one writes, except that several may accumulate into the same elements."""
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
        """Whether two different trips are known to access disjoint elements."""
        if one.parts is None or other.parts is None:
            return False
        for a, b in zip(one.parts, other.parts, strict=False):
            offsets = [None if isinstance(p, gast.Slice) else self.indices.offset(p, self.loop.target.id) for p in (a, b)]
            if offsets[0] is not None and offsets[0] == offsets[1]:
                return True
        return self.indices.apart(one.parts, other.parts, self.around, inner=[self.loop])
