"""The reverse sweep over a record: cotangents of numbers by place, of arrays as parts of one flat cotangent per memory.

    entries [y = x * x, z = y[0]], z_bar = 1     ->     y_bar[0] += z_bar; x_bar += rule(y_bar, y, x, x)

Where a run is open the sweep itself is recorded: cotangents are handles then, and the rules run on handles.
"""

from __future__ import annotations

import types
from sys import getrefcount
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.recorded.applying import apply, born, lifted, repeats
from s2sgrad.recorded.hooks import followed_once
from s2sgrad.recorded.patterns import Kept
from s2sgrad.recorded.runs import OPEN, Root
from s2sgrad.recorded.values import FLOATS, Array, Number, bottom, is_complex, is_handle
from s2sgrad.rules.selections import unpicked
from s2sgrad.runtime.structure import rebuilt


class Forms:
    """The forms in which rules take operands and give cotangents.  `nested`: the sweep itself is recorded."""

    __slots__ = ("nested",)

    def __init__(self, nested: bool) -> None:
        self.nested = nested

    def value(self, operand: Any) -> Any:
        """A recorded operand as the rules expect it."""
        if type(operand) is Kept:
            return operand.value
        if type(operand) is tuple:
            return tuple([self.value(o) for o in operand])
        if isinstance(operand, (list, tuple, dict)) and not is_handle(operand):
            return rebuilt(operand, self.value)
        return operand

    def formula(self, pullback: Any) -> Any:
        """A pullback of the rule table; its calls are followed where the sweep is recorded."""
        return followed_once(pullback) if self.nested and type(pullback) is types.FunctionType else pullback

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """A cotangent with the shape of its operand: summed over broadcast axes, or broadcast."""
        if type(bar) is np.ndarray and type(x) is np.ndarray and bar.shape == x.shape:
            return bar
        if type(bar) in FLOATS and type(x) in FLOATS:
            return bar
        shape = np.shape(bottom(x))
        if np.shape(bottom(bar)) == shape:
            return bar
        if elementwise:
            return apply(runtime.unbroadcast, (bar, x))
        if type(bar) is np.float64:
            return _spread(bar, shape)
        return apply(np.broadcast_to, (bar,), {"shape": shape})

    def zeros(self, value: Any) -> Any:
        """The zero cotangent of a value."""
        return made(runtime.zeros(bottom(value)))

    def turned(self, kept: Kept, part: Any) -> Any:
        """A part of a flat cotangent as a cotangent, and back: of complex numbers the conjugate, of which the real and the
        imaginary parts are those of these parts."""
        return conjugated(part) if bottom(kept.where).dtype.kind == "c" else part


