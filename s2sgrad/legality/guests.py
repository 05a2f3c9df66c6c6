"""Arrays of other libraries that meet a derivative: refused where the kinds know, else checked when the function runs.
The same for lists, arrays and numbers of a user's class with methods of its own, which the kinds see in `own_readers`.

    y = a * s                 ->      Unsupported: `s` is a Series, whose operators are not those of arrays
    t = frame["x"]; a * t     ->      no_guest(t, "frame[..]", 7); a * t

A constant may be computed from them as they are (`s.mean()`, `s > 0`), and may be an index.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import emit, runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container, Instance, Kind, Known, Opaque, Unknown
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.selected import is_of_rules
from s2sgrad.analysis.value_kinds import Guest
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import at, constant, name, nested, nodes_of
from s2sgrad.ir.unit import MISSING
from s2sgrad.legality.context import Context
from s2sgrad.primitives import libraries
from s2sgrad.rules import instances, table
from s2sgrad.runtime.guests import has_operators, is_array_of_others, refused_guest
from s2sgrad.runtime.homes import is_of_library

Suspects = dict[str, gast.AST | None]
"""Local names that may stand for arrays of other libraries, with what they are bound to."""


def suspects(context: Context, inference: Inference) -> Suspects:
    """The names that may stand for such objects: of which nothing is known, and what is taken out of these.  The operands of
    what has a rule are checked, and so its result is a plain one."""
    if context.unit.primal.is_generated or is_of_rules(context.unit.primal.function):  # a rule says what it takes
        return {}
    given = context.parameters
    out: Suspects = {n: None for n, k in context.kinds.items() if _is_opaque(k) or (n in given and _may_be(k))}
    flows = [(s, effects.writes(s)) for s in effects.walk(context.tree.body) if not _is_checked(context, s)]
    before = -1
    while before < len(out):
        before = len(out)
        for statement, names in flows:
            met = [n for n in names if n not in out and _may_be(context.kinds.get(n))]
            if met and _reads_suspect(context, effects.header(statement), inference, out):
                out.update(dict.fromkeys(met, getattr(statement, "value", None)))
    return out


def _is_checked(context: Context, statement: gast.AST) -> bool:
    """Whether an operation gives no such object, as its operands are checked; or its result is, that of a pair."""
    operation = context.paths.operations.get(id(statement))
    if operation is None or context.paths.active.isdisjoint(binds(statement)):
        return False
    by_rule = operation.rule is not None and operation.rule.given is None
    return by_rule or (operation.form == "call" and operation.target is MISSING)


def _is_opaque(kind: Kind | None) -> bool:
    if isinstance(kind, Container):
        return any(map(_is_opaque, kind.items if kind.items is not None else (kind.item,)))
    return isinstance(kind, Guest) or type(kind) is Opaque


def _may_be(kind: Kind | None) -> bool:
    """Whether a value may be, hold, or give out such an object."""
    if isinstance(kind, Container):
        return any(map(_may_be, kind.items if kind.items is not None else (kind.element(),)))
    if isinstance(kind, Known):  # a callable object, whose attributes and items are not known
        return not is_of_library(type(kind.value))
    return type(kind) is Unknown or _is_opaque(kind) or (isinstance(kind, Instance) and any(map(_may_be, kind.items)))


def _reads_suspect(context: Context, node: gast.AST, inference: Inference, found: Suspects) -> bool:
    """Whether an expression reads such a name, or what is so outside, or calls what may give more than its arguments."""
    for call in nodes_of(node, {gast.Call}):
        target = context.unit.called(call)
        method = target is MISSING and isinstance(call.func, gast.Attribute)
        of_arguments = libraries.is_numeric(target) or libraries.library(libraries.package_of(target)).shares_arguments
        if not method and not of_arguments:
            return True
    for read in (*effects.loads(node), *nodes_of(node, {gast.Attribute})):
        if isinstance(read, gast.Name) and read.id in context.unit.locals:
            if read.id in found:
                return True
        elif (value := context.unit.resolve(read)) is not MISSING:
            if is_array_of_others(type(value)) or _may_be(inference.outside(value)):
                return True
    return False


def check(context: Context, operation: Operation, found: Suspects) -> list[gast.AST]:
    """Refuse an operand that is such an array; the checks of those that may be."""
    of_the_users = operation.rule is not None and operation.rule.given is not None
    if context.unit.primal.is_generated or operation.form != "rule" or of_the_users:
        return []
    checks: list[gast.AST] = []
    for operand in operation.given:
        called_itself = operand is getattr(operation.node, "func", None)  # by the rule of its class: `np.poly1d([..])(x)`
        if called_itself or not isinstance(operand, (gast.Name, gast.Attribute)):
            continue
        kind = context.kind(operand)
        cls = _guest(kind) or type(context.unit.resolve(operand))
        if _is_guest(cls) and operation.target not in vars(cls).values():
            what = context.unit.word(operand.id) if isinstance(operand, gast.Name) else f"`{emit.expression(operand)}`"
            seen = isinstance(kind, Instance) and is_array_of_others(cls)
            way = "read its attributes, or call a method that gives the array"
            lost = f"{what} is a {cls.__name__}, whose attributes NumPy does not follow where it makes an array of it: {way}"
            context.unit.refuse(operation.node, lost if seen else refused_guest(cls, what))
        if isinstance(operand, gast.Name) and operand.id in found:
            checks.append(_checked(context, operation, operand, found))
    return checks


def check_flat(context: Context, operation: Operation, found: Suspects) -> list[gast.AST]:
    """The checks of what meets a derivative in an operation that drops it: `x // p` is flat only of plain numbers."""
    if operation.form != "flat" or not context.depends(operation.node):
        return []
    met = sorted({n.id for n in effects.loads(operation.node) if n.id in found})
    return [_called(context, "no_subclass", runtime.no_subclass, n, found[n], operation.node) for n in met]


def _called(context: Context, word: str, helper: Any, local: str, bound: gast.AST | None, node: gast.AST) -> gast.Expr:
    """The statement that checks one name."""
    shown, line = constant(context.unit.shown(local, bound)), constant(getattr(node, "lineno", 0))
    return gast.Expr(gast.Call(name(context.unit.helper(word, helper)), [name(local), shown, line], []))


def _checked(context: Context, operation: Operation, operand: gast.Name, found: Suspects) -> gast.Expr:
    """The check of one operand.  It may be a sparse array where its own methods tell what the operation does with it, or
    where the operation stands for a method of what was made of it."""
    target = operation.target
    takes = target is np.matmul or table.is_own_operator(target) or instances.is_of_method(target)
    statement = _called(context, "no_guest", runtime.no_guest, operand.id, found[operand.id], operation.node)
    statement.value.args += [constant(True)] if takes else []
    return statement


def _guest(kind: Kind | None) -> type | None:
    """The class of such an array, where this is, or holds, one for certain."""
    if isinstance(kind, Container):
        return next(filter(None, map(_guest, kind.items or ())), None)
    if isinstance(kind, Guest) or (isinstance(kind, Instance) and _is_guest(kind.cls)):
        return kind.cls
    return None


def _is_guest(cls: type) -> bool:
    return is_array_of_others(cls) or has_operators(cls)


def _once(checks: list[gast.AST]) -> list[gast.AST]:
    """Checks without those that ask the same."""
    return [*{gast.dump(check): check for check in checks}.values()]


def insert(tree: gast.FunctionDef, checks: dict[int, list[gast.AST]]) -> bool:
    """Insert the checks before the statements; whether there are any."""
    for body in nested(tree.body) if checks else ():
        body[:] = [s for statement in body for s in (*at(statement, *_once(checks.get(id(statement), []))), statement)]
    return bool(checks)
