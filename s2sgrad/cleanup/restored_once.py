"""What a loop restores and does not read is restored once, behind the loop, to what it was before the first trip.

    for _ in range(n):                                  p_stack.append(p.copy())
        p_stack.append(p.copy())                        for _ in range(n):
        p[1:-1] = p[2:] + p[:-2]                            p[1:-1] = p[2:] + p[:-2]
    ..                                          ->      ..
    for _ in reversed(range(n)):                        for _ in reversed(range(n)):
        p[...] = p_stack.pop()                              p_bar[1:-1] ..
        p_bar[1:-1] ..                                  p[...] = p_stack.pop()

In a trip nothing changes the array before the push: at the first push it is what it was before the loop.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(p, n):
...     total = np.sum(p * p)
...     for _ in range(n):
...         p[1:-1] = p[2:] + p[:-2]
...     return total + np.sum(p)
... ''', "restored_once", np.ones(5), 3))
-     p__stack = []
+     p__old = p_[1:-1].copy()
-         p__stack.append(p_[1:-1].copy())
-         p_[1:-1] = p__stack.pop()
+     p_[1:-1] = p__old
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.cleanup.section_records import Record, is_read, of_sections
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import LOOPS, assign, at, mentioned, name, nested
from s2sgrad.ir.unit import Unit, old_value
from s2sgrad.memory.aliasing import Memory

Loops = dict[int, tuple[gast.AST, Block]]  # by the identity of a body: the loop, and the block that holds it


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Move such records and restores out of their loops, as far as they go."""
    if any(notes.STATES.of(s) is not None for s in effects.walk(tree.body)):
        return tree  # trips are run again
    loops: Loops = {id(s.body): (s, block) for block in nested(tree.body) for s in block if isinstance(s, LOOPS)}
    memory: Memory | None = None
    for stack in [r.stack for r in of_sections(unit, tree) if _is_plain(r, loops)]:
        record = next(r for r in of_sections(unit, tree) if r.stack == stack)  # at the places where it is now
        memory = memory or Memory(unit, tree, unit.kinds)  # of the names that the passes before made
        while _is_plain(record, loops) and _is_for_first_trip(unit, memory, record):
            record = _moved(record, loops)
        if record.pushing is tree.body and record.popping is tree.body:
            _keep_in_variable(unit, tree, record)
    return tree


def _is_plain(record: Record, loops: Loops) -> bool:
    """Whether each trip of one loop pushes the same section, and each trip of another one restores it."""
    if id(record.pushing) not in loops or id(record.popping) not in loops or mentioned(record.section) != {record.base}:
        return False
    there, back = loops[id(record.pushing)][0], loops[id(record.popping)][0]
    if there.orelse or back.orelse or leaves_trip(record.pushing) or leaves_trip(record.popping):
        return False
    return record.base not in {name for s in effects.walk([there, back]) for name in binds(s)}


def _is_for_first_trip(unit: Unit, memory: Memory, record: Record) -> bool:
    """Whether a trip pushes what it has not changed, and no trip of the other loop reads what it restores."""
    names = memory.at_once_with(record.base) | memory.with_memory_of(record.base)
    if any(not names.isdisjoint(memory.changed(s)) for s in effects.walk(record.pushing[: record.push])):
        return False
    return not is_read(unit, record.base, names, [s for k, s in enumerate(record.popping) if k != record.pop])


def _moved(record: Record, loops: Loops) -> Record:
    """The record before its loop, and the restore behind the other one."""
    (there, before), (back, behind) = loops[id(record.pushing)], loops[id(record.popping)]
    push, pop = record.pushing.pop(record.push), record.popping.pop(record.pop)
    place = _place(before, there)
    before.insert(place, push)
    after = _place(behind, back) + 1  # in the same block, behind the record
    behind[after:after] = at(next(iter(behind[after : after + 1]), back), pop)
    return Record(record.stack, record.base, record.section, before, place, behind, after)


def _place(block: Block, statement: gast.AST) -> int:
    return next(k for k, s in enumerate(block) if s is statement)


def _keep_in_variable(unit: Unit, tree: gast.FunctionDef, record: Record) -> None:
    """Keep in a variable what is pushed once."""
    push: Any = record.pushing[record.push]
    pop: Any = record.popping[record.pop]
    old = old_value(unit, record.base)
    unit.kinds[old] = unit.kinds[record.base]
    record.pushing[record.push : record.push + 1] = at(push, assign(old, push.value.args[0]))
    pop.value = name(old)
    unit.rewritten(pop)
    tree.body[:] = [s for s in tree.body if bound_name(s) != record.stack]
