"""Rematerialization around a store: index expressions before the restore, reads of the array after it.

x[i + 1] = x[i] * y   ->   t1 = i + 1; x[t1] = x_stack.pop(); t2 = x[i]; ...
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.kinds import Container, Number
from s2sgrad.analysis.number_types import holds
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import assign, expression, loaded, place_of
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.pullback_text import wants_result


def group(unit: Unit, statement: gast.AST, body: Block) -> Block:
    """The statements that compute the temporaries for the last statement of a source statement."""
    here = place_of(statement)
    out: Block = []
    for before in reversed(body[: next(k for k, s in enumerate(body) if s is statement)]):
        if place_of(before) != here or not set(binds(before)) <= unit.temps:
            break
        out.append(before)
    return out


def recovered(adjoints: Adjoints, found: Operations, statement: gast.Assign, body: Block, again: Block) -> Block:
    """`t = x[i]` where a store put t and its rule needs the result: nothing has to be recomputed for it."""
    value, unit = statement.value, adjoints.unit
    if not isinstance(value, gast.Name) or value.id not in unit.temps:
        return []
    kind = adjoints.kinds.get(value.id)
    if not isinstance(kind, Number) and place_of(statement) not in unit.syntax.updates:
        return []
    made = next((s for s in group(unit, statement, body) if value.id in binds(s)), None)
    operation = found.get(id(made))
    if operation is None or not wants_result(adjoints, operation):
        return []
    load = loaded(effects.stored(statement))
    section = adjoints.inference.kind(load)
    if isinstance(kind, Number) and not isinstance(section, Number):
        return []  # it was broadcast over the section
    if not isinstance(adjoints.inference.kind(load.value), Container) and not holds(section, kind):
        return []  # it was rounded: the maximum would equal no element
    again[:] = [s for s in again if value.id not in binds(s)]
    return [assign(value.id, load if isinstance(kind, Number) else expression("x.copy()", x=load))]


def ahead(section: gast.Subscript, memory: Memory, again: Block) -> Block:
    """Move to the front the recomputed statements that a store indexes by, and those that read nothing it overwrites.

    The key of `d[k][...]` may be read from a list that is related to the items of `d`.
    """
    written, keys = memory.with_memory_of(effects.base(section)), effects.reads(section) - {effects.base(section)}
    for a in reversed(again):
        keys |= effects.reads(a) if keys.intersection(binds(a)) else set()
    first = [a for a in again if keys.intersection(binds(a)) or not effects.reads(a) & written]
    while True:
        late = {n for a in again if a not in first for n in binds(a)}
        kept = [a for a in first if not effects.reads(a) & late]
        if kept == first:
            again[:] = [*first, *(a for a in again if a not in first)]
            return first
        first = kept
