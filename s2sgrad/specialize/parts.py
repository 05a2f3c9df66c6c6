"""Attributes and items of static values.

layer.w, table["square"]      ->      the variable `layer_w`, the function in the table
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.quote import at, clone
from s2sgrad.specialize.binding_time import is_super
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.function_unions import Choices
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Display, Known, Object
from s2sgrad.specialize.tuple_methods import TupleMethods


class Parts(Family):
    """Evaluates attributes and items of static values."""

    def __init__(
        self, evaluator: Evaluator, collections: Collections, objects: Objects, tuple_methods: TupleMethods, choices: Choices
    ) -> None:
        super().__init__(evaluator)
        self.collections, self.objects, self.tuple_methods, self.choices = collections, objects, tuple_methods, choices

    def attribute(self, node: gast.Attribute) -> Any:
        """An attribute of an object or class; MISSING for data, whose owner has become an atom."""
        if isinstance(node.value, gast.Call) and is_super(self.unit, node.value):
            return self.objects.above(node)
        owner = self.evaluator.operand(node.value)
        if isinstance(owner, Known):
            return self.evaluator.evaluate(at(node, gast.Attribute(clone(owner.node), node.attr, gast.Load()))[0])
        if isinstance(owner, Object):
            return self.objects.get(owner, node.attr, node)
        node.value = self.evaluator.data(owner, node.value)
        return self.tuple_methods.of_tuple(node)

    def indexed(self, node: gast.AST) -> Any:
        """The operand of an index; a literal of functions from outside becomes a display."""
        at_once = self.lookahead.holds_callables(node) and not self.lookahead.may_be_known(node)
        return self.collections.picked_at_once(node) if at_once else self.evaluator.operand(node)

    def item(self, owner: Object | Display, node: gast.Subscript) -> Any:
        """An item of an object or display."""
        if isinstance(owner, Object):
            method = self.objects.method(owner, "__getitem__", node)
            key = self.evaluator.evaluate(self.objects.key(node.slice))
            return self.evaluator.apply(method, [key], {}, node)
        if (section := self.statics.section_of(owner, node.slice)) is not None:
            return section
        index = self.statics.place(node.slice, owner)
        if index in owner.items:
            return owner.items[index]
        if isinstance(node.value, gast.Name) and node.value.id in self.names.growing:
            self.unit.refuse(node, "which function or object this is cannot be followed: use a constant index")
        return self.choices.picked(owner, node)
