"""Calls in `try` of what only partial evaluation knows: methods, constructors and properties of objects.

    try: total += t.drain(v)              which, t1 = outcome(lambda: t.drain(v), ValueError)
    except ValueError: total = 0.0   ->   if which == 0: total += t1
                                          else: total = 0.0

`specialize.guarded_calls` writes out a text for such a call in which each piece is tried (`guarded_texts`): what the
method has written when it raises stays.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class, lineage
from s2sgrad.analysis.reached_classes import fields_of, methods_of, reached
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir import scoping
from s2sgrad.ir.forms import opposite
from s2sgrad.ir.quote import assign, at, clone, constant, empty_arguments, expression, name, nodes, stored
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import trials

_TAKING = (sum, list, tuple, max, min)
COMPUTED = (property, functools.cached_property)


class Deferred:
    """Which expressions may run a method of an object of a user's class; `classes` are those in reach of a function."""

    def __init__(self, unit: Unit, nested: Iterable[str]) -> None:
        self.unit, self.nested = unit, frozenset(nested)
        known = [*unit.receivers.values(), *(getattr(opened, "cls", None) for opened in unit.opened.values())]
        units = [unit] if unit.around is None else [unit, unit.around]
        begin = [c for u in units for c in (*known, *u.helpers.values()) if is_plain_class(c)]
        classes, _ = reached(*(u.primal.function for u in units), *begin)
        classes = [c for c in dict.fromkeys([*classes, *begin]) if is_plain_class(c)]
        members = [(a, f) for c in classes for k in lineage(c)[:-1] for a, f in vars(k).items()]
        self.computed = {a for a, f in members if isinstance(f, COMPUTED)}
        self.methods = set().union(*map(methods_of, classes))
        self.held = self.methods.union(*map(fields_of, classes))

    def is_one(self, node: gast.AST | None) -> bool:
        """Whether an expression itself may run such a method."""
        if isinstance(node, gast.Attribute):
            return node.attr in self.computed and self.unit.resolve(node) is MISSING
        return isinstance(node, gast.Call) and self._is_call(node)

    def among(self, node: gast.AST | None) -> bool:
        """Whether a part of an expression may."""
        return node is not None and any(map(self.is_one, nodes(node)))

    def _is_call(self, call: gast.Call) -> bool:
        target = self.unit.resolve(call.func)
        if target is setattr:
            return True
        if isinstance(target, types.MethodType) and is_plain_class(target.__self__):
            return True
        if target is MISSING:
            return self._is_unknown(call.func)
        if is_plain(target):  # objects may be among the arguments
            return not self.held.isdisjoint(_asked(target))
        return is_plain_class(target)

    def _is_unknown(self, func: gast.AST) -> bool:
        if isinstance(func, gast.Attribute):
            return func.attr in self.methods or not catalogue.methods_named(func.attr)
        called = "__call__" in self.methods or self.unit.guard is not None
        return called and (isinstance(func, gast.Subscript) or getattr(func, "id", None) in self.unit.locals - self.nested)


@functools.lru_cache(maxsize=256)
def _asked(function: types.FunctionType) -> frozenset[str]:
    """The attributes that a function and its callees ask for."""
    return frozenset(reached(function)[1])


