"""The kinds of what user functions return: a fixed point over those that call one another.

    def power(x, n): return x * rest(x, n)                          ->      an array, for an array `x`
    def rest(x, n): return 1.0 if n == 0 else power(x, n - 1)       ->      an array or a number

A recursion starts from "no value yet", and what follows from a kind that grows afterwards is inferred again.

>>> import numpy as np
>>> from s2sgrad import grad
>>> def rest(x, n): return 1.0 if n == 0 else power(x, n - 1)
>>> def power(x, n): return x * rest(x, n)
>>> grad(lambda x: np.sum(power(x, 2)))(np.array([1.0, 2.0]))
array([ 3., 12.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad.analysis.kinds import UNKNOWN, Kind, join
from s2sgrad.analysis.widening import widened
from s2sgrad.errors import S2SGradError

_ROUNDS = 6
_DEEPEST = 40
Found = Callable[[Any, dict[str, Kind], bool], Kind | None]


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
        return self._kinds[key]

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
