"""A loop over a known array, list, tuple or range: the run-time check for a sequence is removed.

    t = sequence(x); for k in range(len(t)): y = t[k]      ->      for k in range(len(x)): y = x[k]

A dict is iterated by its keys.
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container
from s2sgrad.cleanup import copy_propagation
from s2sgrad.inplace import rebind_markers
from s2sgrad.ir.quote import name
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> None:
    """Remove the checks, and propagate the names that become plain copies of the iterable."""
    copies = rebind_markers.lasting(unit, tree, _unchecked(unit, tree, inference))
    copy_propagation.read_through(unit, tree, copies.__contains__)


def _unchecked(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> set[str]:
    """The names that become plain copies of the iterable."""
    copies = set()
    for statement in effects.walk(tree.body):
        call = statement.value if isinstance(statement, gast.Assign) else None
        if unit.called(call) is runtime.sequence:
            kind = inference.kind(call.args[0])
            if isinstance(kind, Container) and kind.type not in (list, tuple, range, dict):
                unit.refuse(call, f"a loop over a {kind.type.__name__} cannot be reversed: loop over a list of its keys")
            if isinstance(kind, Array) or (isinstance(kind, Container) and kind.type in (list, tuple, range)):
                statement.value = call.args[0]
                copies.add(statement.targets[0].id)
            elif isinstance(kind, Container):
                call.func = name(unit.helper("keys", runtime.keys))
    return copies
