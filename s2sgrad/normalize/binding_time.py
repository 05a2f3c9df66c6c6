"""Which expressions are function values or objects whose text is known, told without writing anything.

    f = lambda t: w * t      ->      `f`, `partial(f, 2.0)`, `compose(f, f)` and `Layer(w)` are; `f(x)` is not
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import gast
import numpy as np

from s2sgrad import pullbacks
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.static_values import (
    Display,
    Function,
    Known,
    Object,
    Partial,
    Value,
    gives_function,
    is_generator,
    is_plain,
    makes_derivative,
    resizes_argument,
    returns_function,
)


class Recognizer:
    """Looks at expressions; `values` are the function values that have a name."""

    unit: Unit
    values: dict[str, Value]

    def is_function(self, node: gast.AST) -> bool:
        """Whether an expression is a function value that is known here."""
        if isinstance(node, gast.Name):
            return node.id in self.values
        if isinstance(node, gast.Lambda):
            return True
        if isinstance(node, gast.IfExp):
            return isinstance(node.body, gast.Lambda) or isinstance(node.orelse, gast.Lambda)
        if isinstance(node, (gast.Tuple, gast.List)):
            return any(map(self.is_function, node.elts))
        if isinstance(node, gast.ListComp):
            return self.items_of(node) is not None
        if isinstance(node, gast.Dict):
            return all(isinstance(k, gast.Constant) for k in node.keys) and any(map(self.is_function, node.values))
        if isinstance(node, gast.Subscript):
            written = isinstance(node.value, (gast.Tuple, gast.List, gast.Dict, gast.Call, gast.Subscript))
            return isinstance(self.held(node.value), (Display, Object)) or (
                written and (self.is_function(node.value) or self.holds_callables(node.value))
            )
        if isinstance(node, gast.Attribute):
            return self.is_attribute(node)
        if isinstance(node, gast.BinOp):
            return self.is_object(node.left) or self.is_object(node.right)
        if isinstance(node, gast.UnaryOp):
            return self.is_object(node.operand) and not isinstance(node.op, gast.Not)
        if isinstance(node, gast.Compare):
            compares = len(node.ops) == 1 and not isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.In, gast.NotIn))
            return compares and (self.is_object(node.left) or self.is_object(node.comparators[0]))
        if not isinstance(node, gast.Call):
            return False
        if self.differentiates(node):
            return self.is_function(node.args[0]) or is_plain(self.unit.resolve(node.args[0]))
        target = self.unit.resolve(node.func)
        if is_plain_class(target) or is_generator(target):
            return True
        if target in (abs, round) and node.args:
            return self.is_object(node.args[0])
        if isinstance(target, types.MethodType) and is_plain_class(target.__self__):
            return gives_function(target.__func__, of_class=True)
        if self.unit.resolve(node.func) is np.vectorize and len(node.args) == 1:
            return self.is_function(node.args[0]) or callable(self.unit.resolve(node.args[0]))
        if self.unit.resolve(node.func) is functools.partial and node.args:
            return self.is_function(node.args[0]) or callable(self.unit.resolve(node.args[0]))
        value = self.held(node.func)
        if isinstance(value, Function) and yields(value.node):
            return True
        if isinstance(value, Known) and is_plain_class(value.target):
            return True
        return self.gives_function(node.func)

    def held(self, node: gast.AST) -> Any:
        """The function value or object that a name or a path of attributes stands for, found without writing anything."""
        if isinstance(node, gast.Name):
            return self.values.get(node.id)
        if isinstance(node, gast.Attribute):
            owner = self.held(node.value)
            return self.values.get(owner.attributes.get(node.attr, "")) if isinstance(owner, Object) else None
        if isinstance(node, gast.Subscript):
            owner = self.held(node.value)
            found = owner.items.get(place(node.slice, owner)) if isinstance(owner, Display) else None
            return found if isinstance(found, Value) else None
        return None

    def holds_callables(self, node: gast.AST) -> bool:
        """Whether a display in the text holds functions from outside."""
        if isinstance(node, gast.Dict) and not all(isinstance(k, gast.Constant) for k in node.keys):
            return False
        parts = node.values if isinstance(node, gast.Dict) else getattr(node, "elts", ())
        plain = (p for p in parts if isinstance(p, (gast.Name, gast.Attribute)))
        return any(callable(self.unit.resolve(p)) for p in plain)

    def is_object(self, node: gast.AST) -> bool:
        """Whether an expression is an object made here."""
        if isinstance(node, (gast.BinOp, gast.UnaryOp)):
            return self.is_function(node)
        if isinstance(node, gast.Call):
            return is_plain_class(self.unit.resolve(node.func)) or (
                isinstance(node.func, gast.Attribute) and self.is_attribute(node.func) and self.is_object(node.func.value)
            )
        return isinstance(self.held(node), Object)

    def is_attribute(self, node: gast.Attribute) -> bool:
        """Whether an attribute is one of an object made here, or of `super()`."""
        if isinstance(self.held(node.value), Known):
            return True
        if isinstance(node.value, gast.Subscript) and self.held(node.value) is None:
            return self.is_function(node.value)
        if isinstance(node.value, gast.Call):
            return is_super(self.unit, node.value) or self.is_object(node.value) or self.is_function(node.value)
        return self.is_object(node.value)

    def gives_function(self, callee: gast.AST) -> bool:
        """Whether what is called returns a function value."""
        if isinstance(callee, gast.Name) and callee.id in self.values:
            value = self.values[callee.id]
            while isinstance(value, Partial):
                value = value.inner
            return isinstance(value, Function) and returns_function(value.node, value.unit.primal.function)
        if isinstance(callee, gast.Lambda):
            return returns_function(callee, self.unit.primal.function)
        target = self.unit.resolve(callee)
        if is_plain(target):
            return gives_function(target)
        return isinstance(callee, gast.Call) and self.is_function(callee) and _curried(callee, self)

    def differentiates(self, node: gast.Call) -> bool:
        """Whether a call is `grad(f)` or `value_and_grad(f)`."""
        return makes_derivative(self.unit.resolve(node.func)) and len(node.args) > 0

    def pulls_back(self, node: gast.Call) -> bool:
        """Whether a call is `vjp(f, ..)` of a function value."""
        return self.unit.resolve(node.func) is pullbacks.vjp and bool(node.args) and self.is_function(node.args[0])

    def expands(self, node: gast.AST) -> bool:
        """Whether a call is one of a function value, or hands one to a function that can be read."""
        if not isinstance(node, gast.Call):
            return False
        if self.is_function(node.func) or self.pulls_back(node):
            return True
        target = self.unit.resolve(node.func)
        if target is functools.reduce or joins_lists(self.unit, node):
            return True
        if isinstance(target, types.MethodType) and is_plain_class(target.__self__):
            return True
        given = [*node.args, *(k.value for k in node.keywords)]
        if not is_plain(target):
            return False
        takes_any = target.__code__.co_flags & inspect.CO_VARKEYWORDS
        takes_any |= any(isinstance(a, gast.Starred) for a in node.args)
        return any(map(self.is_function, given)) or bool(takes_any) or gives_function(target) or resizes_argument(target)

    def stands_for(self, node: gast.AST) -> bool:
        """Whether the value of an expression is found by writing it out: a function value, or what a call of one gives."""
        return self.is_function(node) or self.expands(node)

    def inside(self, node: gast.AST) -> bool:
        """Whether a part of an expression is such a call."""
        if any(isinstance(part, gast.Name) and isinstance(self.values.get(part.id), Object) for part in nodes(node)):
            return True
        calls = (gast.Call, gast.Attribute, gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Compare)
        return any(
            self.expands(part) if isinstance(part, gast.Call) else self.is_function(part)
            for part in nodes(node)
            if isinstance(part, calls)
        )


def _curried(callee: gast.Call, functions: Recognizer) -> bool:
    """Whether `f(a)(b)` gives a function again: `lambda a: lambda b: lambda c: ..`."""
    depth, node = 1, callee.func
    while isinstance(node, gast.Call):
        depth, node = depth + 1, node.func
    value: Any = functions.values.get(node.id) if isinstance(node, gast.Name) else node
    inner = value.node if isinstance(value, Function) else value
    for _ in range(depth):
        inner = getattr(inner, "body", None)
    return isinstance(inner, gast.Lambda) and isinstance(inner.body, gast.Lambda)


def joins_lists(unit: Unit, node: gast.Call) -> bool:
    """Whether a call is `sum(rows, [])`."""
    return unit.resolve(node.func) is sum and len(node.args) == 2 and isinstance(node.args[1], (gast.List, gast.Tuple))


def is_super(unit: Unit, node: gast.Call) -> bool:
    return unit.resolve(node.func) is super and not node.args


def place(index: gast.AST, display: Display) -> Any:
    """The constant that an index of a display is; None where it is none."""
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) and isinstance(index.operand, gast.Constant):
        return -index.operand.value if display.mapping else len(display.items) - index.operand.value
    return index.value if isinstance(index, gast.Constant) else None
