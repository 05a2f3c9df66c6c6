"""What a loop restores and does not read is restored once, behind the loop, to what it was before the first trip.

    for _ in range(n):                                  p_stack.append(p.copy())
        p_stack.append(p.copy())                        for _ in range(n):
        p[1:-1] = p[2:] + p[:-2]                            p[1:-1] = p[2:] + p[:-2]
    ..                                          ->      ..
    for _ in reversed(range(n)):                        for _ in reversed(range(n)):
        p[...] = p_stack.pop()                              p_bar[1:-1] ..
        p_bar[1:-1] ..                                  p[...] = p_stack.pop()

In a trip nothing changes the array before the push: at the first push it is what it was before the loop.  A loop within a
loop has as many trips each time, so that there are no more records than before.

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

import functools
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.cleanup.section_records import Record, is_read, of_sections
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import COMPOUND, LOOPS, assign, at, blocks, mentioned, name, nested
from s2sgrad.ir.unit import Unit, old_value, parameters
from s2sgrad.memory.aliasing import Memory

Holders = dict[int, tuple[gast.AST, Block]]  # by the identity of a block: the statement that it is in, and the block of that


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Move such records and restores out of their loops, as far as they go."""
    if any(notes.STATES.of(s) is not None for s in effects.walk(tree.body)):
        return tree  # trips are run again
    holders: Holders = {id(inner): (s, block) for block in nested(tree.body) for s in block for inner in blocks(s)}
    found = _Loops(unit, tree, holders)
    for stack in [r.stack for r in of_sections(unit, tree) if found.are_plain(r)]:
        record = next(r for r in of_sections(unit, tree) if r.stack == stack)  # at the places where it is now
        while found.are_plain(record) and found.restore_for_the_first_trip(record):
            record = found.left(record)
        if record.pushing is tree.body and record.popping is tree.body:
            _keep_in_variable(unit, tree, record)
    return tree


class _Loops:
    """The loops of one function that push and restore sections."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, holders: Holders) -> None:
        self.unit, self.tree, self.holders = unit, tree, holders
        self.given = {p.id for p in parameters(tree)}

    @functools.cached_property
    def memory(self) -> Memory:
        """The memory of all names, those too that the passes before have made."""
        return Memory(self.unit, self.tree, self.unit.kinds)

    def are_plain(self, record: Record) -> bool:
        """Whether each trip of a loop pushes the same section, which there is before it, and one of another restores it."""
        there, back = (self.holders.get(id(body), (None, []))[0] for body in (record.pushing, record.popping))
        if not isinstance(there, LOOPS) or not isinstance(back, LOOPS) or mentioned(record.section) != {record.base}:
            return False
        if there.orelse or back.orelse or leaves_trip(record.pushing) or leaves_trip(record.popping):
            return False
        if not all(isinstance(p, gast.Slice) or getattr(p, "value", 0) is Ellipsis for p in parts_of(record.section.slice)):
            return False  # there may be no such element where the loop has no trips
        bound = {name for s in effects.walk([there, back]) for name in binds(s)}
        there_is = record.base not in bound and self._is_bound_before(record.base, there, record.pushing)
        return there_is and self._has_as_many_trips(there, record.pushing)

    def _around(self, loop: gast.AST, body: Block) -> Iterator[tuple[gast.AST, Block]]:
        """A loop, and the statements around it from the inside out, each with its block."""
        statement, block = loop, self.holders[id(body)][1]
        yield statement, block
        while id(block) in self.holders:
            statement, block = self.holders[id(block)]
            yield statement, block

    def _is_bound_before(self, name: str, loop: gast.AST, body: Block) -> bool:
        """Whether a name surely stands for something where a loop begins."""
        return name in self.given or any(
            not isinstance(s, COMPOUND) and name in binds(s)
            for statement, block in self._around(loop, body)
            for s in block[: _place(block, statement)]
        )

    def _has_as_many_trips(self, loop: gast.AST, body: Block) -> bool:
        """Whether a loop has the same number of trips in each trip of the loops around it."""
        outer = [s for s, _ in self._around(loop, body) if s is not loop and isinstance(s, LOOPS)]
        changing = {n for around in outer for s in effects.walk([around]) for n in (*binds(s), *_targets(s))}
        return not outer or (isinstance(loop, gast.For) and changing.isdisjoint(effects.reads(loop.iter)))

    def restore_for_the_first_trip(self, record: Record) -> bool:
        """Whether a trip pushes what it has not changed, and no trip of the other loop reads what it restores."""
        names = self.memory.at_once_with(record.base) | self.memory.with_memory_of(record.base)
        if any(not names.isdisjoint(self.memory.changed(s)) for s in effects.walk(record.pushing[: record.push])):
            return False
        return not is_read(self.unit, record.base, names, [s for k, s in enumerate(record.popping) if k != record.pop])

    def left(self, record: Record) -> Record:
        """The record before its loop, and the restore behind the other one."""
        (there, before), (back, behind) = self.holders[id(record.pushing)], self.holders[id(record.popping)]
        push, pop = record.pushing.pop(record.push), record.popping.pop(record.pop)
        place = _place(before, there)
        before.insert(place, push)
        after = _place(behind, back) + 1  # in the same block, behind the record
        behind[after:after] = at(next(iter(behind[after : after + 1]), back), pop)
        return Record(record.stack, record.base, record.section, before, place, behind, after)


def _targets(statement: gast.AST) -> list[str]:
    return [statement.target.id] if isinstance(statement, gast.For) else []


def _place(block: Block, statement: gast.AST) -> int:
    return next(k for k, s in enumerate(block) if s is statement)


def _keep_in_variable(unit: Unit, tree: gast.FunctionDef, record: Record) -> None:
    """Keep in a variable what is pushed once."""
    push: Any = record.pushing[record.push]
    pop: Any = record.popping[record.pop]
    old = old_value(unit, record.base)
    unit.kinds[old] = UNKNOWN
    record.pushing[record.push : record.push + 1] = at(push, assign(old, push.value.args[0]))
    pop.value = name(old)
    unit.rewritten(pop)
    tree.body[:] = [s for s in tree.body if bound_name(s) != record.stack]
