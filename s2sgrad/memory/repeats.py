"""Repeatability: what may behave differently on a second run, for a call under `checkpoint` or a trip of a loop over
`checkpointed`.

    u = step(u); t = np.sin(u)                            the same again
    u += rng.normal(size=3); print(u); next(it)           not the same

Only computations are run again.  Unknown callees are excluded, and whatever draws random numbers, prints, advances an
iterator or changes what outlives the call.  A differentiated function is an argument of `checkpoint`; a constant function
may draw random numbers, and its body is examined.
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


def obstacle(
    unit: Unit, statements: Iterable[gast.AST], shows: bool = False, judged: tuple[type, ...] = ()
) -> gast.AST | None:
    """The first part of these statements (of compound ones: of their headers) that may behave differently when it runs
    again; None if there is none.  With `shows`, statements that only display something are ignored; calls of `judged` sorts
    of functions are judged elsewhere."""
    for statement in statements:
        value = getattr(statement, "value", None)
        if with_regions.end(statement) is not None or (isinstance(value, gast.Call) and with_regions.is_quiet(unit, value)):
            continue  # the body of the context is examined
        if behaviour.uses_up(unit, statement):
            return statement
        section = effects.stored(statement)
        if section is not None and effects.base(section) not in unit.locals:
            return statement
        found = None if shows and only_shows(unit, statement) else _part(unit, effects.header(statement), judged)
        if found is not None:
            return found
    return None


def only_shows(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement only displays or logs something."""
    call = alone(statement)
    if not isinstance(call, gast.Call):
        return False
    owner = unit.resolve(call.func.value) if isinstance(call.func, gast.Attribute) else MISSING
    record = catalogue.of(unit.resolve(call.func) if owner is MISSING else getattr(type(owner), call.func.attr, None))
    return record.logs and all(_part(unit, a) is None for a in arguments_of(call))


def _part(unit: Unit, node: gast.AST, judged: tuple[type, ...] = ()) -> gast.AST | None:
    """The first part of an expression or a simple statement that may behave differently."""
    for part in nodes(node):
        if isinstance(part, gast.Call):
            if not isinstance(unit.called(part), judged) and not behaviour.of_call(unit, part).is_repeatable:
                return part
        elif not isinstance(part, (gast.Name, gast.Constant)) and protocols.acts(unit, part):
            return part
    return None
