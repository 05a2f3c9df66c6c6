"""Batching: expressions evaluated for all trips of a loop at once, with numbers as vectors and vectors as rows or columns.

    for j in range(m, n):   t = -a[i, j]           ->      t = -a[i, m:n]
                            y += t * b[:, j]        ->      y += b[:, m:n] @ t
                            c[:, j] += t * y        ->      c[:, m:n] += np.outer(y, t)

The value of one trip is represented as a product of factors, so that a sum over trips becomes a matrix product if possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array, kind_of
from s2sgrad.analysis.sizes import Dim
from s2sgrad.ir.forms import everything, index_of, minus, multiplied, negated, parts_of, popped, receiver
from s2sgrad.ir.quote import clone, constant, expression, name, nodes
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import behaviour

FIRST, LAST = "first", "last"  # the position of the axis of the trips


class Refused(Exception):
    """An expression cannot be batched."""


@dataclass(frozen=True)
class Factor:
    """A number (rank 0) or a vector (rank 1) in each trip; `axis` None: the same in all of them; `truth`: possibly of truth
    values, for which `@` gives no number.
    """

    node: gast.AST
    rank: int
    axis: str | None = None
    truth: bool = False


@dataclass(frozen=True)
class Product:
    """Factors, and whether the product is negated."""

    factors: tuple[Factor, ...]
    negative: bool = False

    @property
    def rank(self) -> int:
        """The rank of the product in one trip."""
        return max(f.rank for f in self.factors)

    @property
    def truth(self) -> bool:
        """Whether all factors may be truth values."""
        return all(f.truth for f in self.factors)

    @property
    def varies(self) -> bool:
        """Whether the product differs between trips."""
        return any(f.axis is not None for f in self.factors)

    def split(self) -> tuple[list[Factor], list[Factor], list[Factor], list[Factor]]:
        """Loop-invariant numbers and vectors, and those that vary."""
        fixed, moving = ([f for f in self.factors if (f.axis is not None) is m] for m in (False, True))
        return (
            [f for f in fixed if not f.rank], [f for f in fixed if f.rank],
            [f for f in moving if not f.rank], [f for f in moving if f.rank],
        )  # fmt: skip


class Batches(Shapes):
    """Expressions in one loop over `variable`. `section` makes a slice of a varying part of an index, given the array and
    the position in its index. `popped` makes an array of the values popped in all trips, one row per trip.

    `taken`: the rank of the value that the statement pops, where it is known.
    """

    def __init__(
        self,
        unit: Unit,
        variable: str,
        section: Callable[[gast.AST, Array, int], gast.Slice],
        popped: Callable[[gast.Call, int], gast.AST],
    ) -> None:
        super().__init__(unit, unit.kinds)
        self.variable, self.section, self.popped = variable, section, popped
        self.known: dict[str, Product] = {}
        self.taken: int | None = None

    def dims(self, node: gast.AST) -> tuple[Dim, ...] | None:
        """The axes of an expression; for a name that the loop binds, those of its value in one trip."""
        trip = self.known.get(node.id) if isinstance(node, gast.Name) else None
        return super().dims(node) if trip is None else (None,) * trip.rank

    # --- one expression ---

    def product(self, node: gast.AST) -> Product:
        """The value of an expression in all trips."""
        if not self.varies_in(node):
            return self._fixed(node)
        if isinstance(node, gast.Name) and node.id in self.known:
            known = self.known[node.id]
            return replace(known, factors=tuple(replace(f, node=clone(f.node)) for f in known.factors))
        if (opposite := negated(node)) is not None:
            inner = self.product(opposite)
            return Product(inner.factors, not inner.negative)
        if isinstance(node, gast.BinOp):
            return self._operation(node)
        if isinstance(node, gast.Subscript):
            return Product((self.element(node),))
        if isinstance(node, gast.Call):
            return self._called(node)
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            compared = self._elementwise(lambda a, b: gast.Compare(a, node.ops, [b]), node.left, node.comparators[0])
            return Product((replace(compared.factors[0], truth=True),))
        raise Refused

    def varies_in(self, node: gast.AST) -> bool:
        """Whether an expression varies between trips."""
        loaded = effects.reads(node)
        if self.variable in loaded or any(n in loaded and p.varies for n, p in self.known.items()):
            return True
        return any(map(popped, nodes(node)))

    def _fixed(self, node: gast.AST) -> Product:
        if not behaviour.is_pure(self.unit, node):
            raise Refused
        rank = self.rank(node)
        if rank is None or rank > 1:
            raise Refused
        return Product((Factor(node, rank),))

    def element(self, node: gast.Subscript) -> Factor:
        """`x[i, j]`, `x[j]` or `x[j, a:b]` for all trips: a section along the axis that varies."""
        parts, kind = parts_of(node.slice), kind_of(node.value, self.kinds)
        if not isinstance(kind, Array) or kind.rank is None or kind.dtype != "float64" or node.value.id in self.known:
            raise Refused
        parts += [everything()] * (kind.rank - len(parts))
        slices = [k for k, p in enumerate(parts) if isinstance(p, gast.Slice)]
        moving = [k for k, p in enumerate(parts) if self.varies_in(p)]
        fixed = [p for k, p in enumerate(parts) if k not in (*slices, *moving)]
        if len(moving) != 1 or moving[0] in slices or len(slices) > 1 or not all(map(self.is_number, fixed)):
            raise Refused
        (place,) = moving
        parts[place] = self.section(parts[place], kind, place)
        axis = FIRST if not slices or place < slices[0] else LAST
        while parts and effects.is_whole(parts[-1]):
            parts.pop()
        section = gast.Subscript(clone(node.value), clone(index_of(parts)), gast.Load()) if parts else name(node.value.id)
        return Factor(section, len(slices), axis)

    def _operation(self, node: gast.BinOp) -> Product:
        """The product for an operation."""
        if isinstance(node.op, gast.MatMult):
            for matrix, vector in ((node.left, node.right), (node.right, node.left)):
                if not self.varies_in(matrix) and self.rank(matrix) == 2:
                    return self._mapped(matrix, self.product(vector), matrix is node.left)
            return self._contracted(self.product(node.left), self.product(node.right))
        left, right = self.product(node.left), self.product(node.right)
        if isinstance(node.op, gast.Mult):
            return Product(left.factors + right.factors, left.negative != right.negative)
        if isinstance(node.op, gast.Div) and not right.rank:
            numbers, vectors = ([f for f in left.factors if bool(f.rank) is wanted] for wanted in (False, True))
            one = Product(tuple(numbers) or (Factor(constant(1.0), 0),))
            quotient = gast.BinOp(self.whole(one, FIRST), gast.Div(), self.whole(right, FIRST))
            axis = FIRST if one.varies or right.varies else None
            return Product((Factor(quotient, 0, axis), *vectors), left.negative)
        if isinstance(node.op, (gast.Add, gast.Sub, gast.Div, gast.Pow)):
            return self._elementwise(lambda a, b: gast.BinOp(a, node.op, b), node.left, node.right)
        raise Refused

    def _elementwise(self, make: Callable[..., gast.AST], *operands: gast.AST) -> Product:
        """The product for an elementwise operation, with its operands as arrays."""
        products = [self.product(o) for o in operands]
        rank = max(p.rank for p in products)
        axis = next((f.axis for p in products for f in p.factors if f.rank and f.axis is not None), FIRST)
        return Product((Factor(make(*(self.whole(p, axis, rank) for p in products)), rank, axis),))

    def _mapped(self, matrix: gast.AST, vector: Product, left: bool) -> Product:
        """A loop-invariant matrix times a vector."""
        numbers, fixed, moving, rows = vector.split()
        if fixed or len(rows) != 1:
            raise Refused
        (row,) = rows
        if left == (row.axis == FIRST):
            matrix = gast.Attribute(matrix, "T", gast.Load())
        sides = (row.node, matrix) if row.axis == FIRST else (matrix, row.node)
        made = gast.BinOp(sides[0], gast.MatMult(), sides[1])
        return Product((Factor(made, 1, row.axis), *numbers, *moving), vector.negative)

    def _contracted(self, left: Product, right: Product) -> Product:
        """`a @ b` of two vectors: a number."""
        (s1, r1, t1, m1), (s2, r2, t2, m2) = left.split(), right.split()
        vectors = [r1 + m1, r2 + m2]
        if any(len(v) != 1 for v in vectors):
            raise Refused
        (a,), (b,) = vectors
        if a.truth and b.truth:
            raise Refused
        numbers = (*s1, *t1, *s2, *t2)
        if a.axis is None or b.axis is None:
            swapped = a.axis == LAST or b.axis == FIRST  # v @ rows.T is rows @ v
            sides = (b.node, a.node) if swapped else (a.node, b.node)
            node: gast.AST = gast.BinOp(sides[0], gast.MatMult(), sides[1])
        else:
            node = gast.Call(numpy_function(self.unit, "einsum"), [constant("ij,ij->i"), self._rows(a), self._rows(b)], [])
        axis = None if a.axis is None and b.axis is None else FIRST
        return Product((Factor(node, 0, axis), *numbers), left.negative != right.negative)

    def _called(self, node: gast.Call) -> Product:
        if popped(node):
            if self.taken is None or self.taken > 1:
                raise Refused
            return Product((Factor(self.popped(node, self.taken), self.taken, FIRST),))
        target = self.unit.resolve(node.func)
        plain = isinstance(target, np.ufunc) and target.nout == 1 and not node.keywords
        if plain:
            return self._elementwise(lambda *given: gast.Call(node.func, [*given], []), *node.args)
        if (copied := receiver(node, "copy")) is not None:
            return self.product(copied)
        if (summed := receiver(node, "sum")) is not None:
            inner = self.product(summed)
            if inner.rank == 1:
                rows = self.whole(inner, FIRST, 1)
                return Product((Factor(expression("x.sum(axis=1)", x=rows), 0, FIRST),))
        raise Refused

    # --- as arrays ---

    def _rows(self, factor: Factor) -> gast.AST:
        return factor.node if factor.axis == FIRST else gast.Attribute(factor.node, "T", gast.Load())

    def _columns(self, factor: Factor) -> gast.AST:
        return factor.node if factor.axis == LAST else gast.Attribute(factor.node, "T", gast.Load())

    def whole(self, product: Product, axis: str | None, rank: int | None = None) -> gast.AST:
        """The values of all trips as one array, along the first or the last axis."""
        rank = product.rank if rank is None else rank
        numbers, vectors, moving, matrices = product.split()
        if len(vectors) == 1 and moving and not matrices:
            scaled = multiplied([f.node for f in (*numbers, *moving)])
            pair = (scaled, vectors[0].node) if axis == FIRST else (vectors[0].node, scaled)
            return self._with_sign(call(self.unit, "outer", np.outer, *pair), product)
        shaped = [self._shaped(f, axis, rank) for f in (*numbers, *moving, *matrices, *vectors)]
        return self._with_sign(multiplied(shaped), product)

    def _shaped(self, factor: Factor, axis: str | None, rank: int) -> gast.AST:
        if not rank or (not factor.rank and factor.axis is None):
            return factor.node
        if factor.rank and factor.axis is not None:
            return self._rows(factor) if axis == FIRST else self._columns(factor)
        if (factor.axis is not None) == (axis == FIRST):  # numbers beside rows, or a vector beside columns
            newaxis = numpy_function(self.unit, "newaxis")
            index = gast.Tuple([everything(), newaxis], gast.Load())
            return gast.Subscript(factor.node, index, gast.Load())
        return factor.node

    def _with_sign(self, node: gast.AST, product: Product) -> gast.AST:
        return minus(node) if product.negative else node

    def outer_total(self, column: gast.AST, row: gast.AST) -> gast.AST:
        """The sum over all trips of `np.outer(column, row)`."""
        products = self.product(column), self.product(row)
        if any(p.rank != 1 for p in products) or not any(p.varies for p in products) or all(p.truth for p in products):
            raise Refused
        if not all(p.varies for p in products):
            sides = [self.total(p) if p.varies else self.whole(p, FIRST) for p in products]
            return call(self.unit, "outer", np.outer, *sides)
        columns, rows = (self.whole(p, axis) for p, axis in zip(products, (LAST, FIRST), strict=True))
        return gast.BinOp(columns, gast.MatMult(), rows)

    def total(self, product: Product) -> gast.AST:
        """The sum over all trips."""
        numbers, vectors, moving, matrices = product.split()
        if not product.varies or len(matrices) > 1:
            raise Refused
        if matrices:
            (matrix,) = matrices
            if matrix.truth and all(f.truth for f in moving):
                raise Refused
            if moving:
                scale = multiplied([f.node for f in moving])
                summed: gast.AST = gast.BinOp(scale, gast.MatMult(), self._rows(matrix))
                if matrix.axis == LAST:
                    summed = gast.BinOp(matrix.node, gast.MatMult(), scale)
            else:
                summed = expression("x.sum(axis=0)" if matrix.axis == FIRST else "x.sum(axis=1)", x=matrix.node)
        elif len(moving) == 2 and not (moving[0].truth and moving[1].truth):
            summed = gast.BinOp(moving[0].node, gast.MatMult(), moving[1].node)
        else:
            summed = expression("x.sum()", x=multiplied([f.node for f in moving]))
        return self._with_sign(multiplied([summed, *(f.node for f in (*numbers, *vectors))]), product)
