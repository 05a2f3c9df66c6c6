"""Updates of what may be a number or an array, by what it is when they run.

x += e      ->      t = x + e
                    if isinstance(x, np.ndarray): x[...] = t
                    else: x = t

d[k] += e, in normal form t = d[k]; v = t + e; d[k] = v, likewise: the array is written, or the number is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind, Numeric
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.ir.quote import assign, at, clone, constant, name
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.unit import Unit


def are_possible(kind: Kind | None) -> bool:
    """Whether a value is known to be a number or an array, of a dtype to which `x[...] = x + e` rounds like `x += e`."""
    return type(kind) is Numeric and kind.dtype == "float64"


def run(unit: Unit, tree: gast.FunctionDef, kinds: Mapping[str, Kind], places: Occurrences) -> bool:
    """Branch at all updates `x += e` of such values; whether there are any."""
    updates = [s for s in effects.walk(tree.body) if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)]
    found = [s for s in updates if are_possible(kinds.get(s.target.id))]
    for statement in found:
        replace(unit, places, statement)
    return bool(found)


def replace(unit: Unit, places: Occurrences, statement: gast.AugAssign) -> None:
    """Branch at one of them."""
    x, updated = statement.target.id, unit.temp()
    value = gast.BinOp(name(x), statement.op, statement.value)
    rebound = at(statement, assign(x, name(updated)))
    chosen = _chosen(unit, x, name(updated), statement, rebound)
    places.replace(statement, [*at(statement, assign(updated, value)), *chosen])


def of_item(unit: Unit, statement: gast.Assign, held: str) -> list[gast.AST]:
    """The statements for `d[k] = v`, where `v` is the updated value of the item `held`."""
    stored = gast.Assign(statement.targets, statement.value, None)
    return _chosen(unit, held, clone(statement.value), statement, at(statement, stored))


def _chosen(unit: Unit, x: str, value: gast.AST, statement: gast.AST, otherwise: list[gast.AST]) -> list[gast.AST]:
    whole = gast.Subscript(name(x), constant(Ellipsis), gast.Store())
    test = call(unit, "isinstance", isinstance, name(x), numpy_function(unit, "ndarray"))
    written = unit.temp()  # what the test says of the old value
    stored = at(statement, gast.Assign([whole], value, None))
    return at(statement, assign(written, test), gast.If(name(written), stored, otherwise))
