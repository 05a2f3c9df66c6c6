"""Stores to attributes of the caller's objects become assignments again.

    set_attribute(layer, "h", h)      ->      layer.h = h
"""

from __future__ import annotations

import gast

from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import at, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.outside import set_attribute


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Replace calls of `set_attribute`."""
    tree.body = rewritten(tree.body, lambda statement: [_statement(unit, statement)])
    return tree


def _statement(unit: Unit, statement: gast.AST) -> gast.AST:
    call = alone(statement)
    if unit.called(call) is not set_attribute:
        return statement
    owner, attribute, value = call.args
    return at(statement, gast.Assign([gast.Attribute(owner, attribute.value, gast.Store())], value, None))[0]
