"""Attributes of the caller's objects are assigned again.

    set_attribute(layer, "h", h)      ->      layer.h = h
"""

from __future__ import annotations

import gast

from s2sgrad.outside import set_attribute
from s2sgrad.quote import at, blocks
from s2sgrad.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without calls of `set_attribute`."""
    tree.body = _block(unit, tree.body)
    return tree


def _block(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    out = []
    for statement in body:
        for inner in blocks(statement):
            inner[:] = _block(unit, inner)
        call = statement.value if isinstance(statement, gast.Expr) else None
        if isinstance(call, gast.Call) and unit.resolve(call.func) is set_attribute:
            owner, attribute, value = call.args
            target = gast.Attribute(owner, attribute.value, gast.Store())
            statement = at(statement, gast.Assign([target], value, None))[0]
        out.append(statement)
    return out
