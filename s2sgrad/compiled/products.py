"""Products of vectors and matrices: by loops, or by `np.dot` of what lies in memory in order.

W @ x      ->      np.dot(W, x)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad.compiled import elementwise, reductions
from s2sgrad.compiled.indexing import constant_of
from s2sgrad.compiled.lowering import Lowering, transposed
from s2sgrad.compiled.values import (
    FLOAT,
    FLOATS,
    INT,
    ONE,
    Extent,
    Index,
    Items,
    Leaf,
    Object,
    Scalar,
    Tree,
    Unfit,
    is_array,
    whole,
)
from s2sgrad.compiled.writer import Writer


def matmul(self: Lowering, a: Any, b: Any) -> Any:
    """`a @ b`."""
    if not is_array(a) or not is_array(b) or not {a.dtype, b.dtype} <= {*FLOATS, INT} or a.dtype == b.dtype == INT:
        raise Unfit("a product of these")
    writer = self.writer
    a, b = of_one_type(a, b)
    if max(a.rank, b.rank) > 2:
        return _of_stacks(self, a, b)
    writer.same(a.extents[-1], b.extents[0])
    if a.rank == b.rank == 1:
        return reductions.summed(self, elementwise.apply(writer, gast.Mult, [a, b]), (0,), False)
    if a.rank == 2 and b.rank == 1 and _is_part(a, 1):
        return _by_rows(self, a, b)
    if a.rank == 1 and b.rank == 2 and _is_part(b, 0):
        return _by_rows(self, transposed(writer, b, (1, 0)), a)
    name, x, y = writer.fresh("a"), _operand(writer, a), _operand(writer, b)
    writer.line(f"{name} = np.dot({x}, {y})")
    return whole(name, (*a.extents[:-1], *b.extents[1:]), a.dtype)


def of_one_type(*arrays: Any) -> list[Any]:
    """Arrays of numbers that are not all integers, in the type of floats that NumPy converts them to."""
    dtype = elementwise.common([*arrays]) or FLOAT
    return [elementwise.cast(a, dtype) for a in arrays]


def _is_part(matrix: Any, axis: int) -> bool:
    """Whether it is a part of a matrix, whose elements along an axis lie side by side: BLAS would need a copy."""
    if not isinstance(matrix, Leaf) or matrix.in_order is not None or transposed_in_order(matrix) is not None:
        return False
    last = matrix.places[-1]
    return last.axis == axis and last.stride == 1


def _by_rows(self: Lowering, a: Leaf, b: Any) -> Leaf:
    """`a @ b` of a matrix and a vector, one row after the other."""
    writer = self.writer
    b = b if isinstance(b, Leaf) else writer.stored(b)
    out, k = writer.allocate(writer.fresh("a"), (writer.canonical(a.extents[0]),), a.dtype), writer.fresh("k")
    with writer.block(f"for {k} in range({out.extents[0]}):"):
        along = (Index(None, k), Index(0, "0"))
        places = tuple(p if p.axis is None else p.then(along[p.axis]) for p in a.places)
        row = Leaf(a.root, places, a.extents[1:], a.dtype, a.memory)
        total = reductions.summed(self, elementwise.apply(writer, gast.Mult, [row, b]), (0,), False)
        writer.line(f"{out.root}[{k}] = {total.text}")
    return out


def transposed_in_order(x: Leaf) -> str | None:
    """The text of the transpose of a matrix, if that lies in memory in order."""
    return x.over((1, 0), x.extents[::-1]).in_order if x.rank == 2 else None


def _of_stacks(self: Lowering, a: Any, b: Any) -> Any:
    """The product of two stacks of matrices, or of one and a matrix or a vector."""
    if a.rank == 1 or (b.rank > 2 and a.rank > 2 and a.rank != b.rank):
        raise Unfit("a product of stacks of these")
    letters = "ijklm"[: max(a.rank, b.rank) - 2]
    first = f"{letters if a.rank > 2 else ''}xz"
    second = "z" if b.rank == 1 else f"{letters if b.rank > 2 else ''}zy"
    return einsum(self, Object(f"{first},{second}->{letters}x{'y' if b.rank > 1 else ''}"), a, b)


def _operand(writer: Writer, x: Any) -> str:
    """The text of an operand that lies in memory row by row, or column by column."""
    if isinstance(x, Leaf) and x.in_order is not None:
        return x.in_order
    columns = transposed_in_order(x) if isinstance(x, Leaf) else None
    if columns is not None:
        return f"{columns}.T"
    return writer.stored(x).root


def dot(self: Lowering, a: Any, b: Any) -> Any:
    """`np.dot(a, b)`, of vectors and matrices."""
    if not all(isinstance(x, Scalar) or is_array(x) for x in (a, b)):
        raise Unfit("a product of these")
    if max(a.rank, b.rank) > 2:
        raise Unfit("np.dot of stacks of matrices")
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return elementwise.apply(self.writer, np.multiply, [_of_numpy(self, x) for x in (a, b)])
    return matmul(self, a, b)


def _of_numpy(self: Lowering, x: Any) -> Any:
    """A factor, which is NumPy's even if it is a number of Python's: beside a float32 it is a float64."""
    x = elementwise.certain(self.writer, x)
    return replace(x, python=False, weak=False, own="") if isinstance(x, Scalar) else x


def inner(self: Lowering, a: Any, b: Any) -> Any:
    """`np.inner(a, b)` of vectors."""
    if not (is_array(a) and is_array(b) and a.rank == b.rank == 1):
        raise Unfit("an inner product of these")
    return matmul(self, a, b)


def vdot(self: Lowering, a: Any, b: Any) -> Any:
    """`np.vdot(a, b)`, of arrays of one shape."""
    if not (is_array(a) and is_array(b) and a.rank == b.rank):
        raise Unfit("a product of these")
    if any(self.writer.same(m, n) is None for m, n in zip(a.extents, b.extents, strict=True)):
        raise Unfit("a product of these")
    return reductions.summed(self, elementwise.apply(self.writer, gast.Mult, [a, b]), tuple(range(a.rank)), False)


def tensordot(self: Lowering, a: Any, b: Any, axes: Any = None) -> Any:
    """`np.tensordot` over axes that are known."""
    if not (is_array(a) and is_array(b)):
        raise Unfit("np.tensordot of these")
    ours, theirs = _summed_axes(a.rank, b.rank, Extent(None, 2) if axes is None else axes)
    for m, n in zip(ours, theirs, strict=True):
        self.writer.same(a.extents[m], b.extents[n])
    if ours == theirs == (*range(a.rank),) == (*range(b.rank),):
        return replace(vdot(self, a, b), is_array=True)
    if len(ours) == max(a.rank, b.rank) or a.rank + b.rank > len(_LETTERS):
        raise Unfit("np.tensordot over these axes")
    first = _LETTERS[: a.rank]
    second = [first[ours[theirs.index(n)]] if n in theirs else _LETTERS[a.rank + n] for n in range(b.rank)]
    kept = [letter for letter in (*first, *second) if (letter in first) is not (letter in second)]
    return einsum(self, Object(f"{first},{''.join(second)}->{''.join(kept)}"), a, b)


_LETTERS = "abcdefghijklmnop"


def _summed_axes(rank: int, other: int, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of two arrays over which `np.tensordot` sums."""
    count = axes.offset if isinstance(axes, Extent) else constant_of(axes)
    if count is not None and 0 <= count <= min(rank, other):
        return (*range(rank - count, rank),), (*range(count),)
    if count is not None or not isinstance(axes, Items) or len(axes.items) != 2:
        raise Unfit("np.tensordot over these axes")
    ours, theirs = reductions.axes_of(rank, axes.items[0]), reductions.axes_of(other, axes.items[1])
    if len(ours) != len(theirs) or len({*ours}) < len(ours) or len({*theirs}) < len(theirs):
        raise Unfit("np.tensordot over these axes")
    return ours, theirs


