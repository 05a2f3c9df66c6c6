"""Dead-code elimination: first in the reverse sweep, then the records that it no longer needs, then in the forward sweep.

An unused restore is removed together with its record: this is to-be-recorded analysis.  The side effects of an unused
statement stay: of `w += rng.random(4)`, the draw.  Pushes and pops of a stack stay all together if any popped value is used.
A store is needed while the contents of memory that it may change are, and kills nothing; `x.shape` and `np.zeros_like(x)`
read the variable but not its contents (`x` and `x!` in the sets below).

    x_stack.append(x); y = np.sin(x)  ...  x = x_stack.pop(); x_bar = y_bar      ->      x_bar = y_bar

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x):
...     y = np.sin(x)
...     y[0] = y[1] * 2.0
...     return np.sum(y)
... ''', "deadcode", np.ones(3)))
-     t1 = y[1]
-     t2 = t1 * 2.0
-     y_old = y[0]
-     y[0] = t2
-     result = np.sum(y)
-     y[0] = y_old
-     t1_2 = y[1]
-     t2_2 = t1_2 * 2.0
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects, with_regions
from s2sgrad.analysis.kinds import Array
from s2sgrad.cleanup import kept_states, remains
from s2sgrad.cleanup.dead_restores import Overwritten
from s2sgrad.cleanup.demands import Demand, Demands
from s2sgrad.flow.graph import Graph, Waiting, binds
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import COMPOUND, at, blocks, clone, constant
from s2sgrad.ir.unit import Unit, is_run_again, parameters, sweep_of
from s2sgrad.memory import behaviour
from s2sgrad.memory.stacks import local_stacks, operated, operations
from s2sgrad.regions.later_trips import Sections

POISON = False  # for tests of liveness: see `_Wanted.poison`


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Remove the statements whose results are never read."""
    wanted = _Wanted(unit, tree)
    wanted.solve()
    tree.body = wanted.pruned(tree.body)
    return tree


