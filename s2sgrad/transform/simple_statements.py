"""The adjoint of one simple statement: what it restores, the cotangent of what it binds, and the contributions of this.

x = np.sin(x)     ->     x_old = x; x = np.sin(x)       ...       x = x_old; x_bar = x_bar * np.cos(x)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import activity, effects, with_regions
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, place_of
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import MISSING
from s2sgrad.memory.sources import bound_sources
from s2sgrad.memory.writes import in_place
from s2sgrad.transform import adjoint, containers, gathering, rematerialize, stores
from s2sgrad.transform.calls import Context, Pairs, call_adjoint, checked_owner
from s2sgrad.transform.cotangents import Bar, Cotangent
from s2sgrad.transform.records import recorded_for
from s2sgrad.transform.walk import Walk


class Statements:
    """The simple statements of one function; of differentiated variables that are no parameters, the adjoint at their
    assignment is `kept`.
    """

    def __init__(self, walk: Walk, pairs: Pairs) -> None:
        self.walk, self.unit, self.kinds, self.pairs = walk, walk.unit, walk.kinds, pairs
        self.adjoints, self.records = walk.adjoints, walk.records
        self.kept: dict[str, Bar] = {}
        self.perhaps: set[str] = set()  # those of them that are assigned in a branch
        self.stored_later: set[str] = set()
        self.entered: dict[str, str] = {}  # contexts that are open in the reverse sweep, and their names there

    def note_stores(self, statements: Iterable[gast.AST]) -> None:
        """Note what statements write in place: calls before them must not record it by reference."""
        self.stored_later |= {b for s in statements if (b := in_place(self.unit, s, self.kinds)) is not None}

    def run(self, statement: gast.AST, body: Block, again: Block) -> Block:
        """The forward sweep of a simple statement; its adjoint is emitted after those of later statements."""
        targets = binds(statement)
        in_group = self._continues(statement, targets)
        if not in_group:
            self.walk.flush()
        start = self.walk.begin(statement)
        if with_regions.end(statement) is not None:
            self._context(statement, body)
            self.walk.tag(self.adjoints.out[start:], statement, False)
            return [statement]
        if effects.permutes(statement):
            self._permute(statement)
            self.walk.tag_since(start, statement)
            return [statement]
        records, restores = self.records.around(statement, body)
        operation = self.walk.found.get(id(statement))
        for watched in self.walk.paths.watched & set(targets):
            self._keep(watched)
            self.perhaps |= {watched} if id(body) != self.walk.lifetimes.root else set()
        cotangent = self._cotangent(statement, targets)
        if cotangent is None and restores and operation is not None and operation.form == "shrink":
            if operation.operands[0].id in self.adjoints.present:
                cotangent = Cotangent(self._zero_now(targets[0]), self.kinds.get(targets[0]))
        y = self.result(statement, targets, operation if restores and cotangent is not None else None)
        self.restore(statement, body, operation, cotangent, restores, again)
        if (
            self.walk.position in self.unit.syntax.compound and cotangent is None
        ):  # a test has no adjoint that needs a comment
            self.walk.tag(self.adjoints.out[start:], statement, False)
        self.walk.tag_since(start, statement)
        forward = self.contribute(statement, body, operation, y, cotangent)
        if not in_group:
            self.walk.targets = targets
        self.walk.tag_since(start, statement)
        return recorded_for(statement, records) + forward

    def _continues(self, statement: gast.AST, targets: list[str]) -> bool:
        """Whether a statement computes a temporary of the source statement whose adjoint is being emitted."""
        one = len(targets) == 1 and targets[0] in self.unit.temps and place_of(statement) == self.walk.position
        changed = {*targets, *effects.changed_by_call(getattr(statement, "value", None)).intersection(self.walk.targets)}
        return one and changed.isdisjoint(effects.reads(statement))  # an update reads the adjoint that it changes

    def result(self, statement: gast.AST, targets: list[str], restored: Operation | None) -> gast.AST | None:
        """The expression for the result in the adjoint: a saved copy where an old value is restored."""
        if restored is not None and restored.form == "rule":
            held = self.unit.local(f"{targets[0]}_new")
            self.kinds[held] = self.kinds.get(targets[0], UNKNOWN)
            self.adjoints.out.append(assign(held, self.records.kept(statement, targets[0])))
            return name(held)
        if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
            return name(statement.target.id)
        return statement.targets[0] if isinstance(statement, gast.Assign) else None

    def restore(
        self, statement: gast.AST, body: Block, operation: Operation | None, cotangent: Cotangent | None, restores: Block,
        again: Block,
    ) -> None:  # fmt: skip
        """Emit what recovers the values before a statement: restores and recomputations (`again`)."""
        section = effects.stored(statement) or self.records.entry(statement)
        if section is not None:
            found = rematerialize.recovered(self.adjoints, self.walk.found, statement, body, again)
            ahead = rematerialize.ahead(section, self.records.memory, again)
            restores = [*ahead, *found, *restores]
            again = again[len(ahead) :]
        if operation is not None and operation.is_resizing:
            containers.start_shrunk(self.adjoints, operation, cotangent)
            restores = containers.restored(operation, binds(statement)) + restores
        self.adjoints.out += restores + again

    def contribute(
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
        elif cotangent is not None and isinstance(y, gast.Tuple):
            containers.unpacked(adjoints, statement, targets, cotangent)
        elif cotangent is not None:
            assert operation is not None
            if operation.form != "call":
                return self._operation(statement, body, operation, y, cotangent)
            if self.walk.paths.varied.intersection(activity.sources(operation)):  # not a constant, like a random draw
                return self._call(statement, operation, body, cotangent)
        return [statement]

    def _operation(
        self, statement: gast.AST, body: Block, operation: Operation, y: gast.AST | None, cotangent: Cotangent
    ) -> Block:
        """The adjoint of an operation other than a call."""
        if notes.EACH.of(statement):
            self.adjoints.out.append(gathering.stored(self.adjoints, statement, cotangent))
            return [statement]
        y = name(y.id) if isinstance(y, gast.Name) else y
        self.adjoints.decisions.begin(operation if self._is_overwritten(operation, body) else None)
        adjoint.run(self.adjoints, operation, y, cotangent)
        decided = self.adjoints.decisions.made()
        self.walk.extra.setdefault(id(body), []).extend(s.targets[0].id for s in decided)
        return [*checked_owner(self.unit, self.kinds, operation), *at(statement, *decided), statement]

    def _is_overwritten(self, operation: Operation, body: Block) -> bool:
        """Whether a loop writes the memory of an operand, so that it would have to be recorded."""
        names = [o.id for o in operation.operands if isinstance(o, gast.Name)] if operation.form == "rule" else []
        written = self.records.memory.written.intersection(names)
        return id(body) in self.walk.lifetimes.repeated and any(isinstance(self.kinds.get(n), Array) for n in written)

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

    def _context(self, statement: gast.Expr, body: Block) -> None:
        """Open or close a context for the adjoints of its statements, if it sets how NumPy reports errors."""
        end = with_regions.end(statement)
        assert end is not None
        method, context = end
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
        moved = [(v, t, bar) for t, v in zip(targets, values, strict=True) if (bar := before[t]) is not None]
        if moved:
            new = gast.Tuple([name(adjoints.bar(v), store=True) for v, _, _ in moved], gast.Store())
            old = gast.Tuple([name(adjoints.bar(t)) for _, t, _ in moved], gast.Load())
            alone = len(moved) == 1
            adjoints.out.append(assign(new.elts[0], old.elts[0]) if alone else assign(new, old))
        for v, _, bar in moved:
            adjoints.present[v] = replace(bar, name=adjoints.bar(v))
        back = gast.Tuple([name(v, store=True) for v in values], gast.Store())
        adjoints.out.append(assign(back, gast.Tuple(list(map(name, targets)), gast.Load())))

    def _cotangent(self, statement: gast.AST, targets: list[str]) -> Cotangent | None:
        """The cotangent of what a statement binds; None if it is zero."""
        operation = self.walk.found.get(id(statement))
        if operation is not None and operation.form == "pop" and operation.operands[0].id in self.adjoints.stacks:
            taken = self.adjoints.take(targets[0]) if targets[0] in self.adjoints.active else None
            taken = taken and self.adjoints.settling.settled(taken, targets[0])
            return taken or Cotangent(self._zero_now(targets[0]), self.kinds.get(targets[0]))
        if not targets:
            return None
        if notes.PARTS.of(statement) is not None:
            return gathering.gathered(self.adjoints, statement)
        if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            return self._packed(targets)
        taken = self.adjoints.take(targets[0]) if targets[0] in self.adjoints.active else None
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
        given = [self.adjoints.take(t) if t in self.adjoints.active else None for t in targets]
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
        context = Context(self.unit, self.walk.inference, self.adjoints.active, later)
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

    def _recorded(self, statement: gast.Assign, body: Block, record: str) -> None:
        """Note the record of a call, which may hold copies: refused if the result may alias an argument."""
        self.walk.extra.setdefault(id(body), []).append(record)
        target = self.unit.called(statement.value)
        ours = target is not MISSING and is_ours(target)  # the pullback of a rule exposes no argument
        for x in self.adjoints.mirrored.intersection(binds(statement)):
            if not ours and bound_sources(self.unit, [x], statement.value, self.kinds):
                self.unit.refuse(statement, "what this call gives may have memory of what it is given, and is written "
                                            "later, which cannot be followed: copy it first")  # fmt: skip
