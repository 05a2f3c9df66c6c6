"""Recognition of `checkpoint` and `checkpointed` in a tree.

checkpoint(f)(x)   ->   `f`              for k in checkpointed(range(n), slots=30)   ->   `30`
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checkpoints import checkpoint, checkpointed


def under_checkpoint(unit: Unit, callee: gast.AST) -> gast.AST | None:
    """The argument of a callee `checkpoint(f)`, which differs from it only in the adjoint; None for any other callee."""
    made = isinstance(callee, gast.Call) and len(callee.args) == 1 and not callee.keywords
    return callee.args[0] if made and unit.resolve(callee.func) is checkpoint else None


def slots_of(unit: Unit, over: gast.AST) -> gast.AST | None:
    """The number of states to save for a loop over this iterable; None for a loop that records every trip."""
    if not isinstance(over, gast.Call) or unit.resolve(over.func) is not checkpointed:
        return None
    if len(over.args) != 1 or [k.arg for k in over.keywords] != ["slots"] or isinstance(over.args[0], gast.Starred):
        unit.refuse(over, "`checkpointed` takes what a loop runs over, and `slots=`, the number of states to be kept")
    return over.keywords[0].value


def with_slots(over: gast.Call, steps: gast.AST, slots: gast.AST) -> gast.Call:
    """`checkpointed(steps, slots=slots)`, for a loop that was `over` another iterable."""
    return gast.Call(over.func, [steps], [gast.keyword("slots", slots)])


def remove_checkpoint(loop: gast.For) -> None:
    """Turn a loop over `checkpointed` into one over the range itself."""
    loop.iter = loop.iter.args[0]


def checkpointed_loops(unit: Unit, tree: gast.AST) -> list[gast.For]:
    """All such loops in a tree."""
    return [n for n in nodes(tree) if isinstance(n, gast.For) and slots_of(unit, n.iter) is not None]


def remove_checkpoints(unit: Unit, tree: gast.AST) -> None:
    """Turn all such loops into loops over the ranges themselves."""
    for loop in checkpointed_loops(unit, tree):
        remove_checkpoint(loop)
