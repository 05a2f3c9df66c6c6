"""Unbroadcasting: all decisions that bring a cotangent to the shape of its variable are made here.

e: (2, 3), x: (3,)  ->  np.sum(e, axis=0)      e: number, x: (3,)  ->  left as a number, broadcast where necessary
e: unknown          ->  unbroadcast(e, x)      e = u * v, vectors, x: number  ->  u @ v
e = u / x           ->  np.sum(u, axis=0) / x, for x is one along the axes of the sum
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_whole
from s2sgrad.analysis.expression_shapes import summed_by
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, operand
from s2sgrad.analysis.sizes import same_size
from s2sgrad.analysis.symbolic_shapes import is_exact
from s2sgrad.ir.forms import everything, index_of, is_none, minus, negated, parts_of
from s2sgrad.ir.quote import Transformer, clone, constant, expression, name
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.unit import Unit


def relation(e: Kind | None, x: Kind | None) -> str:
    """How the shape of a cotangent relates to its variable's: same, under (broadcasts to it), over, or unknown."""
    e, x = operand(e), operand(x)
    if isinstance(x, Number):
        if isinstance(e, Number):
            return "same"
        return "over" if isinstance(e, Array) and e.dims is not None else "unknown"
    if not isinstance(x, Array) or x.dims is None or e is None or e.rank is None:
        return "unknown"
    dims: Any = e.dims if isinstance(e, Array) else ()
    lead = len(dims) - len(x.dims)
    smaller, larger = lead < 0, lead > 0
    dims = (1,) * -lead + dims
    for m, n in zip(dims[max(lead, 0) :], x.dims, strict=True):
        if same_size(m, n) or m == n == 1:
            continue
        if m == 1:
            smaller = True
        elif n == 1 and m is not None:
            larger = True
        else:
            return "unknown"
    if smaller and larger:
        return "unknown"
    return "under" if smaller else "over" if larger else "same"


KindOf = Callable[[gast.AST], Kind | None]


def conformed(unit: Unit, e: gast.AST, kind: Kind | None, x: str, x_kind: Kind | None, kind_of: KindOf) -> gast.AST:
    """The cotangent `e`, brought to exactly the shape of the variable `x`."""
    kind, x_kind = operand(kind), operand(x_kind)
    how = relation(kind, x_kind)
    if how == "same":
        return e
    if how == "under":
        if isinstance(kind, Number):
            return call(unit, "full_like", np.full_like, name(x), e)
        shape = call(unit, "shape", np.shape, name(x))
        return call(unit, "broadcast_to", np.broadcast_to, e, shape)
    if how == "over" and kind is not None and x_kind is not None:
        divided = _divided(unit, e, kind, x, x_kind, kind_of)
        if divided is not None:
            return divided
        reduced = _reduced(unit, e, kind, x_kind, kind_of)
        if reduced is not None:
            return reduced
    return call(unit, "unbroadcast", runtime.unbroadcast, e, name(x))


def _divided(unit: Unit, e: gast.AST, kind: Kind, x: str, x_kind: Kind, kind_of: KindOf) -> gast.AST | None:
    """The sum over `u / x`, to the shape of `x`, as that over `u`, divided by `x`; None for others."""
    if (opposite := negated(e)) is not None:
        found = _divided(unit, opposite, kind, x, x_kind, kind_of)
        return None if found is None else minus(found)
    if not isinstance(e, gast.BinOp) or not isinstance(e.op, gast.Div) or getattr(e.right, "id", None) != x:
        return None
    over: Kind | None = operand(kind_of(e.left))
    if relation(over, x_kind) != "over" or relation(over, kind) != "same":
        return None
    return gast.BinOp(conformed(unit, e.left, over, x, x_kind, kind_of), e.op, e.right)


def _reduced(unit: Unit, e: gast.AST, kind: Any, x_kind: Any, kind_of: KindOf) -> gast.AST | None:
    """`np.sum(e)`, `np.sum(e, axis=0)` or `np.sum(e, axis=1, keepdims=True)`; None where one sum is not enough."""
    if isinstance(x_kind, Number):
        return _inner(unit, e, kind_of) or _sum(unit, e, kind)
    lead = len(kind.dims) - len(x_kind.dims)
    stretched = [k + lead for k, n in enumerate(x_kind.dims) if n == 1 and kind.dims[k + lead] != 1]
    if lead and stretched:
        return None
    axes = list(range(lead)) or stretched
    axis: gast.AST = constant(axes[0]) if len(axes) == 1 else gast.Tuple([constant(k) for k in axes], gast.Load())
    out = _sum(unit, e, kind)
    out.keywords.append(gast.keyword("axis", axis))
    if not lead:
        out.keywords.append(gast.keyword("keepdims", constant(True)))
    return out


