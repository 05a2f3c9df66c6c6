"""Which names may share memory: whoever writes one of them changes what the others hold.

    v = u[1:-1]; w = u * 2.0; p = [v]      ->      {u, v, p} may share memory, w shares none

`Memory` closes what `sources` says of one expression over a whole function, whatever the order of its statements.
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.trust import is_writable
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.sources import HANDED_OUT, bound_sources, has_memory, sources
from s2sgrad.memory.writes import CHANGEABLE, calls_unknown, handed_over, in_place


class Memory:
    """Facts about one function: `shared[x]` are the names that may share memory with `x`, `x` itself among them, where
    there are others; `written` the names whose memory some statement writes; `lost` the names of objects that calls
    change (sets, what is global, what is not plain), which the reverse sweep finds as the function left them."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        self.unit, self.kinds = unit, kinds
        self.parent: dict[str, str] = {}
        bases = {b for s in effects.walk(tree.body) if (b := in_place(unit, s, kinds)) is not None}
        self.shared: dict[str, frozenset[str]] = {}
        self.bases = frozenset(bases)
        self.written: frozenset[str] = frozenset(bases)
        self.lost: frozenset[str] = frozenset()
        self.swapped = self._swapped(tree)
        self.exposed: frozenset[str] = frozenset()  # global containers, which a function that is not known may change
        handed = set().union(*(handed_over(unit, s, kinds) for s in effects.walk(tree.body)))
        if any(calls_unknown(unit, s) for s in effects.walk(tree.body)):  # which may change what is global
            names = {n.id for s in effects.walk(tree.body) for n in effects.loads(effects.header(s))} - unit.locals
            self.exposed = frozenset(n for n in names if isinstance(unit.resolve(name_(n)), CHANGEABLE))
            handed = handed | self.exposed
        grown = any(effects.changed_by_call(getattr(s, "value", None)) for s in effects.walk(tree.body))
        if not bases and not handed and not grown:
            return
        for statement in effects.walk(tree.body):
            self._statement(statement)
        if HANDED_OUT in self.parent:  # whatever lives outside may be what a function hands out
            free = {n.id for s in effects.walk(tree.body) for n in effects.loads(effects.header(s))} - unit.locals
            self._unite({HANDED_OUT, *(n for n in free if is_writable(unit.resolve(name_(n))))})
        groups: dict[str, set[str]] = {}
        for name in list(self.parent):
            groups.setdefault(self._find(name), set()).add(name)
        self.shared = {n: frozenset(group) for group in groups.values() if len(group) > 1 for n in group}
        self.written |= {n for b in bases for n in self.shared.get(b, ())}
        self.lost = frozenset(n for h in handed for n in self.with_memory_of(h))

    def changed(self, statement: gast.AST) -> set[str]:
        """The names that a statement binds, or whose content it may change."""
        out = effects.writes(statement)
        if self.shared:
            base = in_place(self.unit, statement, self.kinds)
            if base is not None and base in self.shared:
                out |= self.at_once_with(base)
            for grown in effects.changed_by_call(getattr(statement, "value", None)):  # a list, through all that see it
                if not self.unit.is_ours(grown):
                    out |= {n for n in self.at_once_with(grown) if not isinstance(self.kinds.get(n), (Array, Number))}
        if self.lost:
            out |= {n for h in handed_over(self.unit, statement, self.kinds) for n in self.with_memory_of(h)}
            out |= self.exposed if self.exposed and calls_unknown(self.unit, statement) else set()
        return out

    def with_memory_of(self, name: str) -> frozenset[str]:
        """The names that may share memory with `name`, itself among them."""
        return self.shared.get(name) or frozenset((name,))

    def at_once_with(self, name: str) -> frozenset[str]:
        """The names that may share memory with `name` at one time: buffers that are only swapped never do."""
        return self.with_memory_of(name) - (self.swapped.get(name, frozenset()) - {name})

    def _swapped(self, tree: gast.FunctionDef) -> dict[str, frozenset[str]]:
        """By name: the buffers among which it is swapped, each bound to memory of its own wherever it is bound."""
        sets: dict[str, set[str]] = {}
        shared = {p.id for p in parameters(tree)}
        for statement in effects.walk(tree.body):
            if effects.permutes(statement):
                names = set(effects.targets(statement))
                names = names.union(*(sets.get(n, set()) for n in names))
                sets |= dict.fromkeys(names, names)
            elif isinstance(statement, gast.Assign):
                for target in effects.targets(statement):
                    if bound_sources(self.unit, [target], statement.value, self.kinds):
                        shared.add(target)
            elif isinstance(statement, gast.For):
                shared.add(statement.target.id)
        return {n: frozenset(names) for n, names in sets.items() if not names & shared}

    def _find(self, name: str) -> str:
        while self.parent.setdefault(name, name) != name:
            self.parent[name] = name = self.parent[self.parent[name]]
        return name

    def _unite(self, names: set[str]) -> None:
        names = {n for n in names if has_memory(self.kinds.get(n))}
        if len(names) > 1:
            first, *rest = sorted(names)
            for other in rest:
                self.parent[self._find(other)] = self._find(first)

    def _statement(self, statement: gast.AST) -> None:
        if isinstance(statement, gast.Assign):
            section = effects.stored(statement)
            if section is not None:
                base = effects.base(section)
                if not isinstance(self.kinds.get(base), Array):  # a container keeps what is stored in it
                    self._unite({base} | sources(self.unit, statement.value, self.kinds))
                return
            bound = set(effects.targets(statement))
            if any(has_memory(self.kinds.get(b)) for b in bound):
                self._unite(bound | bound_sources(self.unit, bound, statement.value, self.kinds))
        elif isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call):
            kept = effects.changed_by_call(statement.value)
            if kept:
                self._unite(kept | self._appended(statement.value))

    def _appended(self, call: gast.Call) -> set[str]:
        out: set[str] = set()
        for argument in call.args:
            if self.unit.resolve(call.func) is not runtime.push:  # which copies arrays
                out |= sources(self.unit, argument, self.kinds)
        return out


