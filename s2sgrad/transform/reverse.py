"""Reverse mode: the program in normal form, followed by its adjoint.

The forward sweep is the program with records; the reverse sweep walks it backwards.  Every value that the reverse sweep
may read is restored; `cleanup.deadcode` removes what is not read.

    y = x * x           y = x * x
    z = np.sin(y)  ->   z = np.sin(y)
                        y_bar = z_bar * np.cos(y)
                        x_bar = y_bar * x + y_bar * x
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import activity, effects, with_regions
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.counts import bound_once
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import COMPOUND, Place, assign, at, clone, constant, expression, name, place_of
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Origin, Unit
from s2sgrad.memory.writes import in_place
from s2sgrad.transform import adjoint, containers, rematerialize, stores
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.block_exits import at_tail
from s2sgrad.transform.branches import Branches
from s2sgrad.transform.calls import Context, Pairs, call_adjoint, checked_owner
from s2sgrad.transform.cotangents import Bar, Cotangent
from s2sgrad.transform.mirrored import Mirrored
from s2sgrad.transform.paths import Paths
from s2sgrad.transform.records import Records, recorded_for


@dataclass
class Swept:
    """A program and its adjoint.  `bars[p]` is the adjoint of parameter `p`, absent if it is zero."""

    forward: Block
    reverse: Block
    bars: dict[str, Bar]
    kinds: dict[str, Kind]
    result: str
    active: bool


class Reverse(Branches, Mirrored):
    """Walks one function backwards along the `paths` from the differentiated variables; `seed` is the name of the result's
    cotangent.  For differentiated variables that are not parameters, the adjoint at their assignment is kept.
    """

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, inference: Inference, pairs: Pairs, paths: Paths, seed: str, idle: int = 0
    ) -> None:
        self.unit, self.tree, self.pairs, self.seed, self.idle = unit, tree, pairs, seed, idle
        self.kinds = inference.env
        self.found, self.result, self.watched = paths.operations, paths.result, paths.watched
        self.active, self.varied, self.lifetimes = paths.active, paths.varied, paths.lifetimes
        self.kept: dict[str, Bar] = {}
        self.perhaps: set[str] = set()  # those of them that are assigned in a branch
        self.records = Records(unit, self.lifetimes, inference, paths.memory, paths.grown)
        self.adjoints = Adjoints(unit, tree, inference, paths)
        self.inference = inference
        self._begin_mirroring(unit.mirrored & self.active)
        for target, statement in bound_once(tree.body).items():
            if (operation := self.found.get(id(statement))) is not None:
                self.adjoints.settling.note_alike(target, operation)
        self.targets: list[str] = []
        self.position: Place | None = None
        self.segment: gast.AST | None = None
        self.extra: dict[int, list[str]] = {}
        self.stored_later: set[str] = set()
        self.entered: dict[str, str] = {}  # contexts that are open in the reverse sweep, and their names there

    # --- the walk ---

    def run(self) -> Swept:
        """The forward sweep, the reverse sweep and the adjoints of the parameters."""
        body = self.tree.body[:-1]
        self.tree.body.pop()
        for stack in sorted(self.adjoints.stacks):
            self.adjoints.start(stack, bound=False)
        self._tag(self.adjoints.out, self.tree, False)
        if self.result in self.active:
            kind = self.kinds.get(self.result, UNKNOWN)
            self.adjoints.pending[self.result] = [Cotangent(name(self.seed), kind, True, None, False, idle=self.idle)]
            if self.result not in self.unit.temps and self.result not in self.adjoints.mirrored:
                self.adjoints.names[self.result] = self.seed
                self.adjoints.pending.clear()
                self.adjoints.present[self.result] = Bar(self.seed, idle=self.idle)
        forward = self._block(self.tree.body)
        assert self.tree.body == body
        heads = [assign(stack, gast.List([], gast.Load())) for stack in self.records.storage.stacks]
        heads += self._shadows_of_parameters()
        heads += [assign(self.kept[n].name, constant(None)) for n in sorted(self.perhaps & self.kept.keys())]
        reverse = self.adjoints.out
        bars = {**self.adjoints.present, **self.kept}
        return Swept([*heads, *forward], reverse, bars, self.kinds, self.result, self.result in self.active)

    def _block(self, body: Block) -> Block:
        """The forward sweep of a block; its reverse sweep is appended to `self.adjoints.out`."""
        plan = self.records.plans[id(body)]
        early = self.records.early(body, plan)
        forward: Block = []
        early_restores: Block = []
        out = self.adjoints.out
        start = len(out)
        if id(body) in self.lifetimes.repeated:
            self.stored_later |= self._stored(effects.walk(body))
        for k in range(len(body) - 1, -1, -1):
            statement = body[k]
            self.stored_later |= self._stored([statement])
            again = self._with_shadows([clone(s) for s in plan.at.get(k, ())])
            if isinstance(statement, COMPOUND):
                self._flush()
                self._emit(statement, again)
                forward = self._bound(statement) + self._compound(statement, body) + forward
            else:
                forward = self._bound(statement) + self._simple(statement, body, again) + forward
                after: Block = []
                for local in early.get(id(statement), ()):
                    record, restore = self.records.early_pair(local, body)
                    after += recorded_for(statement, record)
                    early_restores = [*restore, *early_restores]
                if after:
                    behind = next(m for m, s in enumerate(forward) if local in binds(s)) + 1
                    forward[behind:behind] = after
        self._flush()
        ends: Block = []
        heads: Block = list(early_restores)
        if id(body) in self.lifetimes.repeated:
            recorded = {n for names in early.values() for n in names}
            binders = {n: s for s in effects.walk(forward) for n in binds(s)}  # the last of each name
            for local in (*self.lifetimes.locals_of.get(id(body), ()), *self.extra.get(id(body), ())):
                if local not in plan.names and local not in self.adjoints.stacks and local not in recorded:
                    record, restore = self.records.at_end(local)
                    ends += recorded_for(binders[local], record) if local in binders else record
                    heads = restore + heads  # restore in the reverse order of recording
        self._tag(heads, body[0] if body else self.tree, False)
        out[start:start] = heads
        return self.records.unbound.head(body) + at_tail(forward, ends)

    def _bound(self, statement: gast.AST) -> Block:
        """Checks that the variables which a statement reads are bound, since the statement itself may be removed."""
        if self.unit.primal.is_generated:  # generated text reads such a variable only where it is bound
            return []
        loose = sorted(n for n in self.lifetimes.unbound_reads(statement) & self.unit.locals if not self.unit.is_ours(n))
        check = [name(self.unit.helper("bound", runtime.bound)) for _ in loose]
        return [gast.Expr(gast.Call(c, [name(n), constant(n)], [])) for c, n in zip(check, loose, strict=True)]

    def _emit(self, statement: gast.AST, new: Block) -> None:
        self._tag(new, statement, False)
        self.adjoints.out += new

    def _tag(self, new: Block, statement: gast.AST, comment: bool) -> None:
        text = self.unit.comment(statement) if comment and new else None
        place = getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0)
        for made in new:
            made.origin = Origin("reverse", *place, text, getattr(statement, "primal", None))

    def _tag_since(self, start: int, statement: gast.AST | None) -> None:
        new = [s for s in self.adjoints.out[start:] if getattr(s, "origin", None) is None]
        self._tag(new, statement or self.tree, statement is not None)

    def _flush(self) -> None:
        """Emit the collected contributions of the current source statement; before the first, the result's cotangent."""
        start = len(self.adjoints.out)
        self.adjoints.flush(self.targets)
        self._tag_since(start, self.segment)
        self.targets = []

    def _simple(self, statement: gast.AST, body: Block, again: Block) -> Block:
        """The forward sweep of a simple statement; its adjoint is emitted after those of later statements."""
        if self._is_mirrored(statement) and not effects.permutes(statement):
            return self._mirror(statement, body, again)
        targets = binds(statement)
        in_group = self._continues(statement, targets)
        if not in_group:
            self._flush()
        self.position, self.segment = place_of(statement), statement
        start = len(self.adjoints.out)
        if with_regions.end(statement) is not None:
            self._context(statement, body)
            self._tag(self.adjoints.out[start:], statement, False)
            return [statement]
        if effects.permutes(statement):
            self._permute(statement)
            self._tag_since(start, statement)
            return [statement, *self._permuted_shadows(statement)]
        records, restores = self.records.around(statement, body)
        operation = self.found.get(id(statement))
        for watched in self.watched & set(targets):
            self._keep(watched)
            self.perhaps |= {watched} if id(body) != self.lifetimes.root else set()
        cotangent = self._cotangent(statement, targets)
        if cotangent is None and restores and operation is not None and operation.form == "shrink":
            if operation.operands[0].id in self.adjoints.present:
                cotangent = Cotangent(self._zero_now(targets[0]), self.kinds.get(targets[0]))
        y = self._result(statement, targets, operation if restores and cotangent is not None else None)
        self._restore(statement, body, operation, cotangent, restores, again)
        if self.position in self.unit.compound and cotangent is None:  # a test has no adjoint that needs a comment
            self._tag(self.adjoints.out[start:], statement, False)
        self._tag_since(start, statement)
        forward = self._contribute(statement, body, operation, y, cotangent)
        if not in_group:
            self.targets = targets
        self._tag_since(start, statement)
        return recorded_for(statement, records) + forward

    def _continues(self, statement: gast.AST, targets: list[str]) -> bool:
        """Whether a statement computes a temporary of the source statement whose adjoint is being emitted."""
        one = len(targets) == 1 and targets[0] in self.unit.temps and place_of(statement) == self.position
        changed = {*targets, *effects.changed_by_call(getattr(statement, "value", None)).intersection(self.targets)}
        return one and changed.isdisjoint(effects.reads(statement))  # an update reads the adjoint that it changes

    def _result(self, statement: gast.AST, targets: list[str], restored: Operation | None) -> gast.AST | None:
        """The expression for the result in the adjoint: a saved copy where an old value is restored."""
        if restored is not None and restored.form == "rule":
            held = self.unit.local(f"{targets[0]}_new")
            self.kinds[held] = self.kinds.get(targets[0], UNKNOWN)
            self.adjoints.out.append(assign(held, self.records.kept(statement, targets[0])))
            return name(held)
        if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
            return name(statement.target.id)
        return statement.targets[0] if isinstance(statement, gast.Assign) else None

    def _restore(
        self, statement: gast.AST, body: Block, operation: Operation | None, cotangent: Cotangent | None, restores: Block,
        again: Block,
    ) -> None:  # fmt: skip
        """Emit what recovers the values before a statement: restores and recomputations (`again`)."""
        section = effects.stored(statement) or self.records.entry(statement)
        if section is not None:
            found = rematerialize.recovered(self.adjoints, self.found, statement, body, again)
            ahead = rematerialize.ahead(section, self.records.memory, again)
            restores = [*ahead, *found, *restores]
            again = again[len(ahead) :]
        if operation is not None and operation.is_resizing:
            containers.start_shrunk(self.adjoints, operation, cotangent)
            restores = containers.restored(operation, binds(statement)) + restores
        self.adjoints.out += restores + again

    def _contribute(
        self, statement: gast.AST, body: Block, operation: Operation | None, y: gast.AST | None, cotangent: Cotangent | None
    ) -> Block:
        """Propagate the cotangent of a statement's result; the statements of the forward sweep."""
        adjoints, targets = self.adjoints, binds(statement)
        if operation is not None and operation.is_stack:
            containers.stack(adjoints, operation, targets, cotangent)
        elif operation is not None and operation.is_resizing:
            containers.resized(adjoints, operation, targets, cotangent)
        elif effects.stored(statement) is not None:
            stores.begin(adjoints, statement)
        elif cotangent is not None:
            if isinstance(y, gast.Tuple):
                assert isinstance(operation.node, gast.Name)
                containers.unpacked(adjoints, operation.node, targets, cotangent)
            elif operation.form != "call":
                return self._operation(statement, body, operation, y, cotangent)
            elif self.varied.intersection(activity.sources(operation)):  # otherwise it is a constant, like a random draw
                return self._call(statement, operation, body, cotangent)
        return [statement]

    def _operation(
        self, statement: gast.AST, body: Block, operation: Operation, y: gast.AST | None, cotangent: Cotangent
    ) -> Block:
        """The adjoint of an operation other than a call."""
        y = name(y.id) if isinstance(y, gast.Name) else y
        self.adjoints.decisions.begin(operation if self._is_overwritten(operation, body) else None)
        adjoint.run(self.adjoints, operation, y, cotangent)
        decided = self.adjoints.decisions.made()
        self.extra.setdefault(id(body), []).extend(s.targets[0].id for s in decided)
        return [*checked_owner(self.unit, self.kinds, operation), *at(statement, *decided), statement]

    def _is_overwritten(self, operation: Operation, body: Block) -> bool:
        """Whether a loop writes the memory of an operand, so that it would have to be recorded."""
        names = [o.id for o in operation.operands if isinstance(o, gast.Name)] if operation.form == "rule" else []
        written = self.records.memory.written.intersection(names)
        return id(body) in self.lifetimes.repeated and any(isinstance(self.kinds.get(n), Array) for n in written)

    def _keep(self, watched: str) -> None:
        """Keep the adjoint of a variable that a statement assigns."""
        bar = self.adjoints.present.get(watched)
        if bar is None:
            return
        kept, kind = self.unit.local(f"{watched}_total"), self.kinds.get(watched)
        self.kinds[kept] = kind or UNKNOWN
        value: gast.AST = name(bar.name)
        if isinstance(kind, Array):
            value = expression("x.copy()", x=bar.name)
        elif not isinstance(kind, Number):
            value = call(self.unit, "own", runtime.own, value)
        self.adjoints.out.append(assign(kept, value))
        self.kept[watched] = Bar(kept, True, bar.exact)

    def _stored(self, statements: Iterable[gast.AST]) -> set[str]:
        return {b for s in statements if (b := in_place(self.unit, s, self.kinds)) is not None}

    def _context(self, statement: gast.Expr, body: Block) -> None:
        """Open or close a context for the adjoints of its statements, if it sets how NumPy reports errors."""
        method, context = with_regions.end(statement)
        if method == with_regions.ENTER:
            if context in self.entered:
                self.adjoints.out += with_regions.closed(self.entered.pop(context))
            return
        position = next(k for k, s in enumerate(body) if s is statement)
        manager = next((body[r.made].value for r in with_regions.regions(body) if r.exit == position), None)
        if self.unit.called(manager) is np.errstate:
            self.entered[context] = self.unit.local("context")
            self.adjoints.out += with_regions.opened(self.entered[context], clone(manager))

    def _permute(self, statement: gast.Assign) -> None:
        """`a, b = b, a`: permute adjoints and values back."""
        adjoints = self.adjoints
        targets = [t.id for t in statement.targets[0].elts]
        values = [v.id for v in statement.value.elts]
        before = {t: adjoints.present.pop(t, None) for t in targets}
        moved = [(v, t) for t, v in zip(targets, values, strict=True) if before[t] is not None]
        if moved:
            new = gast.Tuple([name(adjoints.bar(v), store=True) for v, _ in moved], gast.Store())
            old = gast.Tuple([name(adjoints.bar(t)) for _, t in moved], gast.Load())
            alone = len(moved) == 1
            adjoints.out.append(assign(new.elts[0], old.elts[0]) if alone else assign(new, old))
        for v, t in moved:
            adjoints.present[v] = replace(before[t], name=adjoints.bar(v))
        back = gast.Tuple([name(v, store=True) for v in values], gast.Store())
        adjoints.out.append(assign(back, gast.Tuple(list(map(name, targets)), gast.Load())))

    def _cotangent(self, statement: gast.AST, targets: list[str]) -> Cotangent | None:
        """The cotangent of what a statement binds; None if it is zero."""
        operation = self.found.get(id(statement))
        if operation is not None and operation.form == "pop" and operation.operands[0].id in self.adjoints.stacks:
            taken = self.adjoints.take(targets[0]) if targets[0] in self.active else None
            taken = taken and self.adjoints.settling.settled(taken, targets[0])
            return taken or Cotangent(self._zero_now(targets[0]), self.kinds.get(targets[0]))
        if not targets:
            return None
        if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            return self._packed(targets)
        taken = self.adjoints.take(targets[0]) if targets[0] in self.active else None
        if taken is None or (operation is not None and operation.form == "rule"):
            return taken
        return self.adjoints.settling.settled(taken, targets[0])

    def _zero_now(self, target: str) -> gast.AST:
        """A zero of the shape of the target after the statement, computed before its old value is restored."""
        zero = self.adjoints.zero(target)
        if isinstance(zero, gast.Constant):
            return zero
        return self.adjoints.named(Cotangent(zero, self.kinds.get(target))).value

    def _packed(self, targets: list[str]) -> Cotangent | None:
        """The cotangent of an unpacked value, as a tuple; None if it is zero."""
        given = [self.adjoints.take(t) if t in self.active else None for t in targets]
        given = [g and self.adjoints.settling.settled(g, t) for g, t in zip(given, targets, strict=True)]
        if all(g is None for g in given):
            return None
        parts = []
        for target, g in zip(targets, given, strict=True):
            if g is not None:
                parts.append((self.adjoints.settling.spread(g, target) if not g.full else g).value)
            else:
                kind = self.kinds.get(target)
                stack = isinstance(kind, Container) and kind.type is list and kind.items == ()
                none = gast.List([], gast.Load()) if stack else constant(None)  # what is pushed to it has cotangents
                parts.append(self._zero_now(target) if may_carry(kind) else none)
        idle = max(g.idle for g in given if g is not None)
        return Cotangent(gast.Tuple(parts, gast.Load()), UNKNOWN, True, None, False, idle=idle)

    def _call(self, statement: gast.Assign, operation: Operation, body: Block, cotangent: Cotangent) -> Block:
        """The adjoint of a call of a function without a rule; the statements of the forward sweep."""
        single = isinstance(statement.targets[0], gast.Name)
        if not cotangent.full and single:
            cotangent = self.adjoints.settling.spread(cotangent, statement.targets[0].id)
        later = frozenset(n for b in self.stored_later for n in self.records.memory.with_memory_of(b))
        context = Context(self.unit, self.inference, self.active, later)
        plan = call_adjoint(context, self.pairs, operation, cotangent.idle)
        if plan.saved is not None:
            self._recorded(statement, body, plan.saved)
        cotangent = self.adjoints.isolated(cotangent)
        before, cotangents = plan.backward(cotangent.value)
        self.adjoints.out += before
        for operand, value, idle in cotangents:
            kind = self.kinds.get(operand.id, UNKNOWN)
            self.adjoints.contribute(operand, Cotangent(value, kind, True, None, isinstance(kind, Number), idle=idle))
        return plan.forward(statement)