class Sweep:
    """One pass backwards over the entries of a run, from `stop` down to `start`.

    `mixed`: complex numbers may be there.  `marks`: where cotangents count (`careful.Marks`); None for everywhere.
    """

    __slots__ = ("bars", "forms", "marks", "mixed", "nested", "nodes", "own", "whole")

    def __init__(self, size: int, marks: Any = None, forms: Forms | None = None) -> None:
        self.nodes: Any = [None] * size
        self.bars: dict[Root, Any] = {}
        self.whole: dict[Root, Any] = {}  # cotangents of whole memories, in the owner's shape, that others may hold, too
        self.own: set[Root] = set()  # those of them that nobody else holds
        self.forms = Forms(bool(OPEN.runs)) if forms is None else forms
        self.nested = self.forms.nested
        self.marks = marks
        self.mixed = True

    def over(self, entries: list[Any], start: int, stop: int) -> None:
        """Pull the entries, the latest first."""
        for place in range(stop - 1, start - 1, -1):
            entry = entries[place]
            if entry is not None:
                entry[0](self, place, entry)

    def has(self, root: Root) -> bool:
        """Whether a cotangent has arrived anywhere in this memory."""
        return root in self.whole or root in self.bars

    def take(self, kept: Kept) -> tuple[Any, Any]:
        """(the cotangent of a result, where it counts, None for everywhere); it is gone then."""
        return (self.pop(kept), None) if self.marks is None else self.marks.take(self, kept)

    def pop(self, kept: Kept) -> Any:
        """The cotangent of a result, wherever it counts; it is gone then."""
        root = kept.root
        if root is None:
            bar, self.nodes[kept.node] = self.nodes[kept.node], None
            return bar
        if not self.has(root):
            return None
        bar = self.part(kept)
        self.whole.pop(root, None)
        self.bars.pop(root, None)
        return bar

    def take_item(self, root: Root, offset: int) -> Any:
        """The cotangent of one item of a memory; None where none counts."""
        bars = self.flat(root)
        bar, bars[offset] = bars[offset], 0.0
        if self.marks is not None and not self.marks.take_item(root, offset):
            return None
        return conjugated(bar) if root.owner.dtype.kind == "c" else bar

    def part(self, kept: Kept) -> Any:
        """The cotangent of a view, to be read."""
        whole = self.whole.get(kept.root)  # type: ignore[arg-type]
        if whole is not None and bottom(kept.where) is kept.root.owner:  # type: ignore[union-attr]
            return whole
        return self.forms.turned(kept, self.view(kept))

    def view(self, kept: Kept) -> Any:
        """The part of the flat cotangent that belongs to a view: it may be written."""
        root = kept.root
        where = bottom(kept.where)
        offset = 0 if where is root.owner else root.offset(where)  # type: ignore[union-attr]
        return strided(self.flat(root), offset, where.shape, where.strides, dtype=where.dtype)  # type: ignore[arg-type]

    def flat(self, root: Root) -> Any:
        """The flat cotangent of a memory, which nobody else holds."""
        bars = self.bars.get(root)
        if bars is None:
            whole = self.whole.pop(root, None)
            if whole is None:
                if self.marks is not None:
                    self.marks.begin(root)
                bars = made(np.zeros(root.owner.size, root.owner.dtype))
            elif root.owner.dtype.kind == "c":
                whole = conjugated(apply(np.multiply, (whole, np.ones((), root.owner.dtype))))
                bars = apply(np.ravel, (apply(np.array, (whole,), {"order": "C"}),))
            elif root in self.own:
                bars = whole.reshape(-1)
            elif is_handle(whole):
                bars = apply(np.ravel, (apply(np.array, (whole,), {"order": "C"}),))
            else:
                bars = made(np.array(whole, order="C").reshape(-1))
            self.bars[root] = bars
        return bars

    def add(self, kept: Kept, bar: Any, elementwise: bool) -> None:
        """Add to the cotangent of an operand, which broadcasting may have stretched."""
        root, where = kept.root, kept.where
        if type(bar) is np.ndarray and root is not None and root.owner is where and self.marks is None:  # the usual case
            if bar.shape == where.shape and bar.dtype is where.dtype and root not in self.bars and where.flags.c_contiguous:
                alone = getrefcount(bar) == _ALONE and bar.base is None
                return self._join(root, bar, alone)
        if kept.followed:
            self.give(kept, self.forms.fitted(bar, kept.value, elementwise), None)
        return None

    def _join(self, root: Root, bar: Any, alone: bool = False) -> None:
        """Add to the cotangent of a whole memory: without a copy at first, in place once it is the sweep's own.  `alone`:
        nobody else holds what is added."""
        old = self.whole.get(root)
        if old is None:
            self.whole[root] = bar
            if alone and not self.nested:
                self.own.add(root)
            else:
                self.own.discard(root)
        elif root in self.own:
            old += bar
        else:
            self.whole[root] = old + bar
            if not self.nested:
                self.own.add(root)

    def give(self, kept: Kept, bar: Any, mask: Any) -> None:
        """Add to the cotangent of an operand.  `mask`: where it counts; elsewhere it is exactly 0."""
        if self.marks is None:
            self.put(kept, bar)
        else:
            self.marks.give(self, kept, bar, mask)

    def put(self, kept: Kept, bar: Any) -> None:
        """Add to the cotangent of an operand, wherever that counts."""
        if self.mixed and is_complex(bar) and not is_complex(kept.value if kept.root is None else kept.where):
            bar = apply(np.real, (bar,))
        if kept.root is not None:
            return self._give_array(kept.root, bottom(kept.where), kept, bar)
        if type(bar) not in FLOATS and np.ndim(bottom(bar)):
            bar = apply(np.reshape, (bar, ()))
        old = self.nodes[kept.node]
        self.nodes[kept.node] = bar if old is None else old + bar
        return None

    def _give_array(self, root: Root, where: np.ndarray, kept: Kept, bar: Any) -> None:
        if where is root.owner and root not in self.bars and where.flags.c_contiguous:
            b = bottom(bar)
            if type(b) is np.ndarray and b.shape == where.shape and b.dtype == where.dtype:
                return self._join(root, bar)
        if repeats(where):
            scattered = _scattered(root, where, bar)
            flat = strided(self.flat(root), 0, np.shape(bottom(scattered)), (where.itemsize,), where.dtype)
            flat += conjugated(scattered) if is_complex(scattered) else scattered
        else:
            part = self.view(kept)
            part += conjugated(bar) if where.dtype.kind == "c" and is_complex(bar) else bar
        return None

    def add_item(self, root: Root, offset: int, bar: Any) -> None:
        """Add to one item of a memory."""
        bars = self.bars.get(root)
        if bars is None:
            bars = self.flat(root)
        bars[offset] += conjugated(bar) if self.mixed and is_complex(bar) else bar
        if self.marks is not None:
            self.marks.add_item(root, offset)


