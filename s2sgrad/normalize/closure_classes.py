"""Nested functions that are kept are objects: a class with their captures as attributes, and `__call__`.

    def mul(a, b):                                  class back_:
        out = Value(a.data * b.data)                    def __init__(own, a, b, out): own.a = a; ..
        def back():                         ->          def __call__(own): own.a.grad += own.b.data * own.out.grad
            a.grad += b.data * out.grad             def mul(a, b):
        out.back = back                                 out = Value(a.data * b.data)
        return out                                      out.back = back_(a, b, out)

A Python closure reads its variables when it is called.  So those that are captured are bound once, before, and outside of
loops; variables of the compiled function itself stay variables, which its text reads and writes wherever the call is
written out.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import gast

from s2sgrad import emit
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.errors import NoSource
from s2sgrad.ir import scoping
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import at, children, clone, empty_arguments, mentioned, name, nodes, place_of, substitute
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.source import read
from s2sgrad.source.making import made

_LOOPS = (gast.For, gast.While, *scoping.COMPREHENSIONS)
_KEPT_IN = (gast.Tuple, gast.List, gast.Dict, gast.IfExp, gast.BoolOp, gast.Return, gast.keyword)
_OTHER = (gast.Nonlocal, gast.Global, gast.Yield, gast.YieldFrom, gast.Await)
_OWN = "own"


class ClosureClass(NamedTuple):
    """The class for a nested function, and what its constructor takes."""

    cls: type
    given: list[gast.AST]


_classes: dict[tuple[types.FunctionType, bool], dict[Any, ClosureClass]] = {}
forgotten_after(_classes.clear)


def classes_of(function: types.FunctionType, compiled: bool) -> dict[Any, ClosureClass]:
    """By place: the nested functions of a function that are kept, as classes; `compiled`: it is the one that is compiled."""
    key = function, compiled
    if key not in _classes:
        _classes[key] = {}  # while they are made
        with contextlib.suppress(NoSource):
            unit, tree = Unit.of(read(function))
            _classes[key] = dict(_Converter(unit, tree, compiled).run())
    return _classes[key]


class _Converter:
    def __init__(self, unit: Unit, tree: gast.FunctionDef, compiled: bool) -> None:
        self.unit, self.tree, self.compiled = unit, tree, compiled
        self.parent = {id(part): node for node in nodes(tree) for part in children(node)}

    def run(self) -> Iterator[tuple[Any, ClosureClass]]:
        """The classes, by place."""
        for node in nodes(self.tree):
            if isinstance(node, (gast.Name, gast.Attribute)) and self.unit.resolve(node) is types.FunctionType:
                self.unit.refuse(node, "whether something is a function is asked here, which cannot be followed")
            if isinstance(node, scoping.FUNCTIONS) and node is not self.tree and self.is_kept(node):
                found = self.converted(node)
                if found is not None:
                    yield place_of(node), found

    def around(self, node: gast.AST) -> Iterator[gast.AST]:
        """What a node stands in, from the inside."""
        while (node := self.parent.get(id(node))) is not None:
            yield node

    def is_kept(self, node: gast.AST) -> bool:
        """Whether a nested function is stored, returned or handed to a function of the user's."""
        if isinstance(node, gast.Lambda):
            return self.keeps(node)
        uses = [n for n in nodes(self.tree) if isinstance(n, gast.Name) and n.id == node.name]
        decorators = [getattr(d, "func", d) for d in node.decorator_list]
        return all(map(self.is_users, decorators)) and (bool(decorators) or any(map(self.keeps, uses)))

    def is_users(self, called: gast.AST) -> bool:
        """Whether the user has written a callee, or it may be so."""
        target = self.unit.resolve(called)
        return target is MISSING or is_plain(target) or is_plain_class(target)

    def keeps(self, use: gast.AST) -> bool:
        """Whether the expression around a function value keeps it."""
        around = self.parent[id(use)]
        if isinstance(around, gast.Assign):
            return use is around.value and not isinstance(around.targets[0], gast.Name)
        if isinstance(around, gast.keyword):
            around = self.parent[id(around)]
        if isinstance(around, gast.Call):
            return use is not around.func and self.is_users(around.func)
        return isinstance(around, _KEPT_IN)

    def converted(self, node: Any) -> ClosureClass | None:
        """The class for a nested function; None where a variable that it reads may be bound anew."""
        args, base = node.args, getattr(node, "name", "lambda_")
        body = node.body if isinstance(node, gast.FunctionDef) else at(node.body, gast.Return(node.body))
        if args.vararg or args.kwarg or args.kwonlyargs or any(isinstance(n, _OTHER) for n in nodes(*body)):
            return None
        free = mentioned(*body) - scoping.variables(node) - _inner(body)
        scopes = [s for s in self.around(node) if isinstance(s, (*scoping.FUNCTIONS, *scoping.COMPREHENSIONS))]
        owners = {v: s for s in reversed(scopes) for v in scoping.variables(s) & free}
        variables = {v for v, owner in owners.items() if owner is self.tree and self.compiled}
        kept = owners.keys() - variables - {base}
        once = base not in owners or base in variables or scoping.all_bindings(owners[base])[base] == 1
        if not once or not all(self.is_fixed(v, owners[v], node) for v in kept):
            return None
        call, defaults = _parameters(args)
        held = {**{v: name(v) for v in sorted(kept)}, **defaults}
        return ClosureClass(self.made(node, base, call, body, list(held), variables), list(held.values()))

    def made(
        self, node: gast.AST, base: str, call: gast.arguments, body: list[gast.AST], held: list[str], variables: set[str]
    ) -> type:
        """The class with these attributes, and these parameters of its `__call__`."""
        home, own = self.unit.primal.function, _OWN
        while own in mentioned(*body) | set(held):
            own += "_"
        start = empty_arguments()
        start.args = [gast.Name(h, gast.Param(), None, None) for h in held]
        stores = [gast.Assign([gast.Attribute(name(own), h, gast.Store())], name(h), None) for h in held]
        reads = {h: gast.Attribute(name(own), h, gast.Load()) for h in held}
        reads |= {} if base in variables else {base: name(own)}
        members = {"__init__": (start, stores or [gast.Pass()]), "__call__": (call, [substitute(s, reads) for s in body])}
        out: dict[str, Any] = {"__module__": home.__module__, "__qualname__": f"{home.__qualname__}.<locals>.{base}"}
        for method, (arguments, statements) in members.items():
            arguments.args = [gast.Name(p, gast.Param(), None, None) for p in (own, *(p.id for p in arguments.args))]
            tree = at(node, gast.FunctionDef(method, arguments, statements, [], None, None, []))[0]
            reached = {*home.__code__.co_freevars} & mentioned(*statements)
            function = made(emit.function(tree), method, home, {}, reached, tree, self.unit.place, None, variables)
            function.__defaults__ = tuple(d.value for d in arguments.defaults) or None
            out[method] = function
        return type(base, (), out)

    def is_fixed(self, local: str, owner: Any, node: gast.AST) -> bool:
        """Whether a variable has its final value where a nested function is made."""
        if not isinstance(owner, scoping.FUNCTIONS):
            return False
        body = owner.body if isinstance(owner, gast.FunctionDef) else [owner.body]
        given = local in {p.id for p in scoping.parameters(owner)}
        if scoping.bindings(body)[local] != (not given):
            return False
        stores = [n for part in body for n in nodes(part) if _binds(n, local)]
        before = all((s.lineno, s.col_offset) < (node.lineno, node.col_offset) for s in stores)
        return before and not any(self.loops(s) - self.loops(owner) for s in stores)

    def loops(self, node: gast.AST) -> set[int]:
        """The loops around a node."""
        return {id(part) for part in self.around(node) if isinstance(part, _LOOPS)}


def _parameters(args: gast.arguments) -> tuple[gast.arguments, dict[str, gast.AST]]:
    """The parameters of a call, and the defaults that the object has: where some are no constants, no call gives others."""
    call, places = empty_arguments(), [*args.posonlyargs, *args.args]
    if all(isinstance(d, gast.Constant) for d in args.defaults):
        call.args, call.defaults = places, list(args.defaults)
        return call, {}
    call.args, usual = places[: len(places) - len(args.defaults)], places[len(places) - len(args.defaults) :]
    return call, {p.id: clone(d) for p, d in zip(usual, args.defaults, strict=True)}


def _binds(node: gast.AST, local: str) -> bool:
    if isinstance(node, gast.FunctionDef):
        return node.name == local
    return isinstance(node, gast.Name) and node.id == local and isinstance(node.ctx, gast.Store)


def _inner(body: list[gast.AST]) -> set[str]:
    """The variables of scopes within a body."""
    scopes = (*scoping.FUNCTIONS, *scoping.COMPREHENSIONS)
    return {v for part in body for n in nodes(part) if isinstance(n, scopes) for v in scoping.variables(n)}
