"""The terms of a sum that the cotangent of a result multiplies which nobody reads are left out.

    y0_bar, y1_bar = z_bar, 0.0
    x_bar = y0_bar * a + y1_bar * b      ->      x_bar = y0_bar * a

Such a cotangent is 0, but the slope that it multiplies may be infinite where those of the other results are not: 0 is
selected, not multiplied.  `taken_apart` says which names stand for parts of the cotangent of a tuple.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... from scipy.special import sici
... def f(x):
...     return sici(x)[0] * x
... ''', "unread_terms", 1.0))
-     x_bar += t6 * np.sinc(x / math.pi) + product(t7, np.cos(x) / x)
+     x_bar += t6 * np.sinc(x / math.pi)
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.counts import write_counts
from s2sgrad.ir.forms import bound_name, minus, target_name
from s2sgrad.ir.quote import Transformer, mentioned
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import product


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Leave out such terms."""
    if unit.derivative.parts:
        bound = [s for s in effects.walk(tree.body) if bound_name(s) in unit.derivative.parts]
        zeros = Counter(target_name(s) for s in bound if _is_zero(s))
        writes = write_counts(tree.body) if zeros else {}
        unread = {part for part, times in zeros.items() if writes[part] == times}
        for statement in effects.walk(tree.body) if unread else ():
            if not unread.isdisjoint(mentioned(effects.header(statement)) - {bound_name(statement)}):
                _Terms(unit, unread).within(statement)
                unit.rewritten(statement)
    return tree


def _is_zero(statement: gast.Assign) -> bool:
    return isinstance(statement.value, gast.Constant) and statement.value.value == 0.0


class _Terms(Transformer):
    """Writes sums without the terms that are 0."""

    def __init__(self, unit: Unit, unread: set[str]) -> None:
        self.unit, self.unread = unit, unread

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        node = self.generic_visit(node)
        if isinstance(node.op, (gast.Add, gast.Sub)) and not self._is_zero(node):
            if self._is_zero(node.right):
                return node.left
            if self._is_zero(node.left):
                return node.right if isinstance(node.op, gast.Add) else minus(node.right)
        return node

    def _is_zero(self, node: gast.AST) -> bool:
        """Whether an expression is such a cotangent, or a product with one."""
        if isinstance(node, gast.UnaryOp):
            return self._is_zero(node.operand)
        if isinstance(node, gast.BinOp):
            sides = [node.left] if isinstance(node.op, gast.Div) else [node.left, node.right]
            return isinstance(node.op, (gast.Mult, gast.Div)) and any(map(self._is_zero, sides))
        if isinstance(node, gast.Call) and self.unit.resolve(node.func) is product:
            return any(map(self._is_zero, node.args))
        return isinstance(node, gast.Name) and node.id in self.unread
