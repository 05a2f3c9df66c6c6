"""An adjoint that nothing writes, and that is not handed out, is no copy of the cotangent that it begins with.

    y_bar = own(seed); x_bar = y_bar[0] * c      ->      y_bar = seed; x_bar = y_bar[0] * c

The copy was for stores that turned out not to be needed: `y_bar[i] = 0.0`, which nothing read.

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

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.flow.counts import write_counts
from s2sgrad.ir.forms import bound_name, receiver, target_name
from s2sgrad.ir.quote import mentioned
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.memory.aliasing import Memory

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
    return tree


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _copied(unit: Unit, statement: gast.AST) -> gast.Name | None:
    """The name that a statement of the reverse sweep copies."""
    value = statement.value
    own = unit.called(value) is runtime.own and len(value.args) == 1
    copied = value.args[0] if own else receiver(value, "copy")
    return copied if isinstance(copied, gast.Name) and sweep_of(statement) == "reverse" else None
