"""Algebraic simplification of the reverse sweep: `1.0 * e`, `a + -b`, `np.sum(-u)`, `u.copy() * e`.

    x_bar = y_bar * 1.0 * (2 * x ** (2 - 1)) + -z_bar     ->     x_bar = y_bar * 2.0 * x - z_bar

>>> from s2sgrad import emit
>>> from s2sgrad.ir.unit import Origin
>>> unit = Unit(None, None, {"x", "y_bar", "z_bar"})
>>> unit.kinds = dict.fromkeys(unit.locals, Array("float64", (3,)))
>>> tree = gast.parse("def f(x, y_bar, z_bar): x_bar = y_bar * 1.0 * (2 * x ** (2 - 1)) + -z_bar").body[0]
>>> tree.body[0].origin = Origin("reverse", 1, 0, None)
>>> emit.statement(run(unit, tree).body[0])
'x_bar = y_bar * 2.0 * x - z_bar'
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, TypeGuard

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.floating import is_floating
from s2sgrad.analysis.kinds import Array, Container, Number, is_numeric, kind_of
from s2sgrad.cleanup.linearity import is_linear
from s2sgrad.ir.forms import minus, negated, number, receiver, whole_number
from s2sgrad.ir.quote import Transformer, clone, constant, mentioned, nodes
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.ir.unit import Unit, is_derived, parameters
from s2sgrad.memory.sources import is_copy
from s2sgrad.runtime import slopes

_PLACES = ("axis", "keepdims")
_SLOPES = (slopes.times, slopes.over, slopes.product)


def _joins(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression may concatenate or repeat lists or tuples: `xs + xs` is not `2.0 * xs`."""
    operands = [side for n in nodes(value) if isinstance(n, gast.BinOp) for side in (n.left, n.right)]
    if any(isinstance(o, (gast.List, gast.Tuple)) or isinstance(kind_of(o, unit.kinds), Container) for o in operands):
        return True
    sums = [n for n in nodes(value) if isinstance(n, gast.BinOp) and isinstance(n.op, gast.Add)]
    sides = [side for n in sums for side in (n.left, n.right)]
    sides = [arm for side in sides for arm in ((side.body, side.orelse) if isinstance(side, gast.IfExp) else (side,))]
    added = [side.id for side in sides if isinstance(side, gast.Name)]
    return any(added.count(x) > 1 and not is_numeric(unit.kinds.get(x)) for x in added)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Simplify the arithmetic in the reverse sweep, and in the derivatives that are returned."""
    for statement in effects.walk(tree.body):
        ours = is_derived(statement)
        plain = isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)) and not _joins(unit, statement.value)
        if ours and plain:
            unit.rewritten(statement)
        if ours and plain and is_floating(unit, statement.value):
            statement.value = _simpler(unit, statement.value, isinstance(statement, gast.AugAssign))
            if isinstance(statement, gast.AugAssign):
                _turn(statement)
        if ours and isinstance(statement, (gast.Assign, gast.AugAssign)):
            _drop_copies(unit, statement.value)
            if (copied := _copied(unit, statement.value)) is not None and _copies_anyway(unit, statement):
                statement.value = copied
    last = tree.body[-1]
    if isinstance(last, gast.Return) and isinstance(last.value, gast.Tuple):
        derived = _derived(unit, tree)
        parts = last.value.elts
        parts[:] = [_simpler(unit, p, False) if derived & mentioned(p) and _computes_floats(unit, p) else p for p in parts]
        unit.rewritten(last)
    return tree


def _derived(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The names of tangents and cotangents: what the primal has no parameter for, and what is computed of such."""
    own = {p.id for p in parameters(tree)} - {p.id for p in parameters(unit.primal.tree)}
    return own.union(*(effects.writes(s) for s in effects.walk(tree.body) if is_derived(s)))


