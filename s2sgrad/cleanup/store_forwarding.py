"""A restored section that only the adjoint of its own store reads is read from the record.

    x[i] = x_stack.pop()                           x_bar[i] *= np.cos(x_stack.pop())
    x_bar[i] *= np.cos(x[i])               ->

The array keeps what the forward sweep left in it: `dead_restores` says that nothing else reads what was restored.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.cleanup.dead_restores import Overwritten
from s2sgrad.flow.graph import Graph, binds
from s2sgrad.ir.quote import HEADER, Transformer, assign, at, name
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.regions.later_trips import Sections


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with temporaries for the values of such restores."""
    while unit.memory.written - unit.bars and _take_all(unit, tree):
        unit.memory = Memory(unit, tree, unit.kinds)  # what was read of the arrays shares their memory no more
    return tree


def _take_all(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Take the values of all such restores, the last first: one that is taken is no read of what others restored."""
    found, taken = Overwritten(unit, tree, Graph(tree, unit.kept), Sections(unit, tree)), False
    for restore in reversed(found.found):
        loads = found.only_loads(restore)
        if loads:
            _take(unit, found, restore, loads)
            taken = True
    return taken


def _take(unit: Unit, found: Overwritten, restore: gast.AST, loads: list[tuple[gast.AST, gast.Subscript]]) -> None:
    holder = unit.temp()
    unit.kinds[holder] = UNKNOWN
    for statement, load in loads:
        if isinstance(statement, gast.Assign) and statement.value is load:
            for target in binds(statement):
                unit.kinds[holder] = unit.kinds.get(target, UNKNOWN)
                found.detach(target)
        _Replace(load, holder).header(statement)
        found.replaced(statement, statement)
    body, k = found.place[id(restore)]
    body[k] = at(restore, assign(holder, restore.value))[0]
    found.replaced(restore, body[k])


class _Replace(Transformer):
    """A name in the place of one expression."""

    def __init__(self, load: gast.AST, holder: str) -> None:
        self.load, self.holder = load, holder

    def header(self, statement: gast.AST) -> None:
        """Replace it in a statement, or in the header of a compound one."""
        field = HEADER.get(type(statement))
        if field is None:
            self.generic_visit(statement)
        else:
            setattr(statement, field, self.visit(getattr(statement, field)))

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        return name(self.holder) if node is self.load else self.generic_visit(node)
