"""Definitions of nested functions, with decorators and defaults.

    def g(t, by=w): return t * by      ->      by is evaluated here and kept; the body is inlined at calls

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     def scaled(t, by=x * 2.0):
...         return t * by
...     return scaled(3.0)
... ''', "flatten"))
def f(x):
    t1 = x * 2.0
    result_ = 3.0 * t1
    result = result_
    return result
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import at, name
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.callable_texts import makes_derivative
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.nested_gradients import Derivatives
from s2sgrad.specialize.static_values import Derivative, Function, Known, Partial


class Definitions(Family):
    """Makes function values from definitions."""

    def __init__(self, evaluator: Evaluator, homes: Homes, derivatives: Derivatives, bindings: Bindings) -> None:
        super().__init__(evaluator)
        self.homes, self.derivatives, self.bindings = homes, derivatives, bindings

    def define(self, statement: gast.FunctionDef) -> None:
        """Bind the name of a nested function; its body is inlined at its calls."""
        value: Any = self.function(statement)
        decorators, statement.decorator_list = statement.decorator_list, []
        for decorator in reversed(decorators):
            value = self.decorated(value, decorator, statement.name)
            if not isinstance(value, (Function, Partial, Derivative, Known)):
                self.unit.refuse(statement, f"the decorator of the nested function `{statement.name}` cannot be followed: "
                                            "call it without, or move it to module level")  # fmt: skip
        self.bindings.name(statement.name, value, statement)

    def decorated(self, value: Any, decorator: gast.AST, called: str) -> Any:
        """The result of applying a decorator to a function value."""
        tool = decorator.func if isinstance(decorator, gast.Call) else decorator
        if self.unit.resolve(tool) in (functools.cache, functools.lru_cache):
            self.unit.refuse(decorator, f"`{called}` remembers its results, which are known only when it runs: fill a dict "
                                        "in a loop")  # fmt: skip
        local = self.unit.local(called)
        self.names.values[local] = value
        plain = isinstance(decorator, gast.Call) and not decorator.args
        wrapped = gast.Call(decorator.func if plain else decorator, [name(local)], decorator.keywords if plain else [])
        if makes_derivative(self.unit.resolve(at(decorator, wrapped)[0].func)):
            return self.derivatives.derivative(wrapped)
        if self.unit.resolve(wrapped.func) is checkpoint:
            return self.derivatives.checkpointed(wrapped)
        if isinstance(decorator, gast.Call) and self.unit.resolve(decorator.func) is functools.wraps:
            return value
        callee = self.evaluator.callee(decorator)
        library = isinstance(callee, Known) and not is_plain(callee.target)
        return None if library else self.evaluator.apply(callee, [value], {}, decorator)

    def function(self, node: gast.FunctionDef | gast.Lambda) -> Function:
        """A function value, with its defaults evaluated."""
        args = node.args
        plain = [*args.posonlyargs, *args.args]
        pairs = [*zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return Function(node, self.unit, {p.id: self.homes.lasting(self.evaluator.evaluate(d)) for p, d in pairs})
