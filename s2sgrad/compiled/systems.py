"""Systems of equations, inverses, determinants and Cholesky factors: LAPACK overwrites memory that is made for it.

    x = np.linalg.solve(a, b)      ->      for i in range(n):
                                               for j in range(n):
                                                   a0[i, j] = a[j, i]
                                           for i in range(n): a1[i] = b[i]
                                           solve_in_place(a0, a1)

LAPACK has matrices column by column: it is handed transposes.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.compiled import elementwise, reductions, scalars
from s2sgrad.compiled.lowering import Lowering, transposed
from s2sgrad.compiled.products import of_one_type
from s2sgrad.compiled.values import FLOATS, Leaf, Places, Scalar, Tree, Unfit, is_array, unchanged
from s2sgrad.compiled.writer import Writer


def solved(self: Lowering, a: Any, b: Any) -> Any:
    """`np.linalg.solve(a, b)` of a matrix; a singular one raises."""
    _square(self.writer, a)
    if not is_array(b) or b.dtype not in FLOATS or b.rank > 2:
        raise Unfit("a system of these")
    a, b = of_one_type(a, b)
    self.writer.same(a.extents[0], b.extents[0])
    return _solved(self.writer, a, b)


def inverse(self: Lowering, a: Any) -> Any:
    """`np.linalg.inv(a)` of a matrix; a singular one raises."""
    _square(self.writer, a)
    one, zero = (elementwise.number(text, a.dtype) for text in ("1.0", "0.0"))
    return _solved(self.writer, a, Places(lambda i, j: f"({one} if {i} == {j} else {zero})", a.extents, a.dtype))


def determinant(self: Lowering, a: Any) -> Any:
    """`np.linalg.det(a)` of a matrix."""
    _square(self.writer, a)
    name, memory = self.writer.fresh("s"), _columns(self.writer, a)
    self.writer.line(f"{name} = {elementwise.number(f'{scalars.determinant.__name__}({memory.root})', a.dtype)}")
    return Scalar(name, a.dtype)


def cofactors(self: Lowering, a: Any) -> Any:
    """`cofactors(a)` of a matrix; one that is singular, or nearly so, raises."""
    a = _square(self.writer, a)
    a = a if isinstance(a, Leaf) else self.writer.stored(a)
    inverted = inverse(self, a)
    squares = [reductions.sum_of(self, elementwise.apply(self.writer, np.square, [x])) for x in (a, inverted)]
    self.writer.line(f"{scalars.well_conditioned.__name__}({' * '.join(f'float({s.text})' for s in squares)})")
    return elementwise.apply(self.writer, gast.Mult, [determinant(self, a), transposed(self.writer, inverted, (1, 0))])


def cholesky(self: Lowering, a: Any) -> Any:
    """`np.linalg.cholesky(a)` of a matrix: its lower factor."""
    _square(self.writer, a)
    memory = _columns(self.writer, a)
    self.writer.line(f"{scalars.cholesky_in_place.__name__}({memory.root})")
    lower, zero = transposed(self.writer, memory, (1, 0)), elementwise.number("0.0", a.dtype)
    below = Places(lambda i, j: f"{i} >= {j}", lower.extents, "bool")
    return Tree(lambda below, x: f"({x} if {below} else {zero})", (below, lower), lower.extents, a.dtype)


def _square(writer: Writer, a: Any) -> Any:
    if not is_array(a) or a.dtype not in FLOATS or a.rank != 2:
        raise Unfit("what is no matrix of floats")
    writer.same(*a.extents)
    return a


def _solved(writer: Writer, a: Any, b: Any) -> Any:
    """The solution; that of a matrix is in order where it is stored."""
    matrix, columns = _columns(writer, a), _columns(writer, b)
    writer.line(f"{scalars.solve_in_place.__name__}({matrix.root}, {columns.root})")
    return Tree(unchanged, (transposed(writer, columns, (1, 0)),), b.extents, b.dtype) if b.rank == 2 else columns


def _columns(writer: Writer, x: Any) -> Leaf:
    """What lies in memory column by column, in memory of its own that is written."""
    x = transposed(writer, x, (1, 0)) if isinstance(x, Leaf) and x.rank == 2 else x
    turned = (lambda indices: indices[::-1]) if not isinstance(x, Leaf) and x.rank == 2 else None
    memory = writer.stored(Tree(unchanged, (x,), x.extents[::-1] if turned else x.extents, x.dtype, turned))
    writer.will_write(memory.root)
    return memory
