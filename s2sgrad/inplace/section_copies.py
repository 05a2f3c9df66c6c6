"""Sections to which names are rebound, copied where their memory is written while they are dead.

    t = u[k]; u[0] = a; t = u[1]      ->      given = u[k]; t = given.copy(); u[0] = a; t = u[1]

The reverse sweep rebinds such a name to its old value, which must still be that of the section.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.quote import assign, at, clone, expression, name, nested
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import sources
from s2sgrad.runtime.checks import has_axes


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """Copy them; whether there were any."""
    counts = binding_counts(tree.body)
    given = {p.id for p in parameters(tree)}
    kept = given | unit.temps | unit.mirror.names
    rebound = {n for n, count in counts.items() if count > 1 and isinstance(kinds.get(n), Array)} - kept
    if not rebound:
        return False
    memory = Memory(unit, tree, kinds)
    found = False
    for body in nested(tree.body):
        for k in reversed(range(len(body))):
            statement = body[k]
            x = getattr(statement.targets[0], "id", None) if isinstance(statement, gast.Assign) else None
            if x in rebound and x in memory.written - memory.bases:
                if sources(unit, statement.value, kinds) and not isinstance(statement.value, gast.Name):
                    holder = unit.temp()
                    copied = assign(x, expression("x.copy()", x=holder))
                    checks = [_of_holder(check, holder) for check in body[k + 1 : k + 2] if _asks(unit, check, x)]
                    body[k : k + 1 + len(checks)] = at(statement, assign(holder, statement.value), *checks, copied)
                    found = True
    return found


def _asks(unit: Unit, check: gast.AST, x: str) -> bool:
    """Whether a statement checks that `x` is an array, which is assumed: a number has no copies."""
    return isinstance(check, gast.Expr) and unit.called(check.value) is has_axes and check.value.args[0].id == x


def _of_holder(check: gast.Expr, holder: str) -> gast.Expr:
    """The same check, of another variable."""
    check = clone(check)
    check.value.args[0] = name(holder)
    return check
