"""Functions that are defined in the text, their decorators and defaults, and `grad` of them.

    def g(t, by=w): return t * by      ->      by is evaluated now, and kept; the text waits for its calls
"""

from __future__ import annotations

import ast
import functools
from typing import Any

import gast

from s2sgrad import emit, pullbacks
from s2sgrad.normalize import lifting
from s2sgrad.normalize.inlining import Inliner
from s2sgrad.normalize.values import Derivative, Function, Known, Partial, Value, is_plain, keep_objects
from s2sgrad.quote import assign, at, constant, name
from s2sgrad.unit import Derived, parameters


class Definitions(Inliner):
    """Makes function values of definitions."""

    def name(self, target: str, value: Value, statement: gast.AST) -> None: ...

    def apply(self, callee: Any, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any: ...

    def callee(self, node: gast.AST) -> Any: ...

    def stands_for(self, node: gast.AST) -> bool: ...

    def differentiates(self, node: gast.Call) -> bool: ...

    def plain(self, callee: Known, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST: ...

    def define(self, statement: gast.FunctionDef) -> None:
        """A nested function: its text waits for its calls."""
        value: Any = self.function(statement)
        decorators, statement.decorator_list = statement.decorator_list, []
        for decorator in reversed(decorators):
            value = self.decorated(value, decorator, statement.name)
            if not isinstance(value, (Function, Partial, Derivative, Known)):
                self.unit.refuse(statement, f"the decorator of the nested function `{statement.name}` cannot be followed: "
                                            "call it without, or move it to module level")  # fmt: skip
        self.name(statement.name, value, statement)

    def decorated(self, value: Any, decorator: gast.AST, called: str) -> Any:
        """What a decorator makes of a function value."""
        held = self.unit.local(called)
        self.values[held] = value
        plain = isinstance(decorator, gast.Call) and not decorator.args
        made = gast.Call(decorator.func if plain else decorator, [name(held)], decorator.keywords if plain else [])
        if self.differentiates(at(decorator, made)[0]):
            return self.derivative(made)
        if isinstance(decorator, gast.Call) and self.unit.resolve(decorator.func) is functools.wraps:
            return value
        callee = self.evaluate(decorator) if self.stands_for(decorator) else self.callee(decorator)
        library = isinstance(callee, Known) and not is_plain(callee.target)
        return None if library else self.apply(callee, [value], {}, decorator)

    def function(self, node: gast.FunctionDef | gast.Lambda) -> Function:
        args = node.args
        plain = [*args.posonlyargs, *args.args]
        pairs = [*zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return Function(node, self.unit, {p.id: self.lasting(self.evaluate(d)) for p, d in pairs})

    def lasting(self, value: Any) -> Any:
        """The value, under a name that keeps it."""
        keep_objects(value)
        anew = bool(self.flattener.loops)  # what is bound once by the text may be bound in each trip
        moves = isinstance(value, gast.Name) and (anew or value.id in self.shared or not self.is_fixed(value.id))
        if moves and value.id in self.unit.locals:
            holder = self.unit.local(value.id)
            self.flattener.out.append(assign(holder, value))
            return name(holder)
        return value

    def derivative(self, node: gast.Call) -> Derivative:
        """`grad(f, ..)` of a function value, made when the text is compiled."""
        try:
            given = [ast.literal_eval(emit.expression(a)) for a in node.args[1:]]
            words = {k.arg: ast.literal_eval(emit.expression(k.value)) for k in node.keywords}
        except ValueError:
            self.unit.refuse(node, "the options of `grad` inside of a differentiated function must be constants")
        make = self.unit.resolve(node.func)
        f = self.callee(node.args[0])
        captured, defaults = [], {}
        if isinstance(f, Function):
            lifting.require_no_writes(self.unit, f.node)
            defaults = {getattr(p, "keyword", p.id): f.defaults[p.id] for p in parameters(f.node) if p.id in f.defaults}
            target, captured = lifting.lifted(self.unit, f.node, self.values)
        elif isinstance(f, Known):
            target = f.target
        elif isinstance(f, Derivative):
            target, captured, defaults = f.known.target, f.captured, f.defaults
        else:
            self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")
        gradient = make(target, *given, **words)
        self.unit.derived.append(Derived(gradient, target, lambda f: make(f, *given, **words)))
        return Derivative(Known(gradient, name(self.unit.helper(gradient.__name__, gradient))), captured, defaults)

    def recursive(self, callee: Function, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a nested function that calls itself."""
        if callee not in self.lifted:
            target, captured = lifting.lifted(self.unit, callee.node, self.values)
            self.lifted[callee] = Known(target, name(self.unit.helper(callee.name, target))), captured
        known, captured = self.lifted[callee]
        bound = self.bind(callee, callee.node, given, keywords, node)
        return self.plain(known, [], {**bound, **{c: name(c) for c in captured}}, node)

    def pulled_back(self, node: gast.Call) -> gast.AST:
        """`vjp(f, ..)` of a function value: what it closes over is passed after its arguments."""
        f = self.evaluate(node.args[0])
        if isinstance(f, Derivative):
            self.unit.refuse(node, "`vjp` of a gradient of a nested function cannot be followed here: use `grad` twice")
        if not isinstance(f, Function):
            self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")
        lifting.require_no_writes(self.unit, f.node)
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.unit.refuse(node, "`*` and `**` in a call of `vjp` cannot be followed here: write the arguments out")
        given = [self.flattener.atom(a) for a in node.args[1:]]
        bound = self.bind(f, f.node, given, {k.arg: self.flattener.atom(k.value) for k in node.keywords}, node)
        target, captured = lifting.lifted(self.unit, f.node, self.values, last=True)
        rest = [*list(bound.values())[len(given) :], *(name(c) for c in captured)]
        arguments = [constant(len(rest)), name(self.unit.helper(f.name, target)), *given, *rest]
        made = gast.Call(name(self.unit.helper("vjp_of_closure", pullbacks.vjp_of_closure)), arguments, [])
        return self.flattener.hold(at(node, made)[0])
