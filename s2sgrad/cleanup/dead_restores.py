"""Dead restores: another store into the same section follows before any read.

    x[i] = x_stack.pop()                   # what x[i] /= d overwrote
    d_bar -= x_bar[i] * q / d              d_bar -= x_bar[i] * q / d
    x_bar[i] /= d                   ->     x_bar[i] /= d
    x[i] = x_stack_.pop()                  x[i] = x_stack_.pop()        # what x[i] = e overwrote

On each path from the restore, around its loops and out of them, a store into the same section must precede any read of that
memory; reads of sections known to be disjoint are ignored.  The value of `i` is known only in the trip of the restore: reads
of later trips are compared with the section once, and behind the loop the section may be that of any trip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.flow.graph import Block, Graph, Point, binds
from s2sgrad.ir.forms import bound_name, parts_of, popped
from s2sgrad.ir.quote import COMPOUND, IS_COMPOUND, Transformer, blocks, clone, mentioned, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.writes import in_place
from s2sgrad.regions.later_trips import Sections

_PASSED = {gast.Assign, gast.AugAssign, gast.Expr}  # no way out of a block
_SUMS = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context)


@dataclass(frozen=True)
class _Phase:
    """The section of a restore, without temporaries, behind some of the enclosing loops: for loops in `ended` it may be that
    of any trip.
    """

    text: str  # empty behind a loop whose variable it depends on
    names: frozenset[str]  # the names that it depends on
    loops: tuple[gast.For, ...]
    ended: tuple[gast.For, ...] = ()


@dataclass
class _Restore:
    """A restore of a section of `base`; `phases` are indexed by the number of loops `around` it that have been left."""

    statement: gast.AST
    base: str
    index: list[gast.AST]
    shared: frozenset[str]
    around: list[gast.AST]  # innermost first
    phases: list[_Phase]
    loads: Collection[gast.Subscript] = ()  # allowed loads of the same section


class Overwritten:
    """Finds the dead restores of one function, forward and reverse sweep together."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, graph: Graph, sections: Sections) -> None:
        self.unit, self.graph, self.sections = unit, graph, sections
        self.given = {p.id for p in parameters(tree)}
        self.counts = Counter(self.given)
        self.counters: set[str] = set()
        self.place: dict[int, tuple[Block, int]] = {}
        self.around: dict[int, tuple[gast.AST, ...]] = {}  # by statement: the enclosing loops, innermost first
        self.separate: set[str] = set()
        waiting: list[tuple[Block, tuple[gast.AST, ...]]] = [(tree.body, ())]
        while waiting:
            body, around = waiting.pop()
            for k, statement in enumerate(body):
                self.place[id(statement)], self.around[id(statement)] = (body, k), around
                if isinstance(statement, COMPOUND):
                    inner = around if isinstance(statement, gast.If) else (statement, *around)
                    waiting += [(block, inner) for block in blocks(statement)]
                if isinstance(statement, gast.For):
                    self.counters.add(statement.target.id)
                else:
                    self.counts.update(binds(statement))
        self.found = [s for s in effects.walk(tree.body) if _is_restore(s)]

    def restores(self) -> set[int]:
        """The dead restores, by identity."""
        known = ((s, self._restore(s)) for s in self.found)
        return {
            id(s)
            for s, restore in known
            if restore is not None and (self._is_overwritten(restore) or self._is_never_read(restore))
        }

    def only_loads(self, statement: gast.AST) -> list[tuple[gast.AST, gast.Subscript]]:
        """The loads of a restored section without which the restore would be dead, each with its statement; empty if there
        are other reads, or none.
        """
        restore = self._restore(statement)
        loads = [] if restore is None else self._loads(restore)
        if restore is None or not loads:
            return []
        restore.loads = [load for _, load in loads]
        return loads if self._is_overwritten(restore) else []

    def replaced(self, old: gast.AST, new: gast.AST) -> None:
        """Note that a simple statement has been replaced or changed."""
        self.graph.replace(old, new)
        self.place[id(new)], self.around[id(new)] = self.place[id(old)], self.around[id(old)]

    def detach(self, name: str) -> None:
        """Note that a name is no longer bound to a section."""
        if self.counts[name] == 1:
            self.separate.add(name)
            self.sections.values.pop(name, None)

    # --- facts about a restore ---

    def _restore(self, statement: gast.AST) -> _Restore | None:
        """The facts about a restore; None where its section may change its meaning."""
        section: Any = effects.stored(statement)
        if not isinstance(section.value, gast.Name):
            return None
        base = section.value.id
        index = self._expanded(section.slice)
        names = frozenset(mentioned(index))
        lasting = all(self.counts[n] <= (n not in self.counters) for n in names) and not names & self.unit.memory.written
        if not lasting or not isinstance(self.unit.kinds.get(base), Array):
            return None
        around = self.around[id(statement)]
        phases = [_Phase(gast.dump(index), names, tuple(s for s in around if isinstance(s, gast.For)))]
        for loop in around:
            phases.append(self._behind(phases[-1], loop))
        shared = self.unit.memory.at_once_with(base) - self.separate
        return _Restore(statement, base, parts_of(section.slice), shared, [*around], phases)

    def _behind(self, phase: _Phase, loop: gast.AST) -> _Phase:
        """The section behind a loop."""
        if not self._is_named(phase, loop):
            return _Phase(phase.text, phase.names, tuple(s for s in phase.loops if s is not loop), phase.ended)
        bounds = mentioned(self._expanded(loop.iter)) & self.counters  # the range of its trips
        return _Phase("", (phase.names - {loop.target.id}) | bounds, phase.loops, (*phase.ended, loop))

    def _is_named(self, phase: _Phase, loop: gast.AST) -> bool:
        """Whether the section depends on the variable of a loop."""
        return isinstance(loop, gast.For) and loop.target.id in phase.names

    def _expanded(self, index: gast.AST) -> gast.AST:
        """An index with temporaries replaced by their definitions, as far as these are sums of other names."""
        values = self.sections.values

        class Replace(Transformer):
            def visit_Name(self, node: gast.Name) -> gast.AST:
                value = values.get(node.id)
                if value is None or not all(isinstance(n, _SUMS) for n in nodes(value)):
                    return node
                return self.visit(clone(value))

        return Replace().visit(clone(index))

    def _loads(self, restore: _Restore) -> list[tuple[gast.AST, gast.Subscript]]:
        """The loads of the same section later in its block, up to a statement that may change it."""
        body, k = self.place[id(restore.statement)]
        loads, phase = [], restore.phases[0]
        fixed = phase.names | {restore.base} | restore.shared - self.sections.values.keys()
        for statement in body[k + 1 :]:
            if type(statement) not in IS_COMPOUND and not self._mentions(restore, phase, statement):
                continue
            inside = [*effects.walk([statement])]
            changing = any(not fixed.isdisjoint(binds(s)) or self._stores(restore, phase, s) for s in inside)
            for inner in inside[:1] if changing else inside:
                sections = (n for n in nodes(effects.header(inner)) if isinstance(n, gast.Subscript))
                loads += [(inner, n) for n in sections if isinstance(n.ctx, gast.Load) and self._is_same(restore, phase, n)]
            if changing:
                break
        return loads

    def _mentions(self, restore: _Restore, phase: _Phase, statement: gast.AST) -> bool:
        """Whether a simple statement reads or binds a name of the memory, or binds one that the section depends on."""
        point = self.graph.points[self.graph.at[id(statement)]]
        if not restore.shared.isdisjoint(point.reads) or not restore.shared.isdisjoint(point.binds):
            return True
        return not phase.names.isdisjoint(point.binds)

    def _stores(self, restore: _Restore, phase: _Phase, statement: gast.AST) -> bool:
        """Whether a statement stores into the memory of a section where that may overlap."""
        section = effects.stored(statement)
        if section is None or effects.base(section) not in restore.shared:
            return False
        return not isinstance(section.value, gast.Name) or not self._apart(restore, phase, section.slice, statement)

    def _is_same(self, restore: _Restore, phase: _Phase, section: gast.Subscript) -> bool:
        """Whether this is the restored section, in the trip of the restore."""
        if not isinstance(section.value, gast.Name) or section.value.id != restore.base:
            return False
        return bool(gast.dump(self._expanded(section.slice)) == phase.text)

    # --- paths ---

    def _is_overwritten(self, restore: _Restore) -> bool:
        """Whether on each path a store into the section precedes any read of it."""
        (start,) = self.graph.after[self.graph.at[id(restore.statement)]]
        waiting = [(start, 0)]
        seen = set(waiting)
        while waiting:
            point, left = waiting.pop()
            overwritten = self._meets(restore, restore.phases[left], self.graph.points[point])
            if overwritten is False:
                return False
            for further in self._successors(restore, point, left) if overwritten is None else ():
                if further is None:
                    return False
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
        return True

    def _is_never_read(self, restore: _Restore) -> bool:
        """Whether nothing reads the contents of the memory any more, by whichever name."""
        memory = self.unit.memory.with_memory_of(restore.base)
        if not memory.isdisjoint(self.given) or not memory.isdisjoint(self.unit.memory.lost):
            return False
        waiting = [*self.graph.after[self.graph.at[id(restore.statement)]]]
        seen = {*waiting}
        while waiting:
            point = waiting.pop()
            statement = self.graph.points[point].statement
            if not memory.isdisjoint(self.graph.points[point].reads) and self._reads_contents(memory, statement):
                return False
            new = [k for k in self.graph.after[point] if k not in seen]
            seen.update(new)
            waiting += new
        return True

    def _reads_contents(self, memory: Collection[str], statement: gast.AST) -> bool:
        """Whether a statement (a compound one: its header) may read the contents of what one of these names stands for."""
        bound = bound_name(statement)
        if bound is not None and (isinstance(statement.value, gast.Name) or popped(statement.value) is not None):
            return bound not in memory
        header, stored = effects.header(statement), effects.stored(statement)
        harmless = {id(n) for n in shape_reads(self.unit, header)}
        if stored is not None and isinstance(statement, gast.Assign):
            harmless.add(id(stored.value))
        return any(
            isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and n.id in memory and id(n) not in harmless
            for n in nodes(header)
        )

    def _successors(self, restore: _Restore, point: int, left: int) -> list[tuple[int, int] | None]:
        """The successors of a point, each with the number of loops around the restore that are left there; None if a later
        trip reads the restored section.
        """
        after = self.graph.after[point]
        if left == len(restore.around):
            return [(k, left) for k in after]
        loop, phase = restore.around[left], restore.phases[left]
        head, end = self.graph.entry[id(loop.body)] - 1, self.graph.leaving[id(loop.body)][-1]
        if point != end or not self._is_named(phase, loop):
            return [(k, left if head <= k <= end else left + 1) for k in after]
        around = [s for s in phase.loops if s is not loop and s not in phase.ended]
        if not self.sections.missed_by_later_trips(loop, restore.base, restore.index, restore.shared, restore.loads, around):
            return [None]
        return [(k, left + 1) for k in self.graph.after[head][1:]]

    def _meets(self, restore: _Restore, phase: _Phase, point: Point) -> bool | None:
        """True at a store into the section; False where it may be read or change its meaning; None at any other point."""
        statement = point.statement
        if point.role not in ("whole", "head"):
            return None
        if statement is restore.statement and not phase.ended:
            return True
        if type(statement) in _PASSED and not self._mentions(restore, phase, statement):
            return None
        read = not restore.shared.isdisjoint(self.graph.reads(statement)) and self._reads(restore, phase, statement)
        if read or point.role == "head":  # the iterable is read once a trip
            return False if read else None
        if isinstance(statement, gast.Break):
            return False
        bound = point.binds
        if isinstance(statement, gast.For):
            if any(s.target.id == statement.target.id for s in phase.loops) and statement not in phase.loops:
                return False  # the variable means another number in there
            bound = (statement.target.id,)
        fixed = phase.names | {restore.base} | restore.shared - self.sections.values.keys()
        changed = fixed.intersection(bound)
        if changed:
            return self._rebinds(restore, statement)
        section = effects.stored(statement)
        if section is not None and isinstance(section.value, gast.Name) and section.value.id == restore.base:
            return True if effects.is_whole(section.slice) or self._is_same(restore, phase, section) else None
        return None

    def _reads(self, restore: _Restore, phase: _Phase, statement: gast.AST) -> bool:
        """Whether a statement (a compound one: its header) may read the restored value."""
        stored = effects.stored(statement)
        harmless = self._harmless(restore, phase, statement)
        for node in nodes(effects.header(statement)):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id in restore.shared:
                if id(node) not in harmless and not self._views_beside(restore, phase, node, statement):
                    return True
        changed = in_place(self.unit, statement, self.unit.kinds)
        return changed in restore.shared and stored is None and not isinstance(statement, gast.AugAssign)

    def _views_beside(self, restore: _Restore, phase: _Phase, node: gast.Name, statement: gast.AST) -> bool:
        """Whether a name is bound to a section that is disjoint from the restored one, or to an allowed load of it."""
        view = self.sections.values.get(node.id)
        if not isinstance(view, gast.Subscript) or not isinstance(view.value, gast.Name):
            return False
        whole = self.sections.seen_whole(view)
        apart = whole.value.id == restore.base and self._apart(restore, phase, whole.slice, statement)
        return any(view is load for load in restore.loads) or apart

    def _harmless(self, restore: _Restore, phase: _Phase, statement: gast.AST) -> set[int]:
        """The occurrences of the memory in a statement, by identity, that do not read the restored value."""
        header, stored = effects.header(statement), effects.stored(statement)
        harmless = {id(n) for n in shape_reads(self.unit, header)}
        for node in nodes(header):
            if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id in restore.shared:
                load, whole = any(node is load for load in restore.loads), self.sections.seen_whole(node)
                apart = whole.value.id == restore.base and self._apart(restore, phase, whole.slice, statement)
                if load or node is stored or apart:
                    harmless.add(id(node.value))
        return harmless

    def _rebinds(self, restore: _Restore, statement: gast.AST) -> bool:
        """Whether a statement rebinds the array's only name: `x = x_stack.pop()` at the start of a trip."""
        if binds(statement) != [restore.base] or not isinstance(statement, gast.Assign):
            return False
        body, k = self.place[id(statement)]
        made = {n for s in body[k + 1 :] for n in binds(s) if n in self.sections.values}  # not bound in this trip yet
        return restore.shared - made == {restore.base}

    def _apart(self, restore: _Restore, phase: _Phase, index: gast.AST, statement: gast.AST) -> bool:
        """Whether another section, as a statement mentions it, is known to be disjoint from the restored one."""
        inner = [s for s in self.around[id(statement)] if isinstance(s, gast.For)]
        return self.sections.indices.apart(restore.index, parts_of(index), list(phase.loops), phase.ended, inner)


def _is_restore(statement: gast.AST) -> bool:
    """Whether a statement of the reverse sweep stores into a section."""
    return effects.stored(statement) is not None and getattr(statement.origin, "sweep", "") == "reverse"
