"""Attributes of the caller's objects, and items of what lives outside, are assigned again.

set_attribute(layer, "h", h)      ->      layer.h = h               set_item(COUNTS, "n", 1)      ->      COUNTS["n"] = 1

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... class Layer:
...     pass
... layer = Layer()
... def f(x):
...     layer.h = 2.0 * x
...     return layer.h * x
... ''', "attribute_writeback", 2.0))
-     set_attribute(layer, 'h', layer_h)
+     layer.h = layer_h
"""

from __future__ import annotations

import gast

from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import at, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.outside import set_attribute, set_item


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without calls of `set_attribute` and `set_item`."""
    tree.body = rewritten(tree.body, lambda statement: [_statement(unit, statement)])
    return tree


def _statement(unit: Unit, statement: gast.AST) -> gast.AST:
    call = alone(statement)
    called = unit.called(call)
    if call is None:
        return statement
    if called is set_attribute:
        owner, attribute, value = call.args
        made: gast.AST = gast.Attribute(owner, attribute.value, gast.Store())
    elif called is set_item and getattr(call.args[0], "id", "") not in unit.locals:
        owner, key, value = call.args
        made = gast.Subscript(owner, key, gast.Store())
    else:
        return statement
    return at(statement, gast.Assign([made], value, None))[0]
