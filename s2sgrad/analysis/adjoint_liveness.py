"""Which adjoints are not plainly zero where a loop begins: those of variables whose value there reaches the result.

    for i in range(n): a = x * y; s = s + a      ->      x, y, s, given that after it s is: each trip binds a anew
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
    """The variables whose adjoint is not plainly zero before a loop, given those after it; nothing is behind a `raise`.
    Those of `lasting` are there wherever they are bound."""
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
    """Of a point, if one of the first (-1: whatever) is present behind it: the variables that are not before it, and those
    that are."""
    statement = point.statement
    if point.role != "whole" or isinstance(statement, COMPOUND):
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