def _spread(bar: np.float64, shape: tuple[int, ...]) -> np.ndarray:
    """`np.broadcast_to(bar, shape)`, of a number, in a third of the time."""
    spread: np.ndarray = np.ndarray(shape, bar.dtype, np.array(bar), 0, (0,) * len(shape))
    spread.flags.writeable = False
    return spread


def _scattered(root: Root, where: np.ndarray, bar: Any) -> Any:
    """The cotangent of a view some of whose items are the same item of the memory."""
    items = np.zeros(root.owner.nbytes // where.itemsize, where.dtype)
    spread = apply(np.broadcast_to, (bar,), {"shape": where.shape})
    return apply(unpicked, (spread, items), {"index": places(root, where)})


def _references(parts: tuple) -> int:
    """How many references there are to what a pullback gave, and nobody else holds, where `Sweep.add` asks."""

    def asked(bar: Any) -> int:
        return getrefcount(bar)

    part = parts[0]
    return asked(part)


_ALONE = _references((np.empty(0),))


def made(y: Any) -> Any:
    """Zeros as handles of the runs that are open."""
    return born(y) if OPEN.runs else y


def conjugated(bar: Any) -> Any:
    """The conjugate."""
    return apply(np.conjugate, (bar,))


def places(root: Any, where: np.ndarray) -> np.ndarray:
    """Where the items of a view are in its memory, counted in items of the view."""
    order = np.arange(root.owner.nbytes // where.itemsize)
    strides = tuple(s // where.itemsize * order.itemsize for s in where.strides)
    found: np.ndarray = strided(order, root.offset(where), where.shape, strides)
    return found


def strided(bars: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any = None) -> Any:
    """A view of a flat cotangent; with a `dtype`, perhaps of its real or its imaginary parts."""
    if type(bars) is Array:
        return lifted(bars.run, strided(bars.value, offset, shape, strides, dtype), False, [])
    dtype = bars.dtype if dtype is None else np.dtype(dtype)
    if 0 in shape:
        return np.zeros(shape, dtype)
    return np.ndarray(shape, dtype, bars, offset * dtype.itemsize, strides)


__all__ = ["Number", "Sweep"]
