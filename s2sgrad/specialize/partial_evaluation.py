"""Partial evaluation of function values: a call of a known one is inlined, where its captures are in scope.

    f = lambda t: w * t; y = f(2.0); w = w * w; return y + f(3.0)      ->      y = w * 2.0; w = w * w; return y + w * 3.0

This covers lambdas, nested functions, `functools.partial`, and functions passed to or returned by functions.  Free names are
read at the call, as in Python; defaults are evaluated at the definition.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def compose(f, g):
...     return lambda t: f(g(t))
... def f(x):
...     def scaled(t, by=2.0):
...         if t < 0.0:
...             return 0.0
...         return t * x * by
...     return compose(np.sin, scaled)(x)
... ''', "flatten"))
def f(x):
    t2 = x < 0.0
    if t2:
        result_2 = 0.0
    else:
        t3 = x * x
        result_2 = t3 * 2.0
    t4 = np.sin(result_2)
    result_ = t4
    result = result_
    return result
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.analysis.user_functions import has_given_rule, is_generator, may_have_given_rule
from s2sgrad.ir.quote import constant
from s2sgrad.ir.unit import MISSING
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.object_operators import Operators
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.parts import Parts
from s2sgrad.specialize.static_calls import StaticCalls
from s2sgrad.specialize.static_values import Adapted, Known, Object, Partial
from s2sgrad.specialize.texts import Texts


class Calls(Family):
    """Evaluates calls of static values, by the kind of what is called."""

    def __init__(
        self, evaluator: Evaluator, texts: Texts, objects: Objects, operators: Operators, closures: Closures,
        arguments: Arguments, parts: Parts, tools: StaticCalls, by_class: dict[type, Callable[..., Any]],
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.texts, self.objects, self.operators, self.closures = texts, objects, operators, closures
        self.arguments, self.parts, self.tools = arguments, parts, tools
        self.by_class: dict[type, Callable[..., Any]] = {
            **by_class, Adapted: self.call_adapted, Object: self.call_object, Partial: self.call_partial,
        }  # fmt: skip

    def called(self, node: gast.Call) -> Any:
        """The value of a call, after its statements; None for an ordinary call."""
        if not self.lookahead.may_be_known(node) or has_given_rule(self.unit.called(node)):
            return None
        tool = self.lookahead.treatment(node)
        if tool is not None:
            return tool.value(self.tools, node)
        attribute = isinstance(node.func, gast.Attribute) and self.lookahead.may_be_known(node.func)
        callee = (self.parts.attribute if attribute else self.evaluator.callee)(node.func)
        if callee is MISSING:
            return None
        if isinstance(callee, Known) and is_generator(callee.target):
            callee = self.texts.read(callee.target)
        if any(isinstance(option, Partial) for option in getattr(callee, "options", [callee])):
            self.operators.require_own(node)
        arguments, keywords = self.arguments.evaluated(callee, node)
        return self.apply(callee, arguments, keywords, node)

    def apply(self, callee: Any, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """The value of a call of a static value."""
        if callee is None:  # object.__init__
            return constant(None)
        if isinstance(callee, gast.AST):  # data in an attribute
            return self.closures.plain(Known(None, callee), arguments, keywords, node)
        if type(callee) not in self.by_class:
            self.unit.refuse(node, "what is called here is not known to be a function")
        return self.by_class[type(callee)](callee, arguments, keywords, node)

    def call_partial(self, callee: Partial, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        words = {**callee.keywords, **keywords}
        if None in words and callee.keywords and keywords:  # which of them a later one replaces is not known
            self.unit.refuse(node, "keywords of a `partial` in a dict, beside others, cannot be followed: name them")
        return self.apply(callee.inner, [*callee.given, *arguments], words, node)

    def call_adapted(self, callee: Adapted, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        return callee.call(callee.inner, arguments, keywords, node)

    def call_object(self, callee: Object, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        if may_have_given_rule(callee.cls):
            self.unit.refuse(node, f"a `{callee.cls.__name__}` has a derivative of its own, and only the run knows whether "
                                   "this is the one: call that by its name")  # fmt: skip
        return self.apply(self.objects.method(callee, "__call__", node), arguments, keywords, node)
