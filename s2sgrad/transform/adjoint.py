"""The adjoint of one operation: its contributions to the adjoints of its operands.

y = np.sin(x) * z       ->      z_bar = y_bar * np.sin(x); x_bar = y_bar * z * np.cos(x)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import Array, Number, kind_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import clone, constant
from s2sgrad.transform import unbroadcasting
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.rule_adjoint import RuleAdjoint


def run(adjoints: Adjoints, operation: Operation, y: gast.AST, g: Cotangent) -> None:
    """Contribute to the operands of `y = operation`, given the cotangent of `y`, a name or a tuple of names."""
    if operation.form != "rule" and isinstance(y, gast.Name):
        g = adjoints.settling.settled(g, y.id)
    if operation.form == "atom":
        adjoints.contribute(operation.node, g)
    elif operation.form == "rule":
        RuleAdjoint(adjoints, operation, y, g).run()
    elif operation.form == "item":
        adjoints.contribute(operation.operands[0], _of_section(adjoints, operation, g))
    elif operation.form == "display":
        _display(adjoints, operation, g)


def _of_section(adjoints: Adjoints, operation: Operation, g: Cotangent) -> Cotangent:
    """The contribution to an array or a container of which a section or an item was read."""
    index, kind = operation.node.slice, kind_of(operation.operands[0], adjoints.kinds)
    if isinstance(kind, Array) and kind.rank and g.numeric and g.mask is None:
        found = adjoints.inference.kind
        value = unbroadcasting.without_new_axes(adjoints.unit, g.value, index, kind.rank, found)
        if value is not None:
            return Cotangent(value, found(value), False, None, idle=g.idle)
    return Cotangent(g.value, g.kind, True, index, g.numeric, idle=g.idle)


def _display(adjoints: Adjoints, operation: Operation, g: Cotangent) -> None:
    """Distribute the cotangent of a tuple, list or dict to its items."""
    keys = operation.node.keys if isinstance(operation.node, gast.Dict) else None  # a named tuple by position
    if sum(isinstance(o, gast.Name) and o.id in adjoints.active for o in operation.operands) > 1:
        g = adjoints.named(adjoints.isolated(g))
    for k, operand in enumerate(operation.operands):
        if isinstance(g.value, (gast.Tuple, gast.List)) and keys is None and len(g.value.elts) > k:
            part: gast.AST = clone(g.value.elts[k])
        else:
            place = constant(k) if keys is None else clone(keys[k])
            part = gast.Subscript(clone(g.value), place, gast.Load())
        kind = kind_of(operand, adjoints.kinds)
        numeric = isinstance(kind, (Number, Array))
        adjoints.contribute(operand, Cotangent(part, kind, True, None, numeric, idle=g.idle))
