"""Available copies: which names are known to hold the same object as another name, before each statement.

>>> import gast
>>> tree = gast.parse('''
... def f(x, c):
...     y = x
...     z = y
...     while c:
...         y = c
...     return z
... ''').body[0]
>>> copies = Copies(Graph(tree), lambda target, source: True)
>>> [copies.before(statement) for statement in tree.body]
[{}, {'y': 'x'}, {'z': 'x'}, {'z': 'x'}]

A copy is killed where one of its two names is bound, or where its value is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Graph


class _State:
    """The copies at one point, immutable: `of` maps a name to what it was copied from, `to` a name to its direct copies.

    They form trees, whose roots are the names that are copies of nothing.  When a name is killed, its copies become copies
    of its own source."""

    __slots__ = ("of", "to")

    def __init__(self, of: dict[str, str], to: dict[str, frozenset[str]]) -> None:
        self.of, self.to = of, to

    def root(self, name: str) -> str:
        """The root that a name is a copy of; the name itself if it is a copy of nothing."""
        while name in self.of:
            name = self.of[name]
        return name

    def without(self, names: set[str]) -> _State:
        """The state after these names are killed."""
        met = [n for n in names if n in self.of or n in self.to]
        if not met:
            return self
        left = _State(self.of.copy(), self.to.copy())
        for name in met:
            source = left._cut(name)
            for copy in left.to.get(name, ()):
                left._cut(copy)
                if source is not None:
                    left._join(copy, source)
        return left

    def and_one(self, target: str, source: str) -> _State:
        """The state with one more copy; `target` must not be a copy at this point."""
        more = _State(self.of.copy(), self.to.copy())
        more._join(target, source)
        return more

    def joined(self, other: _State) -> _State:
        """The meet: the copies that hold in both states."""
        both = _State({}, {})
        for name, held in self.of.items():
            source: str | None = held
            if other.of.get(name) != held:
                around = set(other._above(name))
                source = next((s for s in self._above(name) if s in around), None)
            if source is not None:
                both._join(name, source)
        return both

    def _above(self, name: str) -> Iterator[str]:
        """What a name is a copy of, directly and further up to the root."""
        while name in self.of:
            name = self.of[name]
            yield name

    def _join(self, target: str, source: str) -> None:
        self.of[target] = source
        self.to[source] = self.to.get(source, frozenset()) | {target}

    def _cut(self, target: str) -> str | None:
        source = self.of.pop(target, None)
        if source is not None:
            left = self.to.pop(source) - {target}
            if left:
                self.to[source] = left
        return source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _State) and self.of == other.of

    __hash__ = None  # type: ignore[assignment]


class Copies:
    """The available copies of one function; `wanted(target, source)` selects the copies that are tracked."""

    def __init__(self, graph: Graph, wanted: Callable[[str, str], bool]) -> None:
        self.graph, self.wanted = graph, wanted
        self.into = graph.solve(_State({}, {}), self._after, _State.joined)

    def before(self, statement: gast.AST) -> dict[str, str]:
        """The root of each copy that is available on entry to a statement, or to the header of a compound one."""
        state = self.into[self.graph.at[id(statement)]]
        return self.read_by(statement, state.of if state is not None else ())

    def read_by(self, statement: gast.AST, names: Iterable[str] | None = None) -> dict[str, str]:
        """The same for the names that the statement reads, or for `names`."""
        point = self.graph.at[id(statement)]
        state = self.into[point]
        names = self.graph.points[point].reads if names is None else names
        return {name: state.root(name) for name in names if name in state.of} if state is not None else {}

    def _after(self, k: int, copies: _State) -> _State:
        point = self.graph.points[k]
        target, source = copied(point.statement) if point.role == "whole" else ("", "")
        if target and target == source:
            return copies
        written = set(point.binds)
        if point.role == "whole" and not point.is_header:
            written |= effects.writes(point.statement)
        left = copies.without(written)
        return left.and_one(target, source) if target and self.wanted(target, source) else left


def copied(statement: gast.AST) -> tuple[str, str]:
    """(x, y) for `x = y`; two empty strings for any other statement."""
    if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
        (target,) = statement.targets
        if isinstance(target, gast.Name):
            return target.id, statement.value.id
    return "", ""
