"""Reassociation of products with lanes, each of which is large: factors without lanes are multiplied and added first.

    y_dot = 3.0 * (w * x_dot)               ->     y_dot = 3.0 * w * x_dot          x_dot: (lanes, n), w: (n,)
    y_dot = 2.0 * x_dot - w * x_dot         ->     y_dot = (2.0 - w) * x_dot

Only for doubles: a product of small integers wraps around if it is computed before it meets a double.

>>> import gast
>>> from s2sgrad import emit
>>> unit = Unit(None, None, {"w", "b", "x_dot", "y_dot"})
>>> unit.kinds = {"w": Array("float64", (2,)), "b": Array("uint8", (2,)), "x_dot": Array("float64", (5, 2))}
>>> unit.kinds["y_dot"] = unit.kinds["x_dot"]
>>> for text in ("3.0 * (w * (x_dot * 2.0 - w))", "b * (b * x_dot)", "2.0 * x_dot - (w * (w * x_dot) + y_dot)"):
...     print(emit.expression(_Products(unit).visit(gast.parse(text).body[0].value)))
3.0 * w * (x_dot * 2.0 - w)
b * (b * x_dot)
(2.0 - w * w) * x_dot - y_dot
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.ir.forms import minus, multiplied, negated
from s2sgrad.ir.quote import Transformer, constant
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.ir.unit import Unit, is_derived


def run(unit: Unit, tree: gast.FunctionDef) -> None:
    """Reassociate the products in statements of tangents."""
    products = _Products(unit)
    for statement in effects.walk(tree.body):
        if is_derived(statement) and isinstance(statement, (gast.Assign, gast.AugAssign)):
            statement.value = products.visit(statement.value)


class _Products(Transformer):
    """Reassociates products and collects sums."""

    def __init__(self, unit: Unit) -> None:
        self.shapes = Shapes(unit, unit.kinds)

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        return self._collected(node) if isinstance(node.op, (gast.Add, gast.Sub)) else self._ordered(node)

    def _collected(self, node: gast.BinOp) -> gast.AST:
        """A sum in which each array with lanes is multiplied once."""
        full, terms = self.shapes.rank(node), _terms(node)
        if full is None or full < 2 or not all(self.shapes.rank(t) == full and self._is_double(t) for _, t in terms):
            return node
        out: list[gast.AST] = []
        factors: list[list[tuple[bool, gast.AST]]] = []
        for added, term in terms:
            *small, array = _factors(term)
            place = next((k for k, other in enumerate(out) if same(other, array)), None)
            if self.shapes.rank(array) != full or any(self.shapes.rank(f) == full for f in small):
                array, small, place = term, [], None
            if place is None:
                out.append(array)
                factors.append([])
                place = -1
            factors[place].append((added, multiplied(small) if small else constant(1.0)))
        if len(out) == len(terms):
            return node
        return _sum([_times(parts, array) for parts, array in zip(factors, out, strict=True)])

    def _ordered(self, node: gast.BinOp) -> gast.AST:
        """A product with the factors of smaller rank first."""
        ranks: dict[int, Any] = {id(f): self.shapes.rank(f) for f in _factors(node)}
        if len(ranks) < 3 or None in ranks.values():
            return node
        full = max(ranks.values())
        large = [f for f in _factors(node) if ranks[id(f)] == full]
        small = [f for f in _factors(node) if ranks[id(f)] < full]
        if len(small) < 2 or full < 2 or not all(self._is_double(f) for f in small):
            return node
        return multiplied([simplified(multiplied(small)), *large])

    def _is_double(self, node: gast.AST) -> bool:
        """Whether an expression consists of doubles and Python numbers only, indices aside."""
        if isinstance(node, gast.Subscript):
            return self._is_double(node.value)
        if isinstance(node, gast.Name):
            kind = self.shapes.kinds.get(node.id)
            type_ = kind.type if isinstance(kind, Number) else None
            return type_ in (float, int, np.float64) or (isinstance(kind, Array) and kind.dtype == "float64")
        return all(self._is_double(child) for child in gast.iter_child_nodes(node))


def _terms(node: gast.AST, added: bool = True) -> list[tuple[bool, gast.AST]]:
    """The terms of a sum, each with False if it is subtracted."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
        last = added if isinstance(node.op, gast.Add) else not added
        return [*_terms(node.left, added), *_terms(node.right, last)]
    operand = negated(node)
    return [(added, node)] if operand is None else _terms(operand, not added)


def _times(factors: list[tuple[bool, gast.AST]], array: gast.AST) -> tuple[bool, gast.AST]:
    """The product of a sum of factors and an array, with the sign of the first factor."""
    first, *_ = factors[0]
    return first, gast.BinOp(_sum([(added is first, factor) for added, factor in factors]), gast.Mult(), array)


def _sum(terms: list[tuple[bool, gast.AST]]) -> gast.AST:
    first = next((k for k, (added, _) in enumerate(terms) if added), 0)
    terms = [terms[first], *terms[:first], *terms[first + 1 :]]
    out = terms[0][1] if terms[0][0] else minus(terms[0][1])
    for added, term in terms[1:]:
        out = gast.BinOp(out, gast.Add() if added else gast.Sub(), term)
    return simplified(out)


def _factors(node: gast.AST) -> list[gast.AST]:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]
