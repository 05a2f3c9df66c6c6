"""Reverse mode: the program in normal form, followed by its adjoint.

The forward sweep is the program with records; the reverse sweep walks it backwards.  Every value that the reverse sweep
may read is restored; `cleanup.deadcode` removes what is not read.

    y = x * x           y = x * x
    z = np.sin(y)  ->   z = np.sin(y)
                        y_bar = z_bar * np.cos(y)
                        x_bar = y_bar * x + y_bar * x
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.flow.counts import bound_once
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import COMPOUND, assign, clone, constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.block_exits import at_tail
from s2sgrad.transform.branches import Branches
from s2sgrad.transform.calls import Pairs
from s2sgrad.transform.cotangents import Bar, Cotangent
from s2sgrad.transform.mirrored import Mirrored
from s2sgrad.transform.paths import Paths
from s2sgrad.transform.records import recorded_for
from s2sgrad.transform.simple_statements import Statements
from s2sgrad.transform.walk import Walk


@dataclass
class Swept:
    """A program and its adjoint.  `bars[p]` is the adjoint of parameter `p`, absent if it is zero."""

    forward: Block
    reverse: Block
    bars: dict[str, Bar]
    kinds: dict[str, Kind]
    result: str
    active: bool


class Reverse:
    """Walks one function backwards along the `paths` from the differentiated variables; `seed` is the name of the result's
    cotangent; `inner`: a differentiated function calls this one.
    """

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, inference: Inference, pairs: Pairs, paths: Paths, seed: str, idle: int,
        inner: bool,
    ) -> None:  # fmt: skip
        self.unit, self.tree, self.paths, self.seed, self.idle = unit, tree, paths, seed, idle
        self.walk = Walk(unit, tree, inference, paths)
        self.records, self.adjoints = self.walk.records, self.walk.adjoints
        self.statements = Statements(self.walk, pairs)
        self.mirrored = Mirrored(self.walk, self.statements, unit.mirror.names & paths.active, inner)
        self.branches = Branches(self.walk, self._block)
        for target, statement in bound_once(tree.body).items():
            if (operation := paths.operations.get(id(statement))) is not None:
                self.adjoints.settling.note_alike(target, operation)

    def run(self) -> Swept:
        """The forward sweep, the reverse sweep and the adjoints of the parameters."""
        body = self.tree.body[:-1]
        self.tree.body.pop()
        for stack in sorted(self.adjoints.stacks):
            self.adjoints.start(stack, bound=False)
        self.walk.tag(self.adjoints.out, self.tree, False)
        result, is_active = self.paths.result, self.paths.result in self.paths.active
        if is_active:
            kind = self.walk.kinds.get(result, UNKNOWN)
            self.adjoints.pending[result] = [Cotangent(name(self.seed), kind, True, None, False, idle=self.idle)]
            if result not in self.unit.temps and result not in self.adjoints.mirrored:
                self.adjoints.names[result] = self.seed
                self.adjoints.pending.clear()
                self.adjoints.present[result] = Bar(self.seed, idle=self.idle)
        forward = self._block(self.tree.body)
        assert self.tree.body == body
        heads = [assign(stack, gast.List([], gast.Load())) for stack in self.records.storage.stacks]
        heads += self.mirrored.of_parameters()
        kept = self.statements.kept
        heads += [assign(kept[n].name, constant(None)) for n in sorted(self.statements.perhaps & kept.keys())]
        bars = {**self.adjoints.present, **kept}
        return Swept([*heads, *forward], self.adjoints.out, bars, self.walk.kinds, result, is_active)

    def _block(self, body: Block) -> Block:
        """The forward sweep of a block; its reverse sweep is appended to `self.adjoints.out`."""
        plan = self.records.plans[id(body)]
        early = self.records.early(body, plan)
        forward: Block = []
        early_restores: Block = []
        out = self.adjoints.out
        start = len(out)
        if id(body) in self.paths.lifetimes.repeated:
            self.statements.note_stores(effects.walk(body))
        for k in range(len(body) - 1, -1, -1):
            statement = body[k]
            self.statements.note_stores([statement])
            again = self.mirrored.with_shadows([clone(s) for s in plan.at.get(k, ())])
            if isinstance(statement, COMPOUND):
                self.walk.flush()
                self.walk.emit(statement, again)
                forward = self.walk.bound(statement) + self.branches.run(statement, body) + forward
            else:
                forward = self.walk.bound(statement) + self._simple(statement, body, again) + forward
                after: Block = []
                for local in early.get(id(statement), ()):
                    record, restore = self.records.early_pair(local, body)
                    after += recorded_for(statement, record)
                    early_restores = [*restore, *early_restores]
                if after:
                    behind = next(m for m, s in enumerate(forward) if local in binds(s)) + 1
                    forward[behind:behind] = after
        self.walk.flush()
        ends: Block = []
        heads: Block = list(early_restores)
        if id(body) in self.paths.lifetimes.repeated:
            recorded = {n for names in early.values() for n in names}
            binders = {n: s for s in effects.walk(forward) for n in binds(s)}  # the last of each name
            for local in (*self.paths.lifetimes.locals_of.get(id(body), ()), *self.walk.extra.get(id(body), ())):
                if local not in plan.names and local not in self.adjoints.stacks and local not in recorded:
                    record, restore = self.records.at_end(local)
                    ends += recorded_for(binders[local], record) if local in binders else record
                    heads = restore + heads  # restore in the reverse order of recording
        self.walk.tag(heads, body[0] if body else self.tree, False)
        out[start:start] = heads
        return self.records.unbound.head(body) + at_tail(forward, ends)

    def _simple(self, statement: gast.AST, body: Block, again: Block) -> Block:
        """The forward sweep of a simple statement; its adjoint is emitted after those of later statements."""
        if effects.permutes(statement):
            return [*self.statements.run(statement, body, again), *self.mirrored.permuted(statement)]
        handled_by = self.mirrored if self.mirrored.concerns(statement) else self.statements
        return handled_by.run(statement, body, again)
