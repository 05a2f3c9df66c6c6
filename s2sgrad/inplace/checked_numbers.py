"""Results of unknown functions, assumed to be numbers where aliasing could not be resolved otherwise.

y = f(t)          ->      given = f(t); y = as_number(given, "y", 7)          checked at run time
z += y                    z += y
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.contents import holds_unknown
from s2sgrad.analysis.inference import VJP
from s2sgrad.analysis.kinds import Kind, Unknown
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import COMPOUND, assign, at, constant, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit


def check(unit: Unit, tree: gast.FunctionDef, kinds: Mapping[str, Kind], places: Occurrences, suspects: set[str]) -> bool:
    """Check the results of unknown functions that these names derive from; whether there were any."""
    waiting, met, found = sorted(suspects), set(), []
    changing: dict[str, list[gast.AST]] = {}
    for statement in effects.walk(tree.body):
        for changed in () if isinstance(statement, COMPOUND) else effects.writes(statement):
            changing.setdefault(changed, []).append(statement)
    while waiting:
        suspect = waiting.pop()
        if suspect in met or not holds_unknown(kinds.get(suspect)):
            continue
        met.add(suspect)
        for statement in changing.get(suspect, ()):
            if _bound_to_unknown(unit, kinds, places, statement) == suspect:
                found.append(statement)
            else:
                waiting += effects.reads(statement)
    for statement in found:
        _checked(unit, places, statement)
    return bool(found)


def _bound_to_unknown(unit: Unit, kinds: Mapping[str, Kind], places: Occurrences, statement: gast.AST) -> str | None:
    """The name that a statement binds to the result of an unknown function: by `y, pullback = t` with `t = vjp(..)`, or by a
    call of a variable.
    """
    if not isinstance(statement, gast.Assign):
        return None
    value, pair = statement.value, statement.targets[0]
    if isinstance(pair, gast.Tuple):
        made = places.binding(value.id) if isinstance(value, gast.Name) else [statement]
        is_pair = all(effects.is_one_of(unit.called(s.value), VJP) for s in made)
        return pair.elts[0].id if is_pair and isinstance(pair.elts[0], gast.Name) else None
    variable = value.func.id if isinstance(value, gast.Call) and isinstance(value.func, gast.Name) else ""
    known = variable not in unit.locals or type(kinds.get(variable)) is not Unknown
    return None if known else bound_name(statement)


def _checked(unit: Unit, places: Occurrences, statement: gast.AST) -> None:
    """Insert the check of a result after the statement that binds it."""
    target, given = statement.targets[0], unit.temp()
    x = target.id if isinstance(target, gast.Name) else target.elts[0].id
    if isinstance(target, gast.Name):
        statement.targets[0] = gast.Name(given, gast.Store(), None, None)
    else:
        target.elts[0] = gast.Name(given, gast.Store(), None, None)
    shown, line = constant(unit.shown(x, statement.value)), constant(getattr(statement, "lineno", 0))
    checked = call(unit, "as_number", runtime.as_number, name(given), shown, line)
    places.replace(statement, [statement, *at(statement, assign(x, checked))])
