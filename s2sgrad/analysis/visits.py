"""Which statements the iteration to a fixed point has to visit again: those that depend on a name that has changed since.

>>> import gast
>>> first, second = gast.parse("a = b + 1; c = d").body
>>> visits = Visits()
>>> [visits.are_due(s) for s in (first, second, first, second)]
[True, True, False, False]
>>> visits.changed("b")
>>> [visits.are_due(s) for s in (first, second)]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects


class Visits:
    """When each statement was visited, and when each name changed."""

    def __init__(self) -> None:
        self._clock = 0
        self._changed: dict[str, int] = {}
        self._visited: dict[int, int] = {}
        self._names: dict[int, set[str]] = {}  # by statement: what its result depends on
        self._now: set[str] = set()  # those of the statement that is visited

    def are_due(self, statement: gast.AST) -> bool:
        """Whether a statement has to be visited, which begins now."""
        before = self._visited.get(id(statement))
        if before is None:
            self._names[id(statement)] = effects.reads(statement) | effects.writes(statement)
        elif all(self._changed.get(n, 0) <= before for n in self._names[id(statement)]):
            return False
        self._visited[id(statement)], self._now = self._clock, self._names[id(statement)]
        return True

    def depends_on(self, names: Iterable[str]) -> None:
        """The statement that is visited depends on further names."""
        self._now.update(names)

    def changed(self, name: str) -> None:
        """A name has changed."""
        self._clock += 1
        self._changed[name] = self._clock
