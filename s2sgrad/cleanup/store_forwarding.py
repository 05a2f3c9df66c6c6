"""A restored section that only the adjoint of its own store reads is read from the record.

    x[i] = x_stack.pop()                           x_bar[i] *= np.cos(x_stack.pop())
    x_bar[i] *= np.cos(x[i])               ->

The array keeps what the forward sweep left in it: `dead_restores` says that nothing else reads what was restored.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.cleanup.dead_restores import Overwritten
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import assign, at, name, nodes
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
    found, taken = Overwritten(unit, tree, Sections(unit, tree)), False
    for body, k in reversed(found.within):
        loads = found.only_loads(body, k)
        if loads:
            _take(unit, found, body, k, loads)
            taken = True
    return taken


def _take(unit: Unit, found: Overwritten, body: list[gast.AST], k: int, loads: list[gast.Subscript]) -> None:
    holder = unit.temp()
    unit.kinds[holder] = UNKNOWN
    places = {id(load) for load in loads}
    for place in found.mentions.of(body, effects.base(body[k].targets[0]), k + 1):
        for statement in effects.walk([body[place]]):
            if isinstance(statement, gast.Assign) and id(statement.value) in places:
                for target in binds(statement):
                    unit.kinds[holder] = unit.kinds.get(target, UNKNOWN)
                    found.detach(target)
        _replace(body[place], places, holder)
        for statement in effects.walk([body[place]]):
            found.mentions.changed(*found.mentions.place[id(statement)])
    body[k] = at(body[k], assign(holder, body[k].value))[0]
    found.mentions.changed(body, k)


def _replace(tree: gast.AST, places: set[int], holder: str) -> None:
    for node in nodes(tree):
        for field, value in node.__dict__.items():
            if id(value) in places:
                node.__dict__[field] = name(holder)
            elif isinstance(value, list):  # the very list: it may be a block
                value[:] = [name(holder) if id(v) in places else v for v in value]
