"""The sweep that knows where cotangents count: what a mask, a branch or a store leaves out is exactly 0.

    np.where(x > 0, np.sqrt(x), 0.0)      at 0 the slope is infinite, and the cotangent was left out there: 0, not nan

Beside each cotangent of a memory lies a flat array of marks: True where something has arrived.  It is absent if all count.
Used where another sweep has met a nan; and where the sweep itself is recorded, for its derivatives may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.recorded.applying import apply, is_part, repeats
from s2sgrad.recorded.honest import bottoms
from s2sgrad.recorded.patterns import Kept, Prepared
from s2sgrad.recorded.runs import Root
from s2sgrad.recorded.sweep import Sweep, places, strided
from s2sgrad.recorded.values import FLOATS, bottom
from s2sgrad.rules.selections import picked
from s2sgrad.runtime.structure import rebuilt


class Exact:
    """A mask outside of which the cotangent is 0 anyhow."""

    __slots__ = ("mask",)

    def __init__(self, mask: np.ndarray) -> None:
        self.mask = mask


class Marks:
    """Where the cotangents of a sweep count: flat arrays of marks, by memory."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[Root, np.ndarray] = {}

    def begin(self, root: Root) -> None:
        """Nothing has arrived in this memory yet."""
        self.of[root] = np.zeros(root.owner.size, bool)

    def _known(self, root: Root) -> np.ndarray:
        return self.of.setdefault(root, np.ones(root.owner.size, bool))

    def take(self, sweep: Sweep, kept: Kept) -> tuple[Any, Any]:
        """(the cotangent of a result, where it counts, None for everywhere); both are gone then."""
        marks = self.of.get(kept.root) if kept.root is not None else None
        if marks is None:
            return sweep.pop(kept), None
        mask = _marked(kept, marks).copy()
        bar = sweep.pop(kept)
        del self.of[kept.root]  # type: ignore[arg-type]
        return (bar, None if mask.all() else mask) if mask.any() else (None, None)

    def take_item(self, root: Root, offset: int) -> bool:
        """Whether the cotangent of one item counts; what arrived there is gone then."""
        marks = self._known(root)
        counts, marks[offset] = bool(marks[offset]), False
        return counts

    def take_part(self, kept: Kept, index: Any) -> Any:
        """Where the cotangents of a part of a view count, which is overwritten."""
        marked = _marked(kept, self._known(kept.root))  # type: ignore[arg-type]
        mask = np.array(marked[index])
        if bottom(kept.where).dtype == kept.root.owner.dtype:  # type: ignore[union-attr]
            marked[index] = False  # not of one part: the other may count
        return mask

    def add_item(self, root: Root, offset: int) -> None:
        """A cotangent has arrived at one item."""
        if root in self.of:
            self.of[root][offset] = True

    def give(self, sweep: Sweep, kept: Kept, bar: Any, mask: Any) -> None:
        """Add to the cotangent of an operand where the mask is true; None for everywhere."""
        exact = type(mask) is Exact
        if mask is not None:
            mask = _fitting(mask.mask if exact else mask, np.shape(bottom(bar)))
        if mask is not None:
            if not mask.any():
                return
            bar = bar if exact else apply(np.where, (mask, bar, 0.0))
        root = kept.root
        if root is not None:
            where = bottom(kept.where)
            whole = where is root.owner or (where.size == root.owner.size and not repeats(where))
            if mask is None and whole and not sweep.has(root):
                sweep.put(kept, bar)
                self.of.pop(root, None)
                return
            if mask is not None or not sweep.has(root):
                sweep.flat(root)
            if root in self.of:
                _mark(kept, self.of[root], True if mask is None else mask)
        sweep.put(kept, bar)

    def masked(self, bar: Any, mask: Any, x: Any) -> Any:
        """A cotangent with exactly 0 where it does not count, if it is brought to another shape before `x` gets it."""
        shape = np.shape(bottom(bar))
        fits = type(mask) is not Exact and shape == np.shape(mask) != () and shape != np.shape(bottom(x))
        return apply(np.where, (mask, bar, 0.0)) if fits and not np.all(mask) else bar

    def limited(self, sweep: Sweep, call: Prepared, parts: Any, given: tuple) -> Any:
        """The cotangents of the operands of a call.  `given`: what the pullback was called with."""
        return parts

    def branch(self, call: Prepared, k: int, args: tuple, mask: Any) -> Any:
        """Where an operand counts: None for everywhere.  `args`: what the pullback was called with."""
        arrived, y, operands, keywords = args
        if call.primitive is np.where and k:
            chosen = np.broadcast_to(np.asarray(bottom(operands[0]), bool), np.shape(bottom(y)))
            chosen = chosen if k == 1 else ~chosen
            return chosen if mask is None else chosen & mask
        if call.primitive is picked:
            return _places(np.shape(bottom(operands[0])), bottoms(keywords["index"]), np.size(bottom(y)), mask)
        if call.passes_over or (mask is not None and call.rule is not None and call.rule.tag == "linear"):
            bars = _probe(bottoms(arrived), mask)
            parts = call.formula(bars, bottoms(y), *bottoms(operands), **bottoms(keywords))
            return _nonzero(parts if call.single else parts[k])
        return mask if call.elementwise else None


