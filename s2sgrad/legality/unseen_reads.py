"""Functions that only the run knows, beside what is written outside of the function: they must not read it there.

    layer.h = h                              layer_act = layer.act
    y = layer.act(h)      ->                 unreached(2, (layer,), layer_act)      raises where it refers to `layer`
                                             layer.h = h
                                             y = layer_act(h)

Such a function would read what is written as a constant: the derivative would be lost. What a function refers to is looked
up when it is known (`analysis.reached_codes`); functions that are known now are looked into by `transform.global_conflicts`.
"""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Slicing, Text
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import at, clone, constant, mentioned, name, nested
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.legality.context import Context
from s2sgrad.primitives import catalogue

_DATA = (Array, Number, Text, Slicing)
_KNOWN = (types.FunctionType, types.ModuleType, type(np.sin))


def note(context: Context, call: gast.Call) -> None:
    """Note the names through which a call may run what only the run knows."""
    if context.unit.primal.is_generated:  # the checks are in the primal text
        return
    target = context.unit.resolve(call.func)
    parts = [] if isinstance(target, _KNOWN) or catalogue.of(target).pure else [_owner(call.func)]
    parts += [] if catalogue.of(target).pure else arguments_of(call)
    if names := {n.id for part in parts for n in effects.loads(part) if not _is_data(context, n)}:
        context.unit.outside.unseen.append(call)
        context.unseen |= names


def _owner(function: gast.AST) -> gast.AST:
    return function.value if isinstance(function, gast.Attribute) else function


def _is_data(context: Context, node: gast.Name) -> bool:
    """Whether a name stands for numbers, arrays or texts, or containers of these, or for what is known now."""
    found = context.unit.resolve(node)
    if found is MISSING:
        return _holds_data(context.kinds.get(node.id))
    return isinstance(found, (*_KNOWN, type, types.BuiltinFunctionType))


def _holds_data(kind: Kind | None) -> bool:
    return isinstance(kind, _DATA) or (isinstance(kind, Container) and _holds_data(kind.element()))


def check(context: Context) -> bool:
    """Insert the checks where something outside is written; whether there are any."""
    unit, tree = context.unit, context.tree
    written = [owner for owner, cls in unit.outside.given_objects if cls in unit.outside.separate]
    written += map(name, sorted(unit.outside.loses_to))
    if not written or unit.primal.is_generated:
        return False
    suspects = context.unseen | (unit.outside.unopened & mentioned(*tree.body))
    suspects -= {n for w in written for n in mentioned(w)}
    bound = {n for statement in effects.walk(tree.body) for n in binds(statement)}
    free = {n for n in suspects - bound if n in context.parameters or unit.resolve(name(n)) is not MISSING}
    for body in nested(tree.body):
        _insert(unit, body, written, suspects & bound)
    given = free | (suspects & context.parameters)
    tree.body[:0] = at(tree.body[0], _check(unit, written, given, tree.body[0])) if given else []
    return bool(suspects)


def _insert(unit: Unit, body: list[gast.AST], written: list[gast.AST], suspects: set[str]) -> None:
    """Check the suspects that a block binds: behind the last of the attributes that are loaded one after the other."""
    out: list[gast.AST] = []
    loaded: set[str] = set()
    for statement in body:
        names = suspects & set(binds(statement))
        if loaded and not _only_loads(statement):
            out += at(out[-1], _check(unit, written, loaded, out[-1]))
            loaded = set()
        out.append(statement)
        if isinstance(statement, gast.For):
            statement.body[:0] = at(statement, _check(unit, written, names, statement)) if names else []
        else:
            loaded |= names
    body[:] = [*out, *at(body[-1], _check(unit, written, loaded, body[-1]))] if loaded else out


def _only_loads(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Assign) and isinstance(statement.value, (gast.Attribute, gast.Subscript))


def _check(unit: Unit, written: list[gast.AST], names: set[str], place: Any) -> gast.AST:
    """The check that nothing behind these names refers to what is written."""
    objects = gast.Tuple([clone(w) for w in written], gast.Load())
    called = name(unit.helper("unreached", runtime.unreached))
    return gast.Expr(gast.Call(called, [constant(getattr(place, "lineno", 0)), objects, *map(name, sorted(names))], []))
