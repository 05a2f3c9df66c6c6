"""The expression evaluator: the value of an expression is static, or it is data that one operation computes.

    static: a function value or an object (`static_values`)      [lambda t: w * t, layer][0]     no statement
    data: one operation; its operands are names and constants    np.sin(layer.w * x)             t1 = layer_w * x; np.sin(t1)

Operands are evaluated first, and decide which of the two it is.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Layer:
...     def __init__(self, w): self.w = w
... def f(x, w):
...     layer = Layer(w)
...     table = [lambda t: t * layer.w, np.sin]
...     return table[1](table[0](x) + x)
... ''', "flatten"))
def f(x, w):
    layer_w = w
    t1 = None
    result_ = x * layer_w
    t2 = result_ + x
    t3 = np.sin(t2)
    result = t3
    return result
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir.forms import appended_to
from s2sgrad.ir.quote import at, constant, name, nodes
from s2sgrad.ir.unit import MISSING
from s2sgrad.normalize import (
    comprehensions,
    containers,
    deques,
    displays,
    index_tricks,
    library,
    loops,
    mutators,
    targets,
)
from s2sgrad.normalize._calls import linked, may_have_method, walruses
from s2sgrad.normalize.library import dicts
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.nested_definitions import Definitions
from s2sgrad.specialize.object_operators import Operators
from s2sgrad.specialize.partial_evaluation import Calls
from s2sgrad.specialize.parts import Parts
from s2sgrad.specialize.section_stores import Sections
from s2sgrad.specialize.short_circuit import Conditions
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Display, Object, Value

_TRUTHS = (gast.Call, gast.Compare, gast.UnaryOp)  # expressions that may be tests, with a known truth value


class Expressions(Family):
    """Evaluates expressions; statements that an expression expands to are written before it."""

    def __init__(
        self, evaluator: Evaluator, collections: Collections, operators: Operators, bindings: Bindings,
        definitions: Definitions, arguments: Arguments, parts: Parts, calls: Calls, conditions: Conditions,
        sections: Sections,
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.collections, self.operators, self.bindings, self.definitions = collections, operators, bindings, definitions
        self.arguments, self.parts, self.calls, self.conditions = arguments, parts, calls, conditions
        self.sections = sections

    def atoms(self, operands: list[gast.AST]) -> list[gast.AST]:
        """Data operands, evaluated from left to right."""
        return self.in_order(operands, self.atom)

    def in_order(self, operands: list[gast.AST], evaluate: Callable[[gast.AST], Any]) -> list[Any]:
        """Operands, evaluated from left to right; a name that a later operand rebinds is copied first."""
        out = []
        for k, node in enumerate(operands):
            value = evaluate(node)
            later = set().union(*map(walruses, operands[k + 1 :]))
            if isinstance(value, gast.Name) and value.id in later:
                value = self.writer.hold(value)
            out.append(self.arguments.kept(value, operands[k + 1 :]))
        return out

    def atom(self, node: gast.AST) -> gast.AST:
        """An atom for the value: a name, a constant, or a path through modules (np.pi)."""
        return self.bindings.as_value(node) if isinstance(node, gast.Name) else self.data(self.operand(node), node)

    def data(self, value: Any, node: gast.AST) -> gast.AST:
        """The value of a node as data: an atom."""
        if isinstance(value, gast.AST):
            return value
        if isinstance(node, gast.Name):
            return self.bindings.as_value(node)
        self.unit.refuse(node, "a function or an object is kept here, where it cannot be followed: bind it to a name")

    def operand(self, node: gast.AST) -> Any:
        """A static value, or an atom for the value."""
        if isinstance(node, (gast.Constant, Value)):
            return node
        if isinstance(node, gast.Name):
            return self.bindings.named(node)
        if isinstance(node, gast.Starred):
            return at(node, gast.Starred(self.atom(node.value), gast.Load()))[0]
        if isinstance(node, gast.UnaryOp) and (negative := _negative(node)) is not None:
            return negative
        elif isinstance(node, gast.Attribute) and self.unit.resolve(node) is not MISSING:
            return node
        elif isinstance(node, gast.NamedExpr):
            self.evaluator.assign(at(node, gast.Assign([node.target], node.value, None))[0])
            return self.operand(at(node, name(node.target.id))[0])
        elif isinstance(node, (gast.IfExp, gast.BoolOp)) and not self.conditions.is_whole(node):
            return self.operand(at(node, name(self.conditions.chosen(node)))[0])
        value = self.value(node)
        return value if isinstance(value, (Value, gast.Name, gast.Constant)) else self.writer.hold(value)

    def flat(self, node: gast.AST) -> gast.AST:
        """The node with atoms as operands: a single operation."""
        return self.bindings.in_whole(node) if isinstance(node, gast.Lambda) else self.data(self.value(node), node)

    def value(self, node: gast.AST, target: str | None = None) -> Any:
        """A static value; or a single operation with atoms as operands, which will be bound to `target`."""
        if isinstance(node, gast.Lambda):
            return self.definitions.function(node)
        if isinstance(node, _TRUTHS) and (truth := self.conditions.truth(node)) is not None:
            return truth
        if self.conditions.is_whole(node):
            self.conditions.require_own_methods(node)
            self.require_no_objects(node)
            return self.bindings.in_whole(node)
        if isinstance(node, gast.ListComp) and self.lookahead.items_of(node) is not None:
            return self.collections.collected(node)
        written = None if self.lookahead.may_be_known(node) else comprehensions.written_out(self.unit, node, target)
        if written is not None:
            before, value = written
            self.writer.out += self.evaluator.block(loops.block(self.unit, targets.block(self.unit, before)))
            return self.value(value)
        evaluate = getattr(self, f"of_{type(node).__name__}", self.operand)
        return evaluate(node)

    def require_no_objects(self, node: gast.AST) -> None:
        """Refuse to ask whether an expression raises where its operators may be methods of objects."""
        if self.unit.called(node) is not runtime.raised:
            return
        held = (self.names.values.get(n.id) for n in nodes(node) if isinstance(n, gast.Name))
        if any(isinstance(value, Object) for value in held):
            self.unit.refuse(node, "what is in `try` may run methods of objects, so that it has no text: take it out of it")

    def of_BinOp(self, node: gast.BinOp) -> gast.AST:
        if (united := displays.united(node, set())) is not None:
            return self.value(united)
        left, right = self.in_order([node.left, node.right], self.operand)
        if isinstance(left, Object) or isinstance(right, Object):
            return self.operators.operator(node, left, right)
        node.left, node.right = self.data(left, node.left), self.data(right, node.right)
        return node

    def of_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        if isinstance(node.operand, gast.Constant):
            return _negative(node) or node
        operand = self.operand(node.operand)
        if isinstance(operand, Object) and not isinstance(node.op, gast.Not):
            return self.operators.unary(node, operand)
        node.operand = self.data(operand, node.operand)
        return node

    def of_Compare(self, node: gast.Compare) -> gast.AST:
        if len(node.ops) == 1 and isinstance(node.ops[0], (gast.In, gast.NotIn)):
            if (found := self.operators.contained(node)) is not None:
                return found
        if any(walruses(c) for c in node.comparators[1:]):
            self.unit.refuse(node, "`:=` behind a comparison that may not be reached: assign before it")
        if any(map(self.conditions.grows, node.comparators[1:])):
            return self.value(linked(node, *self.atoms([node.left, node.comparators[0]])))
        operands = self.in_order([node.left, *node.comparators], self.operand)
        if any(isinstance(operand, Object) for operand in operands):
            answer = self.operators.comparison(node, *operands)
            if answer is not None:
                return answer
        node.left, *node.comparators = map(self.data, operands, [node.left, *node.comparators])
        return node

    def of_Attribute(self, node: gast.Attribute) -> gast.AST:
        if self.unit.resolve(node) is MISSING:
            value = self.parts.attribute(node)
            if value is not MISSING:
                return value
            mutators.refuse_kept(self.unit, node)
        return node

    def of_Subscript(self, node: gast.Subscript) -> gast.AST:
        if (joined := index_tricks.joined(self.unit, node)) is not None:
            return self.value(joined)
        owner = self.parts.indexed(node.value)
        if isinstance(owner, (Object, Display)):
            return self.parts.item(owner, node)
        node.value = self.arguments.kept(self.data(owner, node.value), [node.slice])
        node.slice = self.sections.index(node.slice)
        return node

    def of_Call(self, node: gast.Call) -> gast.AST:
        if (result := self.calls.called(node)) is not None:
            return result
        if (into := mutators.into(self.unit, node, self.atom)) is not None:
            return self.behind(node, *into)
        for written in (deques.written, dicts.empty_dict):
            if (made := written(self.unit, node)) is not None:
                return self.value(made)
        spread = any(isinstance(a, gast.Starred) for a in node.args)
        self.arguments.call(node)
        if spread and (found := library.of_found(self.unit, node)) is not node:
            return self.value(found)
        if appended_to(node) is None or not may_have_method(self.unit, node.func, list):
            return node
        self.writer.out += at(node, gast.Expr(node))
        return at(node, constant(None))[0]

    def of_Tuple(self, node: gast.Tuple | gast.List) -> gast.AST:
        if isinstance(node, gast.Tuple) and any(isinstance(e, gast.Starred) for e in node.elts):
            return self.value(displays.tupled(self.unit, node))
        items = self.in_order(node.elts, self.operand)
        if any(isinstance(item, Value) for item in items):
            return self.collections.held_together(dict(enumerate(items)), type(node))
        node.elts = items
        return node

    def of_List(self, node: gast.List) -> gast.AST:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self.value(displays.concatenated(self.unit, node))
        return self.of_Tuple(node)

    def of_Dict(self, node: gast.Dict) -> gast.AST:
        if None in node.keys or containers.may_repeat(node.keys):
            return self.behind(node, *containers.joined(self.unit, node, self.atom))
        if any(map(walruses, node.keys)):
            self.unit.refuse(node, "`:=` in a dict is not differentiated: assign before it")
        if any(map(self.conditions.grows, node.keys)):
            pairs = self.atoms([n for pair in zip(node.keys, node.values, strict=True) for n in pair])
            node.keys, node.values = pairs[::2], pairs[1::2]
        node.keys = list(map(self.bindings.in_whole, node.keys))
        items = self.in_order(node.values, self.operand)
        if any(isinstance(item, Value) for item in items) and all(isinstance(k, gast.Constant) for k in node.keys):
            return self.collections.held_together({k.value: item for k, item in zip(node.keys, items, strict=True)})
        node.values = list(map(self.data, items, node.values))
        return node

    def of_JoinedStr(self, node: gast.JoinedStr) -> gast.AST:
        for part in (p for p in node.values if isinstance(p, gast.FormattedValue)):
            part.value = self.atom(part.value)
        return node

    def behind(self, node: gast.AST, before: list[gast.AST], value: gast.AST) -> gast.AST:
        """The value of an expression that expands to statements."""
        for statement in at(node, *before):
            self.evaluator.statement(statement)
        return self.value(at(node, value)[0])


def _negative(node: gast.UnaryOp) -> gast.AST | None:
    """The constant that `-1` is; None for anything else, `-1j` among it, whose text would be another number's."""
    value: Any = node.operand.value if isinstance(node.operand, gast.Constant) else None
    is_folded = isinstance(node.op, gast.USub) and type(value) in (int, float)
    return at(node, constant(-value))[0] if is_folded else None
