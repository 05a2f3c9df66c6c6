"""Assignments: data is assigned, a static value gets a name and no statement.

g = f if c else h      ->      if c: g = f  else: g = h      as a choice of functions, where these are static
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir import refusals
from s2sgrad.ir.quote import assign, at, name
from s2sgrad.normalize._calls import walruses
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.generators import Generators
from s2sgrad.specialize.object_updates import ObjectUpdates
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.section_stores import Sections
from s2sgrad.specialize.short_circuit import Conditions
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Object, Value
from s2sgrad.specialize.unrolling import Unroller


class Assignments(Family):
    """Flattens assignments: data is assigned, a static value gets a name and no statement."""

    def __init__(
        self, evaluator: Evaluator, collections: Collections, objects: Objects, updates: ObjectUpdates,
        generators: Generators, bindings: Bindings, arguments: Arguments, unroller: Unroller, conditions: Conditions,
        sections: Sections,
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.collections, self.objects, self.updates, self.generators = collections, objects, updates, generators
        self.bindings, self.arguments, self.unroller, self.conditions = bindings, arguments, unroller, conditions
        self.sections = sections

    def update(self, statement: gast.AugAssign) -> None:
        """Flatten `target op= value`."""
        if isinstance(statement.target, gast.Subscript):
            self.sections.augmented_section(statement)
            return
        if self.updates.updates(statement):
            return
        target = statement.target.id
        if self.arguments.may_bind(target, [statement.value]):  # the old value is updated, in place
            statement.target.id = self.unit.local(target)
            self.writer.out += at(statement, assign(statement.target.id, name(target)))
        elif target in walruses(statement.value):
            self.unit.refuse(statement, "the walrus rebinds the target of this augmented assignment")
        statement.value = self.evaluator.atom(statement.value)
        self.writer.out.append(statement)
        if statement.target.id != target:
            self.assign(at(statement, assign(target, name(statement.target.id)))[0])

    def choose(self, target: str, statement: gast.Assign) -> None:
        """`g = a if c else b`; a name for several functions in turn stands for one that has a name of its own."""
        in_turn = target in self.names.in_turn
        holder = self.unit.local(target) if in_turn else target
        self.names.acting |= {holder} if in_turn else set()
        self.conditions.conditional(statement.value, holder)
        if in_turn:
            self.assign(at(statement, assign(target, name(holder)))[0])

    def assign(self, statement: gast.Assign) -> None:
        """Flatten an assignment."""
        (target,) = statement.targets
        if self.is_refused(statement):
            return
        if isinstance(target, gast.Name) and isinstance(statement.value, gast.IfExp):
            self.choose(target.id, statement)
        elif effects.permutes(statement):
            if any(part.id in self.names.values for part in statement.value.elts):
                self.unit.refuse(statement, "functions or objects that trade names cannot be followed: use other names")
            self.writer.out.append(statement)
        elif isinstance(target, gast.Attribute):
            self.objects.store(target, statement)
        elif isinstance(target, gast.Name):
            self.bind(target.id, statement)
        elif isinstance(target, gast.Tuple) and self.unroller.spread_out(target, statement):
            return
        elif isinstance(target, gast.Subscript) and isinstance(self.statics.held(target.value), Object):
            self.objects.set_item(target, statement)
        else:
            if isinstance(target, gast.Subscript):
                self.sections.require_place(target, statement.value)
            elif isinstance(target, gast.Tuple):
                statement.value = self.generators.listed(statement.value, tuple)
            statement.value = self.evaluator.atom(statement.value)
            if isinstance(target, gast.Subscript):
                statement.targets = [self.sections.section(target)]
            for bound in effects.targets(statement):
                self.names.require_data(bound, statement)
                self.names.data.add(bound)
            self.writer.out.append(statement)

    def bind(self, target: str, statement: gast.Assign) -> None:
        """`target = value`: data is assigned; a static value gets a name and no statement."""
        value = self.bound_value(target, statement.value)
        if isinstance(value, Value):
            self.bindings.name(target, value, statement)
            return
        self.names.require_data(target, statement)
        self.names.data.add(target)
        if not isinstance(value, gast.Name) or value.id != target:  # a comprehension already writes to this name
            statement.value = value
            self.writer.out.append(statement)

    def is_refused(self, statement: gast.Assign | gast.Expr) -> bool:
        """Whether the value is the refusal of an arm of a conditional expression, which is then raised."""
        refused = refusals.refused(self.unit, statement.value)
        if refused is not None:
            self.writer.out += at(statement, refused)
        return refused is not None

    def bound_value(self, target: str, node: gast.AST) -> Any:
        """The value that an assignment binds to a name: static, or a single operation."""
        value = self.collections.begun(name(target), node) or self.unroller.keys_among(node)
        if value is not None:
            return value
        self.statics.note_length(name(target), node)
        shown = self.unroller.sequenced(node)
        if target in self.names.mixed or self.lookahead.may_be_known(shown):
            self.objects.hint = target
        if target in self.names.acting and (acting := self.collections.acting_among(shown)) is not None:
            return acting
        is_static = target in self.names.mixed or target in self.names.values  # of one kind, it stands for this one too
        return self.evaluator.evaluate(shown) if is_static else self.evaluator.value(shown, target)
