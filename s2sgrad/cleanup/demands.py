"""What one statement reads, writes and binds, as sets: of variables, and of the contents of memory that is written in place.

    x[i] = v      ->      reads x, i and v; makes x!, the content of x

The sets are integers over one numbering, which runs of dead code over one tree share as long as the same names share
memory; what is known of a statement is kept with it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.flow.graph import Names, Point
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.references import alone, referred, seeing
from s2sgrad.memory.writes import in_place, writes_through


@dataclass(eq=False, slots=True)
class Demand:
    """Sets of variables and contents for a simple statement: those it reads, those that make it needed, those it binds.

    `looks_into`: for a statement that only copies references, what must be live for their contents to be read; otherwise -1.
    """

    reads: int
    makes: int
    binds: int
    looks_into: int
    restores: bool  # whether it restores an object with other references


class Demands:
    """The demands of the statements of one function, and the numbering of variables and contents that they are given in.

    Besides a statement itself they depend on `unit.memory`, on the objects that others refer to (`referred`), and on the
    lists and dicts that nothing else refers to (`alone`).
    """

    def __init__(self, unit: Unit, referred_: set[str], alone_: set[str]) -> None:
        self.unit, self.memory, self.referred, self.alone = unit, unit.memory, referred_, alone_
        self.names = Names(())
        self.written: frozenset[str] = unit.memory.written
        self.content = {n: self.names.interned([f"{n}!"]) for n in sorted(self.written)}
        self.all_contents = self.contents(self.written)
        self._contents_of = functools.lru_cache(maxsize=None)(self.contents)  # many statements write one memory

    @classmethod
    def of(cls, unit: Unit, tree: gast.FunctionDef, statements: list[gast.AST]) -> Demands:
        """Those of a tree: the ones of the run before, where they still hold."""
        known = {} if unit.kept is None else unit.kept.of(tree)
        outside = referred(unit, statements), alone(unit, tree)
        before: Demands | None = known.get(cls)
        if before is None or before.memory is not unit.memory or (before.referred, before.alone) != outside:
            before = known[cls] = cls(unit, *outside)
        return before

    def known(self, statement: gast.AST, point: Point) -> Demand:
        """The demand of a simple statement, kept with it."""
        kept = {} if self.unit.kept is None else self.unit.kept.of(statement)
        whose, demand = kept.get(Demand, (None, None))
        if whose is self:
            known: Demand = demand
            return known
        found = self._found(statement, point)
        kept[Demand] = self, found
        return found

    def _found(self, statement: gast.AST, point: Point) -> Demand:
        """The reads and writes of a simple statement."""
        bound = point.binds if isinstance(statement, gast.Assign) else ()
        changed = in_place(self.unit, statement, self.unit.kinds)
        contents, restores = self.contents(bound), False
        makes = binds = self.names.interned(bound) | contents
        if changed is not None:
            makes |= self._contents_of(seeing(self.unit, changed, statement, self.alone))
        elif isinstance(statement, (gast.AugAssign, gast.Expr)):
            written = effects.writes(statement)
            if notes.RESTORES.of(statement):  # of a list, under any of its names
                shared = set().union(*map(self.unit.memory.with_memory_of, written))
                written |= {n for n in shared if not isinstance(self.unit.kinds.get(n), (Array, Number))}
                restores = any(self.unit.bases.get(n, n) in self.referred for n in written)
                makes |= self.contents(written)
            makes |= self.names.interned(written)
        binds |= self.contents(_overwritten(statement, self.unit.kinds))
        followed = bound and self.written.issuperset(bound)  # else nothing says whether their contents are read: a number
        looks_into = contents if followed and _only_refers(statement) else -1
        return Demand(self.reads(statement, point.reads, changed), makes, binds, looks_into, restores)

    def contents(self, names: Iterable[str]) -> int:
        """The set of the contents of these names."""
        return functools.reduce(int.__or__, (self.content.get(name, 0) for name in names), 0)

    def reads(self, statement: gast.AST, names: Collection[str], changed: str | None = None) -> int:
        """The reads of a statement (a compound one: its header): variables, and contents of memory written in place."""
        held = self.written.intersection(names)
        if not held:
            return self.names.interned(names)
        header = effects.header(statement)
        passed = set(map(id, shape_reads(self.unit, header)))
        if changed in held and effects.accumulates(self.unit, statement) is None:
            if not writes_through(self.unit, statement, self.unit.kinds, changed):
                passed.add(id(effects.owner(effects.stored(statement) or statement.target)))
        content = {n.id for n in effects.loads(header) if n.id in held and id(n) not in passed}
        return self.names.interned(names) | self.contents(content)


def _only_refers(statement: gast.AST) -> bool:
    """Whether a statement binds a name to another name, or to a tuple or list of names."""
    if bound_name(statement) is None:
        return False
    value = statement.value
    parts = value.elts if isinstance(value, (gast.Tuple, gast.List)) else [value]
    return all(isinstance(p, gast.Name) for p in parts)


def _overwritten(statement: gast.AST, kinds: dict[str, Kind]) -> list[str]:
    """The array of which a store overwrites every element."""
    section = effects.stored(statement)
    if section is None or not isinstance(section.value, gast.Name) or not isinstance(kinds.get(section.value.id), Array):
        return []
    return [section.value.id] if effects.is_whole(section.slice) else []