def without_new_axes(unit: Unit, e: gast.AST, index: gast.AST, rank: int, kind_of: KindOf) -> gast.AST | None:
    """`np.sum(e, axis=1)`, for `x`, of the cotangent `np.sum(e, axis=1, keepdims=True)` of `x[:, None]`; None for others."""
    parts = parts_of(index)
    new = tuple(k for k, part in enumerate(parts) if is_none(part) or unit.resolve(part) is None)
    whole = all(k in new or (isinstance(p, gast.Slice) and is_whole(p)) for k, p in enumerate(parts))
    if not new or not whole or len(parts) - len(new) > rank:
        return None
    return _summed_along(unit, e, new, rank + len(new), kind_of)


def _summed_along(unit: Unit, e: gast.AST, axes: tuple[int, ...], rank: int, kind_of: KindOf) -> gast.AST | None:
    """A sum along these axes, or an expression of such, without the axes of length 1 that it keeps; None for others."""
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
        inner = _summed_along(unit, e.operand, axes, rank, kind_of)
        return None if inner is None else minus(inner)
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Add, gast.Sub)):
        sides = [_summed_along(unit, side, axes, rank, kind_of) for side in (e.left, e.right)]
        return None if None in sides else gast.BinOp(sides[0], e.op, sides[1])
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Mult, gast.Div)) and isinstance(kind_of(e.right), Number):
        inner = _summed_along(unit, e.left, axes, rank, kind_of)
        return None if inner is None else gast.BinOp(inner, e.op, clone(e.right))
    summed = summed_by(unit, e)
    if summed is None or getattr(kind_of(summed), "rank", None) != rank:
        return None
    given = {k.arg: k.value for k in e.keywords}
    keeps = given.keys() == {"axis", "keepdims"} and getattr(given["keepdims"], "value", None) is True
    if not keeps or axes_of(kind_of(given["axis"])) != axes:
        return None
    made = _sum(unit, clone(summed), kind_of(summed) or UNKNOWN)
    made.keywords.append(gast.keyword("axis", clone(given["axis"])))
    return made


def in_full(
    unit: Unit, inference: Inference, e: gast.AST, kind: Kind | None, given_to: gast.AST, result: gast.AST | None
) -> gast.AST:
    """A cotangent that is summed to the shape of an operand, in the shape of the result: sections may be cut short.

    An inner product raises where its factors are not of one shape.
    """
    dims = kind.dims or () if isinstance(kind, Array) else ()
    given = inference.kind(given_to)
    if all(is_exact(unit, d) for d in dims) or not isinstance(result, gast.Name) or relation(kind, given) != "over":
        return e
    if isinstance(given, Number) and _inner(unit, clone(e), inference.kind) is not None:
        return e
    return call(unit, "broadcast_to", np.broadcast_to, e, call(unit, "shape", np.shape, clone(result)))


def _sum(unit: Unit, e: gast.AST, kind: Kind) -> gast.Call:
    """The sum of an array: `e.sum()` for a name, which costs half of `np.sum(e)`."""
    if isinstance(e, gast.Name) and isinstance(kind, Array) and kind.rank:
        return expression("e.sum()", e=e)
    return call(unit, "sum", np.sum, e)


def _inner(unit: Unit, e: gast.AST, kind_of: KindOf) -> gast.AST | None:
    """The sum over a product of two vectors as `u @ v`, of two arrays with more axes as `np.vdot(a, b)`, with scalar factors
    outside; None for other expressions."""
    if (opposite := negated(e)) is not None:
        found = _inner(unit, opposite, kind_of)
        return None if found is None else minus(found)
    if not isinstance(e, gast.BinOp) or not isinstance(e.op, (gast.Mult, gast.Div)):
        return None
    left: Any = kind_of(e.left)
    right: Any = kind_of(e.right)
    if isinstance(right, Number):
        found = _inner(unit, e.left, kind_of)
        return None if found is None else gast.BinOp(found, e.op, e.right)
    if isinstance(e.op, gast.Div):
        return None
    if isinstance(left, Number):
        found = _inner(unit, e.right, kind_of)
        return None if found is None else gast.BinOp(e.left, e.op, found)
    if left is None or not left.rank or relation(left, right) != "same":
        return None
    if left.rank > 1:
        return _of_matrices(unit, e, left, right) if left.dtype == right.dtype == "float64" else None
    return _of_vectors(e, kind_of)


