"""Sums, means, largest and smallest elements, over some axes or all.

np.sum(x * y)      ->      s = 0.0
                           for i in range(n0): s += x[i] * y[i]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from s2sgrad.compiled import elementwise, scalars
from s2sgrad.compiled.elementwise import of_extent
from s2sgrad.compiled.lowering import Lowering
from s2sgrad.compiled.output import Fold, Nest, Store
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    ONE,
    SINGLE,
    Extent,
    Extents,
    Items,
    Leaf,
    Object,
    Scalar,
    Tree,
    Unfit,
    is_array,
    leaves,
)
from s2sgrad.compiled.writer import Writer


def axes_of(rank: int, axis: Any) -> tuple[int, ...]:
    """The axes that an argument names."""
    if axis is None or (isinstance(axis, Object) and axis.value is None):
        return tuple(range(rank))
    given = axis.items if isinstance(axis, Items) else (axis,)
    if any(not isinstance(a, Scalar) or a.affine is None or a.affine.base is not None for a in given):
        raise Unfit("an axis that is not known")
    axes = tuple(a.affine.offset + (rank if a.affine.offset < 0 else 0) for a in given)
    if any(not 0 <= a < rank for a in axes):
        raise Unfit("an axis that there is not")
    return axes


def count(writer: Writer, extents: Extents) -> Scalar:
    """The product of extents."""
    out = of_extent(ONE)
    for e in extents:
        out = of_extent(e) if out.affine == ONE else elementwise.apply(writer, gast.Mult, [out, of_extent(e)])
    return out


def _keeps(keep: Any) -> bool:
    if isinstance(keep, Scalar) and keep.text in ("True", "False"):
        return keep.text == "True"
    raise Unfit("a keepdims that is not known")


_NOT = Scalar("False", BOOL, True)


def sum_of(self: Lowering, x: Any, axis: Any = None, keepdims: Any = _NOT) -> Any:
    """`np.sum`."""
    if isinstance(x, Scalar):
        number = Scalar(f"(1 if {x.text} else 0)", INT, reads=x.reads) if x.dtype == BOOL else x
        return replace(number, python=False, weak=False, own="", is_array=False)
    if not is_array(x):
        raise Unfit("a sum of what is no array")
    return summed(self, x, axes_of(x.rank, axis), _keeps(keepdims))


def summed(self: Lowering, x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """The sum over some axes."""
    if x.dtype == SINGLE:
        return elementwise.cast(summed(self, elementwise.cast(x, FLOAT), axes, keep), SINGLE)
    if x.dtype != FLOAT:
        return folded(self, x, axes, keep, INT, "0", lambda a, b: f"{a} + {b}")
    by_vectors = _is_innermost(self.writer, x, axes)
    return folded(self, x, axes, keep, FLOAT, "0.0", lambda a, b: f"plus({a}, {b})" if by_vectors else f"{a} + {b}")


def _is_innermost(writer: Writer, x: Any, axes: tuple[int, ...]) -> bool:
    """Whether the innermost loop folds what lies side by side into one number.

    The order is a compiler's then, which makes several at once, as it is NumPy's in the text.
    """
    k = next((k for k in reversed(range(x.rank)) if writer.canonical(x.extents[k]) != ONE), None)
    return len(axes) == x.rank or (k in axes and all(_is_along(leaf, k - x.rank) for leaf in leaves(x)))


def _is_along(leaf: Leaf, axis: int) -> bool:
    """Whether elements along an axis, counted from the last one, are one, or lie side by side."""
    k = leaf.rank + axis
    moved = [p.stride if place == len(leaf.places) - 1 else 0 for place, p in enumerate(leaf.places) if p.axis == k]
    return k < 0 or leaf.extents[k] == ONE or moved == [1]


def product(self: Lowering, x: Any, axis: Any = None, keepdims: Any = _NOT) -> Any:
    """`np.prod`."""
    if not is_array(x) or x.dtype not in FLOATS:
        raise Unfit("a product of these")
    one = elementwise.number("1.0", x.dtype)
    return folded(self, x, axes_of(x.rank, axis), _keeps(keepdims), x.dtype, one, lambda a, b: f"{a} * {b}")


def mean(self: Lowering, x: Any, axis: Any = None, keepdims: Any = _NOT) -> Any:
    """`np.mean`."""
    if not is_array(x) or x.dtype == BOOL:
        raise Unfit("a mean of these")
    axes = axes_of(x.rank, axis)
    n = count(self.writer, tuple(x.extents[k] for k in axes))
    x = elementwise.cast(x, FLOAT) if x.dtype == INT else x
    total = summed(self, x, axes, _keeps(keepdims))
    n = Scalar(n.text, n.dtype, False, n.reads, weak=True)
    return elementwise.apply(self.writer, gast.Div, [total, n])


def _extreme(by_vectors: Any, one_by_one: Any, start: str) -> Any:
    def form(self: Lowering, x: Any, axis: Any = None, keepdims: Any = _NOT) -> Any:
        if not is_array(x) or x.dtype not in FLOATS:
            raise Unfit("the largest or smallest of what are no floats")
        axes = axes_of(x.rank, axis)
        for k in axes:
            self.writer.at_least(x.extents[k], 1)
        first = elementwise.number(start, x.dtype)
        function = (by_vectors if _is_innermost(self.writer, x, axes) else one_by_one).__name__
        return folded(self, x, axes, _keeps(keepdims), x.dtype, first, lambda a, b: f"{function}({a}, {b})")

    return form


largest = _extreme(scalars.largest, scalars.maximum, "-np.inf")
least = _extreme(scalars.least, scalars.minimum, "np.inf")


def folded(self: Lowering, x: Any, axes: tuple[int, ...], keep: bool, dtype: str, start: str, combine: Any) -> Any:
    """The elements folded over some axes."""
    writer = self.writer
    extents = tuple(map(writer.canonical, x.extents))
    kept = [k for k in range(x.rank) if k not in axes]
    if not kept:
        name = writer.fresh("s")
        writer.line(f"{name} = {start}")
        writer.out.append(Fold(extents, x, f"{name} = {combine(name, '{}')}"))
        if not keep:
            return Scalar(name, dtype, False, affine=Extent(name) if dtype == INT else None)
        out = writer.allocate(writer.fresh("a"), (ONE,) * x.rank, dtype)
        writer.line(f"{out.root}[{', '.join(['0'] * x.rank)}] = {name}")
        return out
    out = writer.allocate(writer.fresh("a"), tuple(extents[k] for k in kept), dtype)
    writer.out.append(Nest(out.extents, [Store(out, "=", Scalar(start, dtype))]))
    every = out.over(tuple(kept), extents)
    step = Store(every, "=", Tree(combine, (every, x), extents, dtype), number=writer.fresh("t"))
    writer.out.append(Nest(extents, [step]))
    if not keep:
        return out
    return out.over(tuple(kept), tuple(ONE if k in axes else extents[k] for k in range(x.rank)))
