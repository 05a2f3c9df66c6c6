"""Indices of several arrays, or of arrays beside other items: NumPy picks, stores and adds such elements, between the loops.

y = x[rows, columns]      ->      a0 = as_array(x[rows, columns], 'float64', 1)
x[rows, columns] = y      ->      put(x, (rows, columns), y)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.compiled.values import BOOL, INT, ONE, Extent, Leaf, Object, Scalar, Unfit, is_array, whole
from s2sgrad.compiled.writer import Writer


def is_picked(x: Any, items: tuple[Any, ...]) -> bool:
    """Whether an index has arrays, and is neither one vector of integers nor one mask of all axes."""
    arrays = [i for i in items if is_array(i)]
    if not arrays or any(i.dtype not in (INT, BOOL) for i in arrays):
        return False
    alone = len(items) == 1
    return not (alone and items[0].dtype == INT and items[0].rank == 1) and not (
        alone and items[0].dtype == BOOL and items[0].rank == x.rank
    )


def picked(writer: Writer, x: Leaf, items: tuple[Any, ...]) -> Leaf | Scalar:
    """`x[items]`, in new memory."""
    ones = _ones(writer, x, items)
    if not ones:
        raise Unfit("an element by such an index")
    texts = ", ".join(_text(writer, i) for i in items)
    name = writer.fresh("a")
    writer.line(f"{name} = as_array({_memory(writer, x)}[{texts}{',' * (len(items) == 1)}], {x.dtype!r}, {len(ones)})")
    extents = []
    for axis, is_one in enumerate(ones):
        extent = ONE if is_one else Extent(writer.fresh("n"))
        writer.line(f"same({name}.shape[{axis}], 1)" if is_one else f"{extent} = {name}.shape[{axis}]")
        writer.lengths |= {extent.base} if extent.base is not None else set()
        extents.append(extent)
    return whole(name, tuple(extents), x.dtype)


def put(writer: Writer, x: Leaf, items: tuple[Any, ...], value: Any, function: str = "put") -> None:
    """`x[items] = value`, or its sum with what is there."""
    target = x.in_order
    if target is None:
        raise Unfit("a store by such an index into a view")
    texts = ", ".join(_text(writer, i) for i in items)
    stored = writer.settled(value).text if isinstance(value, Scalar) else writer.stored(value).root
    writer.will_write(x.root)
    writer.line(f"{function}({target}, ({texts},), {stored})")


def _memory(writer: Writer, x: Leaf) -> str:
    return x.in_order or writer.stored(x).root


def _text(writer: Writer, item: Any) -> str:
    """The text of an item of an index."""
    text: str
    if is_array(item):
        text = writer.in_memory(item).root
        return text
    if isinstance(item, Scalar) and item.dtype == INT:
        text = writer.settled(item).text
        return text
    if isinstance(item, Object) and (item.value is None or item.value is Ellipsis):
        return str(item.value)
    if isinstance(item, Object) and isinstance(item.value, tuple):
        return f"slice({', '.join('None' if e is None else _text(writer, e) for e in item.value)})"
    raise Unfit("an index of this type")


def _ones(writer: Writer, x: Leaf, items: tuple[Any, ...]) -> tuple[bool, ...]:
    """Which axes of the result have length 1, from a sample."""

    def shape(value: Any) -> tuple[int, ...]:
        return tuple(1 if writer.canonical(e) == ONE else 2 for e in value.extents)

    def sample(item: Any) -> Any:
        if is_array(item):
            return np.ones(shape(item), bool) if item.dtype == BOOL else np.zeros(shape(item), int)
        if isinstance(item, Scalar):
            return 0
        return item.value if item.value is None or item.value is Ellipsis else slice(None)

    try:
        return tuple(n == 1 for n in np.empty(shape(x))[tuple(map(sample, items))].shape)
    except IndexError:
        raise Unfit("more indices than axes") from None
