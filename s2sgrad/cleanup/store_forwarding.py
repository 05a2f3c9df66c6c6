"""Store forwarding: a restored section that only the adjoint of its own store reads is read from the record directly.

    x[i] = x_stack.pop()                           x_bar[i] *= np.cos(x_stack.pop())
    x_bar[i] *= np.cos(x[i])               ->

The array then keeps the forward sweep's contents; `dead_restores` shows that nothing else reads the restored section.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, n):
...     for i in range(n):
...         x[i] = np.sin(x[i])
...     return x
... ''', "store_forwarding", np.ones(3), 3))
-         x_[i2] = x__stack.pop()
+         t3 = x__stack.pop()
-         t1_2 = x_[i2]
+         t1_2 = t3
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.cleanup.dead_restores import Overwritten
from s2sgrad.flow.graph import Graph, binds
from s2sgrad.ir.quote import Transformer, assign, at, name
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.regions.later_trips import Sections


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Forward the values of such restores through temporaries."""
    while unit.memory.written - unit.derivative.bars and _forward_all(unit, tree):
        unit.memory = Memory(unit, tree, unit.kinds)  # loads no longer alias the arrays
    return tree


def _forward_all(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Forward all such restores, last first: a forwarded one no longer reads what earlier ones restored."""
    graph, taken = Graph(tree, unit.kept), False
    found = Overwritten(unit, tree, graph, Sections(unit, tree, graph))
    for restore in reversed(found.found):
        if effects.base(effects.stored(restore)) in unit.derivative.bars:
            continue  # what is stored may be stretched to the section: no record is
        loads = found.only_loads(restore)
        if loads:
            _forward(unit, found, restore, loads)
            taken = True
    return taken


def _forward(unit: Unit, found: Overwritten, restore: gast.AST, loads: list[tuple[gast.AST, gast.Subscript]]) -> None:
    holder = unit.temp()
    unit.kinds[holder] = UNKNOWN
    for statement, load in loads:
        if isinstance(statement, gast.Assign) and statement.value is load:
            for target in binds(statement):
                unit.kinds[holder] = unit.kinds.get(target, UNKNOWN)
                found.detach(target)
        _Replace(load, holder).within(statement)
        found.replaced(statement, statement)
    body, k = found.place[id(restore)]
    body[k] = at(restore, assign(holder, restore.value))[0]
    found.replaced(restore, body[k])


class _Replace(Transformer):
    """Replaces one expression by a name."""

    def __init__(self, load: gast.AST, holder: str) -> None:
        self.load, self.holder = load, holder

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        return name(self.holder) if node is self.load else self.generic_visit(node)
