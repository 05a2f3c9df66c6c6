"""Run-time checks that the kinds decide, of what loops run over and of references to objects, are removed, and copies of
numbers.

    t = sequence(x); for k in range(len(t)): y = t[k]      ->      for k in range(len(x)): y = x[k]
    t = place(p, "v"); vs[t]                               ->      vs[p]
    t = np.ravel(m)[k]; y = t.copy()                       ->      y = np.ravel(m)[k], if that is a number

A dict is iterated by its keys.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.cleanup import copy_propagation
from s2sgrad.inplace import rebind_markers
from s2sgrad.ir.forms import receiver
from s2sgrad.ir.quote import name
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> None:
    """Remove the checks, and propagate the names that become plain copies."""
    copies = set()
    for statement in effects.walk(tree.body):
        call: gast.AST = statement.value if isinstance(statement, gast.Assign) else None
        if unit.called(call) is runtime.sequence and _holds(unit, call, inference):
            statement.value = call.args[0]
            copies.add(statement.targets[0].id)
        elif _is_number(owner := receiver(call, "copy"), inference) and isinstance(owner, gast.Name):
            statement.value = owner
            copies.add(statement.targets[0].id)
    copies = rebind_markers.lasting(unit, tree, copies)
    copy_propagation.read_through(unit, tree, copies.__contains__)


def _is_number(node: gast.AST | None, inference: Inference) -> bool:
    """Whether an expression is a number of NumPy's, which is its own copy."""
    kind = None if node is None else inference.kind(node)
    return isinstance(kind, Number) and isinstance(kind.type, type) and issubclass(kind.type, np.generic)


def _holds(unit: Unit, call: gast.Call, inference: Inference) -> bool:
    """Whether a call returns its argument, since what it checks is known."""
    kind = inference.kind(call.args[0])
    if not isinstance(kind, Container):
        return isinstance(kind, Array)
    if kind.type not in (list, tuple, range, dict):
        unit.refuse(call, f"a loop over a {kind.type.__name__} cannot be reversed: loop over a list of its keys")
    if kind.type is dict:
        call.func = name(unit.helper("keys", runtime.keys))
    return kind.type is not dict
