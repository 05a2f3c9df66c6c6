"""What is new memory, to which nothing else refers: temporaries, and the items of stacks.

    t = x * 2.0; s.append(t)      where t is read nowhere else: s holds its own
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import sources
from s2sgrad.primitives.catalogue import on_stack


def fresh_stacks(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], lasting: bool = False) -> set[str]:
    """Lists that start empty, and on which what nothing else refers to is put, and taken off; nothing else is done to them.

    `lasting`: where a reverse sweep is to follow, which may read what a temporary stood for.  The stacks of a record of ours
    are such lists, but for those that are named for the references that they hold.
    """
    stacks: set[str] = set()
    others: set[str] = set()  # names that are bound to something else
    for statement in effects.walk(tree.body):
        bound = set(binds(statement))
        target, value = (statement.targets[0], statement.value) if isinstance(statement, gast.Assign) else (None, None)
        if isinstance(value, gast.List) and not value.elts:
            stacks |= bound
        elif unit.primal.is_generated and isinstance(target, gast.Tuple):
            kept = {b for b in bound if b.rstrip("_0123456789").endswith("_stack")}
            stacks |= kept
            others |= bound - kept
        else:
            others |= bound
    stacks -= others
    if not stacks:
        return stacks
    made = set() if lasting else made_once(unit, tree, kinds)
    for statement in effects.walk(tree.body):
        mentioned = [n for n in effects.loads(effects.header(statement)) if n.id in stacks]
        plain: set[int] = set()  # those that only put something new on a stack, or take something off
        for call in nodes(effects.header(statement)) if mentioned else ():
            method = call.func if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else None
            if method is not None and on_stack(method.attr) and isinstance(method.value, gast.Name):
                if not set().union(*(sources(unit, a, kinds) for a in call.args)) - made:
                    plain.add(id(method.value))
        stacks -= {n.id for n in mentioned if id(n) not in plain}
    return stacks


def made_once(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """Temporaries that are bound once, to new memory, and read once."""
    reads: Counter[str] = Counter()
    for statement in effects.walk(tree.body):
        reads.update(n.id for n in effects.loads(effects.header(statement)))
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and not sources(unit, statement.value, kinds):
            out |= {b for b in binds(statement) if b in unit.temps and reads[b] == 1}
    return out
