"""Liveness: which names may be read after each statement before they are bound again.

>>> import gast
>>> tree = gast.parse('''
... def f(u):
...     t = u[0]
...     u[0] = u[1]
...     u[1] = t
...     return u
... ''').body[0]
>>> live = Liveness(Graph(tree))
>>> [sorted(live.after(statement)) for statement in tree.body]
[['t', 'u'], ['t', 'u'], ['u'], []]
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.flow.graph import Graph, Names


class Liveness:
    """Liveness in one function, of all names or only of `names`."""

    def __init__(self, graph: Graph, names: Iterable[str] | None = None) -> None:
        self.graph = graph
        mentioned = (n for point in graph.points for n in (*sorted(point.reads), *point.binds))
        self.names = Names(mentioned if names is None else names)
        gen = [self.names.mask(point.reads) for point in graph.points]
        kill = [self.names.mask(point.binds) for point in graph.points]
        self.before_point, self.after_point = graph.backward(gen, kill)

    def is_live(self, name: str, statement: gast.AST) -> bool:
        """Whether a name is live behind a simple statement (or behind the evaluation of a header)."""
        return bool(self.after_point[self.graph.at[id(statement)]] & self.names.mask([name]))

    def is_live_at(self, name: str, point: int) -> bool:
        """Whether a name is live behind a point; behind the entry of a block, the variable of a `for` is bound already."""
        return bool(self.after_point[point] & self.names.mask([name]))

    @property
    def at_start(self) -> frozenset[str]:
        """The names that are live on entry to the function."""
        return self.names.decoded(self.before_point[0])

    def after(self, statement: gast.AST) -> frozenset[str]:
        """All names that are live behind a simple statement (or behind the evaluation of a header)."""
        return self.names.decoded(self.after_point[self.graph.at[id(statement)]])
