"""Which expressions are function values or objects whose text is known, told without writing anything.

    f = lambda t: w * t      ->      `f`, `partial(f, 2.0)`, `compose(f, f)` and `Layer(w)` are; `f(x)` is not

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def compose(g, h):
...     return lambda t: g(h(t))
... def f(x):
...     return compose(np.sin, lambda t: x * t)(2.0)
... ''', "flatten"))
def f(x):
    result_3 = x * 2.0
    t1 = np.sin(result_3)
    result_2 = t1
    result = result_2
    return result
"""

from __future__ import annotations

import inspect
import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_generator, is_plain
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.check import yields
from s2sgrad.specialize import static_calls
from s2sgrad.specialize.static_values import (
    Display,
    Function,
    Known,
    Object,
    Partial,
    Value,
    gives_function,
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
        recognize = getattr(self, f"_is_{type(node).__name__}", None)
        return recognize is not None and recognize(node)

    def _is_Name(self, node: gast.Name) -> bool:
        return node.id in self.values

    def _is_Lambda(self, node: gast.Lambda) -> bool:
        return True

    def _is_IfExp(self, node: gast.IfExp) -> bool:
        return isinstance(node.body, gast.Lambda) or isinstance(node.orelse, gast.Lambda)

    def _is_Tuple(self, node: gast.Tuple | gast.List) -> bool:
        return any(map(self.is_function, node.elts))

    _is_List = _is_Tuple

    def _is_ListComp(self, node: gast.ListComp) -> bool:
        return self.items_of(node) is not None

    def _is_Dict(self, node: gast.Dict) -> bool:
        return all(isinstance(k, gast.Constant) for k in node.keys) and any(map(self.is_function, node.values))

    def _is_Subscript(self, node: gast.Subscript) -> bool:
        if isinstance(self.held(node.value), (Display, Object)):
            return True
        written = isinstance(node.value, (gast.Tuple, gast.List, gast.Dict, gast.Call, gast.Subscript))
        return written and (self.is_function(node.value) or self.holds_callables(node.value))

    def _is_Attribute(self, node: gast.Attribute) -> bool:
        """An attribute of an object made here, or of `super()`."""
        if isinstance(self.held(node.value), Known):
            return True
        if isinstance(node.value, gast.Subscript) and self.held(node.value) is None:
            return self.is_function(node.value)
        if isinstance(node.value, gast.Call):
            return is_super(self.unit, node.value) or self.is_object(node.value) or self.is_function(node.value)
        return self.is_object(node.value)

    def _is_BinOp(self, node: gast.BinOp) -> bool:
        return self.is_object(node.left) or self.is_object(node.right)

    def _is_UnaryOp(self, node: gast.UnaryOp) -> bool:
        return self.is_object(node.operand) and not isinstance(node.op, gast.Not)

    def _is_Compare(self, node: gast.Compare) -> bool:
        compares = len(node.ops) == 1 and not isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.In, gast.NotIn))
        return compares and (self.is_object(node.left) or self.is_object(node.comparators[0]))

    def _is_Call(self, node: gast.Call) -> bool:
        """A call of a class or a generator function, or of what returns a function value."""
        tool = static_calls.find(self.unit, node)
        if tool is not None:
            return tool.gives_value(self, node)
        value, target = self.held(node.func), self.unit.resolve(node.func)
        if (isinstance(value, Function) and yields(value.node)) or is_generator(target):
            return True
        if is_plain_class(target) or (isinstance(value, Known) and is_plain_class(value.target)):
            return True
        if is_class_method(target):
            return gives_function(target.__func__, of_class=True)
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
                isinstance(node.func, gast.Attribute) and self.is_function(node.func) and self.is_object(node.func.value)
            )
        return isinstance(self.held(node), Object)

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

    def expands(self, node: gast.AST) -> bool:
        """Whether a call is one of a function value, or hands one to a function that can be read."""
        if not isinstance(node, gast.Call):
            return False
        if self.is_function(node.func):
            return True
        tool = static_calls.find(self.unit, node)
        if tool is not None:
            return tool.is_written(self, node)
        target = self.unit.resolve(node.func)
        if is_class_method(target):
            return True
        given = [*node.args, *(k.value for k in node.keywords)]
        if not is_plain(target):
            return False
        starred = any(isinstance(a, gast.Starred) for a in node.args)
        return starred or any(map(self.is_function, given)) or needs_text(target)

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


def needs_text(target: types.FunctionType) -> bool:
    """Whether a function of the user's is written out whatever it is given."""
    takes_any = target.__code__.co_flags & inspect.CO_VARKEYWORDS
    return bool(takes_any) or gives_function(target) or resizes_argument(target)


def is_class_method(target: Any) -> bool:
    """Whether a callable is a method of a plain class, bound to the class."""
    return isinstance(target, types.MethodType) and is_plain_class(target.__self__)


def is_super(unit: Unit, node: gast.Call) -> bool:
    """Whether a call is `super()`."""
    return unit.resolve(node.func) is super and not node.args


def place(index: gast.AST, display: Display) -> Any:
    """The constant that an index of a display is; None where it is none."""
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) and isinstance(index.operand, gast.Constant):
        return -index.operand.value if display.mapping else len(display.items) - index.operand.value
    return index.value if isinstance(index, gast.Constant) else None
