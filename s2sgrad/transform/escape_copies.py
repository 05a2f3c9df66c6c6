"""Values that escape the call are copied if the reverse sweep may restore the older contents of their memory.

value = y      ->      value = y.copy()              layer.h = y      ->      layer.h = y.copy()
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import expression
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.records import Records


def value(unit: Unit, records: Records, kept: gast.Name, kind: Kind | None) -> gast.AST:
    """The value of a variable, in memory that no restore changes."""
    grows = records.grown and not isinstance(kind, (Number, Array))
    if kept.id not in records.memory.written and not grows:
        return kept
    if isinstance(kind, Array):
        return expression("x.copy()", x=kept)
    return call(unit, "copied", copied, kept)


def attributes(unit: Unit, forward: list[gast.AST], records: Records, kinds: dict[str, Kind]) -> None:
    """Copy what the forward sweep stores to attributes of the caller's objects."""
    for statement in effects.walk(forward):
        written: Any = alone(statement)
        if unit.called(written) is runtime.set_attribute:
            kept = written.args[2]
            written.args[2] = value(unit, records, kept, kinds.get(kept.id))


def without_copy(
    unit: Unit, forward: list[gast.AST], returned: gast.Name, saved: list[str], given: set[str]
) -> tuple[list[gast.AST], gast.AST]:
    """The forward sweep and its result, with `out` for `y = out.copy()` if neither the record nor an argument aliases it."""
    last = forward[-1] if forward else None
    copied = last.value.func if isinstance(last, gast.Assign) and isinstance(last.value, gast.Call) else None
    if not isinstance(copied, gast.Attribute) or copied.attr != "copy" or not isinstance(copied.value, gast.Name):
        return forward, returned
    before, out = forward[:-1], copied.value.id
    kept = {*saved, *given, *(n for s in effects.walk(before) for n in effects.reads(s) | effects.writes(s))} - {out}
    alone = not unit.memory.with_memory_of(out) & kept and isinstance(unit.kinds.get(out), Array)
    if alone and out not in (*saved, *given) and effects.targets(last) == [returned.id] and returned.id not in saved:
        return before, copied.value
    return forward, returned
