"""Statements in the form that names with shadows need.

y = add_into(x, g)      ->      x = add_into(x, g); y = x           in generated text, which may so bind another name
s.pop()                 ->      t = s.pop()                         the reverse sweep pushes it again
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.ir.forms import alone, bound_name, popped
from s2sgrad.ir.quote import assign, at, name, nested
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import has_memory


def update_under_own_names(unit: Unit, tree: gast.FunctionDef) -> None:
    """Let what is written in place be bound to the name that it had."""
    for body in nested(tree.body) if unit.primal.is_generated else ():
        body[:] = [part for statement in body for part in _updated(unit, statement)]


def _updated(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    owner, bound = effects.accumulates(unit, statement), bound_name(statement)
    if owner is None or owner == bound:
        return [statement]
    statement.targets = [name(owner, store=True)]
    return [statement, *at(statement, assign(bound, name(owner)))]


def bind_pops(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], names: set[str]) -> None:
    """Bind what is popped off lists with shadows; drop the checks that an item occurs there once, for it has one shadow
    wherever it does.  A generated text counts on its own checks."""
    for body in nested(tree.body):
        body[:] = [_bound_pop(unit, kinds, s) for s in body if not _is_check_of(unit, s, names)]


def _is_check_of(unit: Unit, statement: gast.AST, names: set[str]) -> bool:
    """Whether a statement checks that the written item occurs once in one of these containers."""
    call: Any = alone(statement)
    return not unit.primal.is_generated and unit.called(call) is runtime.once and effects.base(call.args[0]) in names


def _bound_pop(unit: Unit, kinds: dict[str, Kind], statement: gast.AST) -> gast.AST:
    owner = popped(alone(statement))
    if owner not in unit.mirror.names:
        return statement
    taken = unit.temp()
    whole: Any = kinds[owner]
    kinds[taken] = whole.element()
    unit.mirror.names |= {taken} if kinds[taken] is not None and has_memory(kinds[taken]) else set()
    return at(statement, assign(taken, statement.value))[0]
