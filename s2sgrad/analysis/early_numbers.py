"""Which names are numbers, as far as the kinds of arguments tell before those of other names are known: these have no
memory that is written in place.

    def f(a, x):  b = 2.0 * a;  y = g(b, x)      ->      {a, b}, where `a` is a number
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind, Number
from s2sgrad.ir.forms import bound_name, number
from s2sgrad.ir.quote import children
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit, parameters


def of(unit: Unit, tree: gast.FunctionDef) -> dict[str, Kind]:
    """The arguments that are numbers and stay so, and the names that are bound once, to arithmetic on numbers alone."""
    bound, given = bindings(tree.body), {p.id for p in parameters(tree)}
    numbers: dict[str, Kind] = {
        p: kind for p, kind in unit.arguments.kinds.items() if isinstance(kind, Number) and not bound[p]
    }
    for statement in effects.walk(tree.body):
        local = bound_name(statement)
        if local is not None and bound[local] == 1 and local not in given and _is_number(statement.value, numbers):
            numbers[local] = Number(None)
    return numbers


def _is_number(node: gast.AST, numbers: dict[str, Kind]) -> bool:
    if isinstance(node, (gast.BinOp, gast.UnaryOp)):
        return all(_is_number(side, numbers) for side in children(node) if isinstance(side, gast.expr))
    return number(node) is not None or getattr(node, "id", None) in numbers
