"""Indices of arrays: what a subscript reads or writes, as a view, an element or gathered rows.

x[1:-1, k]      ->      the view whose element i is x[i + 1, k]
"""

from __future__ import annotations

from typing import Any

from s2sgrad.compiled.values import BOOL, INT, ONE, Extent, Gather, Index, Leaf, Object, Scalar, Unfit, is_array
from s2sgrad.compiled.writer import Writer

Bounds = dict[str, tuple[Extent, Extent]]  # of loop variables: the least value, and the end


def indexed(writer: Writer, bounds: Bounds, x: Leaf, items: tuple[Any, ...]) -> Any:
    """The view (or gathered rows) that an index means; an element has no axes."""
    given = sum(not (isinstance(i, Object) and i.value in (None, Ellipsis)) for i in items)
    if any(is_array(i) for i in items):
        return _gathered(writer, x, items)
    if given > x.rank:
        raise Unfit("more indices than axes")
    extents: list[Extent] = []
    kept: list[Index] = []  # what becomes of each axis of `x`
    items = items if any(isinstance(i, Object) and i.value is Ellipsis for i in items) else (*items, Object(Ellipsis))
    for item in items:
        if isinstance(item, Object) and item.value is None:
            extents.append(ONE)
            continue
        skipped = x.rank - given if isinstance(item, Object) and item.value is Ellipsis else 1
        for _ in range(skipped):
            place, extent = _along(writer, bounds, x.extents[len(kept)], item, len(extents))
            kept.append(place)
            extents += extent
    places = tuple(p if p.axis is None else p.then(kept[p.axis]) for p in x.places)
    return Leaf(x.root, places, tuple(extents), x.dtype, x.memory)


def _along(writer: Writer, bounds: Bounds, extent: Extent, item: Any, axis: int) -> tuple[Index, list[Extent]]:
    """What an item of an index makes of an axis: a place, or another axis."""
    if isinstance(item, Object) and item.value is Ellipsis:
        return Index(axis, "0"), [extent]
    if isinstance(item, Scalar) and item.dtype == INT:
        return Index(None, _place(writer, bounds, extent, item)), []
    if isinstance(item, Object) and isinstance(item.value, tuple):
        start, stride, length = _section(writer, bounds, extent, *item.value)
        return Index(axis, start, stride), [length]
    raise Unfit("an index of this type")


def _place(writer: Writer, bounds: Bounds, extent: Extent, item: Scalar) -> str:
    """The text of an index, which is checked unless it is known to be within the axis."""
    extent = writer.canonical(extent)
    known = item.affine
    if known is not None and known.base is None:
        if known.offset < 0:
            writer.at_least(extent, -known.offset)
            return str(extent.plus(known.offset))
        writer.at_least(extent, known.offset + 1)
        return str(known.offset)
    if known is None:
        known = writer.extent(item)
    known = writer.canonical(known)
    if known.base == extent.base and known.offset < extent.offset:
        writer.at_least(known, 0)
        return str(known)
    if is_natural(writer, bounds, known) and is_at_most(writer, bounds, known, extent.plus(-1)):
        return str(known)
    return str(_named(writer, "k", f"at({known}, {extent})"))


def is_natural(writer: Writer, bounds: Bounds, value: Extent) -> bool:
    """Whether an integer is known not to be negative, by the loops that it is bound in."""
    while value.base in bounds:
        value = writer.canonical(bounds[value.base][0]).plus(value.offset)
    return value.offset >= 0 and (value.base is None or value.base in writer.lengths)


def is_at_most(writer: Writer, bounds: Bounds, value: Extent, most: Extent) -> bool:
    """Whether an integer is known not to be larger than another."""
    value = writer.canonical(value)
    while value.base != most.base and value.base in bounds:
        value = writer.canonical(bounds[value.base][1]).plus(value.offset - 1)
    return value.base == most.base and value.offset <= most.offset


def _named(writer: Writer, stem: str, text: str) -> Extent:
    """The integer that a text computes, under a name that is bound once."""
    if text not in writer.facts:
        name = writer.fresh(stem)
        writer.line(f"{name} = {text}")
        writer.lengths.add(name)
        writer.facts[text] = Extent(name)
    return writer.canonical(writer.facts[text])


