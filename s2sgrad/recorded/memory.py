"""Stores into arrays: each is an entry of its run, and what refers to the old content keeps a copy of it.

y[i] = e      ->      entry (pull_store, place of y, i, e); the sweep: e_bar += y_bar[i]; y_bar[i] = 0
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2sgrad.recorded.applying import apply, kept, owner_of, recorded
from s2sgrad.recorded.operations import Kept
from s2sgrad.recorded.runs import OPEN, Root, Run, refuse
from s2sgrad.recorded.values import FLOATS, KEPT, Array, Number, bottom, mapped
from s2sgrad.rules.selections import picked
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.shadows import require_apart


def plain_index(index: Any) -> Any:
    """An index without handles; arrays in it are copied, for they may be written."""
    if type(index) is int or (type(index) is slice and type(index.start) is not Number):
        return index
    if type(index) is tuple:
        return tuple([plain_index(k) for k in index])
    if type(index) is slice:
        return slice(*(bottom(k) for k in (index.start, index.stop, index.step)))
    if type(index) is list:
        return [plain_index(k) for k in index]
    index = bottom(index)
    if isinstance(index, np.integer):
        return int(index)
    return index.copy() if isinstance(index, np.ndarray) else index


def read(array: Array, index: Any) -> Any:
    """`array[index]`: a single item is an entry of its own, and a view is none, without the rule of selections."""
    run, root = array.run, array.root
    if type(index) is int and run.open and not run.complex:
        y = array.value[index]
        if type(y) in FLOATS or type(y) is Number:  # the usual case
            if not root.active:
                return y
            start, step, count = array.line or _line(array)
            entries = run.entries
            made = Number(y, len(entries), run)
            entries.append((pull_item, root, start + (index if index >= 0 else index + count) * step))
            return made
    index = plain_index(index)
    if isinstance(index, str):
        return bottom(array)[index]  # raises as NumPy does
    if not run.open:
        return apply(picked, (array,), {"index": index})
    y = array.value[index]
    kind = type(y)
    if kind is Number or kind in FLOATS:
        if not root.active:
            return y
        whole = bottom(array.value).dtype == root.owner.dtype
        if whole and (type(index) is int or (type(index) is tuple and all(type(k) is int for k in index))):
            entries = run.entries
            made = Number(y, len(entries), run)
            entries.append((pull_item, root, _offset(array, index)))
            return made
    elif bottom(y).base is root.owner:
        return Array(y, root, run)
    return recorded(run, picked, (array,), {"index": index}, y, root.active)


def _line(array: Array) -> tuple[int, int, int]:
    """Where the items of a vector are in the memory of its root."""
    b = bottom(array.value)
    start = array.root.offset(b) if b is not array.root.owner else 0
    line = start, b.strides[0] // b.itemsize, b.shape[0]
    array.line = line
    return line


def _offset(array: Array, index: Any) -> int:
    """The place of an item in the memory of its root."""
    b = bottom(array.value)
    size = b.itemsize
    offset = array.start
    if offset is None:
        offset = array.start = array.root.offset(b) if b is not array.root.owner else 0
    if type(index) is int:
        place: int = offset + (index % b.shape[0]) * (b.strides[0] // size)
        return place
    for k, n, stride in zip(index, b.shape, b.strides, strict=True):
        offset += (k % n) * (stride // size)
    return offset


def pull_item(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of reading one item."""
    g = sweep.nodes[place]
    if g is not None:
        sweep.nodes[place] = None
        sweep.add_item(entry[1], entry[2], g)


def write(array: Array, index: Any, value: Any) -> None:
    """`array[index] = value`."""
    index = plain_index(index)
    run, root = array.run, array.root
    if _is_short(run, root, value) and _is_item(array, index):
        return _write_item(array, index, value, type(value) is Number)
    if isinstance(value, (list, tuple)):
        value = apply(np.array, (value,))
    handle = type(value) is Number or type(value) is Array
    _require_fit(array, value if handle else None)
    mine = handle and value.run is run
    active = mine and (type(value) is Number or value.root.active)
    if active and root.foreign:
        refuse(Refusal(None, _UNSEEN))
    if root in run.borrowed:
        release(array)
    stored = kept(run, value, False) if active else None
    target = array.value
    if not target.flags.forc:
        _require_apart(bottom(target))
    target[index] = value.value if mine else value  # it may raise: then nothing was stored
    root.written += 1
    if root.active or active:
        run.entries.append((pull_store, Kept(target, -1, root, True), index, stored, np.shape(bottom(value))))
        root.active = root.active or active


def _require_apart(target: np.ndarray) -> None:
    """Refuse a store into a view of which two elements may be one place in memory: the last of them counts, or each does."""
    try:
        require_apart(target)
    except Refusal as error:
        refuse(error)


