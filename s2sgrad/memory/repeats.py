"""What may do something else when it is run a second time: a call under `checkpoint`, a trip of a loop over `checkpointed`.

    u = step(u); t = np.sin(u)                            the same again
    u += rng.normal(size=3); print(u); next(it)           not the same

Values alone are run again, so that what is not known to compute is not run again: unknown callees, and what draws, prints,
uses up an iterator, or changes what outlives the call.  A function that has a derivative is one of its arguments; one that
is a constant may draw random numbers, and is looked into.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects, protocols, with_regions
from s2sgrad.ir.forms import alone, arguments_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.primitives import catalogue


def obstacle(unit: Unit, statements: Iterable[gast.AST], shows: bool = False) -> gast.AST | None:
    """The first part of these statements (of compound ones: of their headers) that may do something else when it is run
    again; None where there is none.  Statements that only show something are left out then, if they are let to (`shows`)."""
    for statement in statements:
        made = getattr(statement, "value", None)
        if with_regions.end(statement) is not None or (isinstance(made, gast.Call) and with_regions.is_quiet(unit, made)):
            continue  # what the context holds is looked at
        if behaviour.uses_up(unit, statement):
            return statement
        section = effects.stored(statement)
        if section is not None and effects.base(section) not in unit.locals:
            return statement
        found = None if shows and only_shows(unit, statement) else _part(unit, effects.header(statement))
        if found is not None:
            return found
    return None


def only_shows(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement does nothing but write something down for the user to read."""
    call = alone(statement)
    if not isinstance(call, gast.Call):
        return False
    owner = unit.resolve(call.func.value) if isinstance(call.func, gast.Attribute) else MISSING
    record = catalogue.of(unit.resolve(call.func) if owner is MISSING else getattr(type(owner), call.func.attr, None))
    return record.logs and all(_part(unit, a) is None for a in arguments_of(call))


def _part(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The part of an expression or a simple statement that may do something else."""
    for part in nodes(node):
        if isinstance(part, gast.Call):
            if not behaviour.of_call(unit, part).is_repeatable:
                return part
        elif not isinstance(part, (gast.Name, gast.Constant)) and protocols.acts(unit, part):
            return part
    return None
