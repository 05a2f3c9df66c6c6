"""Adjoint liveness at the head of a loop: which adjoints may be nonzero there, because the value reaches the result.

for i in range(n): a = x * y; s = s + a      ->      x, y, s, if s is live after it: each trip binds a first
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.flow.graph import Graph, Names, Point, Waiting
from s2sgrad.ir.quote import COMPOUND


def before(
    graph: Graph, loop: gast.For | gast.While, present: set[str], found: Operations, active: set[str], lasting: set[str]
) -> set[str]:
    """The variables whose adjoint may be nonzero before a loop, given those after it; a `raise` has none after it.  A
    binding does not end those in `lasting`.
    """
    names = Names(sorted(present | active))
    inside = range(graph.at[id(loop)], graph.leaving[id(loop.body)][-1] + 1)
    into = [0] * len(graph.points)
    for behind in {target for k in inside for target in graph.after[k] if target not in inside}:
        into[behind] = names.mask(present) if behind != graph.exit else 0
    effect = {k: _effect(names, graph.points[k], found, active) for k in inside}
    kept = ~names.mask(lasting & (present | active))

    def step(k: int, live: int) -> int:
        wanted, ends, begins = effect[k]
        return (live & ~(ends & kept)) | begins if wanted & live or wanted < 0 else live

    graph.backward_by(step, into, Waiting(inside))
    return set(names.decoded(into[inside[0]])) | present


def _effect(names: Names, point: Point, found: Operations, active: set[str]) -> tuple[int, int, int]:
    """The transfer function of a point as three sets: if one of the first (-1: always) is live behind it, the second are
    dead before it, and the third are live.
    """
    statement = point.statement
    if point.role != "whole" or statement is None or isinstance(statement, COMPOUND):
        return 0, 0, 0
    operation, section = found.get(id(statement)), effects.stored(statement)
    if section is not None:
        return names.mask([effects.base(section)]), 0, names.mask(effects.reads(statement.value) & active)
    if operation is not None and operation.form == "push":
        return -1, 0, names.mask({o.id for o in operation.operands if isinstance(o, gast.Name)} & active)
    if operation is not None and operation.form == "grow":
        owner, value = operation.operands
        return names.mask([owner.id]), 0, names.mask({value.id} & active) if isinstance(value, gast.Name) else 0
    targets = names.mask(point.binds)
    return targets, targets, names.mask(set(activity.sources(operation)) & active) if operation is not None else 0