def _is_short(run: Run, root: Root, value: Any) -> bool:
    """Whether a number may be stored without further questions."""
    if run.complex or not run.open:
        return False
    return type(value) in FLOATS or (type(value) is Number and value.run is run and not root.foreign)


def _is_item(array: Array, index: Any) -> bool:
    """Whether an index tells one item of an array of floats."""
    b = bottom(array.value)
    ndim: int = b.ndim
    if b.dtype != array.root.owner.dtype:  # a part of complex numbers
        return False
    if type(index) is int:
        return ndim == 1
    return type(index) is tuple and len(index) == ndim and all(type(k) is int for k in index)


def _write_item(array: Array, index: Any, value: Any, followed: bool) -> None:
    """A store of one number: an entry of its own."""
    run, root = array.run, array.root
    if root in run.borrowed:
        release(array)
    array.value[index] = value.value if followed else value  # it may raise: then nothing was stored
    root.written += 1
    if followed:
        root.active = True
        run.entries.append((pull_stored_item, root, _offset(array, index), value.node))
    elif root.active:
        run.entries.append((pull_stored_item, root, _offset(array, index), None))


def pull_stored_item(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a store of one number."""
    _, root, offset, node = entry
    if sweep.has(root):
        g = sweep.take_item(root, offset)
        if node is not None and g is not None:
            old = sweep.nodes[node]
            sweep.nodes[node] = g if old is None else old + g


_UNSEEN = (
    "a value that carries a derivative is stored into an array that was made outside of the function, where it would be "
    "read without: write into a copy"
)


def _require_fit(array: Array, value: Any) -> None:
    """Refuse to write what an earlier call kept, to store that, and to store what an inner derivative computes."""
    if not array.run.open:
        refuse(Refusal(None, KEPT if OPEN.runs else "an array that an earlier call kept is written: copy it"))
    if value is not None and not value.run.open:
        refuse(Refusal(None, KEPT))
    if value is not None and value.run.level > array.run.level:
        refuse(Refusal(None, "a value of an inner derivative is stored into an array of the function around it: return it"))


def release(array: Array) -> None:
    """Copy what snapshots of this memory refer to, before it is written."""
    root = array.root
    copies: dict[Any, Any] = {}
    for snapshot in array.run.borrowed.pop(root, ()):
        b = bottom(snapshot.value)
        key = root.offset(b), b.shape, b.strides, b.dtype
        if key not in copies:
            copies[key] = apply(np.copy, (snapshot.value,))
        snapshot.value = copies[key]
    root.version += 1


def given_away(handle: Any) -> Any:
    """The value of a handle for the caller, who may write it: what refers to its content keeps a copy."""
    if type(handle) is Array and handle.root in handle.run.borrowed:
        release(handle)
    return handle.value


def pull_store(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a store: the cotangent of what was overwritten is 0, that of the stored value is the part's."""
    _, target, index, stored, shape = entry
    if not sweep.has(target.root):
        return
    bars = sweep.view(target)
    part = sweep.forms.turned(target, bars[index])
    is_array = isinstance(part, np.ndarray)
    if stored is not None and is_array:
        part = apply(np.copy, (part,))
        parts = index if type(index) is tuple else (index,)
        if bottom(part).size and any(isinstance(p, (list, np.ndarray)) for p in parts):
            part = _last_writers(part, np.shape(bottom(target.where)), index)
    mask = None if sweep.marks is None else sweep.marks.take_part(target, index)
    bars[index] = 0.0
    if stored is None:
        return
    if is_array:
        found = np.shape(bottom(part))
        if len(shape) > len(found):
            part = apply(np.reshape, (part, shape))
        elif shape != found:
            part = sweep.forms.fitted(part, stored.value, True)
    sweep.give(stored, part, mask)


def _last_writers(part: Any, shape: tuple[int, ...], index: Any) -> Any:
    """Of an index that repeats places, the cotangents of those that were stored last."""
    places = np.full(shape, -1)
    order = np.arange(bottom(part).size).reshape(np.shape(bottom(part)))
    places[index] = order
    last = places[index] == order
    return part if last.all() else part * last


def in_place(operation: Any, name: str) -> Any:
    """`x op= other` on an array: as NumPy does, into its memory."""

    def operate(self: Array, other: Any) -> Any:
        y = operation(self, other)
        if y is NotImplemented:
            return y
        mine, theirs = bottom(self), bottom(y)
        if not np.can_cast(np.asarray(theirs).dtype, mine.dtype, "same_kind"):
            getattr(operator, name)(mine.copy(), bottom(other))  # raises as NumPy does
        if np.shape(theirs) != mine.shape:
            raise ValueError(f"non-broadcastable output operand with shape {mine.shape} doesn't match the broadcast shape "
                             f"{np.shape(theirs)}")  # fmt: skip
        write(self, ..., y)
        return self

    return operate


__all__ = ["in_place", "mapped", "owner_of", "plain_index", "read", "write"]
