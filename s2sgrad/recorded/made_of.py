"""What an object of a library was made of, where its arrays may have been written since.

    s = make_interp_spline(x, y, k=1); y[0] = 7.0; s(t)     ->     the object keeps `y` itself: its values are the new ones
    s = CubicSpline(x, y); y[0] = 7.0; s(t)                 ->     it keeps none: they are those of `y` as it was

Whether an object reads what it was given when it is asked, is found by a trial: one that is made of copies is asked again
after these were changed. One that reads a part of it, and computed the rest when it was made, is refused.

>>> from scipy.interpolate import CubicSpline, make_interp_spline
>>> x, y = np.arange(4.0), np.ones(4)
>>> kept = [Given((x, y), {}) for _ in range(2)]
>>> y[0] = 7.0
>>> [g.current(lambda *a: made(*a), lambda s: s(0.2))[0][1][0]
...  for g, made in zip(kept, (CubicSpline, lambda x, y: make_interp_spline(x, y, k=1)))]
[np.float64(1.0), np.float64(7.0)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import Array, bottom, is_handle, plain
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.copies import copied_as_laid

_MIXED = (
    "an array or a list is written after an object of a library was made of it, which reads it and what it had computed "
    "from it: make the object of a copy"
)


class Given:
    """The arguments of a call as they were, and as they are."""

    def __init__(self, args: tuple, keywords: dict[str, Any]) -> None:
        self._now = args, keywords
        self._items = _replaced(self._now, {})
        self._leaves = {id(leaf): leaf for leaf in _arrays(self._now)}
        self._copies = {key: _copied(leaf) for key, leaf in self._leaves.items()}
        self._writes = {key: _writes(leaf) for key, leaf in self._leaves.items()}
        self.then: tuple[tuple, dict[str, Any]] = _replaced(self._now, self._copies)

    def current(self, make: Callable[..., Any], ask: Callable[[Any], Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments that count where an object, which `make` makes of them, is asked something."""
        if not _is_made_of(self._now, self._items):
            refuse(Refusal(None, _MIXED))
        written = [key for key in self._leaves if self._is_written(key)]
        if not written:
            return self.then
        try:
            read = {key for key in written if self._is_read(key, make, ask)}
        except Exception:  # of the library, for values of the trial
            refuse(Refusal(None, _MIXED))
        args, keywords = _replaced(self._now, {key: copy for key, copy in self._copies.items() if key not in read})
        return args, keywords

    def unwritten(self) -> tuple[tuple, dict[str, Any]]:
        """The arguments, of which none may have been written."""
        return self.current(_unknown, _unknown)

    def _is_written(self, key: int) -> bool:
        leaf = self._leaves[key]
        if type(leaf) is Array:
            return _writes(leaf) != self._writes[key]
        return not np.array_equal(leaf, self._copies[key], equal_nan=leaf.dtype.kind in "fc")

    def _is_read(self, key: int, make: Callable[..., Any], ask: Callable[[Any], Any]) -> bool:
        """Whether an object reads an argument when it is asked; refused where it has computed a part of it before."""
        trial = copied_as_laid([bottom(leaf) for leaf in self._leaves.values()])
        for array, copy in zip(trial, self._copies.values(), strict=True):
            array[...] = bottom(copy)
        own = dict(zip(self._leaves, trial, strict=True))
        args, keywords = plain(_replaced(self._now, own))
        made = make(*args, **keywords)
        before = np.array(ask(made))
        own[key][...] = _moved(own[key])
        after = ask(made)
        if _same(before, after):
            return False
        if not _same(after, ask(make(*args, **keywords))):
            refuse(Refusal(None, _MIXED))
        return True


def _unknown(*_: Any, **__: Any) -> Any:
    """In the place of an object of which no trial is made."""
    raise NotImplementedError


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays, and handles of arrays, in lists, tuples and dicts."""
    if type(value) is Array or isinstance(value, np.ndarray):
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from _arrays(item)
    elif type(value) is dict:
        yield from _arrays([*value.values()])


def _replaced(value: Any, others: dict[int, Any]) -> Any:
    """New lists, tuples and dicts, with others in the place of some arrays, which are given by their identity."""
    if id(value) in others:
        return others[id(value)]
    if type(value) in (list, tuple):
        return type(value)([_replaced(item, others) for item in value])
    if type(value) is dict:
        return {key: _replaced(item, others) for key, item in value.items()}
    return value


def _is_made_of(value: Any, items: Any) -> bool:
    """Whether lists and dicts still hold what they did."""
    if type(value) in (list, tuple):
        return len(value) == len(items) and all(map(_is_made_of, value, items))
    if type(value) is dict:
        return value.keys() == items.keys() and all(_is_made_of(item, items[key]) for key, item in value.items())
    return value is items


def _copied(leaf: Any) -> Any:
    return apply(np.copy, (leaf,)) if is_handle(leaf) else leaf.copy()


def _writes(leaf: Any) -> tuple[int, ...]:
    """How often the memory of a handle was written, in each run that it goes through."""
    found = []
    while type(leaf) is Array:
        found.append(leaf.root.written)
        leaf = leaf.value
    return tuple(found)


def _moved(array: np.ndarray) -> Any:
    """Other values near those of an array."""
    if array.dtype.kind not in "fc":
        return array + 1 if array.dtype.kind in "iu" else ~array
    near = array * (1.0 + 1e-3 * np.cos(np.arange(array.size).reshape(array.shape)))
    return np.where(array == 0.0, 1e-3, near)


def _same(some: Any, others: Any) -> bool:
    """Whether two results have the same bits."""
    return bool(np.array_equal(some, others, equal_nan=True))
