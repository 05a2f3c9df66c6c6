"""Marks variables through which no gradient flows: the values assigned to them become constants.

    b = 2.0 * a      ->      b = stop_gradient(2.0 * a)

>>> from s2sgrad import emit
>>> from s2sgrad.ir.unit import Unit
>>> from s2sgrad.source import read
>>> def f(a, c):
...     b = 2.0 * a
...     return b * c
>>> print(emit.function(run(*Unit.of(read(f)), ("b",))).rstrip())
def f(a, c):
    b = stop_gradient(2.0 * a)
    return b * c
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import at, name, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef, stops: tuple[str, ...]) -> gast.FunctionDef:
    """The tree with the flow stopped at these variables, each of which is assigned once (`assigned_once`)."""
    stops = tuple(set(stops) - {p.id for p in parameters(tree)})  # a parameter needs no mark
    for statement in nodes(tree):
        target = statement.targets[0] if isinstance(statement, gast.Assign) else getattr(statement, "target", None)
        if isinstance(statement, (gast.Assign, gast.AnnAssign)) and isinstance(target, gast.Name) and target.id in stops:
            if isinstance(statement.value, gast.Lambda):
                unit.refuse(statement, f"`{target.id}`, at which the gradient stops, is a function: name a value")
            called = name(unit.helper("stop_gradient", runtime.stop_gradient))
            statement.value = at(statement.value, gast.Call(called, [statement.value], []))[0]
    return tree


def assigned_once(tree: gast.FunctionDef, local: str) -> bool:
    """Whether a variable is assigned by exactly one plain statement, outside loops and nested functions."""
    return bindings(tree.body)[local] == 1 and _plainly(tree.body, local)


def _plainly(body: list[gast.AST], local: str) -> bool:
    for statement in body:
        target = statement.targets[0] if isinstance(statement, gast.Assign) else getattr(statement, "target", None)
        plain = isinstance(statement, gast.Assign) or (isinstance(statement, gast.AnnAssign) and statement.value is not None)
        if plain and isinstance(target, gast.Name) and target.id == local:
            return True
        if isinstance(statement, (gast.If, gast.With)):
            if _plainly(statement.body, local) or _plainly(getattr(statement, "orelse", []), local):
                return True
    return False