def _computes_floats(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression is arithmetic of floats alone, of which terms may be collected."""
    return not _joins(unit, value) and is_floating(unit, value)


def _simpler(unit: Unit, value: gast.AST, identities: bool) -> gast.AST:
    """An equal expression with signs and factors in front, and like terms in one."""
    value = _Outwards(unit).visit(value)
    before = {id(n) for n in nodes(value)}
    value = _collected(unit, value, identities)
    _keep_whole(unit, value, before)
    return value


def collected(unit: Unit, value: gast.AST) -> gast.AST:
    """`d + 2.0 * e` for the sum `d + e + e` of floats; other values as they are."""
    return _collected(unit, value, False) if _computes_floats(unit, value) else value


def _collected(unit: Unit, value: gast.AST, identities: bool) -> gast.AST:
    """An equal expression, simplified, in which equal calls that compute a float are one term."""
    calls = [n for n in nodes(value) if isinstance(n, gast.Call) and _is_elementary(unit.called(n))]
    texts = Counter(gast.dump(call) for call in calls)
    again = {text: call for call in calls if texts[text := gast.dump(call)] > 1}
    named = _Calls(again)
    return named.visit(simplified(named.visit(value), identities))


def _is_elementary(target: Any) -> bool:
    """Whether a function computes floats, or arrays of them, of nothing but its operands."""
    return isinstance(target, np.ufunc) or effects.is_one_of(target, _SLOPES)


class _Calls(Transformer):
    """Replaces some calls, which are given by their texts, by these texts as names, and these names by the calls."""

    def __init__(self, calls: dict[str, gast.Call]) -> None:
        self.calls = calls

    def visit_Call(self, node: gast.Call) -> gast.AST:
        text = gast.dump(node)
        return gast.Name(text, gast.Load(), None, None) if text in self.calls else self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        return clone(self.calls[node.id]) if node.id in self.calls else node


def _keep_whole(unit: Unit, value: gast.AST, before: set[int]) -> None:
    """Write `2 * i`, and not `2.0 * i`, for `i + i` of an integer: it may be an index."""
    for node in nodes(value):
        factor = number(node.left) if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult) else None
        if type(factor) is float and factor.is_integer() and id(node.left) not in before and _is_whole(unit, node.right):
            node.left = constant(int(factor))


def _is_whole(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression is made of integers of Python's, by operations that give such."""
    if isinstance(node, gast.Name):
        kind = unit.kinds.get(node.id)
        return isinstance(kind, Number) and kind.type is int
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)):
        return _is_whole(unit, node.left) and _is_whole(unit, node.right)
    called = unit.called(node)
    return type(number(node)) is int or called is len or called is np.size


def _copies_anyway(unit: Unit, statement: gast.Assign | gast.AugAssign) -> bool:
    """Whether a statement puts a value into an array, which NumPy does as if the value were a copy."""
    if isinstance(statement, gast.AugAssign):
        return True
    section = effects.stored(statement)
    return (
        section is not None and isinstance(section.value, gast.Name) and isinstance(unit.kinds.get(section.value.id), Array)
    )


def _copied(unit: Unit, value: gast.AST) -> gast.AST | None:
    """`u[k]` for `u[k].copy()` of an array."""
    inner = receiver(value, "copy")
    owner = inner.value if isinstance(inner, gast.Subscript) else inner
    return inner if isinstance(owner, gast.Name) and isinstance(unit.kinds.get(owner.id), Array) else None


def _drop_copies(unit: Unit, value: gast.AST) -> None:
    """Replace `u[k].copy() * e`, left over where `u` no longer changes before the read, by `u[k] * e`."""
    for node in nodes(value):
        for side in ("left", "right") if isinstance(node, gast.BinOp) else ():
            if (copied := _copied(unit, getattr(node, side))) is not None:
                setattr(node, side, copied)


