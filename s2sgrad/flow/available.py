"""Available expressions: whether an expression that was computed still gives the same where a statement is reached.

    v = u[k:]; k = k + 1; w = v      `u[k:]`, computed by the first statement, is spoiled by the second

>>> import gast
>>> tree = gast.parse('''
... def f(u, k):
...     v = u[k:]
...     w = v
...     k = k + 1
...     return v
... ''').body[0]
>>> graph = Graph(tree)
>>> first, second, third, last = tree.body
>>> available = Available(graph, {"u[k:]": [first]}, lambda point: ["u[k:]"] if "k" in point.binds else [])
>>> available.before("u[k:]", second), available.before("u[k:]", last)
(True, False)
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping

import gast

from s2sgrad.flow.graph import Graph, Point


class Available:
    """Expressions by keys: `computed` says by which statements, `spoiled` which ones a point spoils before that.

    What is spoiled by none on the way from the start counts as available, if it is `at_start`.
    """

    def __init__(
        self,
        graph: Graph,
        computed: Mapping[Hashable, Iterable[gast.AST]],
        spoiled: Callable[[Point], Iterable[Hashable]],
        at_start: bool = True,
    ) -> None:
        self.graph = graph
        self.bit = {key: 1 << k for k, key in enumerate(computed)}
        gen = [0] * len(graph.points)
        for key, statements in computed.items():
            for statement in statements:
                gen[graph.at[id(statement)]] |= self.bit[key]
        kill = [functools.reduce(operator.or_, map(self.bit.__getitem__, spoiled(point)), 0) for point in graph.points]
        self.into, _ = graph.forward(gen, kill, start=-int(at_start), must=True)

    def knows(self, key: Hashable, statement: gast.AST) -> bool:
        """Whether this was asked, and of a tree in which the statement stood."""
        point = self.graph.at.get(id(statement))
        return key in self.bit and point is not None and self.graph.points[point].statement is statement

    def before(self, key: Hashable, statement: gast.AST) -> bool:
        """Whether an expression is available where a statement, or the header of one, is reached."""
        return bool(self.into[self.graph.at[id(statement)]] & self.bit[key])
