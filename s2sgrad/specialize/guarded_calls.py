"""Calls in `try` that are followed: the text of the callee is written out with a trial for each of its pieces.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Tank:
...     def __init__(self, level): self.level = level
...     def drain(self, v):
...         if v > self.level:
...             raise ValueError("empty")
...         self.level -= v
...         return self.level * v
... def f(x, v):
...     t = Tank(x)
...     try:
...         return t.drain(v)
...     except ValueError:
...         return t.level
... ''', "flatten"))
def f(x, v):
    t_level = x
    t2 = None
    which = 0
    which = raised(lambda: bool(v > t_level), ValueError)
    t4 = which == 0
    if t4:
        t5 = v > t_level
        if t5:
            which = 1
        t6 = which == 0
        if t6:
            which = raised(lambda: updated(t_level, '-=', v), ValueError)
            t7 = which == 0
            if t7:
                t_level -= v
                which = raised(lambda: t_level * v, ValueError)
                t8 = which == 0
                if t8:
                    t3 = t_level * v
    t9 = which == 0
    if t9:
        result = t3
    else:
        result = t_level
    return result
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import assign, at, branch, clone, constant, empty_arguments, name, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.guarded_texts import Guard
from s2sgrad.normalize.trials import Trials
from s2sgrad.runtime import trials
from s2sgrad.specialize import lambda_lifting
from s2sgrad.specialize.static_values import Choice, Function, Known, Object, Partial, Value

_FOLLOWED = (Choice, Function, Known, Object, Partial)
_ASKING = (gast.Name, gast.Attribute, gast.Constant, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.If, gast.Return,
           gast.Assign, gast.Expr, gast.Pass, gast.cmpop, gast.expr_context, gast.boolop, gast.unaryop)  # fmt: skip


class GuardedCalls:
    """`guard`: what the `try` around the call that is evaluated catches, with the texts of it; `into`: the variable for what
    it raises."""

    unit: Unit
    flattener: Any
    values: dict[str, Value]
    running: list[tuple[Function, Any]]
    plain_names: dict[str, str]

    def open_guards(self) -> None:
        """Begin outside of `try`."""
        self.guard: tuple[Guard, list[gast.AST]] | None = None
        self.waiting: tuple[gast.AST, Guard, list[gast.AST], str] | None = None
        self.into = ""
        self.tried_places: set[Any] = set()

    def attempted(self, target: gast.Tuple, statement: gast.Assign) -> bool:
        """Write `which, value = outcome(lambda: o.method(v), ValueError)`; returns whether the statement is that."""
        call = statement.value
        if self.unit.called(call) is not trials.outcome:
            return False
        which, result = (part.id for part in target.elts)
        tried = call.args[0].body
        self.flattener.out += at(statement, assign(which, constant(0)))
        kinds = tuple(map(self.kinds_caught, call.args[1:]))
        outer = self.waiting
        self.waiting = tried, Guard(kinds, bool(call.keywords)), call.args[1:], which
        try:
            value = self.of_attempt(tried)
        finally:
            self.waiting = outer
        if isinstance(value, gast.Name):
            self.plain_names[result] = self.plain_names.get(value.id, value.id)
            self.data.add(result)
            self.note_exact(result, value)
        elif isinstance(value, gast.AST):
            self.flattener.statement(at(statement, assign(result, value))[0])
        else:
            self.values[result] = value
        return True

    def kinds_caught(self, kind: gast.AST) -> Any:
        """The class, or the classes, that a handler names."""
        return tuple(map(self.kinds_caught, kind.elts)) if isinstance(kind, gast.Tuple) else self.unit.resolve(kind)

    def of_attempt(self, node: gast.AST) -> Any:
        """The value of a call, or of a property."""
        if isinstance(node, gast.Attribute):
            node.value = self.flattener.operand(node.value)
            start = len(self.flattener.out)
            with self.guarding(node):
                value = self.attribute(node)
                if value is MISSING:
                    return self.tried_first(node)
            computed = len(self.flattener.out) > start or not isinstance(value, gast.Name)
            return value if computed else self.flattener.hold(value)
        value = self.called(node)
        if value is not None:
            return value
        with self.guarding(node):
            return self.tried_first(node)

    @contextlib.contextmanager
    def guarding(self, node: gast.AST) -> Iterator[None]:
        """Evaluate a call whose operands have been evaluated; under its guard, if it is the one that is attempted."""
        if self.waiting is None or self.waiting[0] is not node:
            yield
            return
        outer = self.guard, self.into
        _, guard, kinds, into = self.waiting
        self.guard, self.into = (guard, kinds), into
        try:
            yield
        finally:
            self.guard, self.into = outer

    @contextlib.contextmanager
    def unguarded(self) -> Iterator[str]:
        """Write a text, which has trials of its own."""
        outer, waiting = self.guard, self.waiting
        self.guard = self.waiting = None
        try:
            yield self.into
        finally:
            self.guard, self.waiting = outer, waiting

    def call_guarded(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """The value of a call in `try` of a function whose text is known."""
        if callee.of is None:  # of this text
            atoms = [v.node if isinstance(v, Known) else v for v in arguments]
            if not isinstance(node, gast.Call) or keywords or any(isinstance(v, Value) for v in atoms):
                self.unit.refuse(node, "this call of a nested function in `try` cannot be followed: move the function to "
                                       "module level")  # fmt: skip
            return self.tried_first(at(node, gast.Call(node.func, atoms, []))[0])
        self.require_text(callee, node)
        guard, into = self.guard[0], self.into
        variant = self.read(*callee.of, guard)
        variant.owner = callee.owner
        with self.unguarded():
            self.into = into
            return self.written_out(variant, arguments, keywords, node)

    def call_text(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of a function whose text is known."""
        call = self.call_function if self.guard is None else self.call_guarded
        return call(callee, arguments, keywords, node)

    def call_outside(self, callee: Known, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of a callable from outside; in `try`, the text of one that may get an object is written out."""
        if self.guard is not None and is_plain(callee.target) and self.may_get_objects([*arguments, *keywords.values()]):
            return self.call_guarded(self.read(callee.target), arguments, keywords, node)
        return self.call_known(callee, arguments, keywords, node)

    def require_text(self, callee: Function, node: gast.AST) -> None:
        """Refuse a function that is not written out."""
        runs = any(f.of is not None and f.of[0] is callee.of[0] for f, _ in self.running)
        runs = runs or callee.of[0] is self.unit.primal.function
        if runs or yields(callee.node) or callee.run_again or lambda_lifting.calls_itself(callee.node):
            self.unit.refuse(node, f"`{callee.name}` calls itself, or runs in steps, which cannot be followed in `try`: "
                                   "take this out of `try`")  # fmt: skip

    def require_guarded(self, callee: Any, node: gast.AST) -> None:
        """Refuse to call in `try` what is not followed there."""
        if self.guard is not None and isinstance(callee, Value) and not isinstance(callee, _FOLLOWED):
            self.unit.refuse(node, "this call cannot be followed in `try`: take it out of `try`")

    def may_get_objects(self, given: list[Any]) -> bool:
        """Whether an object, or a function of this text, may be among arguments."""
        data = [v for v in given if isinstance(v, gast.AST) and not isinstance(v, gast.Constant)]
        return (self.in_columns and bool(data)) or any(isinstance(v, Value) and not isinstance(v, Known) for v in given)

    def where_tried(self, call: gast.Call) -> gast.AST | None:
        """The value of a call that is kept as a call, in `try`; None elsewhere."""
        return None if self.guard is None else self.tried_first(call)

    def tried_first(self, node: gast.AST) -> gast.AST:
        """The value of a call of data, which is tried before it is done."""
        kinds = self.guard[1]
        with self.unguarded() as into:
            makes = Trials(self.unit, self.unit.primal.tree)
            trial = clone(node) if makes.is_pure(node) else makes.call(node)
            tried = gast.Lambda(empty_arguments(), trial)
            raised = gast.Call(name(self.unit.helper("raised", runtime.raised)), [tried, *clone(kinds)], [])
            self.flattener.statement(at(node, assign(into, raised))[0])
            self.counts[into] += 1
            return self.done(into, lambda: self.flattener.atom(node), node)

    def where_done(self, write: Callable[[], Any], node: gast.AST) -> Any:
        """The value of what is done only if nothing was raised."""
        if self.guard is None:
            return write()
        with self.unguarded() as into:
            return self.done(into, write, node)

    def done(self, into: str, write: Callable[[], Any], node: gast.AST) -> Any:
        """Write statements under the test that nothing was raised."""
        test = self.unit.temp()
        with self.flattener.writing() as out:
            value = write()
        if out:
            compared = gast.Compare(name(into), [gast.Eq()], [constant(0)])
            self.flattener.out += at(node, assign(test, compared), branch(name(test), out))
        return value

    def require_tried(self, function: Function, node: gast.AST) -> None:
        """Refuse to write out, in `try`, what may raise and was not tried: the method behind an operator."""
        if not getattr(node, "tried", False) or function.which or self.place_tried(node) in self.tried_places:
            return
        if not all(isinstance(n, _ASKING) for n in nodes(*getattr(function.node, "body", ()))):
            self.unit.refuse(node, f"`{function.name}` runs here in `try`, where it cannot be followed: call it by its "
                                   "name, or take it out of `try`")  # fmt: skip

    def place_tried(self, node: gast.AST) -> Any:
        """The identity of an expression, in the call that is written out."""
        return self.unit.source_place(node), getattr(node, "written_out", 0)
