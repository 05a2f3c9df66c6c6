"""Contractions: sums of products without the intermediate product, and methods in place of NumPy's generic functions.

    np.sum(a * b)                       ->     np.vdot(a, b)                      of two contiguous matrices
    np.sum(g[:, None] * w, axis=2)      ->     np.einsum("abc,abc->ab", g[:, None], w)
    v @ (s * m)                         ->     v @ m * s
    np.sum(a, axis=0)                   ->     a.sum(axis=0)
    np.zeros_like(a)                    ->     np.zeros(a.shape)                  in loops

Only in the reverse sweep.  A product larger than both of its factors, or with three axes, is the most expensive way to a
sum. Each of the other rewrites saves a microsecond per call, which dominates loops over small arrays.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(a, b):
...     return np.sum(a * b[:, None], axis=0)
... ''', "contractions", np.ones((3, 3)), np.ones(3), argnums=1))
-     b_bar = np.sum(seed2 * a, axis=1)
+     b_bar = (seed2 * a).sum(axis=1)
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array, kind_of
from s2sgrad.analysis.sizes import Dim
from s2sgrad.analysis.symbolic_shapes import is_exact
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import everything, index_of, is_none, whole_number
from s2sgrad.ir.quote import LOOPS, Transformer, clone, constant, expression
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.unit import Unit, is_derived

_PLACES = ("axis", "keepdims")


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Introduce contractions and methods in the reverse sweep."""
    views = {n for s in effects.walk(tree.body) for n in binds(s) if not _is_contiguous_result(unit, s)}
    unbound = {n for s in effects.walk(tree.body) for n in binds(s) if _is_none(s)}  # nothing was recorded there
    if unbound:
        assigned = [s for s in effects.walk(tree.body) if isinstance(s, gast.Assign)]
        unbound |= {n for s in assigned for n in binds(s) if effects.changed_by_call(s.value)}
    rewriter = _Contractions(unit, views, unbound)
    loops = [s for s in effects.walk(tree.body) if isinstance(s, LOOPS)]
    repeated = {id(s) for loop in loops for s in effects.walk(loop.body)}
    for statement in effects.walk(tree.body):
        if is_derived(statement) and getattr(statement, "value", None) is not None:
            rewriter.repeated = id(statement) in repeated
            statement.value = rewriter.visit(statement.value)
            unit.rewritten(statement)
    return tree