def _marked(kept: Kept, marks: np.ndarray) -> np.ndarray:
    """The part of the marks that belongs to a view: of its parts of complex numbers, which share marks, a copy."""
    root, where = kept.root, bottom(kept.where)
    assert root is not None
    if is_part(root.owner, where):
        part: np.ndarray = marks[places(root, where) // 2]
        return part
    whole = where.shape == root.owner.shape and where.strides == root.owner.strides
    if whole and not where.flags.forc:  # the parts of complex numbers of an outer recording: memory with gaps
        return marks.reshape(where.shape)
    strides = tuple(s // where.itemsize for s in where.strides)
    view: np.ndarray = strided(marks, root.offset(where), where.shape, strides)
    return view


def _mark(kept: Kept, marks: np.ndarray, mask: Any) -> None:
    """Mark what has arrived in a view, of which several places may be one item."""
    root, where = kept.root, bottom(kept.where)
    if is_part(root.owner, where):  # type: ignore[union-attr]
        np.logical_or.at(marks, places(root, where) // 2, mask)
        return
    marked = _marked(kept, marks)
    if mask is not True and repeats(marked):  # `|=` keeps the last of the places of one item
        np.logical_or.at(marks, places(root, where), mask)
    else:
        marked |= mask


def _places(shape: tuple[int, ...], index: Any, size: int, mask: Any) -> Any:
    """Where an array counts of which `x[index]`, of this size, does where the mask is true; None for everywhere."""
    basic = is_basic(index)
    if mask is None and basic and size == np.prod(shape, dtype=int):
        return None
    marks = np.zeros(shape, bool)
    if mask is None:
        marks[index] = True
        return Exact(marks)
    if basic:
        marks[index] = mask
    else:
        np.logical_or.at(marks, index, mask)
    return marks


def is_basic(index: Any) -> bool:
    """Whether an index picks no item twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(part, (list, np.ndarray)) for part in parts)


def _probe(bar: Any, mask: Any) -> Any:
    """A cotangent of numbers of which no sum is 0 by chance; 0 where it is left out."""
    if isinstance(bar, (list, tuple, dict)):
        return rebuilt(bar, lambda item: _probe(item, None))
    shape = np.shape(bar)
    numbers = 1.0 + np.modf(np.sqrt(2.0) * np.arange(1.0, 1.0 + np.size(bar)) ** 1.5)[0].reshape(shape)
    return (numbers if mask is None else np.where(mask, numbers, 0.0))[()]


def _nonzero(part: Any) -> Any:
    if part is None or isinstance(part, (list, tuple, dict)):
        return None if part is None else rebuilt(part, _nonzero)
    return ~(np.asarray(part) == 0)


def _fitting(mask: Any, shape: tuple[int, ...]) -> Any:
    """The mask for an operand of this shape; None where it leaves nothing out."""
    mask = np.asarray(mask)
    if mask.all() or mask.ndim < len(shape):
        return None
    mask = mask.reshape(shape) if mask.size == np.prod(shape, dtype=int) else _narrowed(mask, shape)
    return None if mask.all() else mask


def _narrowed(mask: Any, shape: tuple[int, ...]) -> Any:
    """The mask, reduced to the shape of an operand that was broadcast to the mask's."""
    mask = np.any(mask, axis=tuple(range(mask.ndim - len(shape))))
    stretched = tuple(k for k, n in enumerate(shape) if n == 1 and mask.shape[k] != 1)
    return np.asarray(np.any(mask, axis=stretched, keepdims=True) if stretched else mask)


def holds_nan(bars: list[Any]) -> bool:
    """Whether a cotangent is not a number."""
    for bar in bars:
        value = bottom(bar)
        if type(value) in FLOATS:
            found = value != value
        elif value.dtype.kind == "f":  # then, and only then, their sum of squares is none
            found = (squares := np.vdot(value, value)) != squares
        else:
            found = np.isnan(value).any()
        if found:
            return True
    return False
