"""Common-subexpression elimination in the reverse sweep.

    t1 = i - 1                                   t1 = i - 1
    t2 = x[t1]                                   t2 = x[t1]
    a_bar[i] += y_bar[i] * t2            ->      a_bar[i] += y_bar[i] * t2
    t3 = i - 1; t4 = x[t3]
    b_bar[i] += z_bar[i] * t4                    b_bar[i] += z_bar[i] * t2

Only for numbers and views: two names of new memory must not become one, since either may be written.  What `sinking`
computed again in a branch, for its derivative, takes the value that is there.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, y, i):
...     z = y[i + 1] * x[i + 1]
...     return z * x[i + 1]
... ''', "cse", np.ones(3), np.ones(3), 1))
-     t2_2 = y[t1_2]
+     t2_2 = y[t5_2]
-     x_bar[t3_2] += z_bar * t2_2
+     x_bar[t5_2] += z_bar * t2_2
"""

from __future__ import annotations

import itertools

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.flow.available import Available
from s2sgrad.flow.counts import bound_once
from s2sgrad.flow.graph import Graph, Point, evaluation
from s2sgrad.ir.forms import bound_name, target_name
from s2sgrad.ir.quote import NAMES, nodes_of
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.memory import behaviour
from s2sgrad.memory.sources import is_basic

_VALUES = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Subscript, gast.Call)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Use one name for each value; the other definitions are left to dead-code elimination."""
    again = unit.derivative.again
    ours = unit.temps | again.keys() | set(again.values())
    once = {n: s for n, s in bound_once(tree.body).items() if n in ours and bound_name(s)}
    twice = {n for pair in again.items() for n in pair} if once.keys() & again.keys() else set()
    left = [s for n, s in once.items() if (sweep_of(s) == "reverse" or n in twice) and _may_be_shared(unit, s)]
    while new := _same(unit, tree, left):
        for statement in effects.walk(tree.body):
            if not new.keys().isdisjoint(evaluation(statement, unit.kept).reads):
                for node in nodes_of(effects.header(statement), NAMES):
                    node.id = new.get(node.id, node.id) if isinstance(node.ctx, gast.Load) else node.id
                unit.rewritten(statement)
        left = [s for s in left if bound_name(s) not in new]
        if not any(effects.reads(s) & set(new.values()) for s in left):
            break  # no new duplicates
    return tree


def _same(unit: Unit, tree: gast.FunctionDef, computed_once: list[gast.Assign]) -> dict[str, str]:
    """For names bound by these statements: an earlier name for the same value, where that is available."""
    by_text: dict[str, list[gast.Assign]] = {}
    for statement in computed_once:
        by_text.setdefault(gast.dump(statement.value), []).append(statement)
    alike = [statements for statements in by_text.values() if len(statements) > 1]
    if not alike:
        return {}
    computed = {target_name(s): [s] for s in itertools.chain(*alike)}
    ends: dict[str, list[str]] = {}  # from a name to the expressions that a change of it kills
    for bound, (statement,) in computed.items():
        for name in {bound, *effects.reads(statement)}:
            ends.setdefault(name, []).append(bound)

    def spoiled(point: Point) -> list[str]:
        changed = {*point.binds, *(unit.changed(point.statement) if point.role == "whole" else ())}
        return [name for c in changed & ends.keys() for name in ends[c]]

    available = Available(Graph(tree, unit.kept), computed, spoiled, at_start=False)
    out: dict[str, str] = {}
    for first, *others in alike:
        for k, statement in enumerate(others):
            earlier = (target_name(s) for s in (first, *others[:k]) if target_name(s) not in out)
            found = next((name for name in earlier if available.before(name, statement)), None)
            if found is not None:
                out[target_name(statement)] = found
    return out


def _may_be_shared(unit: Unit, statement: gast.Assign) -> bool:
    value = statement.value
    if not isinstance(value, _VALUES) or (isinstance(value, gast.Call) and unit.resolve(value.func) is len):
        return False  # `len(x)` is clearer than a name for it
    if isinstance(unit.kinds.get(target_name(statement)), Number):
        return behaviour.is_pure(unit, value)
    owner = value.value if isinstance(value, gast.Subscript) else None
    section = isinstance(owner, gast.Name) and isinstance(unit.kinds.get(owner.id), Array)
    return section and is_basic(value.slice, unit.kinds)
