"""Adjoints of statements that bind or write names with shadows (see `mirror`), whose aliasing need not be known.

    v = y[1:]    ->    v = y[1:]; v_bar = y_bar[1:]          ...    (rebind v and v_bar to their old values)
    v[0] = e     ->    v[0] = e                              ...    t = v_bar[0]; v_bar[0] = 0.0; e_bar += t
    v = y * z    ->    v = y * z; v_bar = np.zeros_like(v)   ...    t = v_bar; (rebind); y_bar += t * z; z_bar += t * y

In the forward sweep each binding is followed by that of its shadow; the reverse sweep accumulates into shadows in place.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime as shim
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number, OrNone, kind_of, operand
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.shadow_kinds import of_shadow
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import assign, at, clone, constant, expression, loaded, name, statements, substitute
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import parameters
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror.shadows import Made, Shadow, Shadows, one_or_all
from s2sgrad.primitives import catalogue
from s2sgrad.rules.table import SLOPES
from s2sgrad.runtime import item_slots
from s2sgrad.runtime import shadows as runtime
from s2sgrad.transform import containers, stores
from s2sgrad.transform import rematerialize as again_
from s2sgrad.transform.cotangents import Bar, Cotangent
from s2sgrad.transform.simple_statements import Statements
from s2sgrad.transform.walk import Walk


class Mirrored:
    """The names with shadows of one function; the shadows exist from the first binding to the end; `inner`: a differentiated
    function calls this one."""

    def __init__(self, walk: Walk, statements: Statements, names: set[str], inner: bool) -> None:
        self.walk, self.unit, self.kinds, self.simple, self.inner = walk, walk.unit, walk.kinds, statements, inner
        self.adjoints, self.records = walk.adjoints, walk.records
        adjoints = self.adjoints
        adjoints.mirrored = names
        self.shadows = Shadows(self.unit, self.walk.tree, self.kinds, names, adjoints.bar)
        for x in sorted(names):
            bar = self.records.shadows[x] = adjoints.bar(x)
            self.kinds[bar] = of_shadow(self.kinds[x]) or self.kinds[x]
            self.unit.mirror.shadows.add(bar)
            self.walk.lifetimes.home[bar] = self.walk.lifetimes.home[x]
            adjoints.present[x] = Bar(bar, own=True, exact=True, idle=SLOPES)
            adjoints.borrowed.add(bar)

    def of_parameters(self) -> Block:
        """The statements that create the shadows of parameters."""
        return [
            self.shadows.of_parameter(p.id, self.inner) for p in parameters(self.walk.tree) if p.id in self.adjoints.mirrored
        ]

    def concerns(self, statement: gast.AST) -> bool:
        """Whether a simple statement binds or writes a name with a shadow."""
        if not self.adjoints.mirrored:
            return False
        section = effects.stored(statement)
        names = set(binds(statement)) if section is None else {effects.base(section)}
        names |= effects.changed_by_call(getattr(statement, "value", None))
        return not self.adjoints.mirrored.isdisjoint(names)

    def run(self, statement: gast.AST, body: Block, again: Block) -> Block:
        """The forward sweep of such a statement; its adjoint is emitted."""
        self.walk.flush()
        start = self.walk.begin(statement)
        records, restores = self.records.around(statement, body)
        operation = self.walk.found.get(id(statement))
        if operation is not None and (operation.is_stack or operation.is_resizing):
            forward = self._resize(statement, operation, restores, again)
        elif isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            forward = self._unpack(statement, restores, again)
        elif effects.stored(statement) is not None and self._is_of_items(effects.stored(statement)):
            forward = self._store_item(statement, body, restores, again)
        elif effects.stored(statement) is not None:
            self.simple.restore(statement, body, None, None, restores, again)
            self.walk.tag_since(start, statement)
            stores.transfer(self.adjoints, statement)
            forward = [statement]
        elif in_place(self.unit, statement, self.kinds) is not None:
            forward = self._update(statement, body, restores, again)
        else:
            forward = self._bind(statement, body, restores, again)
        self.walk.targets = binds(statement)
        self.walk.tag_since(start, statement)
        return records + forward

    # --- lists and dicts ---

    def _is_container(self, x: str) -> bool:
        return isinstance(self.kinds.get(x), Container)

    def _has_slot(self, value: gast.AST) -> bool:
        """Whether a value is a number, or perhaps None, whose adjoint is in a slot of the shadow that holds it."""
        named = isinstance(value, gast.Name) and value.id in self.adjoints.active - self.adjoints.mirrored
        return named and isinstance(operand(self.kinds.get(value.id)), Number)

    def _number(self, value: gast.Name, adjoint: gast.AST) -> gast.AST:
        """The adjoint of what has a slot, as a number: that of None may be None."""
        kind = self.kinds.get(value.id)
        may_be_none = isinstance(kind, OrNone) and isinstance(operand(kind), Number)
        return call(self.unit, "add", shim.add, constant(0.0), adjoint) if may_be_none else adjoint

    def _is_of_items(self, section: gast.Subscript) -> bool:
        """Whether a store replaces an item of a list or dict."""
        return isinstance(self.adjoints.inference.kind(loaded(section.value)), Container)

    def _resize(self, statement: gast.AST, operation: Operation, restores: Block, again: Block) -> Block:
        """`s.append(x)` with `s_bar.append(x_bar)`, `x = s.pop()` with `x_bar = s_bar.pop()`; a number has a slot."""
        adjoints, owner = self.adjoints, operation.operands[0].id
        bar, targets = adjoints.bar(owner), binds(statement)
        back = containers.restored(operation, targets)
        if not targets:
            (value,) = operation.operands[1:]
            adjoints.out += back + again
            given = expression("s.pop()", s=bar)
            if self._has_slot(value):
                holder = self.unit.temp()
                self.kinds[holder] = Number(float)
                adjoints.out.append(assign(holder, self._number(value, given)))
                adjoints.contribute(value, Cotangent(name(holder), Number(float), idle=SLOPES))
            else:
                adjoints.out.append(gast.Expr(given))
            return [statement, *at(statement, *statements("s.append(v)", s=bar, v=self.shadows.of_item(value)))]
        (x,) = targets
        if x in adjoints.mirrored:
            adjoints.out += [*back, *statements("s.append(v)", s=bar, v=adjoints.bar(x)), *restores, *again]
            return [statement, *at(statement, *self.shadows.of(x, statement.value).statements)]
        taken = adjoints.take(x) if x in adjoints.active else None
        number = isinstance(operand(self.kinds.get(x)), Number)
        given = constant(0.0 if number else None) if taken is None else self._number(name(x), taken.value)
        adjoints.out += [*statements("s.append(v)", s=bar, v=given), *back, *restores, *again]
        return [statement, *at(statement, gast.Expr(expression("s.pop()", s=bar)))]

    def _unpack(self, statement: gast.Assign, restores: Block, again: Block) -> Block:
        """`a, b = t` with `a_bar = t_bar[0]`, `b_bar = t_bar[1]`; the adjoints of numbers go to their slots."""
        adjoints, owner = self.adjoints, statement.value.id
        given, sums, forward = [], [], [statement]
        for k, target in enumerate(statement.targets[0].elts):
            if target.id in adjoints.mirrored:
                item = self.shadows.item(owner, constant(k), target.id)
                forward += at(statement, assign(adjoints.bar(target.id), item))
            elif target.id in adjoints.active and (taken := adjoints.take(target.id)) is not None:
                taken = adjoints.named(taken)
                if isinstance(self.kinds.get(target.id), OrNone) and not isinstance(operand(taken.kind), Number):
                    sums.append(self._added_to_slot(owner, k, taken.value))
                else:
                    given.append(
                        Cotangent(self._number(target, taken.value), taken.kind, True, constant(k), idle=taken.idle)
                    )
        adjoints.out += [*restores, *again, *sums]
        for cotangent in given:
            adjoints.contribute(statement.value, cotangent)
        return forward

    def _added_to_slot(self, owner: str, k: int, value: gast.AST) -> gast.AST:
        """The sum into a slot of the adjoint of an array that may be None, and then has none."""
        slot = gast.Subscript(name(self.adjoints.bar(owner)), constant(k), gast.Store())
        test = gast.Compare(clone(value), [gast.IsNot()], [constant(None)])
        return gast.If(test, [gast.AugAssign(slot, gast.Add(), clone(value))], [])

    def _store_item(self, statement: gast.Assign, body: Block, restores: Block, again: Block) -> Block:
        """`s[i] = x` with `s_bar[i] = x_bar`; the adjoint of a number is read from its slot."""
        adjoints, section = self.adjoints, effects.stored(statement)
        slot = clone(section)
        effects.owner(slot).id = adjoints.bar(effects.base(section))
        value, taken = statement.value, None
        found = again_.recovered(adjoints, self.walk.found, statement, body, again)
        ahead = again_.ahead(section, self.records.memory, again)
        adjoints.out += ahead  # the slot is found by its index
        if self._has_slot(value):
            taken = adjoints.named(Cotangent(self._number(value, loaded(slot)), Number(float), idle=SLOPES))
        adjoints.out += [*found, *restores, *again[len(ahead) :]]
        if taken is not None:
            adjoints.contribute(value, taken)
        return [statement, *at(statement, gast.Assign([slot], self.shadows.of_item(value), None))]

    # --- `x += e` ---

    def _update(self, statement: gast.AST, body: Block, restores: Block, again: Block) -> Block:
        """`x += e` of an array, or a container into which generated text accumulates."""
        adjoints, (x,) = self.adjoints, binds(statement)
        operation = self.walk.found[id(statement)]
        if self._is_container(x):
            change = self._put_back if self.unit.called(statement.value) is shim.put_back else self._add_into
            return change(statement, x, operation, restores, again)
        others = {o.id for o in operation.operands if isinstance(o, gast.Name)} & adjoints.active - {x}
        if others & self.records.memory.with_memory_of(x):  # contributions to them would change what is read later
            copied = expression("x.copy()", x=adjoints.bar(x))
            taken: Cotangent | None = adjoints.named(Cotangent(copied, self.kinds[x], idle=SLOPES))
            adjoints.out.append(self._emptied(x))
        else:
            taken = adjoints.take(x)
        y = self.simple.result(statement, [x], operation if restores else None)
        self.simple.restore(statement, body, operation, taken, restores, again)
        forward = self.simple.contribute(statement, body, operation, y, taken)
        self.walk.targets = [x]
        self.walk.flush()
        if x not in adjoints.present:
            adjoints.out.append(self._emptied(x))
            adjoints.present[x] = Bar(adjoints.bar(x), own=True, exact=True, idle=SLOPES)
        return forward

    def _add_into(self, statement: gast.Assign, x: str, operation: Operation, restores: Block, again: Block) -> Block:
        """`x = add_into(x, e)` in generated text: the value gets a copy of the adjoints of `x`."""
        if self.unit.called(statement.value) not in effects.DEEP:  # not known to be a list when it got its shadow
            self.unit.refuse(statement, f"this changes {self.unit.word(x)}, of which several names stand for parts, which "
                                        "cannot be followed: use one name")  # fmt: skip
        adjoints, (_, value) = self.adjoints, operation.operands
        helper = np.array if isinstance(kind_of(value, self.kinds), Array) else shim.own  # of what was stacked: an array
        held = call(self.unit, helper.__name__, helper, name(adjoints.bar(x)))
        taken = adjoints.named(Cotangent(held, kind_of(value, self.kinds), True, None, False, idle=SLOPES))
        adjoints.out += restores + again
        if self.unit.called(statement.value) is runtime.refilled:
            zeros = call(self.unit, "zeros", shim.zeros, name(adjoints.bar(x)))
            emptied = call(self.unit, "refilled", runtime.refilled, name(adjoints.bar(x)), zeros)
            adjoints.out.append(assign(adjoints.bar(x), emptied))
        adjoints.contribute(value, taken)
        return [statement]

    def _put_back(self, statement: gast.Assign, x: str, operation: Operation, restores: Block, again: Block) -> Block:
        """`x = put_back(x, key, old)` in generated text, of numbers: the adjoint of `old` is read from its slot."""
        adjoints, bar, (_, key, old) = self.adjoints, self.adjoints.bar(x), operation.operands
        ahead = again_.ahead(gast.Subscript(name(x), key, gast.Load()), self.records.memory, again)
        adjoints.out += ahead
        taken = None
        if isinstance(old, gast.Name) and old.id in adjoints.active:
            slot = call(self.unit, "slot", item_slots.slot, name(bar), clone(key))
            taken = adjoints.named(Cotangent(slot, Number(float), idle=SLOPES))
        adjoints.out += [*restores, *again[len(ahead) :]]
        if taken is not None:
            adjoints.contribute(old, taken)
        empty = call(self.unit, "slot_of", item_slots.slot_of, clone(old))
        put = call(self.unit, "put_back", shim.put_back, name(bar), clone(key), empty)
        return [statement, *at(statement, assign(bar, put))]

    def _emptied(self, x: str) -> gast.AST:
        """The statement that sets a shadow to zero."""
        section = expression("x[...]", x=self.adjoints.bar(x))
        section.ctx = gast.Store()
        return gast.Assign([section], constant(0.0), None)

    # --- `x = e` ---

    def _bind(self, statement: gast.Assign, body: Block, restores: Block, again: Block) -> Block:
        """`x = e`: the adjoint by what the shadow is, a view, new memory or possibly a copy."""
        (x,) = binds(statement)
        shadow = self.shadows.of(x, statement.value)
        operation = self.walk.found[id(statement)]
        ahead: Block = []
        flags: Block = []
        if shadow.made is Made.NEW and operation.form == "display":
            return self._display(statement, x, shadow, restores, again)
        if shadow.made is Made.VIEW and not shadow.slots:
            self.simple.restore(statement, body, operation, None, restores, again)
            forward = [statement]
        else:
            taken = self._taken(x, bool(restores))
            if shadow.slots:
                sources = [name(self.adjoints.bar(n)) for n in shadow.sources
                           if self._is_container(n) and n in self.adjoints.mirrored]  # fmt: skip
                taken.value, taken.own = call(self.unit, "slots", item_slots.slots, taken.value, *sources), False
            y = self.simple.result(statement, [x], operation if restores else None)
            self.simple.restore(statement, body, operation, taken, restores, again)
            if self._is_container(x) and not _has_distinct_parts(operation):
                held = taken.value
                taken.value, taken.own = call(self.unit, "each_once", runtime.each_once, held, clone(held)), True
            if shadow.made is Made.PERHAPS:
                ahead, flags = self._copies(x, shadow, taken, id(body) in self.walk.lifetimes.repeated)
                taken = self.adjoints.named(taken)
            forward = self.simple.contribute(statement, body, operation, y, taken)
        return [*at(statement, *ahead), *forward, *at(statement, *shadow.statements, *flags)]

    def _copies(self, x: str, shadow: Shadow, taken: Cotangent, repeated: bool) -> tuple[Block, Block]:
        """Make the adjoint of a binding (`taken`) count only where the binding has made a copy; the statements before and
        after it in the forward sweep that determine this.
        """
        flag = self.unit.local(f"{x}_apart")
        self.kinds[flag] = UNKNOWN if self._is_container(x) else Number(bool)
        ahead: Block = []
        before = x
        if x in shadow.sources:
            before = self.unit.local(f"{x}_before")
            self.kinds[before] = self.kinds[x]
            ahead = [assign(before, name(x))]
            for part in shadow.statements if shadow.found else ():
                part.value.args[1] = substitute(part.value.args[1], {x: before})
        sources = [before if s == x else s for s in shadow.sources]
        found = [assign(flag, call(self.unit, "apart", runtime.apart, name(x), one_or_all(sources)))]
        if repeated:
            stack = self.records.storage.stack(flag)
            found += statements("s.append(v)", s=stack, v=flag)
            self.adjoints.out.append(assign(flag, expression("s.pop()", s=stack)))
        taken.value, taken.own = call(self.unit, "of_copies", runtime.of_copies, taken.value, name(flag)), False
        return ahead, found

    def _display(self, statement: gast.Assign, x: str, shadow: Shadow, restores: Block, again: Block) -> Block:
        """The numbers in a new list or dict get the adjoints in their slots."""
        adjoints, operation = self.adjoints, self.walk.found[id(statement)]
        items = operation.operands
        places = operation.node.keys if isinstance(operation.node, gast.Dict) else map(constant, range(len(items)))
        for place, item in zip(places, items, strict=True):
            if self._has_slot(item):
                slot = self._number(item, gast.Subscript(name(adjoints.bar(x)), clone(place), gast.Load()))
                adjoints.contribute(item, adjoints.named(Cotangent(slot, Number(float), idle=SLOPES)))
        adjoints.out += restores + again
        return [statement, *at(statement, *shadow.statements)]

    def _taken(self, x: str, anew: bool) -> Cotangent:
        """The shadow of the value that a statement binds, under a new name if `x` is rebound to its old value."""
        bar, kind = self.adjoints.bar(x), self.kinds[x]
        if anew:
            holder = self.unit.temp()
            self.kinds[holder] = kind
            self.adjoints.out.append(assign(holder, name(bar)))
            bar = holder
        return Cotangent(name(bar), kind, True, None, True, None, True, SLOPES)

    def with_shadows(self, again: Block) -> Block:
        """Recomputed statements, with those that build shadows."""
        out: Block = []
        for statement in again:
            out.append(statement)
            for x in binds(statement):
                if x in self.adjoints.mirrored:
                    out += self.shadows.of(x, statement.value).statements
        return out

    def permuted(self, statement: gast.Assign) -> Block:
        """The swap of shadows that goes with a swap of names."""
        pairs = [(t.id, v.id) for t, v in zip(statement.targets[0].elts, statement.value.elts, strict=True)]
        mirrored = [(t, v) for t, v in pairs if t in self.adjoints.mirrored]
        if not mirrored:
            return []
        bar = self.adjoints.bar
        new = gast.Tuple([name(bar(t), store=True) for t, _ in mirrored], gast.Store())
        return at(statement, gast.Assign([new], gast.Tuple([name(bar(v)) for _, v in mirrored], gast.Load()), None))


def _has_distinct_parts(operation: Operation) -> bool:
    """Whether no two places of an operation's result share memory, other than an operand's."""
    known = catalogue.of(operation.target)
    return known.pure and not known.keeps_kind
