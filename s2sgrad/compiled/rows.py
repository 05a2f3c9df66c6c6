"""Arrays of several numbers or arrays, each of which is a row: `np.array((x, y))`, and lists of integers as indices.

a = np.array((x, y))      ->      a = np.empty((2, n)); a[0, i] = x[i]; a[1, i] = y[i]
z = m[[k, 2]]             ->      a = np.empty((2,), np.int64); a[0] = k; a[1] = 2; z[i, j] = m[a[i], j]
"""

from __future__ import annotations

from typing import Any

from s2sgrad.compiled import elementwise
from s2sgrad.compiled.output import Nest, Store
from s2sgrad.compiled.values import FLOAT, FLOATS, INT, Extent, Index, Items, Leaf, Scalar, Unfit, is_array
from s2sgrad.compiled.writer import Writer


def index_parts(writer: Writer, value: Any) -> tuple[Any, ...]:
    """The items of an index; a list of integers among them is an array."""
    parts = value.items if isinstance(value, Items) and value.type is not list else (value,)
    return tuple(stacked(writer, p) if isinstance(p, Items) and p.type is list else p for p in parts)


def stacked(writer: Writer, x: Items) -> Any:
    """`np.array` of several numbers or arrays."""
    if not x.items or not all(isinstance(i, Scalar) or is_array(i) for i in x.items):
        raise Unfit("an array of these")
    dtypes = {i.dtype for i in x.items}
    if not dtypes <= {*FLOATS, INT} or len({i.rank for i in x.items}) > 1:
        raise Unfit("an array of these")
    extents = writer.broadcast([i.extents for i in x.items])
    if any(writer.canonical(a) != b for i in x.items for a, b in zip(i.extents, extents, strict=True)):
        raise Unfit("an array of rows of several lengths")
    dtype = dtypes.pop() if len(dtypes) == 1 else FLOAT
    out = writer.allocate(writer.fresh("a"), (Extent(None, len(x.items)), *extents), dtype)
    for k, item in enumerate(x.items):
        item = elementwise.cast(item, dtype) if dtype != INT else item
        if isinstance(item, Scalar):
            writer.line(f"{out.root}[{k}] = {item.text}")
        else:
            writer.out.append(Nest(extents, [Store(row_of(out, str(k)), "=", item)]))
    return out


def row_of(x: Leaf, k: str) -> Leaf:
    """A row of an array that lies in memory in order."""
    places = (Index(None, k), *(Index(axis, "0") for axis in range(x.rank - 1)))
    return Leaf(x.root, places, x.extents[1:], x.dtype, x.memory)
