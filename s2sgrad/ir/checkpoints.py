"""How `checkpoint` and `checkpointed` stand in a text.

    checkpoint(f)(x)   ->   `f`              for k in checkpointed(range(n), slots=30)   ->   `30`
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checkpoints import checkpoint, checkpointed


def under_checkpoint(unit: Unit, callee: gast.AST) -> gast.AST | None:
    """The function that `checkpoint(f)`, which is called, is in all but its adjoint; None for any other callee."""
    made = isinstance(callee, gast.Call) and len(callee.args) == 1 and not callee.keywords
    return callee.args[0] if made and unit.resolve(callee.func) is checkpoint else None


def slots_of(unit: Unit, over: gast.AST) -> gast.AST | None:
    """How many states are kept of a loop over this; None where it keeps records of every trip."""
    if not isinstance(over, gast.Call) or unit.resolve(over.func) is not checkpointed:
        return None
    if len(over.args) != 1 or [k.arg for k in over.keywords] != ["slots"] or isinstance(over.args[0], gast.Starred):
        unit.refuse(over, "`checkpointed` takes what a loop runs over, and `slots=`, the number of states to be kept")
    return over.keywords[0].value


def with_slots(over: gast.Call, steps: gast.AST, slots: gast.AST) -> gast.Call:
    """`checkpointed(steps, slots=slots)`, of a loop that was `over` something else."""
    return gast.Call(over.func, [steps], [gast.keyword("slots", slots)])


def plainly(loop: gast.For) -> None:
    """Let a loop over `checkpointed` run over the range itself."""
    loop.iter = loop.iter.args[0]


def forget(unit: Unit, tree: gast.AST) -> None:
    """Let all of these loops in a tree do so."""
    for node in nodes(tree):
        if isinstance(node, gast.For) and slots_of(unit, node.iter) is not None:
            plainly(node)
