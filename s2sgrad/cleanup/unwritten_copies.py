"""An adjoint that nothing writes, and that is not handed out, is no copy of the cotangent that it begins with.

    y_bar = own(seed); x_bar = y_bar[0] * c      ->      y_bar = seed; x_bar = y_bar[0] * c

The copy was for stores that turned out not to be needed: `y_bar[i] = 0.0`, which nothing read.  A gradient is returned in
memory of its own, without a copy where the function allocates that memory and returns it nowhere else:

    t = np.linalg.solve(A.T, y_bar); b_bar = t; A_bar = -np.outer(t, y); return A_bar, b_bar.copy()     ->     b_bar

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x):
...     y = np.empty(3)
...     for i in range(3):
...         y[i] = np.sin(x[i])
...     return y
... ''', "unwritten_copies", np.ones(3)))
-     y_bar2 = own(seed2)
+     y_bar2 = seed2
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Number
from s2sgrad.flow.counts import write_counts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import bound_name, receiver, target_name
from s2sgrad.ir.quote import Transformer, mentioned, nodes
from s2sgrad.ir.unit import Unit, parameters, sweep_of
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import is_fresh

_KEEPING = (gast.Return, gast.Expr)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Leave out the copies of cotangents that are only read."""
    bars = unit.derivative.bars
    assigned = [s for s in effects.walk(tree.body) if bound_name(s) in bars]
    copies = [(s, source) for s in assigned if (source := _copied(unit, s)) is not None]
    if copies:
        memory, times = Memory(unit, tree, unit.kinds), write_counts(tree.body)
        kept = [
            s for s in effects.walk(tree.body) if isinstance(s, _KEEPING) or isinstance(getattr(s, "value", None), _DISPLAYS)
        ]
        handed = mentioned(*kept)
        for statement, source in copies:
            bound = target_name(statement)
            same = memory.with_memory_of(bound) | memory.with_memory_of(source.id)
            if times[bound] == 1 and same.isdisjoint(memory.written) and same.isdisjoint(handed):
                statement.value = source
                unit.rewritten(statement)
    _return_as_it_is(unit, tree)
    return tree


def _return_as_it_is(unit: Unit, tree: gast.FunctionDef) -> None:
    """Return memory of the function's own, which nothing else that is returned shares, uncopied."""
    last = tree.body[-1]
    if isinstance(last, gast.Return) and any(isinstance(receiver(n, "copy"), gast.Name) for n in nodes(last)):
        last.value = _Handed(unit, tree, last).visit(last.value)
        unit.rewritten(last)


class _Handed(Transformer):
    """Replaces copies of memory that a function allocates in what it returns."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, last: gast.Return) -> None:
        self.unit, self.memory = unit, Memory(unit, tree, unit.kinds)
        self.reads = Counter(n.id for n in effects.loads(last))
        self.bindings: dict[str, list[gast.AST]] = {p.id: [p] for p in parameters(tree)}
        self.kept: list[tuple[str, set[str]]] = []  # names of what is no new memory, with what it is taken of
        for statement in effects.walk(tree.body):
            for bound in binds(statement):
                self.bindings.setdefault(bound, []).append(statement)
                value = getattr(statement, "value", None)
                if value is not None and not isinstance(unit.kinds.get(bound), Number) and not is_fresh(unit, value):
                    self.kept.append((bound, mentioned(value)))

    def visit_Call(self, node: gast.Call) -> gast.AST:
        source = receiver(node, "copy")
        if not isinstance(source, gast.Name):
            return self.generic_visit(node)
        shared = self.memory.with_memory_of(source.id)
        held = any(bound not in shared and not shared.isdisjoint(names) for bound, names in self.kept)
        alone = not held and sum(self.reads[n] for n in shared) == 1 and shared.isdisjoint(self.memory.lost)
        return source if alone and all(self._is_allocated(n, shared) for n in shared) else node

    def _is_allocated(self, bound: str, shared: frozenset[str]) -> bool:
        """Whether a name stands for new memory wherever it is bound, or for what others of these stand for."""
        return bound in self.bindings and all(self._allocates(s, shared) for s in self.bindings[bound])

    def _allocates(self, statement: gast.AST, shared: frozenset[str]) -> bool:
        if isinstance(statement, gast.AugAssign):
            return True
        if bound_name(statement) is None:
            return False
        value = statement.value
        return is_fresh(self.unit, value) or (isinstance(value, gast.Name) and value.id in shared)


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _copied(unit: Unit, statement: gast.AST) -> gast.Name | None:
    """The name that a statement of the reverse sweep copies."""
    value = statement.value
    own = unit.called(value) is runtime.own and len(value.args) == 1
    copied = value.args[0] if own else receiver(value, "copy")
    return copied if isinstance(copied, gast.Name) and sweep_of(statement) == "reverse" else None
