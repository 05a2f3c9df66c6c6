"""Binding-time analysis: which expressions may be function values or objects, or expand to statements, before evaluation.

    while f(x) > y: ..      ->      the test calls a nested function, so the loop becomes `while True`

The answer is conservative: it may be yes for what turns out to be data, never no for what is not.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def compose(g, h):
...     return lambda t: g(h(t))
... def f(x):
...     return compose(np.sin, lambda t: x * t)(2.0)
... ''', "flatten"))
def f(x):
    result_2 = x * 2.0
    t2 = np.sin(result_2)
    result_ = t2
    result = result_
    return result
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached import reaches_change
from s2sgrad.analysis.reached_classes import is_named_tuple
from s2sgrad.analysis.user_functions import is_generator, is_plain
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import children, clone, constant, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import read
from s2sgrad.specialize.callable_texts import gives_function, gives_iterator, objects_named, owners_written, resizes_argument
from s2sgrad.specialize.lambda_lifting import calls_itself
from s2sgrad.specialize.named_tuples import NamedTuples
from s2sgrad.specialize.names import Names, takes_apart
from s2sgrad.specialize.static_values import Display, Object
from s2sgrad.specialize.statics import Statics

_COMPOSED = (gast.Attribute, gast.BinOp, gast.Compare, gast.Dict, gast.List, gast.Tuple, gast.UnaryOp)
MOST = 64  # items


class Lookahead:
    """Classifies expressions without evaluating them."""

    def __init__(
        self, unit: Unit, names: Names, statics: Statics, tuples: NamedTuples, treatment: Callable[[gast.AST], Any]
    ) -> None:
        self.unit, self.names, self.statics, self.tuples = unit, names, statics, tuples
        self.treatment = treatment  # how the calls of some callables are evaluated
        self.written_outside = set(map(id, owners_written(unit.primal.function) or ()))  # objects, by identity
        self.alone: gast.AST | None = None  # the call that is a statement by itself

    def may_be_known(self, node: gast.AST) -> bool:
        """Whether an expression may be a function value or an object, or expand to statements."""
        if isinstance(node, gast.Name):
            return node.id in self.names.values
        if self.tuples.may_be_of_tuple(node):
            return True
        if isinstance(node, gast.Call):
            return self.expands(node)
        if isinstance(node, gast.ListComp):
            return self.items_of(node) is not None
        if isinstance(node, gast.IfExp):
            return isinstance(node.body, gast.Lambda) or isinstance(node.orelse, gast.Lambda)
        if isinstance(node, gast.Subscript):
            return self.may_be_known(node.value) or self.holds_callables(node.value)
        inner = children(node) if isinstance(node, _COMPOSED) else []
        return isinstance(node, gast.Lambda) or any(map(self.may_be_known, inner))

    def expands(self, node: gast.Call) -> bool:
        """Whether a call may expand to statements: the callee is a function value or class, or gets one and has source."""
        tool = self.treatment(node)
        if tool is not None:
            return bool(tool.applies(self, node))
        target = self.unit.resolve(node.func)
        if self.may_be_known(node.func) or is_super(self.unit, node) or is_generator(target) or is_plain_class(target):
            return True
        arguments = arguments_of(node)
        if is_named_tuple(target):
            return any(isinstance(a, gast.Starred) for a in arguments)
        if not is_plain(target):
            return is_class_method(target)
        if is_made_for_functions(target, map(self.unit.resolve, arguments)):
            return True
        return any(isinstance(a, gast.Starred) or self.may_be_known(a) for a in arguments) or self.is_read(target, node)

    def is_read(self, target: types.FunctionType, call: gast.AST) -> bool:
        """Whether a call of a user's function is inlined whatever its arguments; if it is called for its effect: whether it
        changes containers outside."""
        if call is self.alone and reaches_change(target):
            return True
        return self.tuples.asks_tuples(target) or needs_text(target) or self.names_written(target)

    def names_written(self, target: types.FunctionType) -> bool:
        """Whether a function names an object from outside of which this program writes attributes."""
        return bool(self.written_outside) and any(id(o) in self.written_outside for _, o in objects_named(target) or ())

    def inside(self, node: gast.AST) -> bool:
        """Whether a part of an expression may expand to statements."""
        return any(map(self._stands_alone, nodes(node)))

    def _stands_alone(self, part: gast.AST) -> bool:
        if isinstance(part, gast.Name):
            return isinstance(self.names.values.get(part.id), (Object, Display))
        if isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.Not) and self.statics.asks_truth(part):
            return True
        return isinstance(part, (gast.Call, gast.Attribute, gast.Subscript)) and self.may_be_known(part)

    def holds_callables(self, node: gast.AST) -> bool:
        """Whether a display contains functions from outside."""
        if isinstance(node, gast.Dict) and not all(isinstance(k, gast.Constant) for k in node.keys):
            return False
        parts = node.values if isinstance(node, gast.Dict) else getattr(node, "elts", ())
        plain = (p for p in parts if isinstance(p, (gast.Name, gast.Attribute)))
        return any(callable(self.unit.resolve(p)) for p in plain)

    def items_of(self, node: gast.ListComp) -> list[gast.AST] | None:
        """The items that a comprehension of functions or objects iterates over; None for any other comprehension."""
        if len(node.generators) != 1 or node.generators[0].ifs or not isinstance(node.generators[0].target, gast.Name):
            return None
        over, target = node.generators[0].iter, node.generators[0].target.id
        return self.shown_items(over) if self.makes_value(node.elt, target) else None

    def makes_value(self, element: gast.AST, target: str) -> bool:
        """Whether an expression makes an object, or a lambda that does not read this variable at its call."""
        if isinstance(element, gast.Lambda):
            return not any(isinstance(n, gast.Name) and n.id == target for n in nodes(element.body))
        return takes_apart(self.unit, element)

    def shown_items(self, over: gast.AST) -> list[gast.AST] | None:
        """The items of an iterable whose length is known; else None."""
        if isinstance(over, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in over.elts):
            return over.elts if len(over.elts) <= MOST else None
        if isinstance(over, gast.Call) and self.unit.resolve(over.func) is range and over.args:
            bounds: list[Any] = [getattr(a, "value", None) for a in over.args]
            if all(type(b) is int for b in bounds) and len(range(*bounds)) <= MOST:
                return [constant(k) for k in range(*bounds)]
        if isinstance(over, gast.Name) and over.id in self.statics.lengths:
            return [gast.Subscript(clone(over), constant(k), gast.Load()) for k in range(self.statics.lengths[over.id])]
        return None


def is_made_for_functions(target: Any, arguments: Iterable[Any]) -> bool:
    """Whether there is a variant of a function from outside for the functions that it receives.  It calls itself, takes
    `*rest`, which it may pass to them, or is under `checkpoint`, where defaults count as well."""
    passed = any(map(callable, arguments))
    if behind_checkpoint(target) is not None:
        return passed or any(map(callable, (*(target.__defaults__ or ()), *(target.__kwdefaults__ or {}).values())))
    if not passed or not is_plain(target):
        return False
    return bool(target.__code__.co_flags & inspect.CO_VARARGS) or calls_itself(read(target).tree)


_WRITTEN_OUT = (gives_function, gives_iterator, resizes_argument, owners_written)


def needs_text(target: types.FunctionType) -> bool:
    """Whether a user's function is always inlined, whatever its arguments."""
    takes_any = target.__code__.co_flags & inspect.CO_VARKEYWORDS
    return bool(takes_any) or any(asked(target) for asked in _WRITTEN_OUT)


def is_class_method(target: Any) -> bool:
    """Whether a callable is a method bound to a plain class, or one of named tuples."""
    if not isinstance(target, types.MethodType) or not isinstance(target.__func__, types.FunctionType):
        return False
    return is_plain_class(target.__self__) or is_named_tuple(target.__self__)


def is_super(unit: Unit, node: gast.Call) -> bool:
    """Whether a call is `super()`, or `super(Class, self)`."""
    return unit.resolve(node.func) is super and len(node.args) in (0, 2)