class _Outwards(Transformer):
    """Moves signs and scalar factors out of sums, and products out of transposes.

    np.sum(-u / 3.0)  ->  -(np.sum(u) / 3.0)        (u.T @ v).T  ->  v.T @ u        x + v[np.newaxis] / n  ->  x + v / n
    x[np.tril_indices(n)].copy()  ->  x[np.tril_indices(n)]      np.swapaxes(x, -1, -2)  ->  x.T of a matrix
    x @ s + x @ s.T  ->  x @ (s + s.T)              seed * 3.0 * (2 * x)  ->  seed * 6.0 * x
    """

    def __init__(self, unit: Unit) -> None:
        self.unit, self.shapes = unit, Shapes(unit, unit.kinds)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        called = self.unit.resolve(node.func)
        if called is np.swapaxes:
            return self._matrix_turned(node)
        if isinstance(gathered := receiver(node, "copy"), gast.Subscript) and self._is_copy(gathered):
            return gathered
        if node.args and (opposite := negated(node.args[0])) is not None and is_linear(self.unit, node, 0):
            node.args[0] = opposite
            return minus(self.visit_Call(node))
        if not node.args or called is not np.sum or not all(k.arg in _PLACES for k in node.keywords):
            return node
        node.args[0], factors = self._factored(node.args[0])
        out: gast.AST = node
        for op, factor in factors:
            out = gast.BinOp(out, op, factor)
        return out

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        for side, other in (("left", node.right), ("right", node.left)) if isinstance(node.op, (gast.Add, gast.Sub)) else ():
            part = getattr(node, side)
            bare = self._without_leading(part)
            rank, most = None if bare is None else self.shapes.rank(part), self.shapes.rank(other)
            if rank is not None and most is not None and rank <= most:
                setattr(node, side, bare)
        return self._distributed(node) or self._scaled(node) or node

    def _scaled(self, node: gast.BinOp) -> gast.AST | None:
        """A product in which a power of two, which is exact, moves to another number; None for others.

        2.0 * g * x          for  g * (2 * x), with a number `g` and an array `x`
        (-t)[:, np.newaxis]  for  2.0 * (-(t * 0.5))[:, np.newaxis]
        y * -1.0 * x         for  y * -0.5 * (2 * x)
        """
        inner = node.right
        if not isinstance(node.op, gast.Mult):
            return None
        if _is_power_of_two(number(node.left)) and self.shapes.rank(inner):
            return _joined(inner, node.left.value)
        plain = isinstance(inner, gast.BinOp) and isinstance(inner.op, gast.Mult)
        factor = number(inner.left) if plain else None
        if factor is None or not _is_power_of_two(factor):
            return None
        if not self.shapes.is_number(node.left) and (joined := _joined(node.left, float(factor))) is not None:
            return gast.BinOp(joined, gast.Mult(), inner.right)
        if number(node.left) is not None or not self.shapes.is_number(node.left) or self.shapes.is_number(inner.right):
            return None
        return gast.BinOp(_multiplied(node.left, float(factor)), gast.Mult(), inner.right)

    def _distributed(self, node: gast.BinOp) -> gast.AST | None:
        """One product of matrices for the sum of two with a common factor; None for others, and what the user wrote."""
        left, right = node.left, node.right
        plain = isinstance(node.op, (gast.Add, gast.Sub)) and all(
            isinstance(side, gast.BinOp) and isinstance(side.op, gast.MatMult) for side in (left, right)
        )
        if not plain or not effects.reads(node) & (self.unit.temps | self.unit.derivative.bars):
            return None
        if any(self.shapes.rank(_untransposed(n)) != 2 for side in (left, right) for n in (side.left, side.right)):
            return None
        if same(left.left, right.left):
            return gast.BinOp(left.left, gast.MatMult(), gast.BinOp(left.right, node.op, right.right))
        if same(left.right, right.right):
            return gast.BinOp(gast.BinOp(left.left, node.op, right.left), gast.MatMult(), left.right)
        return None

    def _without_leading(self, node: gast.AST) -> gast.AST | None:
        """`v / n` for `v[np.newaxis] / n`: broadcasting adds the axis; None for others, and what the user wrote."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
            bare = self._without_leading(node.left) if self.shapes.is_number(node.right) else None
            return None if bare is None else gast.BinOp(bare, node.op, node.right)
        new = isinstance(node, gast.Subscript) and not isinstance(node.slice, gast.Tuple)
        if not new or not self.shapes.is_newaxis(node.slice):
            return None
        own = not isinstance(node.value, gast.Name) or node.value.id in self.unit.temps | self.unit.derivative.bars
        return node.value if own else None

    def _factored(self, node: gast.AST) -> tuple[gast.AST, list[tuple[gast.operator, gast.AST]]]:
        """A product without its scalar factors, and these."""
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, (gast.Mult, gast.Div)):
            return node, []
        if self.shapes.is_number(node.right):
            rest, factors = self._factored(node.left)
            return rest, [*factors, (node.op, node.right)]
        if isinstance(node.op, gast.Div):
            rest, factors = self._factored(node.left)
            return gast.BinOp(rest, node.op, node.right), factors
        if self.shapes.is_number(node.left):
            rest, factors = self._factored(node.right)
            return rest, [(gast.Mult(), node.left), *factors]
        (left, before), (right, after) = self._factored(node.left), self._factored(node.right)
        return gast.BinOp(left, node.op, right), [*before, *after]

    def _is_copy(self, section: gast.Subscript) -> bool:
        """Whether a section of an array is a copy: `x[k]` of indices."""
        return isinstance(kind_of(section.value, self.unit.kinds), Array) and is_copy(section.slice, self.unit.kinds)

    def _matrix_turned(self, node: gast.Call) -> gast.AST:
        """`x.T` for `np.swapaxes(x, -1, -2)` of a matrix; any other call as it is."""
        axes = {k % 2 for k in map(whole_number, node.args[1:]) if k is not None and -2 <= k < 2}
        if len(node.args) != 3 or node.keywords or axes != {0, 1} or self.shapes.rank(node.args[0]) != 2:
            return node
        return self._turned(gast.Attribute(node.args[0], "T", gast.Load()))

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        self.generic_visit(node)
        return self._turned(node)

    def _turned(self, node: gast.Attribute) -> gast.AST:
        """The transpose of a transpose, or of a product with one, without it."""
        inner = node.value
        if node.attr != "T" or not isinstance(inner, (gast.Attribute, gast.BinOp)):
            return node
        if isinstance(inner, gast.Attribute):
            return inner.value if inner.attr == "T" and self.shapes.rank(inner.value) is not None else node
        sides = [inner.left, inner.right]
        if isinstance(inner.op, gast.MatMult) and [self.shapes.rank(_untransposed(s)) for s in sides] == [2, 2]:
            if any(_untransposed(s) is not s for s in sides):
                left, right = (_transposed(s) for s in reversed(sides))
                return gast.BinOp(left, gast.MatMult(), right)
        return node


def _is_power_of_two(factor: Any) -> TypeGuard[float]:
    """Whether a product with this literal is exact."""
    return type(factor) in (int, float) and math.isfinite(factor) and abs(math.frexp(factor)[0]) == 0.5


def _multiplied(node: gast.AST, factor: float) -> gast.AST:
    """A product times a power of two, which joins a literal in it."""
    return _joined(node, factor) or gast.BinOp(constant(factor), gast.Mult(), node)


def _joined(node: gast.AST, factor: float) -> gast.AST | None:
    """A product, or a section of it, in which a literal takes a power of two up; None where there is none."""
    if (operand := negated(node)) is not None or isinstance(node, gast.Subscript):
        inner = _joined(node.value if operand is None else operand, factor)
        if inner is None:
            return None
        return minus(inner) if operand is not None else gast.Subscript(inner, node.slice, node.ctx)
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Mult):
        return None
    for side, other in (("right", node.left), ("left", node.right)):
        part = getattr(node, side)
        value = number(part)
        joined = constant(float(value * factor)) if value is not None else _joined(part, factor)
        if joined is not None:
            return gast.BinOp(other, node.op, joined) if side == "right" else gast.BinOp(joined, node.op, other)
    return None


def _untransposed(node: gast.AST) -> gast.AST:
    return node.value if isinstance(node, gast.Attribute) and node.attr == "T" else node


def _transposed(node: gast.AST) -> gast.AST:
    inner = _untransposed(node)
    return inner if inner is not node else gast.Attribute(node, "T", gast.Load())


def _turn(statement: gast.AugAssign) -> None:
    """`x += -e` as `x -= e`, and `x += -a - b` as `x -= a + b`."""
    value = statement.value
    opposite = negated(value)
    if opposite is None and isinstance(value, gast.BinOp) and isinstance(value.op, gast.Sub):
        first = negated(value.left)
        opposite = None if first is None else gast.BinOp(first, gast.Add(), value.right)
    if opposite is not None and isinstance(statement.op, (gast.Add, gast.Sub)):
        statement.op = gast.Sub() if isinstance(statement.op, gast.Add) else gast.Add()
        statement.value = opposite
