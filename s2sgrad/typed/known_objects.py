"""Run-time checks of references to objects that the kinds decide: a known reference indexes its lists directly.

    t = place(p, "v"); vs[t]      ->      vs[p]
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.contents import holds_pointers
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Number, Pointer
from s2sgrad.cleanup import copy_propagation
from s2sgrad.inplace import rebind_markers
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import nested
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import references


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> None:
    """Remove the checks, and propagate the names that become plain copies."""
    copies = set()
    for statement in effects.walk(tree.body):
        call = statement.value if isinstance(statement, gast.Assign) else None
        if unit.called(call) is references.place and isinstance(inference.kind(call.args[0]), Pointer):
            statement.value = call.args[0]
            copies.add(statement.targets[0].id)
    for body in nested(tree.body):
        body[:] = [s for s in body if not _is_needless(unit, s, inference)]
    copies = rebind_markers.lasting(unit, tree, copies)
    copy_propagation.read_through(unit, tree, copies.__contains__)


def _is_needless(unit: Unit, statement: gast.AST, inference: Inference) -> bool:
    """Whether a statement checks a value that is known not to be an object; refuses one that is known to be one."""
    call = alone(statement)
    if unit.called(call) is not references.no_object:
        return False
    kind = inference.kind(call.args[0])
    if holds_pointers(kind):
        unit.refuse(statement, "an object that is made here is returned, which is not supported: return numbers, arrays, "
                               "lists or dicts")  # fmt: skip
    return isinstance(kind, (Array, Number))
