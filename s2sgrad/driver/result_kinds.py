"""The kinds of what user functions return: a fixed point over those that call one another.

    def power(x, n): return x * rest(x, n)                          ->      an array, for an array `x`
    def rest(x, n): return 1.0 if n == 0 else power(x, n - 1)       ->      an array or a number

A recursion starts from "no value yet", and what follows from a kind that grows afterwards is inferred again.  The record
of a recursion holds those of the calls within it: its kind is one by name (`analysis.kinds.Recorded`).

>>> import numpy as np
>>> from s2sgrad import grad
>>> def rest(x, n): return 1.0 if n == 0 else power(x, n - 1)
>>> def power(x, n): return x * rest(x, n)
>>> grad(lambda x: np.sum(power(x, 2)))(np.array([1.0, 2.0]))
array([ 3., 12.])
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind, Recorded, join
from s2sgrad.analysis.widening import widened
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.traits import traits

_ROUNDS = 6
_DEEPEST = 40
_VALUE, _RECORD = 0, 1  # what a function that records returns
Found = Callable[[Any, dict[str, Kind], bool], Kind | None]


class Recursion:
    """A function that records and calls itself, for arguments of these kinds (`key`): the name of the kind of its record."""

    def __init__(self, results: ResultKinds, key: Any) -> None:
        self._results, self._key = weakref.ref(results), key

    def kind(self) -> Kind:
        """The kind of the record, in which those of further calls are named; unknown until it is known in full."""
        results = self._results()
        return UNKNOWN if results is None else results.recorded(self._key)


def _called(target: Any) -> set[Any]:
    """The functions of a text of ours that one of them may call: those that it refers to, and so on."""
    found: set[Any] = set()
    waiting = [target]
    while waiting:
        cells = waiting.pop().__closure__ or ()
        more = {c.cell_contents for c in cells if traits(c.cell_contents).makes_record} - found
        found |= more
        waiting += more
    return found


class ResultKinds:
    """`found` infers the kind of a function's result for arguments of these kinds, and may ask for those of its callees;
    its last argument says whether nothing is known of it yet."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._kinds: dict[Any, Kind | None] = {}
        self._kept: list[Any] = []  # the functions, by whose `id` they are kept
        self._open: list[Any] = []  # those that are being inferred, each for the one before it
        self._outermost: dict[Any, int] = {}  # of those that may grow: the place in `_open` of the first that they rest on
        self._outdated: set[Any] = set()
        self._recursions: dict[Any, Recursion] = {}
        self._recurring: dict[int, bool] = {}

    def of(self, target: Any, bound: dict[str, Kind]) -> Kind | None:
        """The kind of a function's result; while it is being inferred, what is known so far."""
        if any(id(target) == function for function, _ in self._open):
            bound = {p: widened(k) for p, k in bound.items()}
        key = (id(target), tuple(bound.items()))
        if key not in self._kinds or key in self._outdated:
            if len(self._open) > _DEEPEST:
                return UNKNOWN
            self._outdated.discard(key)
            self._kinds.setdefault(key)
            self._kept.append(target)
            self._open.append(key)
            try:
                self._kinds[key] = self._fixed_point(target, bound, key)
            except (S2SGradError, TypeError):
                self._kinds[key] = UNKNOWN
                self._outermost.pop(key, None)  # refused once and for all
            finally:
                self._open.pop()
        first = self._open.index(key) if key in self._open else self._outermost.get(key)
        if first is not None and self._open:
            asker = self._open[-1]
            self._outermost[asker] = min(first, self._outermost.get(asker, first))
        return self._named(target, key)

    def _named(self, target: Any, key: Any) -> Kind | None:
        """The kind of a result, with the name of that of a record."""
        kind = self._kinds[key]
        if kind is UNKNOWN or not self._recurs(target):
            return kind
        recursion = self._recursions.setdefault(key, Recursion(self, key))
        value: Any = None if kind is None else UNKNOWN
        if isinstance(kind, Container) and kind.items is not None:
            value = kind.items[_VALUE]
        return Container(tuple, (value, Recorded(frozenset((recursion,)))))

    def _recurs(self, target: Any) -> bool:
        """Whether a function makes a record, and may call itself."""
        if id(target) not in self._recurring:
            self._recurring[id(target)] = traits(target).makes_record and target in _called(target)
        return self._recurring[id(target)]

    def recorded(self, key: Any) -> Kind:
        """The kind of the record that a function makes for arguments of these kinds."""
        kind = self._kinds[key]
        if key not in self._open and isinstance(kind, Container) and kind.items is not None:
            return kind.items[_RECORD]
        return UNKNOWN

    def _fixed_point(self, target: Any, bound: dict[str, Kind], key: Any) -> Kind | None:
        own = len(self._open) - 1
        for _ in range(_ROUNDS):
            before = self._kinds[key]
            self._outermost.pop(key, None)
            self._kinds[key] = join(before, self._found(target, bound, before is None))
            if self._outermost.get(key, own + 1) > own:
                return self._kinds[key]
            if self._kinds[key] == before:
                if self._outermost[key] == own:
                    self._outermost = {k: first for k, first in self._outermost.items() if first < own}
                return before
            self._outdated |= self._outermost.keys() - {*self._open}
        return UNKNOWN
