"""Functions that are handed to a rule: the derivative calls them again, so that they must be the same functions then.

    y = quad(rate, 0.0, 1.0)     ->     Unsupported: `rate`, which is handed to `quad`, changes what lives outside of it ...
    CFG["a"] = 5.0               ->     Unsupported in reverse, where a function was handed over, which may read it

Both are recorded: the run knows whether anything changes.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import emit, runtime
from s2sgrad.analysis import effects, reached
from s2sgrad.analysis.primitive_calls import Operation, is_user_function
from s2sgrad.analysis.trust import Trust
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes_of
from s2sgrad.legality.context import Context
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import libraries
from s2sgrad.rules import table
from s2sgrad.runtime import outside
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.closures import closure
from s2sgrad.source import read

_STORING = (runtime.set_attribute, outside.set_item, outside.delete_items)


def check(context: Context, operation: Operation) -> None:
    """Raise Unsupported for such a function that changes what outlives it."""
    if operation.rule is None or operation.rule.given is None:
        return
    target = context.unit.resolve(operation.node.func)
    for operand in operation.given:
        for function, captured in _functions(context, operand):
            call = gast.Call(operand, captured, [])
            written = mod_ref.summary_of_call(context.unit, function, call, context.kinds).written
            known = not any(place.kind == "any" or place.key is Trust.ANY for place in written)  # no unknown callee
            kinds = {"outside", "own", "in"} if known and libraries.is_numeric(target) else {"outside"}  # it lends no buffer
            surely = any(place.kind in kinds and place.key is not Trust.ANY for place in written)
            if surely or any(_binds_outside(f) or _draws(f) for f in _called_by(function, set())):
                shown = f"`{emit.expression(operand)}`" if context.unit.resolve(operand) is function else "a function"
                called = emit.expression(operation.node.func)
                context.unit.refuse(operation.node, f"{shown}, which is handed to `{called}`, changes what lives outside of "
                                                    "it, so that it is another function when the derivative calls it: "
                                                    "return the value from it")  # fmt: skip


def check_later(context: Context) -> None:
    """Raise Unsupported where a function was handed over, here or by a callee, and may read what is written here."""
    statements = effects.walk(context.tree.body)
    writes = _binds_outside(context.unit.primal.function) or any(_writes_outside(context, s) for s in statements)
    if context.forward or not writes:
        return
    for statement in effects.walk(context.tree.body):
        for call in nodes_of(effects.header(statement), {gast.Call}):
            if _hands_on(context, statement, call) or _hands_over(context.unit.called(call), set()):
                context.unit.refuse(call, "a function is handed on here, which the derivative calls again, and which may "
                                          "read what this function changes: pass it as an argument")  # fmt: skip


def _hands_on(context: Context, statement: gast.AST, call: gast.Call) -> bool:
    """Whether a call hands a function of the user's to a rule."""
    operation = context.paths.operations.get(id(statement))
    if operation is None or operation.node is not call or operation.rule is None or operation.rule.given is None:
        return False
    return any(True for operand in operation.given for _ in _functions(context, operand))


def _functions(context: Context, operand: gast.AST) -> Iterator[tuple[types.FunctionType, list[gast.AST]]]:
    """The functions of the user's that an operand stands for, each with what it takes before the arguments of a call."""
    found = [(context.unit.resolve(operand), list[gast.AST]())]
    if isinstance(operand, gast.Name) and operand.id in context.unit.locals:
        bound = [s.value for s in effects.walk(context.tree.body) if bound_name(s) == operand.id]
        closures = [value for value in bound if context.unit.called(value) is closure]
        found += [(context.unit.resolve(v.args[0]), [*getattr(v.args[1], "elts", ())]) for v in closures]
    for value, captured in found:
        function: Any = its(value, "__func__", value)
        if isinstance(function, types.FunctionType) and libraries.package_of(function) != libraries.OURS:
            yield function, captured


