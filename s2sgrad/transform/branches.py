"""Reversal of compound statements: `if` stays, loops run backwards, `while` and loops with `break` by their trip count.

for i in range(n):        ->      for i in reversed(range(n)):
    x = x * y[i]                      y_bar[i] += x_bar * x; x_bar = x_bar * y[i]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from s2sgrad.analysis import adjoint_liveness, effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Number, operand
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.checkpoints import slots_of
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.quote import LOOPS, assign, at, clone, constant, expression, name, nodes
from s2sgrad.memory.sources import has_memory
from s2sgrad.rules.table import VALUES
from s2sgrad.transform.checkpointed import Checkpointed
from s2sgrad.transform.cotangents import Bar
from s2sgrad.transform.walk import Walk


class Branches:
    """The compound statements of one function; `block` gives the forward sweep of a block, and emits its adjoint."""

    def __init__(self, walk: Walk, block: Callable[[Block], Block]) -> None:
        self.walk, self.unit, self.kinds, self.block = walk, walk.unit, walk.kinds, block
        self.adjoints, self.records, self.lifetimes = walk.adjoints, walk.records, walk.lifetimes

    def run(self, statement: gast.AST, body: Block) -> Block:
        """The forward sweep of a compound statement; its reverse sweep is emitted."""
        return self._loop(statement, body) if isinstance(statement, LOOPS) else self._if(statement, body)

    def _if(self, statement: gast.If, body: Block) -> Block:
        adjoints = self.adjoints
        before_test = self._saved_test(statement, body)
        out, before = adjoints.out, adjoints.present
        arms: list[Block] = []
        swept: list[Block] = []
        ends: list[dict[str, Bar]] = []
        goes_on = [self.lifetimes.graph.goes_on(arm) for arm in (statement.body, statement.orelse)]
        for arm in (statement.body, statement.orelse):
            adjoints.out, adjoints.present = [], {x: replace(b) for x, b in before.items()}
            adjoints.exclusions.arms += all(goes_on)
            arms.append(self.block(arm))
            adjoints.exclusions.arms -= all(goes_on)
            swept.append(adjoints.out)
            ends.append(adjoints.present)
        if not all(goes_on):  # one branch always raises: the reverse sweep has only the other
            way = int(goes_on[1])
            out += swept[way]
            adjoints.out, adjoints.present, self.walk.segment = out, ends[way], None
            return [*before_test, at(statement, gast.If(statement.test, *arms))[0]]
        for x in sorted(ends[0].keys() | ends[1].keys()):
            for sweep, end in zip(swept, ends, strict=True):
                if x not in end:
                    adjoints.out, adjoints.present = sweep, end
                    self._zero(x, statement)
                    if x in before and not self.lifetimes.may_end_unbound(x):  # rebound in the other branch: excluded here
                        end[x].idle = VALUES
        adjoints.out = out
        adjoints.present = {x: b.meet(ends[1][x]) for x, b in ends[0].items()}
        if any(swept):
            self.walk.emit(statement, [gast.If(clone(statement.test), *swept)])
        self.walk.segment = None
        return [*before_test, at(statement, gast.If(statement.test, *arms))[0]]

    def _saved_test(self, statement: gast.If, body: Block) -> Block:
        """`if xs:` depends on the present items of a list: where a branch changes them, the truth value is saved."""
        test = statement.test
        if not isinstance(test, gast.Name) or not has_memory(self.kinds.get(test.id)):
            return []
        changed = set().union(*map(self.records.memory.changed, effects.walk([*statement.body, *statement.orelse])))
        if not changed & self.records.memory.with_memory_of(test.id):
            return []
        held = self.walk.new_local(f"{test.id}_any", Number(bool), body)
        statement.test = name(held)
        return [assign(held, gast.Call(self.unit.builtin(bool), [test], []))]

    def _zero(self, x: str, statement: gast.AST) -> None:
        """Start the adjoint of `x` as zero."""
        start = len(self.adjoints.out)
        unsure = self.lifetimes.may_end_unbound(x)
        if unsure and not isinstance(self.kinds.get(x), Number):
            self.records.unbound.add(x)
        self.adjoints.start(x, bound=not unsure)
        self.walk.tag(self.adjoints.out[start:], statement, False)

    def _trip(
        self, loop: gast.For | gast.While, head: dict[str, Bar], kept: Checkpointed | None
    ) -> tuple[list[gast.AST], list[gast.AST]]:
        """One trip, forwards and backwards; the adjoints at its head must be present, alike, at the head of the next."""
        adjoints = self.adjoints
        out, adjoints.out = adjoints.out, []
        adjoints.present = {x: replace(b) for x, b in head.items()}
        forward = self.block(loop.body) if kept is None else kept.trip()
        for x in sorted(head):
            if x not in adjoints.present:
                self._zero(x, loop)
            elif head[x].own:  # the next trip relies on it
                start = len(adjoints.out)
                adjoints.make_own(x)
                self.walk.tag(adjoints.out[start:], loop, False)
        swept, adjoints.out = adjoints.out, out
        ends = adjoints.present
        adjoints.present = {x: replace(b.meet(ends[x]), idle=ends[x].idle) for x, b in head.items()}  # a trip ran
        return forward, swept

    def _loop(self, loop: gast.For | gast.While, body: Block) -> Block:
        """The forward sweep of a loop; the reversed loop is emitted."""
        adjoints = self.adjoints
        graph, present = self.lifetimes.graph, set(adjoints.present)
        carried = adjoint_liveness.before(graph, loop, present, self.walk.found, adjoints.active, adjoints.mirrored)
        bound = {n for s in effects.walk(loop.body) for n in binds(s)}
        in_parts = self._accessed_by_sections(loop)
        slots = slots_of(self.unit, loop.iter) if isinstance(loop, gast.For) else None
        kept = None if slots is None else Checkpointed(self.walk, self.block, loop, slots, body)
        start = len(adjoints.out)
        for x in sorted(carried):
            if x not in adjoints.present:
                self._zero(x, loop)
            elif x in in_parts:
                adjoints.make_own(x)
        self.walk.tag(adjoints.out[start:], loop, False)
        head = {x: replace(b, own=b.own and (x not in bound or x in in_parts)) for x, b in adjoints.present.items()}
        forward, swept = self._trip(loop, head, kept)
        records: Block = []
        restores: Block = []
        for target in binds(loop):
            record, restore = self.records.before(loop, target, body)
            records, restores = records + record, restore + restores
        if kept is not None:
            heads, behind = kept.heads() if swept else ([], [])
            records, restores = records + heads, behind + restores
            forward, swept = kept.forward(bool(swept)), kept.backward(forward, swept) if swept else []
        before, forward, backward = self._headers(loop, body, forward, bound)
        if swept:
            backward.body = swept
            self.walk.emit(loop, [backward])
        self.walk.emit(loop, restores)
        self.walk.segment = None
        if isinstance(loop, gast.For):
            ahead: gast.AST = gast.For(loop.target, loop.iter, forward, [], None)
        else:
            ahead = gast.While(loop.test, forward, [])
        return [*records, *before, at(loop, ahead)[0]]

    def _accessed_by_sections(self, loop: gast.For | gast.While) -> set[str]:
        """The variables that a loop accesses by sections or updates: their adjoints are written in place."""
        out: set[str] = set()
        rebound = {n for s in effects.walk(loop.body) if not isinstance(s, gast.AugAssign) for n in binds(s)}
        for statement in effects.walk(loop.body):
            operation = self.walk.found.get(id(statement))
            if operation is not None and operation.form == "item" and isinstance(operation.operands[0], gast.Name):
                out.add(operation.operands[0].id)
            if operation is not None and operation.form in ("grow", "shrink"):
                out.add(operation.operands[0].id)
            section = effects.stored(statement)
            if section is not None:
                out.add(effects.base(section))
            elif isinstance(statement, gast.AugAssign) and isinstance(operand(self.kinds.get(statement.target.id)), Array):
                out |= {statement.target.id} - rebound
        moved = [set(binds(s)) for s in effects.walk(loop.body) if effects.permutes(s)]
        while any(names & out and not names <= out for names in moved):
            out |= set().union(*(names for names in moved if names & out))
        return out

    def _headers(
        self, loop: gast.For | gast.While, body: Block, forward: Block, bound: set[str]
    ) -> tuple[Block, Block, gast.For]:
        """(statements before the loop, its forward body, the header of the reversed loop)."""
        before: Block = []
        counted = isinstance(loop, gast.While) or leaves(loop.body, gast.Break)
        if counted:
            trips = self.walk.new_local("trips", Number(int), body)
            before.append(assign(trips, constant(0)))
            forward = [gast.AugAssign(name(trips, store=True), gast.Add(), constant(1)), *forward]
        if isinstance(loop, gast.While):
            target = self.unit.local("_")
            steps = gast.Call(self.unit.builtin(range), [name(trips)], [])
            return before, forward, gast.For(name(target, store=True), steps, [], [], None)
        steps = clone(loop.iter)
        for node in nodes(steps):
            if isinstance(node, gast.Name) and node.id in bound | {loop.target.id} and node.id in self.unit.locals:
                held = self.walk.new_local(f"{node.id}_first", self.kinds.get(node.id, UNKNOWN), body)
                before.append(assign(held, name(node.id)))
                node.id = held
        back = self.unit.builtin(reversed)
        backward = self.unit.called(steps) is reversed
        if backward and counted:
            steps = expression("reversed(r[::-1][:n])", r=steps.args[0], n=trips, reversed=back)
        elif counted:
            steps = expression("reversed(r[:n])", r=steps, n=trips, reversed=back)
        else:
            steps = steps.args[0] if backward else expression("reversed(r)", r=steps, reversed=back)
        return before, forward, gast.For(name(loop.target.id, store=True), steps, [], [], None)
