"""The statements that are written, block by block, and where in the text the next one stands.

hold(x * w)      ->      t1 = x * w, and the name `t1`
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.quote import assign, at, name
from s2sgrad.ir.unit import Unit
from s2sgrad.specialize.static_values import Function
from s2sgrad.specialize.statics import Statics


class Writer:
    """The statements written so far, and the place in the text for the next one."""

    def __init__(self, unit: Unit, statics: Statics) -> None:
        self.unit, self.statics = unit, statics
        self.out: list[gast.AST] = []
        self.loops: list[int] = []  # enclosing loops
        self.blocks: list[int] = []  # enclosing blocks, by unique number
        self.outer: list[list[gast.AST]] = []  # statements written so far for enclosing blocks
        self.rebound: list[Counter[str]] = []  # names that enclosing loops bind
        self.running: list[tuple[Function, Any]] = []  # the functions that are being inlined, with their receivers
        self.statement: gast.AST | None = None  # which is being written
        self._numbers = itertools.count(1)

    @contextlib.contextmanager
    def writing(self) -> Iterator[list[gast.AST]]:
        """Write the statements of a block of its own."""
        before, self.out = self.out, []
        self.outer.append(before)
        self.blocks.append(next(self._numbers))
        yield self.out
        self.out = before
        self.outer.pop()
        self.blocks.pop()

    @contextlib.contextmanager
    def writing_else(self, branch: gast.If | None) -> Iterator[None]:
        """Write the `else` of a branch, or what stands where there is none, and the branch behind it."""
        with self.writing() as out:
            yield
        if branch is None:
            self.out += out
        else:
            branch.orelse = out
            self.out.append(branch)

    @contextlib.contextmanager
    def at_place_of(self, statement: gast.AST) -> Iterator[None]:
        """Give what is written for a statement its place."""
        start, out = len(self.out), self.out
        around, self.statement = self.statement, statement
        with self.unit.calling(statement):
            yield
        self.statement = around
        at(statement, *(new for new in out[start:] if not hasattr(new, "lineno")))

    def hold(self, value: gast.AST) -> gast.Name:
        """Bind a value to a temporary."""
        holder = self.unit.temp()
        self.out.append(assign(holder, value))
        self.statics.note_length(name(holder), value)
        return at(value, name(holder))[0]

    def rebinds(self, local: str) -> bool:
        """Whether an enclosing loop binds a variable."""
        return any(bound[local] for bound in self.rebound)

    def bound_so_far(self) -> Counter[str]:
        """The number of bindings of each variable in the statements written so far."""
        return scoping.bindings([s for block in (*self.outer, self.out) for s in block])
