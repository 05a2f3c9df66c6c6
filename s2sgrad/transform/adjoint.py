"""The adjoint of one operation: its contributions to the adjoints of its operands.

y = np.sin(x) * z       ->      z_bar = y_bar * np.sin(x); x_bar = y_bar * z * np.cos(x)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import Array, Number, kind_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import clone, constant
from s2sgrad.transform.adjoint_environment import Bars
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.rule_adjoint import RuleAdjoint
from s2sgrad.transform.unbroadcasting import relation


class Adjoints(Bars):
    """The adjoint environment, with the adjoints of operations."""

    def operation(self, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        """Contribute to the operands of `y = operation`, given the cotangent of `y`, a name or a tuple of names."""
        if operation.form != "rule" and isinstance(y, gast.Name):
            g = self.settled(g, y.id)
        if operation.form == "atom":
            self.contribute(operation.node, g)
        elif operation.form == "rule":
            RuleAdjoint(self, operation, y, g).run()
        elif operation.form == "item":
            item = Cotangent(g.value, g.kind, True, operation.node.slice, g.numeric, idle=g.idle)
            self.contribute(operation.operands[0], item)
        elif operation.form == "display":
            self._display(operation, g)

    def _display(self, operation: Operation, g: Cotangent) -> None:
        """Distribute the cotangent of a tuple, list or dict to its items."""
        keys = operation.node.keys if isinstance(operation.node, gast.Dict) else None  # a named tuple by position
        if sum(isinstance(o, gast.Name) and o.id in self.active for o in operation.operands) > 1:
            g = self.named(self.isolated(g))
        for k, operand in enumerate(operation.operands):
            if isinstance(g.value, (gast.Tuple, gast.List)) and keys is None and len(g.value.elts) > k:
                part: gast.AST = clone(g.value.elts[k])
            else:
                place = constant(k) if keys is None else clone(keys[k])
                part = gast.Subscript(clone(g.value), place, gast.Load())
            kind = kind_of(operand, self.kinds)
            numeric = isinstance(kind, (Number, Array))
            self.contribute(operand, Cotangent(part, kind, True, None, numeric, idle=g.idle))

    def note_alike(self, target: str, operation: Operation) -> None:
        """Note that a temporary has the shape and the type of an operand of its elementwise operation.

        Where no type is known, only an operand that carries a derivative holds floats, too.
        """
        if target not in self.unit.temps or operation.rule is None or operation.rule.tag != "elementwise":
            return
        kind = self.kinds.get(target)
        dims = kind.dims if isinstance(kind, Array) and kind.dims is not None else ()
        if not all(map(self.inference.symbols.is_exact, dims)):
            return
        for operand in operation.operands:
            if isinstance(operand, gast.Name) and operand.id in self.unit.locals and isinstance(kind, Array):
                other = self.kinds.get(operand.id)
                floats = kind.dtype is not None or operand.id in self.active
                if floats and relation(kind, other) == "same" and getattr(other, "dtype", None) == kind.dtype:
                    self.alike[target] = self.alike.get(operand.id, operand.id)
                    return
