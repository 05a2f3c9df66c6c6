"""Available copies: which names surely stand for what another name stands for, before each statement.

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

A copy ends where one of its two names is bound, or what it holds is changed in place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Graph

_Copies = dict[str, tuple[str, ...]]  # of each name, from the nearest: what it is a copy of.  No state is ever changed


class Copies:
    """The copies of one function; `wanted(target, source)` says which ones count."""

    def __init__(self, graph: Graph, wanted: Callable[[str, str], bool]) -> None:
        self.graph, self.wanted = graph, wanted
        self.into = graph.solve({}, self._after, _on_both)

    def before(self, statement: gast.AST) -> dict[str, str]:
        """By name, what it is a copy of in the end, where a statement, or the header of one, is reached."""
        return self.read_by(statement, self.into[self.graph.at[id(statement)]] or ())

    def read_by(self, statement: gast.AST, names: Iterable[str] | None = None) -> dict[str, str]:
        """The same, of the names that the statement reads."""
        point = self.graph.at[id(statement)]
        copies = self.into[point] or {}
        names = self.graph.points[point].reads if names is None else names
        return {name: copies[name][-1] for name in names if name in copies}

    def _after(self, k: int, copies: _Copies) -> _Copies:
        point = self.graph.points[k]
        target, source = copied(point.statement) if point.role == "whole" else ("", "")
        if target and target == source:
            return copies
        written = set(point.binds)
        if point.role == "whole" and not point.is_header:
            written |= effects.writes(point.statement)
        left = copies
        if copies and written and not written.isdisjoint(itertools.chain(copies, *copies.values())):
            left = {target: tuple(s for s in sources if s not in written) for target, sources in copies.items()}
            left = {target: sources for target, sources in left.items() if sources and target not in written}
        if target and self.wanted(target, source):
            left = {**left, target: (source, *(s for s in left.get(source, ()) if s != target))}
        return left


def copied(statement: gast.AST) -> tuple[str, str]:
    """(x, y) of `x = y`; two empty names of any other statement."""
    if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
        (target,) = statement.targets
        if isinstance(target, gast.Name):
            return target.id, statement.value.id
    return "", ""


def _on_both(a: _Copies, b: _Copies) -> _Copies:
    both = {target: tuple(s for s in sources if s in b.get(target, ())) for target, sources in a.items()}
    return {target: sources for target, sources in both.items() if sources}
