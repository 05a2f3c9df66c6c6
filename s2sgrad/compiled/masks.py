"""Masks as indices: the elements that one selects, one after the other, in memory of their own.

x[m]      ->      for i in range(n): if m[i]: out[k] = x[i]; k = k + 1
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from s2sgrad.compiled.values import BOOL, Extent, Extents, Gather, Leaf, Scalar, Tree, Unfit, element, is_array


def is_mask(items: tuple[Any, ...]) -> bool:
    """Whether an index is one array of truth values."""
    return len(items) == 1 and is_array(items[0]) and items[0].dtype == BOOL


@contextlib.contextmanager
def _selected(self: Any, extents: Extents, mask: Any) -> Iterator[list[str]]:
    """Write a statement for each element that a mask selects; its indices."""
    with contextlib.ExitStack() as stack:
        indices = []
        for extent in extents:
            indices.append(self.writer.fresh("k"))
            stack.enter_context(self.writer.block(f"for {indices[-1]} in range({extent}):"))
        stack.enter_context(self.writer.block(f"if {element(mask, indices)}:"))
        yield indices


def _counted(self: Any, x: Leaf, mask: Any) -> tuple[Any, Extents, Extent]:
    """The mask in memory, the extents that it shares with the array, and how many elements it selects."""
    if mask.rank != x.rank:
        raise Unfit("a mask of another rank than the array")
    writer = self.writer
    mask = writer.stored(mask) if isinstance(mask, (Tree, Gather)) else mask
    extents = tuple(writer.same(m, n) for m, n in zip(mask.extents, x.extents, strict=True))
    count = writer.fresh("p")
    writer.line(f"{count} = 0")
    with _selected(self, extents, mask):
        writer.line(f"{count} = {count} + 1")
    n = writer.fresh("n")
    writer.line(f"{n} = {count}")
    writer.lengths.add(n)
    return mask, extents, Extent(n)


def read(self: Any, x: Leaf, mask: Any) -> Leaf:
    """`x[mask]`."""
    mask, extents, n = _counted(self, x, mask)
    writer = self.writer
    out: Leaf = writer.allocate(writer.fresh("a"), (n,), x.dtype)
    place = writer.fresh("p")
    writer.line(f"{place} = 0")
    with _selected(self, extents, mask) as indices:
        writer.line(f"{out.root}[{place}] = {x.at(indices)}")
        writer.line(f"{place} = {place} + 1")
    return out


def store(self: Any, x: Leaf, mask: Any, value: Any) -> None:
    """`x[mask] = value`, of a value that is converted to the dtype of the array."""
    writer = self.writer
    if isinstance(value, Scalar):
        value = writer.settled(value)
    elif value.rank != 1:
        raise Unfit("a store by a mask of more axes than one")
    mask, extents, n = _counted(self, x, mask)
    if not isinstance(value, Scalar):
        writer.same(value.extents[0], n)
        value = writer.stored(value) if isinstance(value, (Tree, Gather)) or self.found.share(value.root, x.root) else value
    if self.found.share(mask.root, x.root):
        mask = writer.stored(Tree(lambda a: a, (mask,), mask.extents, BOOL))
    writer.will_write(x.root)
    place = writer.fresh("p")
    writer.line(f"{place} = 0")
    with _selected(self, extents, mask) as indices:
        writer.line(f"{x.at(indices)} = {element(value, [place])}")
        writer.line(f"{place} = {place} + 1")
