"""Trip counts of loops compared with the lengths of arrays: whether a loop covers all elements of one.

    y = np.zeros((m, n))
    for i in range(m):
        for j in range(1, i):      ->      `y[i, j]` is accessed m * n times, up to constants and factors

The trip counts are heuristics for profitability, and no result depends on them; the linear forms of lengths and bounds
(`Sizes.atom`, `Sizes.axis`) are facts.
"""

from __future__ import annotations

import builtins
from collections import Counter

import gast
import numpy as np

from s2sgrad.analysis import affine, effects
from s2sgrad.analysis.affine import Form
from s2sgrad.analysis.elements import element_of
from s2sgrad.analysis.kinds import Array, Container, Number, kind_of
from s2sgrad.analysis.sizes import Dim, Size
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.forms import bound_name, parts_of, whole_number
from s2sgrad.ir.unit import Unit
from s2sgrad.regions.loops import range_of

Trips = list[tuple[str, Form | None]]  # of the enclosing loops: the variable, and the trip count
_FEW = 16
_MAKERS = (np.zeros, np.empty, np.ones, np.full)


class Sizes:
    """Lengths and trip counts as linear forms in names and in sizes of the arguments."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.kinds = unit, unit.kinds
        self.forms: dict[str, Form] = {}
        self.lengths: dict[int, Form] = {}
        self.rows: set[str] = set()  # variables of `range(starts[r], starts[r + 1])`
        statements = [*effects.walk(tree.body)]
        counts = binding_counts(tree.body)
        for statement in statements:
            if isinstance(statement, gast.For) and self._is_row(statement.iter):
                self.rows.add(statement.target.id)
            if (target := bound_name(statement)) is not None:
                self._note(target, statement.value, counts)

    def _is_row(self, node: gast.AST) -> bool:
        """Whether an iterable is `range(starts[r], starts[r + 1])` for integer arrays, as for the rows of a sparse
        matrix."""
        call = range_of(self.unit, node)
        bounds = call.args if call is not None and len(call.args) == 2 else []
        found = [element_of(b, self.unit) for b in bounds]
        return bool(found) and all(k is not None and k.dtype == "int64" for k in found)

    def _note(self, target: str, value: gast.AST, counts: Counter[str]) -> None:
        """Note the linear form of a number that is bound once, and the lengths of an array that is made from a shape."""
        kind = self.kinds.get(target)
        if isinstance(kind, Number) and counts[target] == 1:
            found = affine.form(value, self.atom)
            if found is not None and found.terms:
                self.forms[target] = found
        if isinstance(kind, Array) and kind.dims and isinstance(value, gast.Call) and value.args:
            if effects.is_one_of(self.unit.resolve(value.func), _MAKERS):
                shape = value.args[0]
                parts = parts_of(shape)
                for dim, part in zip(kind.dims, parts, strict=False):
                    found = affine.form(part, self.atom)
                    if isinstance(dim, Size) and dim.k < 0 and found is not None:
                        self.lengths[dim.k] = Form(found.terms, found.constant - dim.offset, found.names)

    def trip(self, loop: gast.For, outer: Trips) -> tuple[str, Form | None]:
        """The variable of a loop and its trip count; an upper bound where the count depends on an outer variable."""
        return loop.target.id, self._trip(loop.iter, dict(outer))

    def _trip(self, node: gast.AST, outer: dict[str, Form | None]) -> Form | None:
        call = range_of(self.unit, node)
        asked = call.args if call is not None else ()
        bounds = [form for a in asked if (form := affine.form(a, self.atom)) is not None]
        if not bounds or len(bounds) < len(asked):
            return None
        length = bounds[0] if len(bounds) == 1 else bounds[1].minus(bounds[0])
        if len(bounds) == 3:
            if bounds[2].terms or abs(bounds[2].constant) != 1:
                return None
            length = length.times(bounds[2].constant)
        moving = [t for t in length.terms if t in outer]
        for variable in moving:
            count = length.terms[variable]
            length = length.minus(Form({variable: count}))
            if count > 0 and not length.terms:
                length = outer[variable] or Form()
        return length

    def cover(self, trips: Trips, kind: Array, index: list[gast.AST]) -> bool:
        """Whether loops with these trip counts access all elements of an array through `index`.

        Inside a loop over all elements of one array, a loop from one entry of a second array to the next covers a third one:
        the rows of a sparse matrix.
        """
        left = [(variable, form) for variable, form in trips if form is not None and form.terms]
        if len(index) == 1 and getattr(index[0], "id", None) in self.rows and _is_first_by_axes(trips, left):
            return True
        lengths = [self.axis(dim) for dim in kind.dims or ()]
        for length in [n for n in lengths if n is None or n.terms or n.constant > _FEW]:
            found = next((trip for trip in left if length is not None and trip[1].terms == length.terms), None)
            if found is None:
                return False
            left.remove(found)
        return True

    def atom(self, node: gast.AST) -> Form | None:
        """A name or a length as a linear form; None for any other expression."""
        if isinstance(node, gast.Call) and node.args:
            return self._called(node)
        if isinstance(node, gast.Subscript):
            return self._item(node)
        if not isinstance(node, gast.Name):
            return None
        kind = self.kinds.get(node.id)
        if isinstance(kind, Number) and kind.size is not None:
            return self.axis(kind.size)
        if isinstance(kind, Number) and kind.known and type(kind.value) is int:
            return Form(constant=kind.value)
        return self.forms.get(node.id, Form({node.id: 1}))

    def _called(self, node: gast.Call) -> Form | None:
        """`len(x)`, and `min` of equal numbers."""
        called = self.unit.resolve(node.func)
        if called is builtins.len:
            return self._axis_of(node.args[0], 0)
        forms = [affine.form(a, self.atom) for a in node.args] if called is builtins.min else [None]
        return forms[0] if None not in forms and all(f == forms[0] for f in forms) else None

    def _item(self, node: gast.Subscript) -> Form | None:
        """`x.shape[k]`, or `shape[k]` where the name holds a shape."""
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            return self._axis_of(node.value.value, whole_number(node.slice))
        shape = kind_of(node.value, self.kinds)
        size = shape.at(getattr(node.slice, "value", None)) if isinstance(shape, Container) else None
        return self.axis(size.size) if isinstance(size, Number) and size.size is not None else None

    def _axis_of(self, array: gast.AST, place: int | None) -> Form | None:
        kind = kind_of(array, self.kinds)
        dims = (kind.dims if isinstance(kind, Array) else None) or ()
        return self.axis(dims[place]) if place is not None and -len(dims) <= place < len(dims) else None

    def axis(self, dim: Dim) -> Form | None:
        """The length of an axis as a linear form; None where it is unknown."""
        if isinstance(dim, Size):
            known = self.lengths.get(dim.k, Form({f"#{dim.k}": 1}))
            return Form(known.terms, known.constant + dim.offset)
        return None if dim is None else Form(constant=dim)


def _is_first_by_axes(trips: Trips, left: list[tuple[str, Form]]) -> bool:
    """Whether the trip count of the outermost loop is a sum of axis lengths."""
    return any(v == trips[0][0] and all(t.startswith("#") for t in form.terms) for v, form in left)
