"""Which names have shadows: those that a store may write or be seen through, and what they are views of.

    if c: v = y[1:]
    else: v = z[1:]
    v[0] = a; return np.sum(y * z)      ->      v, y, z

A view that no store meets while it lives is a value, and stays one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.sources import HANDED_OUT, bound_sources
from s2sgrad.memory.stacks import fresh_stacks
from s2sgrad.memory.writes import in_place


class Groups:
    """The names of one function by what binds and writes them."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], separate: Collection[str] = frozenset()
    ) -> None:
        self.unit, self.tree, self.kinds = unit, tree, kinds
        self.shared = Aliases(unit, tree, kinds, separate, fresh_stacks(unit, tree, kinds), keep=False).ever()
        self.given = {p.id for p in parameters(tree)}
        self.binding: dict[str, list[gast.AST]] = {}
        self.written: set[str] = set()
        for statement in effects.walk(tree.body):
            for bound in binds(statement):
                self.binding.setdefault(bound, []).append(statement)
            base = in_place(unit, statement, kinds)
            self.written |= set() if base is None else {base}

    def around(self, names: Iterable[str]) -> set[str] | None:
        """These names and all that must have shadows with them; None where one of them cannot have one."""
        waiting, found = list(names), set()
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            more = self._needed(name)
            if more is None:
                return None
            waiting += more
        return found if len({self.kinds[n].dtype for n in found}) == 1 else None

    def _needed(self, name: str) -> set[str] | None:
        """What must have shadows if this name has one: what it is made of, and what is written of its memory."""
        kind = self.kinds.get(name)
        if name not in self.unit.locals | self.given or not isinstance(kind, Array) or not kind.rank or not _counts(kind):
            return None
        out = {n for n in self.shared.get(name, ()) if n in self.written}
        for statement in self.binding.get(name, ()):
            if in_place(self.unit, statement, self.kinds) == name:
                continue
            if effects.permutes(statement):
                out |= set(binds(statement))
            elif bound_name(statement) is None:
                return None
            else:
                out |= bound_sources(self.unit, [name], statement.value, self.kinds)
        if any(n.startswith((ARGUMENT, OUTSIDE)) or n == HANDED_OUT for n in out):
            return None
        return out


def _counts(kind: Array) -> bool:
    return kind.dtype is not None and (kind.dtype == "float64" or not kind.dtype.startswith(("float", "complex")))
