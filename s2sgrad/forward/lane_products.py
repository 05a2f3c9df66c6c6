"""Products with lanes: factors without lanes are multiplied by each other first, for each product with lanes is a large one.

    y_dot = 3.0 * (w * x_dot)     ->     y_dot = 3.0 * w * x_dot          x_dot: (lanes, n), w: (n,)

Only doubles change their order: a product of small integers wraps around before it meets a double.

>>> import gast
>>> from s2sgrad import emit
>>> from s2sgrad.analysis.kinds import Array
>>> unit = Unit(None, None, {"w", "x_dot"})
>>> unit.kinds = {"w": Array("float64", (2,)), "b": Array("uint8", (2,)), "x_dot": Array("float64", (5, 2))}
>>> emit.expression(_Products(unit).visit(gast.parse("3.0 * (w * (x_dot * 2.0 - w))").body[0].value))
'3.0 * w * (x_dot * 2.0 - w)'
>>> emit.expression(_Products(unit).visit(gast.parse("b * (b * x_dot)").body[0].value))
'b * (b * x_dot)'
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.ir.quote import Transformer
from s2sgrad.ir.simplify import simplified
from s2sgrad.ir.unit import Unit, is_derived


def run(unit: Unit, tree: gast.FunctionDef) -> None:
    """Order the products of the tangents' statements."""
    products = _Products(unit)
    for statement in effects.walk(tree.body):
        if is_derived(statement) and isinstance(statement, (gast.Assign, gast.AugAssign)):
            statement.value = products.visit(statement.value)


class _Products(Transformer):
    def __init__(self, unit: Unit) -> None:
        self.shapes = Shapes(unit, unit.kinds)

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        ranks = {id(f): self.shapes.rank(f) for f in _factors(node)}
        if len(ranks) < 3 or None in ranks.values():
            return node
        full = max(ranks.values())
        large = [f for f in _factors(node) if ranks[id(f)] == full]
        small = [f for f in _factors(node) if ranks[id(f)] < full]
        if len(small) < 2 or full < 2 or not all(self._is_double(f) for f in small):
            return node
        return _product([simplified(_product(small)), *large])

    def _is_double(self, node: gast.AST) -> bool:
        """Whether an expression is made of doubles and Python's numbers alone; what picks items does not count."""
        if isinstance(node, gast.Subscript):
            return self._is_double(node.value)
        if isinstance(node, gast.Name):
            kind = self.shapes.kinds.get(node.id)
            type_ = kind.type if isinstance(kind, Number) else None
            return type_ in (float, int, np.float64) or (isinstance(kind, Array) and kind.dtype == "float64")
        return all(self._is_double(child) for child in gast.iter_child_nodes(node))


def _factors(node: gast.AST) -> list[gast.AST]:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _product(factors: list[gast.AST]) -> gast.AST:
    out = factors[0]
    for factor in factors[1:]:
        out = gast.BinOp(out, gast.Mult(), factor)
    return out