@dataclasses.dataclass
class _Stacks:
    """The stacks of records of a function; those of which some record is used; and of the others the statements to visit
    when there is one."""

    local: set[str]
    used: set[str] = dataclasses.field(default_factory=set)
    idle: dict[str, set[int]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class _Contexts:
    """By statement, the compound one around it (`holder`), and what makes, enters and leaves the contexts that it is in
    (`around`); and all that do (`ends`)."""

    holder: dict[int, gast.AST] = dataclasses.field(default_factory=dict)
    around: dict[int, list[gast.AST]] = dataclasses.field(default_factory=dict)
    ends: set[int] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class _Restores:
    """Restores that another store follows before any read, and those that may be spared: by restore, where a loop ends and
    which contents matter there.  `partly`: of sections whose array is read; `spared`: not needed after their loops, as far
    as is known; `doubtful`: spared at some point, so that other elements are still read."""

    overwritten: set[int]
    spare: dict[int, list[tuple[int, int]]] = dataclasses.field(default_factory=dict)
    partly: set[int] = dataclasses.field(default_factory=set)
    spared: set[int] = dataclasses.field(default_factory=set)
    doubtful: set[int] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class _Known:
    """What was found out about statements: the demands of simple ones and the reads of headers, by point.  Of unneeded ones
    the effects that remain, what these read, and how many idle stack operations there were.  All stack operations, too."""

    simple: dict[int, Demand] = dataclasses.field(default_factory=dict)
    heads: dict[int, int] = dataclasses.field(default_factory=dict)
    parts: dict[int, list[gast.AST]] = dataclasses.field(default_factory=dict)
    remaining: dict[int, int] = dataclasses.field(default_factory=dict)
    quiet: dict[int, int] = dataclasses.field(default_factory=dict)
    touched: dict[int, list[tuple[gast.Call, str]]] = dataclasses.field(default_factory=dict)


class _Wanted:
    """Backward liveness in which a statement reads only if it is needed, and the set of needed statements."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.tree = unit, tree
        self.graph = Graph(tree, unit.kept)
        statements = list(effects.walk(tree.body))
        self.demands = Demands.of(unit, tree, statements)
        self.needed: set[int] = set()
        self.left: dict[int, list[gast.AST]] = {}  # effects that stay of unneeded statements
        self.stacks = _Stacks(local_stacks(unit, tree))
        self.waiting = Waiting(range(len(self.graph.points)))
        self.anchors: set[int] = set()
        self.live = [0] * len(self.graph.points)  # before each point
        self.known = _Known()
        self.staying: set[int] = set()
        self.states = kept_states.found(statements)
        self.contexts = _Contexts()
        self._find_contexts(tree.body)
        for statement in statements:
            for body in blocks(statement):
                self._find_contexts(body)
                self.contexts.holder.update((id(inner), statement) for inner in body)
        sections = Sections(unit, tree, self.graph) if unit.memory.written - unit.derivative.bars else None
        self.restores = _Restores(set() if sections is None else Overwritten(unit, tree, self.graph, sections).restores())
        if sections is not None:
            for loop in statements:
                if isinstance(loop, gast.For) and sweep_of(loop) == "reverse":
                    self._find_spare(loop, sections)
        for statement in statements:
            if isinstance(statement, (gast.Break, gast.While)):
                self._need(statement)

    def _find_contexts(self, body: list[gast.AST]) -> None:
        """Note the contexts of a block that are needed only for the statements inside."""
        for r in with_regions.regions(body):
            if with_regions.is_quiet(self.unit, body[r.made].value):
                ends = [body[r.made], body[r.enter], body[r.exit], body[r.final]]
                self.contexts.ends |= set(map(id, ends))
                for inside in body[r.enter + 1 : r.exit]:
                    self.contexts.around.setdefault(id(inside), []).extend(ends)

    def _find_spare(self, loop: gast.For, sections: Sections) -> None:
        """Note the restores that no read in a loop overlaps, which only reads after the loop may need."""
        (behind,) = self.graph.after[self.graph.entry[id(loop.body)] - 1][1:]
        for restore, shared in sections.spare(loop).items():
            self.restores.spare.setdefault(restore, []).append((behind, self.demands.contents(shared)))

    # --- iteration ---

    def solve(self) -> None:
        """Iterate to the fixed point: a newly needed statement may need more, anywhere."""
        while True:
            self.graph.backward_by(self.step, self.live, self.waiting)
            anchors = self._anchors() - self.anchors
            missed = {s for s in self.restores.spared if self._is_needed_after_loops(s)}
            self.anchors |= anchors
            self.restores.spared -= missed
            if not anchors and not missed:
                return
            self._reschedule(anchors | missed)

    def _reschedule(self, statements: Iterable[int]) -> None:
        """Schedule statements again whose facts may be out of date."""
        for statement in statements:
            self.waiting.add(self.graph.at[statement])

    def step(self, k: int, live: int) -> int:
        """The live set before a point, given the one behind it; marks what is needed."""
        point = self.graph.points[k]
        statement = point.statement
        if point.role == "whole":
            if not isinstance(statement, COMPOUND):
                return self._simple(k, statement, live)
            if id(statement) not in self.needed:
                return live | self._remaining_effects(statement, live)
            if k not in self.known.heads:
                self.known.heads[k] = self.demands.reads(statement, point.reads)
            return live | self.known.heads[k]
        loop: Any = statement
        if point.role == "head" and live & self.demands.names.interned([loop.target.id]):  # where the loop ends
            self._reschedule([id(loop)] if id(loop) not in self.needed else [])
            self._need(loop)
        return live & ~self.demands.names.interned(point.binds) if point.binds else live

    def _simple(self, k: int, statement: gast.AST, live: int) -> int:
        facts = self.known.simple.get(k)
        if facts is None:
            facts = self.known.simple[k] = self.demands.known(statement, self.graph.points[k])
        if id(statement) in self.states:
            return self._state(statement, facts, live)
        if id(statement) in self.contexts.ends:
            return (live & ~facts.binds) | facts.reads if id(statement) in self.needed else live
        if not self._is_needed(statement, facts, live):
            return live | self._remaining_effects(statement, live)
        self._need(statement)
        reads = facts.reads
        if facts.looks_into >= 0 and not facts.looks_into & live:
            reads &= ~self.demands.all_contents  # the contents behind the references are not read
        return (live & ~facts.binds) | reads

    def _state(self, statement: gast.AST, facts: Demand, live: int) -> int:
        """The live set before a statement that saves or restores a state, which contains only what is read of it."""
        state = self.states[id(statement)]
        known = len(state.read), state.wanted
        state.wanted |= isinstance(statement, gast.Assign) and bool(live & self.demands.names.interned(binds(statement)))
        for place, name in enumerate(kept_states.restored_names(statement)):
            if live & (self.demands.names.interned([name]) | self.demands.contents([name])):
                state.read.add(place)
        if (len(state.read), state.wanted) != known:
            self._reschedule(map(id, state.statements))
        if not state.wanted:
            return live
        self._need(statement)
        if isinstance(statement, gast.Assign):
            return (live & ~facts.binds) | facts.reads
        read = set(effects.reads(statement.value.func)).union(*map(effects.reads, statement.value.args[:2]))
        for part in state.kept(statement):
            read |= effects.reads(part)
        return live | self.demands.reads(statement, read)

    def _is_needed(self, statement: gast.AST, facts: Demand, live: int) -> bool:
        """Whether a simple statement is needed, given the live set behind it."""
        if self.stacks.local and isinstance(statement, gast.Expr):
            stack = operated(self.unit, statement.value)
            if stack in self.stacks.local:
                return self._is_read(stack, statement)
        if id(statement) in self.restores.overwritten:
            if facts.makes & live:
                self.restores.partly.add(id(statement))
            return False
        if id(statement) in self.restores.spare and not self._is_needed_after_loops(id(statement)):
            self.restores.spared.add(id(statement))
            self.restores.doubtful.add(id(statement))
            return False
        if notes.UNCERTAIN.of(statement) and sweep_of(statement) == "forward":
            return True  # NumPy may have to raise for the shapes
        if notes.RESTORES.of(statement):  # other references to the list may read it
            return bool(facts.makes & live) or facts.restores
        if isinstance(statement, (gast.Assign, gast.AugAssign)):
            return bool(facts.makes & live) or id(statement) in self.anchors or behaviour.uses_up(self.unit, statement)
        return not is_run_again(statement) or bool(facts.makes & live)

    def _is_needed_after_loops(self, restore: int) -> bool:
        """Whether reads after the loops around a restore may need it."""
        return all(self.live[k] & contents for k, contents in self.restores.spare[restore])

    def _need(self, statement: gast.AST) -> None:
        """Mark a statement, or the header of a compound one, as needed."""
        if id(statement) not in self.needed:
            self.needed.add(id(statement))
            self.left.pop(id(statement), None)
            self._read(self._operations(statement))
            self._stay(statement)

    def _is_read(self, stack: str, statement: gast.AST) -> bool:
        """Whether a record of a stack is used, as far as is known; if that changes, the statement is visited again."""
        if stack not in self.stacks.used:
            self.stacks.idle.setdefault(stack, set()).add(id(statement))
        return stack in self.stacks.used

    def _read(self, operations: list[tuple[gast.Call, str]]) -> None:
        """Note that these stack operations stay."""
        for stack in {stack for _, stack in operations} - self.stacks.used:
            self.stacks.used.add(stack)
            self._reschedule(self.stacks.idle.pop(stack, ()))

    def _stay(self, statement: gast.AST | None) -> None:
        """Mark what is needed around a statement that stays: enclosing statements and contexts."""
        while statement is not None and id(statement) not in self.staying:
            self.staying.add(id(statement))
            if id(statement) in self.contexts.around:
                around = set(map(id, self.contexts.around[id(statement)])) - self.needed
                self.needed |= around
                self._reschedule(around)
            statement = self.contexts.holder.get(id(statement))
            if statement is not None and id(statement) not in self.needed:
                self._reschedule([id(statement)])
                self.needed.add(id(statement))
                self.left.pop(id(statement), None)
                self._read(self._operations(statement))

    def _takes_again(self, statement: gast.AST, live: int) -> bool:
        """Whether a recomputed `t = s.pop()` takes an item off a list, or a record off a stack, that is read later."""
        changed = effects.changed_by_call(statement.value) if isinstance(statement, gast.Assign) else set()
        return bool(changed & self.stacks.local) or bool(live & self.demands.names.interned(changed))

    def _remaining_effects(self, statement: gast.AST, live: int) -> int:
        """Mark the side effects that remain of an unneeded statement, or header, given the live set behind it; the set that
        these read."""
        if notes.RESTORES.of(statement) or (is_run_again(statement) and not self._takes_again(statement, live)):
            return 0
        idle = {id(call) for call, stack in self._operations(statement) if not self._is_read(stack, statement)}
        if (
            id(statement) not in self.known.parts or len(idle) != self.known.quiet[id(statement)]
        ):  # their number only decreases
            self.known.quiet[id(statement)] = len(idle)
            if isinstance(statement, gast.Assign) and effects.accumulates(self.unit, statement) in binds(statement):
                idle.add(id(statement.value))
            parts = remains.of_statement(self.unit, statement, lambda call: id(call) in idle)
            self.known.parts[id(statement)] = at(statement, *(gast.Expr(part) for part in parts))
            self.known.remaining[id(statement)] = 0
            for part in self.known.parts[id(statement)]:
                self.known.remaining[id(statement)] |= self.demands.reads(part, effects.reads(part))
        left = self.known.parts[id(statement)]
        if left:
            self.left[id(statement)] = left
            for part in left:  # a pop keeps its push
                self._read(self._operations_in(part))
            self._stay(statement)
        return self.known.remaining[id(statement)]

    def _anchors(self) -> set[int]:
        """One binding of each variable that is read but nowhere bound, since its name would otherwise be a global's."""
        read, bound = 0, self.demands.names.interned(p.id for p in parameters(self.tree))
        binders: dict[str, gast.AST] = {}
        for k, point in enumerate(self.graph.points):
            statement = point.statement
            if point.role == "enter" and id(statement) in self.needed:
                bound |= self.demands.names.interned(point.binds)
            elif point.role != "whole":
                continue
            elif id(statement) not in self.needed:
                read |= self.known.remaining[id(statement)] if id(statement) in self.left else 0
                if (name := bound_name(statement)) is not None:
                    binders.setdefault(name, statement)
            else:
                read |= self.known.simple[k].reads if k in self.known.simple else self.known.heads.get(k, 0)
                bound |= self.demands.names.interned(point.binds) if point.binds else 0
        return {id(binders[name]) for name in self.demands.names.decoded(read & ~bound) & binders.keys()}

    # --- stacks ---

    def _operations(self, statement: gast.AST) -> list[tuple[gast.Call, str]]:
        """The stack operations of a statement."""
        if not self.stacks.local:
            return []
        if id(statement) not in self.known.touched:
            self.known.touched[id(statement)] = self._operations_in(statement)
        return self.known.touched[id(statement)]

    def _operations_in(self, statement: gast.AST) -> list[tuple[gast.Call, str]]:
        """The same for a statement that is not of the tree, of which the identity may be another's later."""
        found = operations(self.unit, effects.header(statement))
        return [(call, stack) for call, stack in found if stack in self.stacks.local]

    # --- pruning ---

    @functools.cached_property
    def _bound(self) -> set[str]:
        """The names that are bound in the remaining statements."""
        kept = [s for s in effects.walk(self.tree.body) if id(s) in self.needed]
        return {p.id for p in parameters(self.tree)} | {n for s in kept for n in (*binds(s), *effects.writes(s))}

    def poison(self, statement: gast.AST) -> list[gast.AST]:
        """For a removed restore: a statement that fills its array with nan, which must not reach any result."""
        section = effects.stored(statement)
        if section is None or sweep_of(statement) != "reverse" or id(statement) in self.restores.doubtful:
            return []
        base = effects.base(section)
        if base in self.unit.derivative.bars or base not in self._bound or not isinstance(self.unit.kinds.get(base), Array):
            return []
        if id(statement) in self.restores.partly:  # the rest of the array may be read
            kind = self.unit.kinds[base].dtype
            lost = gast.Assign([clone(section)], constant(float("nan")), None)
            return at(statement, lost) if kind is not None and kind.startswith("float") else []
        check = self.unit.reached("poison", runtime.poison)
        return at(statement, gast.Expr(gast.Call(check, [gast.Name(base, gast.Load(), None, None)], [])))

    def pruned(self, body: list[gast.AST]) -> list[gast.AST]:
        """The needed statements of a block, and the remaining effects of others."""
        out = []
        for statement in body:
            if id(statement) not in self.needed:
                out += self.poison(statement) if POISON else []
                out += [remains.named(self.unit, left) for left in self.left.get(id(statement), ())]
                continue
            if id(statement) in self.states:
                self.states[id(statement)].pruned(statement)
                self.unit.rewritten(statement)
            for inner in blocks(statement):
                inner[:] = self.pruned(inner)
            out.append(statement)
        return out
