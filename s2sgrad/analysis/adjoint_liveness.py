"""Which adjoints are not plainly zero at a point: the variables whose value there reaches the result differentiably.

a = x * y; b = x + 1.0; return a      ->      before the first statement: x, y; after it: a
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.flow.graph import Block, binds


def before(body: Block, present: set[str], found: Operations, active: set[str]) -> set[str]:
    """The variables whose adjoint is not plainly zero before a block, given those after it."""
    for statement in reversed(body):
        if isinstance(statement, gast.If):
            arms = (before(arm, present, found, active) for arm in (statement.body, statement.orelse))
            present = set().union(*arms)
        elif isinstance(statement, (gast.For, gast.While)):
            while True:
                more = present | before(statement.body, present, found, active)
                if more == present:
                    break
                present = more
        else:
            present = _before_simple(statement, present, found, active)
    return present


def _before_simple(statement: gast.AST, present: set[str], found: Operations, active: set[str]) -> set[str]:
    operation = found.get(id(statement))
    section = effects.stored(statement)
    if section is not None:
        operands = effects.loads(statement.value) if effects.base(section) in present else ()
        return present | ({n.id for n in operands} & active)
    if operation is not None and operation.form == "append":
        return present | ({o.id for o in operation.operands if isinstance(o, gast.Name)} & active)
    if operation is not None and operation.form == "grow":
        owner, value = operation.operands
        return present | ({value.id} & active) if isinstance(value, gast.Name) and owner.id in present else present
    targets = set(binds(statement))
    if not targets & present:
        return present
    return (present - targets) | (set(activity.sources(operation)) & active)
