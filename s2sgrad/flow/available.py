"""Available expressions: whether an expression that was computed still has the same value where a statement is reached.

    v = u[k:]; k = k + 1; w = v      the first statement computes `u[k:]`, the second kills it

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
from typing import Any

import gast

from s2sgrad.flow.graph import Graph, Point


class Available:
    """Expressions by key: `computed` gives the statements that generate each, `spoiled` the keys that a point kills first.

    With `at_start`, each expression is available on entry, until a point kills it.
    """

    def __init__(
        self,
        graph: Graph,
        computed: Mapping[Any, Iterable[gast.AST]],
        spoiled: Callable[[Point], Iterable[Hashable]],
        at_start: bool = True,
    ) -> None:
        self.graph = graph
        self.bit: dict[Hashable, int] = {key: 1 << k for k, key in enumerate(computed)}
        gen = [0] * len(graph.points)
        for key, statements in computed.items():
            for statement in statements:
                gen[graph.at[id(statement)]] |= self.bit[key]
        kill = [functools.reduce(operator.or_, map(self.bit.__getitem__, spoiled(point)), 0) for point in graph.points]
        self.into, _ = graph.forward(gen, kill, start=-int(at_start), must=True)

    def knows(self, key: Hashable, statement: gast.AST) -> bool:
        """Whether the key is tracked, and the statement belongs to the tree that was analyzed."""
        point = self.graph.at.get(id(statement))
        return key in self.bit and point is not None and self.graph.points[point].statement is statement

    def before(self, key: Hashable, statement: gast.AST) -> bool:
        """Whether an expression is available on entry to a statement, or to the header of a compound one."""
        return bool(self.into[self.graph.at[id(statement)]] & self.bit[key])
