"""Refuses what is made of an array that may be written before the object is asked for the last time.

    s = make_interp_spline(x, y, k=1); y[0] = 7.0; s(t)    ->    refused: only the run knows whether the object reads `y`
    s = make_interp_spline(x, y, k=1); s(t); y[0] = 7.0    ->    as it is

>>> from s2sgrad.source import read
>>> def f(y):
...     s = spline(y)
...     y[0] = 7.0
...     return s(0.5)
>>> unit, tree = Unit.of(read(f))
>>> [type(s).__name__ for s in between(tree.body, tree.body[0], {"s"})]
['Assign', 'Return']
"""

from __future__ import annotations

from collections.abc import Collection

import gast

from s2sgrad.ir import quote
from s2sgrad.ir.quote import clone, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.interference import Interference

_NESTED = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
_LOOPS = (gast.For, gast.While, gast.AsyncFor)


class MadeArguments:
    """The arguments of calls that make objects of libraries, in one function.  Each is noted before it is rewritten, and
    asked for when all are: what stands for the methods of these objects writes nothing."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.named = list[tuple[gast.Call, list[gast.AST], list[gast.AST], Collection[str]]]()

    def note(self, call: gast.Call, made: list[gast.AST], names: Collection[str]) -> None:
        """Note a call that makes the object that these names have, and the statements that stand for it."""
        self.named.append((call, given(call), made, names))

    def require_unwritten(self, tree: gast.FunctionDef) -> None:
        """Refuse a call if what it is given may be written before its object is mentioned for the last time."""
        memory = None
        for call, parts, made, names in self.named:
            statements = between(tree.body, made[-1], names)
            if not parts or not statements:
                continue
            memory = memory or Interference(self.unit, tree)
            if memory.may_change(parts, statements):
                self.unit.refuse(
                    call, "what an object of a library is made of here may be written before it is used, and only the run "
                          "knows whether the object reads that: make it of a copy",
                )  # fmt: skip


def given(call: gast.Call) -> list[gast.AST]:
    """The arguments of a call that mention names."""
    parts = [*call.args, *(k.value for k in call.keywords)]
    return [clone(part) for part in parts if any(isinstance(n, gast.Name) for n in nodes(part))]


def between(block: list[gast.AST], statement: gast.AST, names: Collection[str]) -> list[gast.AST]:
    """The statements that may run after one of a block, or within, up to the last that mentions names."""
    later = _later(block, statement, names) or []
    if any(isinstance(node, _NESTED) and _mentions([node], names) for node in nodes(*block)):
        return later  # what is nested may be called by any of them
    last = max((k for k, own in enumerate(later) if _mentions([own], names)), default=-1)
    return later[: last + 1]


def _later(block: list[gast.AST], statement: gast.AST, names: Collection[str]) -> list[gast.AST] | None:
    """The statements that may run after one, from the innermost block outwards; None where it is not in there."""
    for k, own in enumerate(block):
        if own is statement:
            return block[k + 1 :]
        parts = quote.blocks(own)
        for place, part in enumerate(parts):
            inner = _later(part, statement, names)
            if inner is None:
                continue
            rest = [] if isinstance(own, gast.If) else [s for other in parts[place + 1 :] for s in other]
            again = isinstance(own, _LOOPS) and _mentions([own], names) > _mentions([statement, *inner], names)
            return [*inner, *rest, *([own] if again else []), *block[k + 1 :]]
    return None


def _mentions(statements: list[gast.AST], names: Collection[str]) -> int:
    """How often statements mention names."""
    return sum(isinstance(node, gast.Name) and node.id in names for node in nodes(*statements))
