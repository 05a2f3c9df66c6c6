"""Nesting: statements of the normal form as a user would write them, in a function that is made of them and read again.

    t1 = len(q); t2 = 2 * t1; y = t2 + x      ->      y = 2 * len(q) + x
    t1 = d[k]; t2 = t1 + e; d[k] = t2         ->      d[k] += e

An update of a section stays one: of an item that is an array, or an object, it changes what the item is.

>>> from s2sgrad.ir.unit import Unit
>>> block = gast.parse("t1 = len(q); t2 = d[k]; t3 = t2 + t1; d[k] = t3").body
>>> unit = Unit(None, None)
>>> unit.syntax.updates.add(place_of(block[3]))
>>> nest(block, {"t1", "t2", "t3"})
>>> [gast.unparse(s) for s in block]
['d[k] = d[k] + len(q)']
>>> write_updates(unit, block)
>>> [gast.unparse(s) for s in block]
['d[k] += len(q)']
"""

from __future__ import annotations

import functools
from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir import scoping
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import NAMES, at, clone, nested, nodes, nodes_of, place_of
from s2sgrad.ir.scoping import COMPREHENSIONS
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit

_LATER = (*COMPREHENSIONS, gast.Lambda)  # expressions that are evaluated later, or more than once


def nest(block: list[gast.AST], ours: set[str]) -> None:
    """Write the values of names of ours where they are read, if that is once, by the next statement that is not of ours."""
    reads = Counter(n.id for n in nodes(*block) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    binds = scoping.bindings(block)
    for inner in nested(block):
        waiting: dict[str, gast.AST] = {}
        kept: list[gast.AST] = []
        for statement in inner:
            for part in _read_first(statement):
                read = getattr(statement, part)
                held = {n.id for n in nodes_of(read, NAMES, _LATER)} & waiting.keys()
                setattr(statement, part, clone(read, functools.partial(_put, {n: waiting.pop(n).value for n in held})))
            local = bound_name(statement)
            if local in ours and reads[local] == binds[local] == 1:
                waiting[local] = statement
            else:
                kept += [*waiting.values(), statement]
                waiting = {}
        inner[:] = [*kept, *waiting.values()]


def _read_first(statement: gast.AST) -> list[str]:
    """The part of a statement that is computed once, before any statement in it."""
    if isinstance(statement, (gast.Assign, gast.AugAssign, gast.Return)):
        return ["value"]
    if isinstance(statement, gast.For):
        return ["iter"]
    return ["test"] if isinstance(statement, gast.If) else []


def _put(values: dict[str, gast.AST], node: gast.AST) -> gast.AST | None:
    return values.get(node.id) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) else None


def write_updates(unit: Unit, block: list[gast.AST]) -> gast.AST | None:
    """Write `x[i] += e` for what the user wrote so; the first update that cannot be, None if there is none."""
    for inner in nested(block):
        for k, statement in enumerate(inner):
            section = effects.stored(statement)
            if section is None or place_of(statement) not in unit.syntax.updates:
                continue
            if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.BinOp):
                return statement
            if not same(section, statement.value.left):
                return statement
            (inner[k],) = at(statement, gast.AugAssign(section, statement.value.op, statement.value.right))
    return None


def require_updates(unit: Unit, block: list[gast.AST], called: str) -> None:
    """Nest the statements of a function; refuse an update that cannot be written as one."""
    nest(block, {n for n in scoping.bindings(block) if unit.is_ours(n)})
    if (update := write_updates(unit, block)) is not None:
        unit.refuse(update, f"`{called}`, which is differentiated here, updates an item by what takes several statements, "
                            "which cannot be followed: compute that on a line of its own before")  # fmt: skip
