"""Where records are kept: a variable for code that runs once per call, a stack for code in loops.

x = e     ->     x_old = x; x = e        (in a loop: x_stack.append(x); ..; x = x_stack.pop())
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number
from s2sgrad.flow.graph import Block
from s2sgrad.ir.quote import assign, clone, expression, loaded, statements
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, old_value
from s2sgrad.runtime.copies import copied


class Storage:
    """The variables and stacks of one function; `stacks` are those it has created."""

    def __init__(self, unit: Unit, kinds: dict[str, Kind]) -> None:
        self.unit, self.kinds = unit, kinds
        self.stacks: list[str] = []
        self.referring: set[str] = set()  # stacks of references to objects that may still be written

    def old(self, name: str, kind: Kind | None, of: str = "old") -> str:
        """A new variable for an old value of a variable."""
        old = old_value(self.unit, name, of)
        self.kinds[old] = kind or UNKNOWN
        return old

    def stack(self, name: str, of: str = "stack", numbers: bool = False) -> str:
        """A new stack for the old values of a variable; `numbers`: of elements of an array."""
        stack = self.unit.local(f"{name}_{of}")
        self.stacks.append(stack)
        self.unit.words[stack] = "what is kept of {}", name
        self.unit.derivative.records[stack] = name
        if of == "references":
            self.referring.add(stack)
        else:
            self.unit.derivative.stack_bases[stack] = self.unit.bases.get(name, name), numbers, _sort(self.kinds.get(name))
        self.kinds[stack] = Container(list, None)
        return stack

    def copied(self, base: str, target: gast.AST, value: gast.AST, kind: Kind | None, once: bool) -> tuple[Block, Block]:
        """(record, restore) of a copy of what is in a place."""
        if isinstance(kind, Array):
            value = expression("x.copy()", x=value)
        elif not isinstance(kind, Number):
            value = call(self.unit, "copied", copied, value)
        if once:
            old = self.old(base, kind)
            return [assign(old, value)], [gast.Assign([target], name_(old), None)]
        stack = self.stack(base, numbers=isinstance(kind, Number))
        return statements("stack.append(x)", stack=stack, x=value), [
            gast.Assign([target], expression("stack.pop()", stack=stack), None)
        ]

    def by_reference(self, base: str, target: gast.Subscript, kind: Kind | None, once: bool) -> tuple[Block, Block]:
        """(record, restore) of an item that a store replaces, by reference."""
        if once:
            old = self.old(base, kind)
            return [assign(old, loaded(target))], [gast.Assign([clone(target)], name_(old), None)]
        stack = self.stack(base)
        self.referring.add(stack)
        taken = expression("stack.pop()", stack=stack)
        return statements("stack.append(x)", stack=stack, x=loaded(target)), [gast.Assign([clone(target)], taken, None)]


def _sort(kind: Kind | None) -> type | None:
    """What distinguishes values from others under the same name: the type of container."""
    return kind.type if isinstance(kind, Container) else None
