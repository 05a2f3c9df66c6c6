"""Products with lanes: factors without lanes are multiplied by each other first, for each product with lanes is a large one.

    y_dot = 3.0 * (w * x_dot)     ->     y_dot = 3.0 * w * x_dot          x_dot: (lanes, n), w: (n,)

>>> import gast
>>> from s2sgrad import emit
>>> from s2sgrad.analysis.kinds import Array
>>> unit = Unit(None, None, {"w", "x_dot"})
>>> unit.kinds = {"w": Array(None, (2,)), "x_dot": Array(None, (5, 2))}
>>> emit.expression(_Products(unit).visit(gast.parse("3.0 * (w * (x_dot * 2.0 - w))").body[0].value))
'3.0 * w * (x_dot * 2.0 - w)'
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
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
        return _product([simplified(_product(small)), *large]) if len(small) > 1 and full > 1 else node


def _factors(node: gast.AST) -> list[gast.AST]:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _product(factors: list[gast.AST]) -> gast.AST:
    out = factors[0]
    for factor in factors[1:]:
        out = gast.BinOp(out, gast.Mult(), factor)
    return out
