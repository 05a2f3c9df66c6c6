"""Recursive functions that pass a function on unchanged: a variant for that function, which does not receive it.

    def total(g, x, n):                                def total(x, n, *, w):
        if n == 0: return g(x)                  ->         if n == 0: return lambda_(x, w)
        return g(x) + total(g, x / 2, n - 1)               return lambda_(x, w) + total(x / 2, n - 1, w=w)

    total(lambda t: w * t, x, 3)     ->     total(x, 3, w=w)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, w):
...     def total(g, x, n):
...         return g(x) if n == 0 else g(x) + total(g, x / 2, n - 1)
...     return total(lambda t: w * t, x, 3)
... ''', "flatten"))
def f(x, w):
    t1 = total_(x_=x, n=3, w_=w)
    result = t1
    return result
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

import gast

from s2sgrad.ir import notes, scoping
from s2sgrad.ir.quote import at, clone, empty_arguments, name, nodes
from s2sgrad.ir.unit import parameters
from s2sgrad.runtime.asking import its
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.static_values import Function, Known, Partial, substitute


class FixedFunctions:
    """Makes variants of recursive functions for the functions that they receive and pass on unchanged."""

    def __init__(self, inliner: Inliner, closures: Closures) -> None:
        self.inliner, self.closures = inliner, closures

    def with_fixed_functions(
        self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST
    ) -> tuple[Function, list[Any], dict[str, Any]]:
        """The variant of a recursive function, and the arguments that are left; unchanged where none is such a function."""
        bound, lifted = self._lifted_arguments(callee, arguments, keywords, node)
        if not lifted:
            return callee, arguments, keywords
        variant = clone(callee.node)
        passed: dict[str, gast.AST] = {}
        stand_ins: dict[str, gast.AST] = {}
        for p, f in lifted.items():
            own = {c: callee.unit.local(c) for c in f.captured}
            passed |= {new: name(c) for c, new in own.items()}
            target = callee.unit.helper(its(f.target, "__name__", p), f.target)
            _call_directly(variant, p, target, len(f.order), [*own.values()])
            stand_ins[p] = name(target) if isinstance(bound[p], Known) else _calling(target, f.order, [*own.values()])
        for call in _own_calls(variant):
            _drop(call, callee.node, lifted)
            call.keywords += [gast.keyword(c, name(c)) for c in passed]
        for statement in variant.body:
            substitute(statement, stand_ins)
        _shorten(variant.args, lifted)
        variant.args.kwonlyargs += [gast.Name(c, gast.Param(), None, None) for c in passed]
        variant.args.kw_defaults += [None] * len(passed)
        words = {p.id: (notes.KEYWORD.of(p) or p.id) for p in parameters(callee.node)}
        left = {words[p]: v for p, v in bound.items() if p not in lifted} | passed
        defaults = {p: v for p, v in callee.defaults.items() if p not in lifted}
        return replace(callee, node=variant, tree=None, used=False, defaults=defaults), [], left

    def _lifted_arguments(
        self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments by parameter; and, as separate functions, those that are functions which are passed on."""
        args = callee.node.args
        if args.vararg is not None or args.kwarg is not None or not any(map(_is_function, (*arguments, *keywords.values()))):
            return {}, {}
        bound = self.inliner.bind(callee, callee.node, arguments, keywords, node)
        fixed = {p: v for p, v in bound.items() if _is_function(v) and _is_passed_on(callee.node, p)}
        lifted = {p: self.closures.as_function(v, node, last=True) for p, v in fixed.items()}
        return bound, {} if any(f.defaults for f in lifted.values()) else lifted


def _is_function(value: Any) -> bool:
    """Whether a value is a function, whose text or rule is known."""
    return isinstance(value, (Function, Partial)) or (isinstance(value, Known) and callable(value.target))


def _own_calls(node: gast.FunctionDef) -> list[gast.Call]:
    return [n for n in nodes(*node.body) if isinstance(n, gast.Call) and getattr(n.func, "id", "") == node.name]


def _is_passed_on(node: gast.FunctionDef, parameter: str) -> bool:
    """Whether a function never binds a parameter, and passes it to itself in each of its calls, which have no stars."""
    calls = _own_calls(node)
    mentions = sum(getattr(n, "id", "") == node.name for n in nodes(*node.body))
    if mentions != len(calls) or parameter in scoping.bound(node.body):
        return False
    return all(getattr(_given(call, node, parameter), "id", "") == parameter for call in calls)


def _given(call: gast.Call, node: gast.FunctionDef, parameter: str) -> gast.AST | None:
    """The argument of a call for a parameter; None if it has none, or a star may give it."""
    if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    places = [p.id for p in (*node.args.posonlyargs, *node.args.args)]
    if parameter in places[: len(call.args)]:
        return call.args[places.index(parameter)]
    words = {p.id: (notes.KEYWORD.of(p) or p.id) for p in parameters(node)}
    return next((k.value for k in call.keywords if k.arg == words[parameter]), None)


def _drop(call: gast.Call, node: gast.FunctionDef, fixed: Container[str]) -> None:
    """Leave out the arguments of a call for these parameters."""
    places = [p.id for p in (*node.args.posonlyargs, *node.args.args)]
    words = {(notes.KEYWORD.of(p) or p.id) for p in parameters(node) if p.id in fixed}
    call.args = [a for a, p in zip(call.args, places, strict=False) if p not in fixed]
    call.keywords = [k for k in call.keywords if k.arg not in words]


def _shorten(args: gast.arguments, fixed: Container[str]) -> None:
    """Leave out these parameters and their defaults."""
    places = [*args.posonlyargs, *args.args]
    usual = places[len(places) - len(args.defaults) :]
    args.defaults = [d for p, d in zip(usual, args.defaults, strict=True) if p.id not in fixed]
    args.posonlyargs = [p for p in args.posonlyargs if p.id not in fixed]
    args.args = [p for p in args.args if p.id not in fixed]
    left = [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if p.id not in fixed]
    args.kwonlyargs, args.kw_defaults = [p for p, _ in left], [d for _, d in left]


def _call_directly(node: gast.FunctionDef, parameter: str, target: str, count: int, captured: list[str]) -> None:
    """Let the calls of a parameter, with so many arguments, call a function instead, which also takes what it captures."""
    for call in nodes(*node.body):
        called = isinstance(call, gast.Call) and getattr(call.func, "id", "") == parameter
        if called and len(call.args) == count and not call.keywords:
            call.func, call.args = at(call.func, name(target))[0], [*call.args, *map(name, captured)]


def _calling(target: str, order: list[str], captured: list[str]) -> gast.Lambda:
    """`lambda t: target(t, w)`, where the function takes what it captures after its arguments."""
    arguments = empty_arguments()
    arguments.args = [gast.Name(p, gast.Param(), None, None) for p in order]
    return gast.Lambda(arguments, gast.Call(name(target), [name(n) for n in (*order, *captured)], []))
