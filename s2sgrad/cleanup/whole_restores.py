"""Several sections of an array that are restored together, before anything reads it, are restored as the whole array.

    u_stack.append(u[1:-1].copy())                          u_stack.append(u.copy())
    u[1:-1] = e                                             u[1:-1] = e
    u_items.append(u[0])                                    u[0] = u[1]
    u[0] = u[1]                                     ->      ..
    ..                                                      u_bar[1] += u_bar[0]
    u[0] = u_items.pop()                                    u_bar[0] = 0.0
    u_bar[1] += u_bar[0]                                    u[...] = u_stack.pop()
    u_bar[0] = 0.0
    u[1:-1] = u_stack.pop()

One of the sections is all of the array but for its edges, so that the whole takes no more memory.  From the first push to
the end of the trip, each store into the array is one that is restored: that gives what it was at the first push.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(u, c, n):
...     for _ in range(n):
...         u[1:-1] += c * u[2:] * u[:-2]
...         u[0] = u[1]
...     return np.sum(u)
... ''', "whole_restores", np.ones(5), 0.1, 3))
-     u__stack = []
-         u__stack_.append(u_[1:-1].copy())
+         u__stack_.append(u_.copy())
-         u__stack.append(u_[0])
-         u_[0] = u__stack.pop()
-         u_[1:-1] = u__stack_.pop()
+         u_[...] = u__stack_.pop()
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.cleanup.section_records import Record, is_read, of_sections
from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves, returns
from s2sgrad.ir.forms import alone, appended_to, bound_name, parts_of, whole_number
from s2sgrad.ir.quote import expression, mentioned, nested
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory

_EDGE = 2  # elements at either end of an axis


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore such arrays as wholes."""
    found: dict[tuple[str, int, int], list[Record]] = {}
    for record in of_sections(unit, tree):
        found.setdefault((record.base, id(record.pushing), id(record.popping)), []).append(record)
    found = {key: records for key, records in found.items() if len(records) > 1 and any(map(_is_most, records))}
    if found:
        unit.memory = Memory(unit, tree, unit.kinds)  # with what the passes since have named
    gone: set[int] = set()
    stacks: set[str] = set()
    for records in found.values():
        group = _together(unit, sorted(records, key=lambda r: r.push))
        for record in group[1:]:
            gone |= {id(record.pushing[record.push]), id(record.popping[record.pop])}
            stacks.add(record.stack)
        for record in group[:1]:
            _restore_whole(unit, record)
    for block in nested(tree.body) if gone else ():
        block[:] = [s for s in block if id(s) not in gone and bound_name(s) not in stacks]
    return tree


def _is_most(record: Record) -> bool:
    """Whether a section is all of an array but for a few elements at the ends of its axes."""
    return all(map(_is_near_all, parts_of(record.section.slice)))


def _is_near_all(part: gast.AST) -> bool:
    if not isinstance(part, gast.Slice) or part.step is not None:
        return isinstance(part, gast.Constant) and part.value is Ellipsis
    lower = 0 if part.lower is None else whole_number(part.lower)
    upper = -1 if part.upper is None else whole_number(part.upper)
    return lower is not None and upper is not None and 0 <= lower <= _EDGE and -_EDGE <= upper < 0


def _together(unit: Unit, records: list[Record]) -> list[Record]:
    """The last of these records, from one on that is most of the array, that can be one; none where there are no two."""
    groups = (records[first:] for first in range(len(records) - 1))
    return next((group for group in groups if any(map(_is_most, group)) and _is_one(unit, group)), [])


def _is_one(unit: Unit, records: list[Record]) -> bool:
    """Whether a record of the whole array at the first push can take the place of all of these."""
    first, pushing, popping = records[0], records[0].pushing, records[0].popping
    if pushing is popping or any(late.pop >= early.pop for early, late in pairwise(records)):
        return False
    until = pushing[first.push : records[-1].push + 1]
    if leaves(until) or returns(until):
        return False
    names = unit.memory.at_once_with(first.base) | unit.memory.with_memory_of(first.base)
    between = popping[records[-1].pop : first.pop]
    return _restores_all(unit, records, pushing) and not is_read(unit, first.base, names, between)


def _restores_all(unit: Unit, records: list[Record], pushing: Block) -> bool:
    """Whether all that changes the array, from the first push on, are stores of what has been recorded."""
    stored: dict[int, str] = {}
    for record in records:
        place = record.push + 1
        while place < len(pushing) and appended_to(alone(pushing[place])) is not None:
            place += 1
        stored[place] = _text(record.section)
        if place == len(pushing) or _target(pushing[place]) != stored[place]:
            return False
    names, base = {records[0].base}, records[0].base
    again = {_text(r.section): r.push for r in records if mentioned(r.section) == {base}}
    for place in range(records[0].push, len(pushing)):
        statement = pushing[place]
        if effects.permutes(statement) and place > max(stored):
            turning = {*effects.targets(statement)}
            names |= turning if names & turning else set()
        elif place not in stored and again.get(_target(statement), place) >= place:
            if any(not names.isdisjoint(unit.changed(s)) for s in effects.walk([statement])):
                return False
    return True


def _target(statement: gast.AST) -> str:
    """The section that a statement stores into."""
    target: Any = statement.target if isinstance(statement, gast.AugAssign) else effects.stored(statement)
    return _text(target) if isinstance(target, gast.Subscript) else ""


def _text(section: gast.Subscript) -> str:
    return str(gast.dump(section.value) + gast.dump(section.slice))


def _restore_whole(unit: Unit, record: Record) -> None:
    """Push the whole array, and restore it."""
    push, pop = record.pushing[record.push], record.popping[record.pop]
    push.value.args[0] = expression("x.copy()", x=record.base)
    pop.targets[0].slice = gast.Constant(..., None)
    unit.rewritten(push, pop)