def _writes_outside(context: Context, statement: gast.AST) -> bool:
    """Whether a statement certainly writes what it finds outside; a rule calls no function that does."""
    unit, operation = context.unit, context.paths.operations.get(id(statement))
    if operation is not None and operation.rule is not None:
        return False
    stored = statement.target if isinstance(statement, gast.AugAssign) else effects.stored(statement)
    base = None if stored is None or isinstance(stored, gast.Name) else effects.base(stored)
    if isinstance(statement, gast.Global) or (base is not None and base not in unit.locals):
        return True
    if isinstance(statement, gast.Delete) and any(effects.base(t) not in unit.locals for t in statement.targets):
        return True  # del CFG["a"]
    for call in nodes_of(effects.header(statement), {gast.Call}):
        target = unit.called(call)
        if effects.is_one_of(target, _STORING) or reached.changes_container(unit, call):
            return True
        if _is_users(target):
            written = mod_ref.summary_of_call(unit, target, call, context.kinds).written
            if any(place.kind == "outside" for place in written):
                return True
    return False


def _is_users(target: Any) -> bool:
    """Whether this is a Python function of the user's, and no helper of a gradient's text."""
    function = isinstance(target, types.FunctionType) and is_user_function(target)
    return function and libraries.package_of(target) != libraries.OURS


def _hands_over(target: Any, seen: set[types.FunctionType]) -> bool:
    """Whether a function of the user's, or a callee of it, hands a function to a rule."""
    for function in _called_by(target, seen):
        for call in nodes_of(_text(function), {gast.Call}):
            callee = reached.named(call.func, function)
            rule = None if callee is None else table.lookup(callee)
            if rule is not None and rule.given is not None and any(_is_function(a, function) for a in call.args):
                return True
    return False


def _called_by(target: Any, seen: set[types.FunctionType]) -> Iterator[types.FunctionType]:
    """A function of the user's, and all that it calls by name."""
    if isinstance(target, types.FunctionType) and target not in seen and is_user_function(target):
        seen.add(target)
        yield target
        for call in nodes_of(_text(target), {gast.Call}):
            callee = reached.named(call.func, target)
            yield from _called_by(its(callee, "__func__", callee), seen)


def _text(function: types.FunctionType) -> gast.AST:
    """The tree of a function; an empty one where it has no source, and so no text that calls it."""
    try:
        return read(function).tree
    except S2SGradError:
        return gast.Pass()


def _binds_outside(function: types.FunctionType) -> bool:
    """Whether a function binds a global, or an attribute of an object that it finds outside."""
    tree = _text(function)
    stored = [n for n in nodes_of(tree, {gast.Attribute}) if isinstance(n.ctx, (gast.Store, gast.Del))]
    named = [n for n in nodes_of(tree, {gast.Name}) if isinstance(n.ctx, (gast.Param, gast.Store))]
    local = {n.id for n in named}
    return bool(nodes_of(tree, {gast.Global})) or any(_base(n) not in local for n in stored)


def _draws(function: types.FunctionType) -> bool:
    """Whether a function draws from a random generator, or from an iterator, that it finds outside."""
    for call in nodes_of(_text(function), {gast.Call}):
        target = reached.named(call.func, function)
        from_owner = reached.named(call.func.value, function) if isinstance(call.func, gast.Attribute) else None
        given = reached.named(call.args[0], function) if target is next and call.args else None
        if isinstance(given, Iterator) or isinstance(its(target, "__self__", from_owner), libraries.DRAWING):
            return True
    return False


def _base(node: gast.AST) -> str:
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    return getattr(node, "id", "")


def _is_function(node: gast.AST, home: types.FunctionType) -> bool:
    """Whether an argument may be a function: a lambda, a local name, or the name of one outside."""
    if isinstance(node, (gast.Lambda, gast.Attribute)):
        return True
    found = reached.named(node, home)
    return isinstance(node, gast.Name) and (found is None or callable(found))
