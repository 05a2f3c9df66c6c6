"""Which lists grow and shrink, and have other reads than `append` and `pop`: no stacks, though they are used like these.

s.append(x); y = s[0]     ->     s grows; without the read of `s[0]` it is a stack
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.flow.counts import read_counts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.stacks import recorded_stacks
from s2sgrad.runtime.copies import copied, copied_as_laid


def grown(unit: Unit, tree: gast.FunctionDef, found: Operations) -> set[str]:
    """The lists with `append` and `pop` and other reads; their operations become `grow` and `shrink`."""
    owners = (o.operands[0] for o in found.values() if o.is_stack)
    changed = {owner.id for owner in owners if isinstance(owner, gast.Name)}
    if not changed:
        return set()
    mentions = read_counts(tree.body)
    as_stacks = _mentioned_as_stacks(unit, tree, found)
    out = {s for s in changed if mentions[s] != as_stacks[s]} | _made_elsewhere(unit, tree, changed)
    for operation in found.values():
        if operation.is_stack and getattr(operation.operands[0], "id", None) in out:
            operation.form = {"push": "grow", "pop": "shrink"}[operation.form]
    return out


def _mentioned_as_stacks(unit: Unit, tree: gast.FunctionDef, found: Operations) -> Counter[str]:
    """How often each list is mentioned by a push or a pop, or passed on in a record of ours.

    The adjoint of a stack that is passed on is bound, not added to: so only the last use of a stack may pass it on.
    """
    out: Counter[str] = Counter()
    last = {id(s): k for k, s in enumerate(tree.body)}
    for statement in effects.walk(tree.body):
        operation = found.get(id(statement))
        if operation is None:
            continue
        if operation.is_stack:
            whole = operation.operands[:1]
        elif not unit.primal.is_generated:
            continue
        elif unit.called(operation.node) is runtime.zeros:
            whole = operation.operands or operation.node.args
        elif id(statement) in last and (operation.form == "display" or unit.called(operation.node) is runtime.own):
            names = [n.id for n in operation.operands or getattr(operation.node, "args", []) if isinstance(n, gast.Name)]
            later = read_counts(tree.body[last[id(statement)] + 1 :])
            out.update(n for n in names if names.count(n) == 1 and not later[n])
            continue
        else:
            whole = []
        out.update(n.id for n in whole if isinstance(n, gast.Name))
    return out


def _made_elsewhere(unit: Unit, tree: gast.FunctionDef, changed: set[str]) -> set[str]:
    """Those of these lists that do not start empty, which others may read; a record may provide stacks of ours."""
    ours = recorded_stacks(unit, tree)
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        bound = changed.intersection(binds(statement))
        if not bound or isinstance(statement, gast.AugAssign):
            out |= bound
            continue
        empty = isinstance(statement.value, gast.List) and not statement.value.elts
        recorded = bound <= ours or _reads_structure(unit, statement.value)
        if not empty and not (unit.primal.is_generated and recorded):
            out |= bound
    return out


def _reads_structure(unit: Unit, node: gast.AST) -> bool:
    return unit.called(node) in (runtime.zeros, runtime.own, copied, copied_as_laid)
