"""The forward walk: each statement of a function in normal form, with the statements for its tangents.

    for i in range(n):             for i in range(n):
        s = s + x[i] * w      ->       s_dot = s_dot + x_dot[i] * w
                                       s = s + x[i] * w

A tangent follows its statement, or precedes it if it reads what the statement overwrites.  In-place writes have in-place
writes of tangents: the tangent of a view is a view of the tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number
from s2sgrad.analysis.number_types import is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.forward.calls import Callees, callee_tangent
from s2sgrad.forward.computed_from import ComputedFrom
from s2sgrad.forward.left_out import LeftOut, Values
from s2sgrad.forward.mirrored import Mirrored
from s2sgrad.forward.presence import Presence
from s2sgrad.forward.rule_tangent import RuleTangent, mapped, with_parts
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import LOOPS, as_target, assign, at, clone, constant, loaded, mentioned, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Origin, Unit, parameters
from s2sgrad.memory.aliases import Aliases, is_from_outside
from s2sgrad.memory.sources import is_fresh, sources
from s2sgrad.primitives import catalogue
from s2sgrad.transform.calls import checked_owner
from s2sgrad.transform.paths import Paths
from s2sgrad.transform.stores import laid_out, of_container, reshapes

_UPDATING = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_MIRRORED = (gast.Name, gast.Subscript, gast.Attribute, gast.Tuple, gast.List, gast.Dict)
"""Expressions whose tangents alias in the same way as their values."""


class Forward:
    """Walks one function along the `paths` to the result; `given` maps parameters with tangents to the keywords for
    these, `left` those of which something is left out to the values there."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, inference: Inference, callees: Callees, paths: Paths,
        given: dict[str, str], left: dict[str, Values],
    ) -> None:  # fmt: skip
        self.unit, self.tree, self.callees, self.paths = unit, tree, callees, paths
        self.inference, self.kinds, self.operations = inference, inference.env, paths.operations
        self.tangents = Tangents(unit, inference, paths.active, given)
        self.tangents.present = given.keys() & paths.active
        self.tangents.singular = paths.singular
        self.tangents.left_out = LeftOut(unit, tree, inference, paths.operations, paths.active, left)
        self.tangents.perhaps_none = {
            n for s in effects.walk(tree.body) if is_none(getattr(s, "value", None)) for n in binds(s)
        }
        facts = Facts(tree)
        self.mirrored = Mirrored(unit, tree, self.tangents, unit.mirror.names & paths.active)
        self.lifetimes = facts.lifetimes
        self.presence = Presence(facts, self.operations, paths.active, set(given), self.mirrored.names)
        stacks = [o.operands[0] for o in self.operations.values() if o.form in ("push", "grow")]
        self.growing = {effects.base(owner) for owner in stacks}
        self.written = {n for w in paths.memory.written for n in paths.memory.with_memory_of(w)}
        self.made_of = ComputedFrom(unit.temps)
        self.breaking: frozenset[str] = frozenset()  # the variables with tangents behind the loop around

    def run(self) -> tuple[Block, gast.AST]:
        """The body without its `return`, with tangents; the tangent of the value."""
        *body, last = self.tree.body
        out = self._collected(self.tree, lambda: self.tangents.out.extend(self.mirrored.begin()))
        out += self._block(body)
        tangent = self.tangents.part(last.value)
        lent = self.tangents.is_present(last.value) and self._is_lent(out, tangent)
        return out, self.tangents.copied(tangent, self.kinds.get(last.value.id)) if lent else tangent

    def _is_lent(self, body: Block, tangent: gast.Name) -> bool:
        """Whether the returned tangent may be, or hold, memory of the caller's or of a global."""
        passed = [gast.Name(word, gast.Param(), None, None) for word in self.tangents.words.values()]
        given, last = gast.arguments([*parameters(self.tree), *passed], [], None, [], [], None, []), gast.Return(tangent)
        text = gast.FunctionDef(self.tree.name, given, [*body, last], [], None, None, [])
        return is_from_outside(Aliases(self.unit, text, self.kinds).memory_of(tangent.id, last))

    # --- statements ---

    def _block(self, body: Block) -> Block:
        out: Block = []
        for statement in body:
            if isinstance(statement, gast.If):
                out += self._if(statement)
            elif isinstance(statement, LOOPS):
                out += self._loop(statement)
            else:
                out += self._simple(statement)
        return out

    def _collected(self, statement: gast.AST, write: Callable[[], None]) -> Block:
        """The statements of tangents that `write` emits, at the position of a statement."""
        outer, self.tangents.out = self.tangents.out, []
        write()
        made, self.tangents.out = self.tangents.out, outer
        line, column = getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0)
        for new in at(statement, *made):
            notes.UNCERTAIN.drop(new)
            new.origin = Origin("tangent", line, column, None, getattr(statement, "primal", None))
        return made

    def _initialized(self, wanted: frozenset[str], statement: gast.AST, point: int) -> Block:
        """Initialize missing tangents to zero if they may be nonzero later."""

        def write() -> None:
            for x in sorted(wanted - self.tangents.present):
                self.tangents.start(x, self.lifetimes.is_assigned_at(x, point))

        return self._collected(statement, write)

    def _if(self, statement: gast.If) -> Block:
        arms = (statement.body, statement.orelse)
        before = set(self.tangents.present)
        wanted = self.presence.behind_arms(arms)
        swept: list[Block] = []
        for arm in arms:
            self.tangents.present = set(before)
            swept.append(self._block(arm))
            if self.presence.goes_on(arm):
                swept[-1] += self._initialized(wanted, statement, self.presence.end(arm))
        self.tangents.present = set(wanted)
        return at(statement, gast.If(statement.test, *swept))

    def _loop(self, loop: gast.For | gast.While) -> Block:
        wanted = self.presence.at_loop(loop)
        ahead = self._initialized(wanted, loop, self.presence.graph.at[id(loop)])
        self.tangents.present &= wanted
        outer, self.breaking = self.breaking, self.presence.behind_loop(loop)
        body = self._block(loop.body)
        if self.presence.goes_on(loop.body):
            body += self._initialized(wanted, loop, self.presence.end(loop.body))
        self.breaking = outer
        self.tangents.present = set(wanted)
        if isinstance(loop, gast.For):
            return [*ahead, *at(loop, gast.For(loop.target, loop.iter, body, [], None))]
        return [*ahead, *at(loop, gast.While(loop.test, body, []))]

    def _simple(self, statement: gast.AST) -> Block:
        if isinstance(statement, gast.Break):
            point = self.presence.graph.at[id(statement)]
            return [*self._initialized(self.breaking, statement, point), statement]
        if effects.stored(statement) is not None:
            return self._stored(statement)
        if effects.permutes(statement):
            return [statement, *self._collected(statement, lambda: self._permute(statement))]
        operation = self.operations.get(id(statement))
        if operation is None:
            return [statement]
        if operation.is_stack or operation.is_resizing:
            return self._resize(statement, operation)
        targets = binds(statement)
        if not targets:
            return [statement]
        if self.tangents.active.isdisjoint(targets) and operation.form == "call" and catalogue.of(operation.target).pure:
            self.tangents.present.difference_update(targets)
            return [statement]  # nobody needs its tangent
        if operation.form == "call" and self._carries(operation) and not self.mirrored.is_view_of(operation, targets):
            return self._call(statement, operation)
        if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            return [statement, *self._collected(statement, lambda: self._unpack(statement, targets))]
        return self._assign(statement, operation, targets[0])

    def _carries(self, operation: Operation) -> bool:
        """Whether an operand, or the callee, has a tangent."""
        given = [*operation.given, getattr(operation.node, "func", None)]
        return any(self.tangents.is_present(node) for node in given)

    # --- operations ---

    def _assign(self, statement: gast.AST, operation: Operation, target: str) -> Block:
        """A statement that binds one name, and that for its tangent, in a valid order."""
        y = name(self.unit.temp())
        self.kinds[y.id] = self.kinds.get(target, UNKNOWN)
        value: list[gast.AST | None] = [None]

        def write() -> None:
            if target in self.tangents.active:
                value[0] = self._tangent(operation, y, target)
            if target in self.mirrored.names:
                made = self.mirrored.bound(statement, target, y, value[0])
                value[0] = made.value
                self.tangents.out.append(made)
            elif value[0] is not None:
                self.tangents.out.append(self._bound(statement, target, value[0]))

        made = self._collected(statement, write)
        self.made_of.note([statement, *made])
        if value[0] is None:
            self.tangents.present.discard(target)
            return [statement]
        self.tangents.present.add(target)
        checks = checked_owner(self.unit, self.kinds, operation)
        read = mentioned(*made)
        if target not in read:
            rename({y.id: target}, *made)
            return [*at(statement, *checks), statement, *made]
        if y.id not in read:
            return [*at(statement, *checks), *made, statement]
        if isinstance(statement, gast.Assign):
            first, last = at(statement, assign(y.id, statement.value), assign(target, name(y.id)))
            return [*at(statement, *checks), first, *made, last]
        old = self.unit.temp()  # updated in place: its old value is copied
        self.kinds[old] = self.kinds.get(target, UNKNOWN)
        rename({target: old}, *made)
        rename({y.id: target}, *made)
        kept = self.tangents.copied(name(target), self.kinds.get(target))
        return [*at(statement, *checks, assign(old, kept)), statement, *made]

    def _bound(self, statement: gast.AST, target: str, value: gast.AST) -> gast.AST:
        """The statement that binds the tangent of a target, or updates it like the target."""
        dot = self.tangents.dot(target)
        if isinstance(statement, gast.AugAssign) and isinstance(value, gast.BinOp) and isinstance(value.op, _UPDATING):
            if isinstance(value.left, gast.Name) and value.left.id == dot:
                self._widen(name(target), target)
                return gast.AugAssign(name(dot, store=True), value.op, value.right)
        return assign(dot, self._apart(statement, target, value))

    def _tangent(self, operation: Operation, y: gast.Name, target: str) -> gast.AST | None:
        """The tangent of `y = operation`, for the statement that binds `target`; None if it is zero."""
        if operation.form == "rule":
            return RuleTangent(self.tangents, self.callees, operation, y).value()
        if operation.form not in ("atom", "item", "display"):
            return None
        given = [operation.node] if operation.form == "atom" else operation.operands
        if isinstance(operation.node, gast.List) and not given and target in self.growing:
            return gast.List([], gast.Load())
        if not any(map(self.tangents.is_present, given)):
            return None
        if operation.form == "display":
            return self._display(operation)
        return mapped(self.tangents, operation.node, given)

    def _display(self, operation: Operation) -> gast.AST:
        """The tangent of a tuple, list, dict or named tuple that is constructed."""
        parts = [self.tangents.part(o) for o in operation.operands]
        if isinstance(operation.node, gast.Dict):
            return gast.Dict([clone(k) for k in operation.node.keys], parts)
        if isinstance(operation.node, gast.Call):  # a named tuple, whose fields may have defaults
            made = self.unit.resolve(operation.node.func)
            for k, field in enumerate(made._fields):
                default = made._field_defaults.get(field)
                if isinstance(default, (int, float)) and not isinstance(default, bool) and is_none(operation.operands[k]):
                    parts[k] = constant(0.0)
            return gast.Call(clone(operation.node.func), parts, [])
        return type(operation.node)(parts, gast.Load())

    def _apart(self, statement: gast.AST, target: str, value: gast.AST) -> gast.AST:
        """The tangent in memory of its own, if the variable has that and something is written in place."""
        primal = getattr(statement, "value", None)
        mirrored = isinstance(statement, gast.Assign) and isinstance(primal, _MIRRORED)
        if mirrored or is_fresh(self.unit, value) or isinstance(value, gast.Constant):
            return value
        dots = {made: x for x, made in self.tangents.names.items()}
        held = {dots.get(n, n) for n in sources(self.unit, value, self.kinds)}
        if not self.written & {target, *held}:
            return value
        return self.tangents.copied(value, self.inference.kind(value))

    # --- in-place writes ---

    def _stored(self, statement: gast.Assign) -> Block:
        """A store and that of the tangent, first the latter if it is computed from the content: it needs no name then."""
        made = self._collected(statement, lambda: self._store(statement))
        base = effects.base(effects.stored(statement))
        values = [s.value for s in made if effects.stored(s) is not None]
        plain = isinstance(self.kinds.get(base), Array) and base not in self.mirrored.names
        return [*made, statement] if plain and self.made_of.reads(base, *values) else [statement, *made]

    def _store(self, statement: gast.Assign) -> None:
        """`x_dot[i] = e_dot` for `x[i] = e`."""
        section: Any = effects.stored(statement)
        base = effects.base(section)
        brings = self.tangents.is_present(statement.value)
        if base not in self.tangents.active or not (brings or base in self.tangents.present):
            return
        self.tangents.start(base)
        dot = self.tangents.dot(base)
        self._widen(section.value, base)
        laid = isinstance(section.value, gast.Name) or base in self.mirrored.names  # their layout is that of arrays
        if not laid and reshapes(self.unit, section.value):
            self.tangents.out.append(laid_out(self.unit, section.value, dot, self.inference.kind))
        owner = self.kinds.get(base)
        items = not isinstance(owner, Array) and not isinstance(section.slice, gast.Slice)
        value = self.tangents.part(statement.value) if brings or items else constant(0.0)
        if isinstance(owner, Container) and not brings and isinstance(section.slice, gast.Slice):
            value = self.tangents.part(statement.value)
        self.tangents.out.append(gast.Assign([_of(section, dot)], value, None))

    def _widen(self, place: gast.AST, base: str) -> None:
        """Make the tangent of an array one of complex numbers, where it may be one of floats, before it is written."""
        array = of_container(place, self.inference.kind)
        kind = self.inference.kind(array)
        if not self.unit.derivative.complex or is_real(kind) or isinstance(kind, (Number, Container)):
            return
        there = clone(array)
        effects.owner(there).id = self.tangents.dot(base)
        made = call(self.unit, "wide", runtime.wide, loaded(there), clone(array))
        self.tangents.out.append(gast.Assign([as_target(there)], made, None))

    def _permute(self, statement: gast.Assign) -> None:
        """`a, b = b, a`: permute the tangents alike."""
        pairs = [(t.id, v.id) for t, v in zip(statement.targets[0].elts, statement.value.elts, strict=True)]
        moved = [(t, v) for t, v in pairs if v in self.tangents.present]
        self.tangents.present.difference_update(t for t, _ in pairs)
        self.tangents.present.update(t for t, _ in moved)
        if not moved:
            return
        new = [name(self.tangents.dot(t), store=True) for t, _ in moved]
        old = [name(self.tangents.dot(v)) for _, v in moved]
        several = len(moved) > 1
        target, value = (gast.Tuple(new, gast.Store()), gast.Tuple(old, gast.Load())) if several else (new[0], old[0])
        self.tangents.out.append(assign(target, value))

    def _resize(self, statement: gast.AST, operation: Operation) -> Block:
        """`s_dot.append(x_dot)` for `s.append(x)`, `x_dot = s_dot.pop()` for `x = s.pop()`."""
        owner, *value = operation.operands
        base, targets = effects.base(owner), binds(statement)
        brings = any(map(self.tangents.is_present, value))
        if base not in self.tangents.active or not (brings or base in self.tangents.present):
            self.tangents.present.difference_update(targets)
            return [statement]
        ahead = self._collected(statement, lambda: self.tangents.start(base))

        def write() -> None:
            parts = {id(owner): _of(owner, self.tangents.dot(base))} | {id(v): self.tangents.part(v) for v in value}
            moved = with_parts(operation.node, parts)
            kept = self.tangents.active.intersection(targets)
            self.tangents.out.append(assign(self.tangents.dot(targets[0]), moved) if kept else gast.Expr(moved))
            self.tangents.present.difference_update(targets)
            self.tangents.present.update(kept)

        return [*ahead, statement, *self._collected(statement, write)]

    def _unpack(self, statement: gast.Assign, targets: list[str]) -> None:
        """`a_dot, b_dot = t_dot` for `a, b = t`."""
        if not self.tangents.is_present(statement.value):
            self.tangents.present.difference_update(targets)
            return
        value = self.tangents.part(statement.value)
        self._bind(targets, value)

    def _bind(self, targets: list[str], value: gast.AST) -> None:
        """Bind the tangents of several names to the parts of a value."""
        dots = [self.tangents.dot(t) if t in self.tangents.active else self.unit.local("_") for t in targets]
        self.tangents.out.append(assign(gast.Tuple([name(d, store=True) for d in dots], gast.Store()), value))
        self.tangents.present.difference_update(targets)
        self.tangents.present.update(self.tangents.active.intersection(targets))

    # --- calls ---

    def _call(self, statement: gast.Assign, operation: Operation) -> Block:
        """`y, y_dot = helper_jvp(x, x_dot=x_dot)` in place of `y = helper(x)`."""
        targets, single = binds(statement), isinstance(statement.targets[0], gast.Name)
        value = callee_tangent(self.tangents, self.callees, operation)
        mirrored = single and targets[0] in self.mirrored.names
        if single and targets[0] in self.tangents.active and not mirrored:
            y, dot = targets[0], self.tangents.dot(targets[0])
        else:
            y, dot = targets[0] if single and not mirrored else self.unit.temp(), self.unit.temp()
            self.kinds[dot] = UNKNOWN
        pair = gast.Tuple([name(y, store=True), name(dot, store=True)], gast.Store())
        called = at(statement, assign(pair, value))
        self.tangents.present.difference_update(targets)
        if single:
            self.tangents.present.update(self.tangents.active.intersection(targets))
            if mirrored:
                self.kinds[y] = self.kinds[targets[0]]
                found = self.mirrored.called(statement, targets[0], name(y), name(dot))
                called += self._collected(statement, lambda: self.tangents.out.append(found))
                called += at(statement, assign(targets[0], name(y)))
            return called
        self.kinds[y] = UNKNOWN
        taken = at(statement, assign(statement.targets[0], name(y)))
        return [*called, *taken, *self._collected(statement, lambda: self._bind(targets, name(dot)))]


def _of(section: gast.AST, dot: str) -> gast.AST:
    """The same section of the tangent."""
    out = clone(section)
    effects.owner(out).id = dot
    return out
