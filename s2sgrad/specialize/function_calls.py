"""Calls of functions: inlined, called as they are, or made functions of their own.

g(x), where g = lambda t: t * w      ->      x * w
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import name
from s2sgrad.normalize.check import yields
from s2sgrad.specialize import lambda_lifting
from s2sgrad.specialize.binding_time import is_made_for_functions
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.nested_gradients import Derivatives
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Function, Generator, Known, Value
from s2sgrad.specialize.texts import Texts


class FunctionCalls(Family):
    """Calls functions: those of the text, and those from outside."""

    def __init__(
        self, evaluator: Evaluator, texts: Texts, homes: Homes, objects: Objects, inliner: Inliner, closures: Closures,
        derivatives: Derivatives,
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.texts, self.homes, self.objects, self.inliner = texts, homes, objects, inliner
        self.closures, self.derivatives = closures, derivatives

    def call_known(self, callee: Known, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of a callable from outside; a user's function is inlined if it takes or returns function values."""
        owner = getattr(callee.target, "__self__", None) if isinstance(callee.target, types.MethodType) else None
        if isinstance(owner, type):
            bound = Known(owner, name(self.unit.helper(owner.__name__, owner)))
            return self.evaluator.apply(self.texts.text_of(callee.target.__func__), [bound, *arguments], keywords, node)
        if is_plain_class(callee.target):
            return self.objects.construct(callee.target, arguments, keywords, node)
        given = [*arguments, *(keywords := lambda_lifting.with_captures(self.unit, callee.target, keywords)).values()]
        static = any(isinstance(v, (Value, gast.Starred)) and not isinstance(v, Known) for v in given)
        again = is_made_for_functions(callee.target, (v.target for v in given if isinstance(v, Known)))
        followed = is_plain(callee.target)
        if followed and (static or again or self.lookahead.is_read(callee.target, node)):
            return self.evaluator.apply(self.texts.read(callee.target), arguments, keywords, node)
        return self.closures.plain(callee, arguments, keywords, node)

    def call_function(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        if yields(callee.node):
            words = {k: self.homes.lasting(v) for k, v in keywords.items()}
            around = tuple(function for function, _ in self.writer.running)
            return Generator(callee, [self.homes.lasting(v) for v in arguments], words, tuple(self.writer.loops), around)
        if callee.run_again:
            return self.derivatives.called_again(callee, arguments, keywords, node)
        if lambda_lifting.calls_itself(callee.node):
            return self.derivatives.recursive(callee, arguments, keywords, node)
        return self.inliner.written_out(callee, arguments, keywords, node)
