"""Calls of NumPy's functions in loops over numbers: what they give is turned into Python's numbers.

    for _ in range(n):                         for _ in range(n):
        v = v - dt * np.sin(x)         ->          v = v - dt * float(np.sin(x))
        x = x + dt * v                             x = x + dt * v

An operation on two of Python's numbers takes a third of the time; one number of NumPy's makes all that follow from it
NumPy's.  Only where more is gained than `float` costs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.backends.scalar_lists.nested_kinds import NestedKinds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import LOOPS, blocks, nodes
from s2sgrad.ir.unit import Unit

_PARTS = ("left", "right", "operand", "value")
_PAYS = 3  # as many operations on Python's numbers as calls of `float`


def gives_number(unit: Unit, nested: NestedKinds, call: gast.Call) -> bool:
    """Whether a function of NumPy's gives a number for numbers."""
    target = unit.resolve(call.func)
    if not isinstance(target, np.ufunc) or target.nout != 1 or call.keywords:
        return False
    return nested.is_float(call, np.float64) and all(map(nested.is_number, call.args))


def found(unit: Unit, tree: gast.FunctionDef, nested: NestedKinds) -> set[int]:
    """Such calls in loops, by identity."""
    calls = (n for loop in _outermost(tree.body) for n in nodes(loop) if isinstance(n, gast.Call))
    return {id(n) for n in calls if gives_number(unit, nested, n)}


def worthwhile(tree: gast.FunctionDef, calls: Collection[int], before: NestedKinds, after: NestedKinds) -> set[int]:
    """Those of some calls that are worth it, by the kinds `before` they are turned into Python's numbers and `after`."""
    out: set[int] = set()
    for loop in _outermost(tree.body):
        used = _operands(loop, before, after)
        read = {n.id for operands in used for n in operands if isinstance(n, gast.Name)}
        places = {id(n) for operands in used for n in operands}
        places |= {id(s.value) for s in effects.walk([loop]) if bound_name(s) in read}
        kept = {id(n) for n in nodes(loop) if id(n) in calls} & places
        out |= kept if len(used) >= _PAYS * len(kept) else set()
    return out


def _operands(loop: gast.AST, before: NestedKinds, after: NestedKinds) -> list[list[gast.AST]]:
    """The operands of each operation in a loop that is on Python's numbers only afterwards."""
    out: list[list[gast.AST]] = []
    for node in (n for n in nodes(loop) if isinstance(n, (gast.BinOp, gast.UnaryOp, gast.AugAssign))):
        if _is_gained(node.target if isinstance(node, gast.AugAssign) else node, before, after):
            out.append([part for word in _PARTS if isinstance(part := getattr(node, word, None), gast.AST)])
    return out


def _is_gained(node: gast.AST, before: NestedKinds, after: NestedKinds) -> bool:
    """Whether an expression is a number of NumPy's no longer, at least where the arguments are Python's."""
    return before.is_float(node, np.float64) and after.is_number(node) and not after.is_float(node, np.float64)


def _outermost(body: list[gast.AST]) -> Iterator[gast.AST]:
    """The loops of a block that are in no other."""
    for statement in body:
        if isinstance(statement, LOOPS):
            yield statement
        else:
            for inner in blocks(statement):
                yield from _outermost(inner)