def _of_matrices(unit: Unit, e: gast.BinOp, left: Array, right: Array) -> gast.AST:
    """`np.vdot(a, b)`; where sections may be a row and a column, which that takes for one shape, what raises for them: a sum
    of cotangents may have fewer elements than the product."""
    if all(is_exact(unit, d) for d in (*(left.dims or ()), *(right.dims or ()))):
        return call(unit, "vdot", np.vdot, e.left, e.right)
    product = call(unit, "tensordot", np.tensordot, e.left, e.right, constant(left.rank))
    return gast.Call(unit.builtin(float), [product], [])


def _of_vectors(e: gast.BinOp, kind_of: KindOf) -> gast.AST:
    """`u @ v`, or `c * (u @ v)` for the product of `u` and `c * v`."""
    for first, second in ((e.left, e.right), (e.right, e.left)):
        if isinstance(second, gast.BinOp) and isinstance(second.op, gast.Mult):
            for number, other in ((second.left, second.right), (second.right, second.left)):
                if isinstance(kind_of(number), Number):
                    return gast.BinOp(number, gast.Mult(), gast.BinOp(first, gast.MatMult(), other))
    return gast.BinOp(e.left, gast.MatMult(), e.right)


def with_axes(unit: Unit, node: gast.AST, kind_of: KindOf) -> gast.AST:
    """`np.expand_dims(g, 1) * x` as `g[:, np.newaxis] * x`; `np.expand_dims(g, 0) * x`, which broadcasts anyway, as `g *
    x`."""
    return _WithAxes(unit, kind_of).visit(node)


class _WithAxes(Transformer):
    """Replaces calls of `np.expand_dims`."""

    def __init__(self, unit: Unit, kind_of: KindOf) -> None:
        self.unit, self.kind_of = unit, kind_of

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        for side, other in (("left", node.right), ("right", node.left)) if not isinstance(node.op, gast.MatMult) else ():
            part = getattr(node, side)
            bare = _without_leading(self.unit, part)
            rank = None if bare is None else getattr(self.kind_of(part), "rank", None)
            if rank is not None and getattr(self.kind_of(other), "rank", None) == rank:
                setattr(node, side, bare)
        return node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        if self.unit.called(node) is not np.expand_dims or len(node.args) != 2:
            return node
        operand, axis = node.args
        kind, axes = self.kind_of(operand), axes_of(self.kind_of(axis))
        if not isinstance(kind, Array) or not kind.rank or not axes or min(axes) < 0 or max(axes) >= kind.rank + len(axes):
            return node
        new = numpy_function(self.unit, "newaxis")
        parts = [clone(new) if k in axes else everything() for k in range(max(axes) + 1)]
        return gast.Subscript(operand, index_of(parts), gast.Load())


def _without_leading(unit: Unit, node: gast.AST) -> gast.AST | None:
    """`e` for `e[np.newaxis]`; None for any other expression."""
    if not isinstance(node, gast.Subscript):
        return None
    parts = parts_of(node.slice)
    leading = all(isinstance(p, gast.Attribute) and unit.resolve(p) is np.newaxis for p in parts)
    return node.value if leading else None


def axes_of(kind: Kind | None) -> tuple[int, ...] | None:
    """The axes that a constant, an int or a tuple of ints, names; None for anything else."""
    if isinstance(kind, Number):
        return (kind.value,) if kind.known and type(kind.value) is int else None
    if isinstance(kind, Known):
        return kind.value if isinstance(kind.value, tuple) else None
    if not isinstance(kind, Container) or kind.type is not tuple or not kind.items:
        return None
    found = [axes_of(k) for k in kind.items]
    return None if None in found else tuple(k for axes in found if axes is not None for k in axes)