def _is_contiguous_result(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement binds its target to the result of arithmetic or an allocation, which is contiguous."""
    value = statement.value if isinstance(statement, gast.Assign) and effects.stored(statement) is None else None
    if isinstance(value, gast.Call):
        return unit.resolve(value.func) in (np.zeros, np.zeros_like, np.empty, np.empty_like, np.outer, np.exp, np.copy)
    return isinstance(value, (gast.BinOp, gast.UnaryOp))


def _is_none(statement: gast.AST) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(statement, gast.Assign) and is_none(value)


class _Contractions(Transformer):
    """`views` are names that may be sections, `unbound` those that may be None; `repeated`: in a loop."""

    def __init__(self, unit: Unit, views: set[str], unbound: set[str]) -> None:
        self.unit, self.views, self.unbound, self.repeated = unit, views, unbound, False
        self.shapes = Shapes(unit, unit.kinds)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        target = self.unit.resolve(node.func)
        if self.repeated and target is np.zeros_like and len(node.args) == 1 and not node.keywords:
            return self._zeros(node)
        if target is not np.sum or not all(k.arg in _PLACES for k in node.keywords) or len(node.args) != 1:
            return node
        (inner,) = node.args
        if isinstance(inner, gast.BinOp) and isinstance(inner.op, gast.Mult):
            made = self._contracted(inner, {k.arg: k.value for k in node.keywords})
            if made is not None:
                return made
        if self.shapes.dims(inner):
            return gast.Call(gast.Attribute(inner, "sum", gast.Load()), [], node.keywords)
        return node

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, gast.MatMult):
            return node
        for vector, matrix, swap in ((node.left, node.right, False), (node.right, node.left, True)):
            if self.shapes.rank(vector) == 1 and isinstance(matrix, gast.BinOp) and isinstance(matrix.op, gast.Mult):
                for factor, rest in ((matrix.left, matrix.right), (matrix.right, matrix.left)):
                    if self.shapes.is_number(factor) and self.shapes.rank(rest) == 2:
                        sides = (rest, vector) if swap else (vector, rest)
                        return gast.BinOp(gast.BinOp(sides[0], gast.MatMult(), sides[1]), gast.Mult(), factor)
        return node

    def _zeros(self, node: gast.Call) -> gast.AST:
        (like,) = node.args
        kind = kind_of(like, self.unit.kinds)
        if not isinstance(kind, Array) or kind.dtype != "float64" or like.id in self.unbound:
            return node
        return call(self.unit, "zeros", np.zeros, expression("x.shape", x=like))

    def _contracted(self, product: gast.BinOp, places: dict[str, gast.AST]) -> gast.AST | None:
        """The sum of a product along axes without the product; None where that is not better, or not known to be valid."""
        a, b = product.left, product.right
        left: Any = self.shapes.dims(a)
        right: Any = self.shapes.dims(b)
        if None in (left, right) or not self._is_double(a) or not self._is_double(b):
            return None
        if not places:
            alike = len(left) > 1 and self._are_alike(left, right)
            return call(self.unit, "vdot", np.vdot, a, b) if alike and self._is_dense(a) and self._is_dense(b) else None
        axes, rank = _numbers(places.get("axis")), len(left)
        if axes is None or rank != len(right) or not all(-rank <= k < rank for k in axes) or not _is_large(left, right):
            return None
        gone = {k % rank for k in axes}
        letters = ascii_lowercase[:rank]
        remaining = "".join(letter for k, letter in enumerate(letters) if k not in gone)
        made = gast.Call(numpy_function(self.unit, "einsum"), [constant(f"{letters},{letters}->{remaining}"), a, b], [])
        kept = places.get("keepdims")
        if kept is None:
            return made
        return self._with_axes(made, gone, rank) if getattr(kept, "value", None) is True else None

    def _are_alike(self, left: tuple[Dim, ...], right: tuple[Dim, ...]) -> bool:
        """Whether two arrays of these sizes have one shape."""
        return left == right and None not in left and all(is_exact(self.unit, d) for d in left)

    def _with_axes(self, made: gast.AST, gone: set[int], rank: int) -> gast.AST:
        """An array with an axis of length 1 for each axis that was summed."""
        newaxis = numpy_function(self.unit, "newaxis")
        if gone == {rank - 1}:
            parts: list[gast.AST] = [constant(Ellipsis), newaxis]
        else:
            parts = [clone(newaxis) if k in gone else everything() for k in range(max(gone) + 1)]
        return gast.Subscript(made, index_of(parts), gast.Load())

    def _is_double(self, node: gast.AST) -> bool:
        kinds = [self.unit.kinds.get(n.id) for n in effects.loads(node)]
        return all(k.dtype == "float64" for k in kinds if isinstance(k, Array))

    def _is_dense(self, node: gast.AST) -> bool:
        """Whether an array is known to be contiguous: a section would have to be copied."""
        if isinstance(node, gast.Name):
            return node.id not in self.views
        return isinstance(node, (gast.BinOp, gast.UnaryOp))


def _is_large(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> bool:
    """Whether a product is better not computed: it has three axes, or is larger than both factors."""
    return len(left) > 2 or _both_broadcast(left, right)


def _both_broadcast(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> bool:
    """Whether both factors of a product are broadcast."""
    pairs = [*zip(left, right, strict=True)]
    return any(m == 1 != n for m, n in pairs) and any(n == 1 != m for m, n in pairs)


def _numbers(node: gast.AST | None) -> list[int] | None:
    """The integers in a constant or a tuple of constants; None for anything else."""
    if isinstance(node, gast.Tuple):
        parts = [_numbers(p) for p in node.elts]
        return None if None in parts else [k for p in parts if p is not None for k in p]
    found = whole_number(node)
    return None if found is None else [found]