def _section(writer: Writer, bounds: Bounds, extent: Extent, start: Any, stop: Any, step: Any) -> tuple[str, int, Extent]:
    """The first place of a slice, its step and its length."""
    stride = 1 if step is None else constant_of(step)
    if stride is None or stride == 0:
        raise Unfit("a slice whose step is not known")
    if stride < 0:
        return _section_backwards(writer, bounds, extent, start, stop, stride)
    low, high = _end(writer, bounds, extent, start, Extent(None, 0)), _end(writer, bounds, extent, stop, extent)
    length = _length(writer, bounds, low, high)
    if stride > 1:
        length = _named(writer, "n", f"({length} + {stride - 1}) // {stride}")
    return str(low), stride, length


def _section_backwards(
    writer: Writer, bounds: Bounds, extent: Extent, start: Any, stop: Any, stride: int
) -> tuple[str, int, Extent]:
    """The same with a negative step: the section that ends behind `start` and begins behind `stop`, from its end.

    x[k::-1]      ->      x[:k + 1] backwards
    """
    low, high = _end(writer, bounds, extent, stop, Extent(None, 0), 1), _end(writer, bounds, extent, start, extent, 1)
    length = _length(writer, bounds, low, high)
    if stride < -1:
        length = _named(writer, "n", f"({length} + {-stride - 1}) // {-stride}")
    return str(high.plus(-1)), stride, length


def _end(writer: Writer, bounds: Bounds, extent: Extent, end: Any, default: Extent, behind: int = 0) -> Extent:
    """An end of a slice, within the axis; with `behind=1` the place behind it, for a negative step."""
    extent = writer.canonical(extent)
    if end is None:
        return writer.canonical(default)
    if not isinstance(end, Scalar) or end.dtype != INT:
        raise Unfit("a slice whose end is no integer")
    known = end.affine
    if known is not None and known.base is None:
        if known.offset < 0:
            writer.at_least(extent, -known.offset)
            return extent.plus(known.offset + behind)
        writer.at_least(extent, known.offset + behind)
        return known.plus(behind)
    known = writer.canonical(writer.extent(end))
    if known.base == extent.base and known.offset + behind <= extent.offset:
        writer.at_least(known, 0)
        return known.plus(behind)
    if is_natural(writer, bounds, known) and is_at_most(writer, bounds, known, extent.plus(-behind)):
        return known.plus(behind)
    return _named(writer, "n", f"{'place_behind' if behind else 'clipped'}({known}, {extent})")


def _length(writer: Writer, bounds: Bounds, low: Extent, high: Extent) -> Extent:
    if low.base is None and low.offset == 0:
        return high
    if low.base == high.base:
        return Extent(None, max(high.offset - low.offset, 0))
    if low.base is None:
        writer.at_least(high, low.offset)
        return high.plus(-low.offset)
    if low.base in bounds and is_at_most(writer, bounds, low, high):
        return _named(writer, "n", f"{high} - ({low})")
    return _named(writer, "n", f"length({low}, {high})")


def constant_of(value: Any) -> int | None:
    """The integer that a value is known to be."""
    known = isinstance(value, Scalar) and value.affine is not None and value.affine.base is None
    return value.affine.offset if known else None


def _gathered(writer: Writer, x: Leaf, items: tuple[Any, ...]) -> Gather:
    """Rows, or elements, at the places that an array of integers says.  Each place is checked where an element is read, so
    that there must be elements."""
    if len(items) != 1 or items[0].dtype == BOOL or items[0].dtype != INT or items[0].rank != 1:
        raise Unfit("an index array that is not one of integers, alone")
    if writer.canonical(x.extents[0]) == ONE:
        raise Unfit("an index array along an axis of length 1, whose places are not read")
    for extent in x.extents[1:]:
        writer.at_least(extent, 1)
    return Gather(x, items[0], (items[0].extents[0], *x.extents[1:]), x.dtype)
