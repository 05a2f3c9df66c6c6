"""Arrays of other libraries that meet a derivative: refused where the kinds know, else checked when the function runs.

    y = a * s                 ->      Unsupported: `s` is a Series, whose operators are not those of arrays
    t = frame["x"]; a * t     ->      no_guest(t, "frame[..]", 7); a * t

A constant may be computed from them as they are (`s.mean()`, `s > 0`), and may be an index.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import emit, runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Instance, Kind, Opaque, Unknown
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.selected import is_of_rules
from s2sgrad.analysis.value_kinds import Guest
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import at, constant, name, nested
from s2sgrad.legality.context import Context
from s2sgrad.rules import instances, table
from s2sgrad.runtime.guests import has_operators, is_array_of_others, refused_guest

Suspects = dict[str, gast.AST | None]
"""Local names that may stand for arrays of other libraries, with what they are bound to."""


def suspects(context: Context) -> Suspects:
    """The names that may stand for such arrays: objects of which nothing is known, and what is computed from these."""
    if context.unit.primal.is_generated or is_of_rules(context.unit.primal.function):  # a rule says what it takes
        return {}
    out: Suspects = {n: None for n, kind in context.kinds.items() if _may_hold(kind)}
    bound = [(n, s.value) for s in effects.walk(context.tree.body) if (n := bound_name(s)) is not None]
    before = -1
    while before < len(out):
        before = len(out)
        for target, value in bound:
            is_unknown = type(context.kinds.get(target)) is Unknown
            if is_unknown and any(_is_suspect(context, n, out) for n in effects.loads(value)):
                out.setdefault(target, value)
    return out


def _may_hold(kind: Kind | None) -> bool:
    if isinstance(kind, Container):
        return any(map(_may_hold, kind.items if kind.items is not None else (kind.item,)))
    return isinstance(kind, Guest) or type(kind) is Opaque


def _is_suspect(context: Context, node: gast.Name, found: Suspects) -> bool:
    return node.id in found or is_array_of_others(type(context.unit.resolve(node)))


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
        local = isinstance(operand, gast.Name) and operand.id in found
        if local and (operand.id not in context.varied or isinstance(kind, Container)):
            checks.append(_checked(context, operation, operand, found))
    return checks


def _checked(context: Context, operation: Operation, operand: gast.Name, found: Suspects) -> gast.Expr:
    """The check of one operand.  It may be a sparse array where its own methods tell what the operation does with it, or
    where the operation stands for a method of what was made of it."""
    shown = constant(context.unit.shown(operand.id, found[operand.id]))
    called, line = name(context.unit.helper("no_guest", runtime.no_guest)), constant(getattr(operation.node, "lineno", 0))
    target = operation.target
    takes = target is np.matmul or table.is_own_operator(target) or instances.is_of_method(target)
    sparse = [constant(True)] if takes else []
    return gast.Expr(gast.Call(called, [name(operand.id), shown, line, *sparse], []))


def _guest(kind: Kind | None) -> type | None:
    """The class of such an array, where this is, or holds, one for certain."""
    if isinstance(kind, Container):
        return next(filter(None, map(_guest, kind.items or ())), None)
    if isinstance(kind, Guest) or (isinstance(kind, Instance) and _is_guest(kind.cls)):
        return kind.cls
    return None


def _is_guest(cls: type) -> bool:
    return is_array_of_others(cls) or has_operators(cls)


def insert(tree: gast.FunctionDef, checks: dict[int, list[gast.AST]]) -> bool:
    """Insert the checks before the statements; whether there are any."""
    for body in nested(tree.body) if checks else ():
        body[:] = [s for statement in body for s in (*at(statement, *checks.get(id(statement), ())), statement)]
    return bool(checks)
