"""Alias conflicts: a store through one name of a location while another name of it is live.

    v = u[1:-1]; u[2] = 0.0; return v[1]      ->      Clash: the store writes u while v, which may alias it, is live

`memory.aliases` gives the aliases at each point, `flow.liveness` the live names.

A store into a list or dict, or a change of its length, is visible through its other names and the containers that hold it
(`seers`), but not through its items:

    s = [x]; s.append(y); return x      ->      no clash, though s and x share memory
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind, Number
from s2sgrad.flow.liveness import Liveness
from s2sgrad.inplace.rebind_markers import is_marker
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import place_of
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.stacks import fresh_stacks, local_stacks, recorded_stacks
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror import shadows
from s2sgrad.mirror.groups import kind_at


@dataclass(frozen=True)
class Clash:
    """A statement that writes the memory of `written` while `seen` may alias it and is live."""

    statement: gast.AST = field(compare=False)
    written: str
    seen: str

    @property
    def is_knot(self) -> bool:
        """Whether the store may be visible at another place in the same list or dict."""
        return self.seen == self.written


@dataclass
class Sharing:
    """`clashes`, the parameters through which the function writes the caller's memory (`arguments`), and the containers in
    which two places may share memory (`knotted`)."""

    clashes: list[Clash] = field(default_factory=list)
    arguments: dict[str, gast.AST] = field(default_factory=dict)
    knotted: frozenset[str] = frozenset()


def writes_in_place(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """Whether any statement writes memory that could have a second name."""
    own = own_lists(unit, tree)
    return any(in_place(unit, s, kinds) is not None or resized(unit, s, own) is not None for s in effects.walk(tree.body))


def own_lists(unit: Unit, tree: gast.FunctionDef) -> Collection[str]:
    """The lists of a text of ours of which no other name has to see what is put on them.  They are the stacks of its
    records, and all with one name where none has a shadow, for what grew there was of one name.  A list that is restored
    may have two: `b2 = b`, where a sort bound another one."""
    if not unit.primal.is_generated:
        return ()
    stacks = local_stacks(unit, tree) | recorded_stacks(unit, tree)
    if shadows.are_in(unit):
        return stacks
    named = [s for s in effects.walk(tree.body) if isinstance(getattr(s, "value", None), gast.Name)]
    twice = {n for s in named if (bound := bound_name(s)) is not None for n in (bound, s.value.id)}
    return stacks | (unit.locals - twice)


def resized(unit: Unit, statement: gast.AST, own: Collection[str] = ()) -> str | None:
    """The list whose length a statement changes, but one of our `own`; None for any other statement."""
    if not isinstance(statement, (gast.Assign, gast.Expr)):
        return None
    if is_marker(unit, statement):
        return str(statement.value.args[0].id)
    return next((n for n in effects.changed_by_call(statement.value) if n in unit.locals and n not in own), None)


def updates_item(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a store into a list or dict is the user's `d[k] op= e`, which writes an array in place."""
    section = effects.stored(statement)
    if section is None or place_of(statement) not in unit.syntax.updates or not isinstance(section.value, gast.Name):
        return False
    value = kinds.get(getattr(statement.value, "id", ""))
    return isinstance(kinds.get(section.value.id), Container) and not isinstance(value, Number)


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], separate: frozenset[str] = frozenset()) -> Sharing:
    """Find the conflicts of a function.  Names in `separate` alias nothing, which run-time checks ensure."""
    finder = _Finder(unit, tree, kinds, separate)
    for statement in effects.walk(tree.body):
        base = in_place(unit, statement, kinds)
        if base is not None:
            finder.store(statement, base)
        elif (grown := resized(unit, statement, finder.own)) is not None:
            finder.store(statement, grown)
    finder.found.knotted = frozenset(finder.aliases.knotted)
    return finder.found


def replaces(unit: Unit, statement: gast.AST) -> bool:
    """Whether the write creates a new list for one that the user's text changes, so that no other name sees it."""
    return is_marker(unit, statement) or notes.IS_INNER.of(statement)


class _Finder:
    """Collects the conflicts of one function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], separate: frozenset[str]) -> None:
        self.unit, self.kinds, self.own = unit, kinds, own_lists(unit, tree)
        self.aliases = Aliases(unit, tree, kinds, separate, fresh_stacks(unit, tree, kinds))
        self.live = Liveness(self.aliases.graph)
        self.found = Sharing()

    def store(self, statement: gast.AST, base: str) -> None:
        """Note the conflicts of a store into the memory of `base`."""
        bound = effects.targets(statement) if isinstance(statement, gast.Assign) else ()
        if self.is_in_knot(statement, base):
            self.found.clashes.append(Clash(statement, base, base))
        for other in sorted(self.affected(statement, base) - {base}):
            if other.startswith(ARGUMENT):
                self.found.arguments.setdefault(other.removeprefix(ARGUMENT), statement)
            elif other.startswith(OUTSIDE) or (other not in bound and self.live.is_live(other, statement)):
                clash = Clash(statement, base, other)
                if clash not in self.found.clashes or replaces(self.unit, statement):
                    self.found.clashes.append(clash)

    def is_in_knot(self, statement: gast.AST, base: str) -> bool:
        """Whether a store into an item of a list or dict may be visible at another place of it."""
        section = effects.stored(statement)
        if base not in self.aliases.knotted or section is None or not self.live.is_live(base, statement):
            return False
        return not isinstance(section.value, gast.Name) or updates_item(self.unit, statement, self.kinds)

    def affected(self, statement: gast.AST, base: str) -> set[str]:
        """The names through which a write of the memory of `base` is visible, `base` included."""
        aliases = self.aliases
        if self.unit.called(getattr(statement, "value", None)) in effects.DEEP:
            return aliases.memory_of(base, statement)
        if not isinstance(self.kinds.get(base), Container) and resized(self.unit, statement, self.own) != base:
            return aliases.memory_of(base, statement)
        out = aliases.seers(base, statement)
        section = effects.stored(statement)
        if section is not None and not isinstance(section.value, gast.Name):  # into an item
            out |= aliases.seen_inside(base, kind_at(self.kinds, section.value), statement)
        elif notes.IS_INNER.of(statement):  # a changed item is stored back
            item = statement.value.id
            out |= aliases.seen_inside(base, self.kinds.get(item), statement) - {item}
        elif updates_item(self.unit, statement, self.kinds):
            out |= aliases.memory_of(base, statement)
        return out