class DeferredCalls:
    """The statements for such expressions, in one `try`; `which` is the variable with the number of the handler."""

    unit: Unit
    which: str
    trials: Any
    kinds: Any
    told: bool

    def is_deferred(self, value: gast.AST | None) -> bool:
        """Whether the value of a statement may run a method of an object."""
        return self.trials.deferred.is_one(value)

    def deferred(self, statement: gast.AST, rest: Callable[[], list[gast.AST]]) -> list[gast.AST]:
        """`y = t.drain(v)`, `return t.drain(v)`, or the call alone; its operands are evaluated before it."""
        before = self.operands(statement)
        if before:
            return self.body([*before, statement], rest())
        if not self.kinds.are_known:
            self.unit.refuse(statement, "the exceptions that this `try` catches are not known, so that a method cannot be "
                                        "followed in it: name the classes")  # fmt: skip
        result = self.unit.temp()
        target = gast.Tuple([name(self.which, store=True), name(result, store=True)], gast.Store())
        tried = gast.Lambda(empty_arguments(), clone(statement.value))
        words = [gast.keyword("told", constant(True))] if self.told else []
        called = gast.Call(name(self.unit.helper("outcome", trials.outcome)), [tried, *clone(self.kinds.texts)], words)
        said = at(statement, gast.Assign([target], at(statement.value, called)[0], None))
        done: list[gast.AST] = []
        if not isinstance(statement, gast.Expr):
            statement.value = at(statement.value, name(result))[0]
            done = self.body([statement], [])
        done = [*done, *rest()] if not isinstance(statement, gast.Return) else done
        return [*said, *at(statement, gast.If(self.equals(0), done, []))] if done else said

    def operands(self, statement: gast.AST) -> list[gast.AST]:
        """Assignments of the operands that may raise, or run methods themselves, to names, which take their places."""
        value, out = statement.value, []
        if isinstance(value, gast.Attribute):
            value.value = self.operand(value.value, out)
            return at(statement, *out)
        if isinstance(value.func, gast.Attribute) and self.unit.called(value.func.value) is not super:
            value.func.value = self.operand(value.func.value, out)
        elif isinstance(value.func, gast.Subscript):
            value.func = self.operand(value.func, out)
        for k, argument in enumerate(value.args):
            if isinstance(argument, gast.Starred):
                argument.value = self.operand(argument.value, out)
            else:
                value.args[k] = self.operand(argument, out)
        for keyword in value.keywords:
            keyword.value = self.operand(keyword.value, out)
        return at(statement, *out)

    def operand(self, node: gast.AST, out: list[gast.AST]) -> gast.AST:
        """An operand: where it may raise, the name for it, which `out` binds."""
        path = node
        while isinstance(path, gast.Attribute) and not self.is_deferred(path):
            path = path.value
        plain = isinstance(path, (gast.Name, gast.Constant)) and not self.kinds.catch(AttributeError)
        if plain or isinstance(node, (gast.Name, gast.Constant, gast.Lambda)) or self.unit.resolve(node) is not MISSING:
            return node
        if self.trials.computes(node) and not self.kinds.risk(node):
            return node
        holder = self.unit.temp()
        out.append(assign(holder, node))
        return at(node, name(holder))[0]

    def of_object(self, statement: gast.AST) -> list[gast.AST] | None:
        """Simpler statements for one that asks objects in its target, its test or a conditional expression; None for any
        other."""
        if isinstance(statement, (gast.If, gast.While)):
            return self.asked(statement) if self.trials.deferred.among(statement.test) else None
        if isinstance(statement, gast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if self.trials.deferred.is_one(target):
                return self.set_computed(target, statement.value)
            if _has_parts(target):
                return self.bound_in_turn(statement)
        if isinstance(statement, gast.AugAssign) and self.trials.deferred.is_one(statement.target):
            return self.updated(statement)
        return self.of_value(statement) if self.trials.deferred.among(getattr(statement, "value", None)) else None

    def of_value(self, statement: gast.AST) -> list[gast.AST] | None:
        """The same for a statement whose value asks objects."""
        value = statement.value
        if (written := self.looped_over(statement)) is not None:
            return written
        if isinstance(statement, gast.AugAssign):
            return self.updated(statement) if isinstance(statement.target, gast.Attribute) else None
        if not isinstance(value, gast.IfExp) or not isinstance(statement, (gast.Assign, gast.Return)):
            return None
        arms = [clone(statement), statement]
        for arm, chosen in zip(arms, (value.body, value.orelse), strict=True):
            arm.value = chosen
        return [gast.If(value.test, *([arm] for arm in arms))]

    def asked(self, statement: gast.If | gast.While) -> list[gast.AST] | None:
        """The same for a test that asks objects."""
        if isinstance(statement, gast.If):
            return self.tested(statement)
        leave = [gast.If(opposite(statement.test), [*statement.orelse, gast.Break()], [])]
        statement.test, statement.body, statement.orelse = constant(True), at(statement, *leave) + statement.body, []
        return [statement]

    def bound_in_turn(self, statement: gast.Assign) -> list[gast.AST]:
        """`self.a, x[0] = b, c`: all values come first."""
        parts = [(part, self.unit.temp()) for part in statement.targets[0].elts]
        names = gast.Tuple([name(holder, store=True) for _, holder in parts], gast.Store())
        return [gast.Assign([names], statement.value, None),
                *(gast.Assign([part], name(holder), None) for part, holder in parts)]  # fmt: skip

    def looped_over(self, statement: gast.AST) -> list[gast.AST] | None:
        """A loop for `ys = [t.drain(v) for v in x]`, and for `sum(t.drain(v) for v in x)`; None for anything else."""
        value = statement.value
        whole = isinstance(value, gast.Call) and any(self.unit.called(value) is taking for taking in _TAKING)
        listed = value.args[0] if whole and len(value.args) == 1 and not value.keywords else value
        if not isinstance(listed, gast.ListComp if listed is value else (gast.ListComp, gast.GeneratorExp)):
            return None
        if len(listed.generators) > 1 or not isinstance(getattr(statement, "target", name("")), gast.Name):
            return None
        (each,), items = listed.generators, self.unit.temp()
        own = {n: self.unit.local(n) for n in stored(each.target)}
        scoping.rename(own, each.target, listed.elt, *each.ifs)
        add = gast.Call(gast.Attribute(name(items), "append", gast.Load()), [listed.elt], [])
        body: list[gast.AST] = [gast.Expr(add)]
        for test in reversed(each.ifs):
            body = [gast.If(test, body, [])]
        if listed is value:
            statement.value = name(items)
        else:
            value.args[0] = name(items)
        return [assign(items, gast.List([], gast.Load())), gast.For(each.target, each.iter, body, [], None), statement]

    def set_computed(self, target: gast.Attribute, value: gast.AST) -> list[gast.AST]:
        """`t.level = v` where a property may set it."""
        holder = self.unit.temp()
        text = expression("f(o, a, v)", f=self.unit.builtin(setattr), o=target.value, a=constant(target.attr), v=holder)
        return [assign(holder, value), gast.Expr(text)]

    def updated(self, statement: gast.AugAssign) -> list[gast.AST]:
        """`t.level += v`: the old value is read first."""
        target, old = statement.target, self.unit.temp()
        read_ = gast.Attribute(clone(target.value), target.attr, gast.Load())
        update = gast.AugAssign(name(old, store=True), statement.op, statement.value)
        return [assign(old, read_), update, gast.Assign([target], name(old), None)]

    def tested(self, statement: gast.If) -> list[gast.AST] | None:
        """An `if` whose test is a name, or computes from one."""
        test = statement.test
        if isinstance(test, gast.BoolOp):
            holder, first, rest = self.unit.temp(), test.values[0], test.values[1:]
            more = rest[0] if len(rest) == 1 else gast.BoolOp(test.op, rest)
            asked: gast.AST = name(holder) if isinstance(test.op, gast.And) else gast.UnaryOp(gast.Not(), name(holder))
            statement.test = name(holder)
            return [assign(holder, first), gast.If(asked, [assign(holder, more)], []), statement]
        holding = gast.Expr(test)
        if (first := self.trials.apart(holding)) is None:
            return None
        statement.test = holding.value
        return [first, statement]


def _has_parts(target: gast.AST) -> bool:
    """Whether a tuple of targets has parts of objects or arrays among its names."""
    parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
    plain = all(isinstance(part, (gast.Name, gast.Attribute, gast.Subscript)) for part in parts)
    return plain and not all(isinstance(part, gast.Name) for part in parts)
