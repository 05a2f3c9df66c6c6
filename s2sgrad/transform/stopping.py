"""Checks for local variables that a gradient is taken in, or stopped at: they must exist, with memory of their own.

w = v[1:]; v[1] = 0.0; return np.sum(w)      ->      Unsupported in `w`: it has been replaced by a section of `v`
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliasing import Memory

_SHARES = "shares its memory with another variable that is written: copy it where it is assigned"


def require_followed(
    unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], wrt: tuple[str, ...], stops: tuple[str, ...]
) -> None:
    """Raise Unsupported where the adjoint of a local variable would miss contributions through other names."""
    given = {p.id for p in parameters(tree)}
    bound = given | {b for s in effects.walk(tree.body) for b in binds(s)}
    for local in wrt:
        if local.partition("[")[0] not in bound:
            unit.refuse(_place(unit, local), f"`{local}`, in which a gradient is asked for, {_SHARES}")
    if not stops:
        return
    memory = Memory(unit, tree, kinds)
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and unit.called(statement.value) is runtime.stop_gradient:
            stopped, value = binds(statement), statement.value.args[0]
            others = memory.with_memory_of(value.id) | {value.id} if isinstance(value, gast.Name) else set()
            if others - unit.temps and (others | set(stopped)) & memory.written:
                unit.refuse(statement, f"`{stopped[0]}`, at which the gradient stops, {_SHARES}")


def _place(unit: Unit, local: str) -> gast.AST:
    targets = (n for n in gast.walk(unit.primal.tree) if isinstance(n, gast.Name) and n.id == local)
    return next(targets, unit.primal.tree)
