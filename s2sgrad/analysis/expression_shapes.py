"""Shapes of expressions made of names, numbers, arithmetic and sections.

    x: (n, m), v: (m,)      ->      x @ v: (n,)      x[:, 0] * 2.0: (n,)      v[np.newaxis] - x: (n, m)      v[0]: ()
    x.sum(axis=1): (n,)

>>> import gast
>>> from s2sgrad.analysis.kinds import Array, Number
>>> from s2sgrad.ir.unit import Unit
>>> shapes = Shapes(Unit(None, None, {"x", "v", "i"}), {"x": Array(None, (3, 2)), "v": Array(None, (2,)), "i": Number(int)})
>>> [shapes.dims(gast.parse(e).body[0].value) for e in ("x @ v", "x[:, i] * 2.0", "v[None] - x", "v[i]", "v[-x]")]
[(3,), (3,), (3, 2), (), None]
"""

from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.broadcasting import broadcast
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.sizes import Dim
from s2sgrad.ir.forms import is_none, number, parts_of, whole_number
from s2sgrad.ir.unit import Unit
from s2sgrad.rules import table


def summed_by(unit: Unit, node: gast.AST) -> gast.AST | None:
    """What `np.sum(e, ..)`, or `e.sum(..)` of an expression, sums; None for anything else."""
    if not isinstance(node, gast.Call):
        return None
    if unit.called(node) is np.sum:
        return node.args[0] if len(node.args) == 1 else None
    method = isinstance(node.func, gast.Attribute) and node.func.attr == "sum" and not node.args
    return node.func.value if method else None


class Shapes:
    """Shapes of expressions over names of these kinds."""

    def __init__(self, unit: Unit, kinds: Mapping[str, Kind]) -> None:
        self.unit, self.kinds = unit, kinds

    def is_number(self, node: gast.AST) -> bool:
        """Whether an expression is known to be a number."""
        return self.dims(node) == ()

    def rank(self, node: gast.AST) -> int | None:
        """The rank of an expression; None where it is unknown."""
        dims = self.dims(node)
        return None if dims is None else len(dims)

    def dims(self, node: gast.AST) -> tuple[Dim, ...] | None:
        """The sizes of the axes as far as known, () for a number; None where the rank is unknown."""
        if isinstance(node, gast.Name):
            kind = self.kinds.get(node.id)
            return () if isinstance(kind, Number) else kind.dims if isinstance(kind, Array) else None
        if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
            return self.dims(node.operand)
        if isinstance(node, gast.BinOp):
            return self._arithmetic(node)
        if isinstance(node, gast.Subscript):
            return self._section(node)
        if isinstance(node, gast.Attribute) and node.attr == "T":
            dims = self.dims(node.value)
            return None if dims is None else dims[::-1]
        if isinstance(node, gast.Call):
            counts = effects.is_one_of(self.unit.called(node), (len, np.size))
            return () if counts else self._sum(node) or _broadcast(self, node) or _with_axis(self, node)
        return None if number(node) is None else ()

    def _arithmetic(self, node: gast.BinOp) -> tuple[Dim, ...] | None:
        left, right = self.dims(node.left), self.dims(node.right)
        if left is None or right is None:
            return None
        if not isinstance(node.op, gast.MatMult):
            return broadcast([Array(None, left), Array(None, right)])
        return left[:-1] + right[1:] if {len(left), len(right)} <= {1, 2} else None

    def _sum(self, node: gast.Call) -> tuple[Dim, ...] | None:
        summed, keywords = summed_by(self.unit, node), {k.arg: k.value for k in node.keywords}
        dims = None if summed is None else self.dims(summed)
        axis = whole_number(keywords["axis"]) if keywords.keys() == {"axis"} else None
        if not dims or axis is None or not 0 <= axis < len(dims):
            return None
        return dims[:axis] + dims[axis + 1 :]

    def _section(self, node: gast.Subscript) -> tuple[Dim, ...] | None:
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            return () if self.rank(node.value.value) is not None and whole_number(node.slice) is not None else None
        rest, out = self.dims(node.value), list[Dim]()
        for part in parts_of(node.slice):
            if self.is_newaxis(part):
                out.append(1)
            elif not rest or not (isinstance(part, gast.Slice) or self.is_number(part)):
                return None
            else:
                out += [rest[0] if effects.is_whole(part) else None] if isinstance(part, gast.Slice) else []
                rest = rest[1:]
        return None if rest is None else (*out, *rest)

    def is_newaxis(self, part: gast.AST) -> bool:
        """Whether a part of an index is a new axis."""
        return is_none(part) or self.unit.resolve(part) is None


def _broadcast(shapes: Shapes, node: gast.Call) -> tuple[Dim, ...] | None:
    """The sizes of the result of an elementwise function."""
    rule = table.lookup(shapes.unit.called(node))
    if rule is None or rule.tag != "elementwise" or node.keywords:
        return None
    dims = list(map(shapes.dims, node.args))
    known = [Array(None, d) for d in dims if d is not None]
    return broadcast(known) if known and len(known) == len(dims) else None


def _with_axis(shapes: Shapes, node: gast.Call) -> tuple[Dim, ...] | None:
    """The sizes of the result of `np.expand_dims`."""
    if shapes.unit.called(node) is not np.expand_dims or len(node.args) != 2 or node.keywords:
        return None
    dims, axis = shapes.dims(node.args[0]), whole_number(node.args[1])
    if dims is None or axis is None or not -len(dims) - 1 <= axis <= len(dims):
        return None
    axis %= len(dims) + 1
    return (*dims[:axis], 1, *dims[axis:])
