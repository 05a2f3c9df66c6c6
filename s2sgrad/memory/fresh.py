"""What is new memory, to which nothing else refers: temporaries, and the items of stacks.

    t = x * 2.0; s.append(t)      where t is read nowhere else: s holds its own
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import sources
from s2sgrad.primitives.catalogue import on_stack


def fresh_stacks(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], lasting: bool = False) -> set[str]:
    """Lists that start empty, grow by values that nothing else refers to, and shrink: no two items share memory.

    `lasting`: where a reverse sweep is to follow, which may read what a temporary stood for.  The stacks of a record of ours
    are such lists, but for those that are named for the references that they hold.
    """
    lists: set[str] = set()
    other: set[str] = set()
    made = set() if lasting else made_once(unit, tree, kinds)
    for statement in effects.walk(tree.body):
        value = getattr(statement, "value", None)
        bound = set(binds(statement))
        if isinstance(statement, gast.Assign) and isinstance(value, gast.List) and not value.elts:
            lists |= bound
            continue
        if unit.primal.is_generated and isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            lists |= {b for b in bound if b.rstrip("_0123456789").endswith("_stack")}
            other |= {b for b in bound if "_stack" not in b}
            continue
        method = value.func if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else None
        owner = method.value if method is not None and on_stack(method.attr) else None
        keeps = isinstance(owner, gast.Name) and not set().union(*(sources(unit, a, kinds) for a in value.args)) - made
        mentioned = [n.id for n in effects.loads(effects.header(statement))]
        other |= {n for n in mentioned if mentioned.count(n) > int(keeps and n == owner.id)} | bound
    return lists - other


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
