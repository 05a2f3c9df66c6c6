"""Records of sections of arrays: the stack that one statement pushes a section to, and that one other restores it from.

    x_stack.append(x[1:].copy())   ..   x[1:] = x_stack.pop()       ->      (x_stack, x, x[1:], the places of the two)

A record is pushed by one statement and restored by one other, wherever these stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped, receiver
from s2sgrad.ir.quote import NAMES, nested, nodes_of
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.stacks import local_stacks, operations


@dataclass(eq=False)
class Record:
    """What one statement pushes of an array, and another restores; the blocks and the places of the two."""

    stack: str
    base: str
    section: gast.Subscript
    pushing: Block
    push: int
    popping: Block
    pop: int


def of_sections(unit: Unit, tree: gast.FunctionDef) -> list[Record]:
    """The stacks that one statement pushes a section of an array to, and one other takes it from to restore it."""
    local = local_stacks(unit, tree) & unit.derivative.stack_bases.keys()
    times = (
        Counter(stack for s in effects.walk(tree.body) for _, stack in operations(unit, effects.header(s))) if local else {}
    )
    begun = Counter(map(bound_name, effects.walk(tree.body))) if local else {}
    pushes: dict[str, tuple[Block, int, gast.Subscript]] = {}
    pops: dict[str, tuple[Block, int, str]] = {}
    for block in nested(tree.body):
        for place, statement in enumerate(block):
            onto = getattr(appended_to(alone(statement)), "id", None)
            if onto in local and (section := _section(unit, statement.value.args[0])) is not None:
                pushes[onto] = block, place, section
            elif (taken := _restored(statement)) is not None and taken[0] in local:
                pops[taken[0]] = block, place, taken[1]
    return [
        Record(stack, section.value.id, section, block, place, *pops[stack][:2])
        for stack, (block, place, section) in pushes.items()
        if stack in pops and times[stack] == 2 and begun[stack] == 1 and pops[stack][2] == section.value.id
    ]


def _restored(statement: gast.AST) -> tuple[str, str] | None:
    """The stack and the array for `x[i] = stack.pop()`."""
    section = effects.stored(statement)
    stack = popped(statement.value) if section is not None and len(statement.targets) == 1 else None
    base = getattr(section.value, "id", None) if section is not None else None
    return None if stack is None or base is None else (stack, base)


def _section(unit: Unit, pushed: gast.AST) -> gast.Subscript | None:
    """The section of an array that an expression is, or a copy of."""
    copied = receiver(pushed, "copy")
    if isinstance(copied, gast.Name):
        copied = gast.Subscript(copied, gast.Constant(..., None), gast.Load())
    section: Any = pushed if copied is None else copied
    plain = isinstance(section, gast.Subscript) and isinstance(section.value, gast.Name)
    return section if plain and isinstance(unit.kinds.get(section.value.id), Array) else None


def is_read(unit: Unit, base: str, names: Collection[str], between: Block) -> bool:
    """Whether statements other than its restores may read or change an array, by one of its names, but for its shape."""
    for statement in effects.walk(between):
        header = effects.header(statement)
        shapes = {id(n) for n in shape_reads(unit, header)}
        restored = effects.stored(statement) if isinstance(statement, gast.Assign) else None
        if restored is not None and popped(statement.value) is not None:
            shapes |= {id(restored.value)} if getattr(restored.value, "id", None) == base else set()
        if any(n.id in names and id(n) not in shapes for n in nodes_of(header, NAMES)):
            return True
        if isinstance(statement, gast.For) and statement.target.id in names:
            return True
    return False