def outer(self: Lowering, a: Any, b: Any) -> Any:
    """`np.outer(a, b)` of vectors."""
    if not (is_array(a) and is_array(b) and a.rank == b.rank == 1 and {a.dtype, b.dtype} <= {*FLOATS}):
        raise Unfit("an outer product of these")
    writer = self.writer
    a, b = of_one_type(a, b)
    a, b = (x if isinstance(x, Leaf) else writer.stored(x) for x in (a, b))
    column, row = a.over((0,), (a.extents[0], ONE)), b.over((1,), (ONE, b.extents[0]))
    return Tree(lambda x, y: f"({x} * {y})", (column, row), (a.extents[0], b.extents[0]), a.dtype)


def einsum(self: Lowering, subscripts: Any, *operands: Any) -> Any:
    """`np.einsum` by subscripts that are known, without an ellipsis."""
    terms, kept = _terms(subscripts, operands)
    operands = tuple(of_one_type(*operands))
    writer = self.writer
    extents: dict[str, Extent] = {}
    for letters, operand in zip(terms, operands, strict=True):
        for letter, extent in zip(letters, operand.extents, strict=True):
            (extents[letter],) = writer.broadcast([(extents.get(letter, extent),), (extent,)])
    order = [*kept, *(letter for letter in extents if letter not in kept)]
    factors = []
    for letters, operand in zip(terms, operands, strict=True):
        view = operand if isinstance(operand, Leaf) else writer.stored(operand)
        own = dict(zip(letters, map(writer.canonical, view.extents), strict=True))
        spread = tuple(ONE if own.get(n, ONE) == ONE else extents[n] for n in order)
        factors.append(view.over(tuple(order.index(n) for n in letters), spread))
    every = tuple(extents[n] for n in order)
    value = Tree(lambda *texts: f"({' * '.join(texts)})", tuple(factors), every, operands[0].dtype)
    return reductions.summed(self, value, tuple(range(len(kept), len(order))), False) if len(order) > len(kept) else value


def _terms(subscripts: Any, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """The letters of each operand, and those that are kept."""
    text = subscripts.value.replace(" ", "") if isinstance(subscripts, Object) and isinstance(subscripts.value, str) else ""
    given, arrow, kept = text.partition("->")
    terms = given.split(",")
    if not arrow or len(terms) != len(operands) or "." in text or len(set(kept)) != len(kept) or not set(kept) <= set(given):
        raise Unfit("np.einsum by these subscripts")
    for letters, operand in zip(terms, operands, strict=True):
        if not is_array(operand) or operand.dtype not in FLOATS or not len(set(letters)) == len(letters) == operand.rank:
            raise Unfit("np.einsum of these")
    return terms, kept
