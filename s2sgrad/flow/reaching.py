"""Reaching definitions: which bindings of a name may reach a read.

>>> import gast
>>> tree = gast.parse('''
... def f(x):
...     for i in range(3):
...         x = x + i
...     return x
... ''').body[0]
>>> reaching = Reaching(Graph(tree))
>>> [reaching.definitions[k].name for k in reaching.reach("x", tree.body[1])], len(reaching.definitions)
(['x', 'x'], 3)
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sgrad.flow.graph import Graph, bits
from s2sgrad.ir.scoping import parameters


@dataclass(frozen=True)
class Definition:
    """A binding of a name at a point; parameters are bound at point 0."""

    name: str
    point: int


class Reaching:
    """Reaching definitions of one function, numbered in textual order, parameters first."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.definitions: list[Definition] = [Definition(p.id, 0) for p in parameters(graph.tree)]
        self.of: dict[str, int] = {}  # by name: the set of its definitions
        self.made: dict[tuple[int, str], int] = {}  # by point and name: the number of its definition
        for k, point in enumerate(graph.points):
            self.definitions += [Definition(name, k) for name in dict.fromkeys(point.binds)]
        gen = [0] * len(graph.points)
        for number, definition in enumerate(self.definitions):
            self.of[definition.name] = self.of.get(definition.name, 0) | 1 << number
            self.made[definition.point, definition.name] = number
            gen[definition.point] |= 1 << number
        kill = [0] * len(graph.points)
        for k, point in enumerate(graph.points):
            for name in point.binds:
                kill[k] |= self.of[name]
        self.into, _ = graph.forward(gen, kill)

    def reach(self, name: str, statement: gast.AST) -> list[int]:
        """The definitions of a name that may reach the evaluation of a statement, or of the header of a compound one."""
        return self.reach_point(name, self.graph.at[id(statement)])

    def reach_point(self, name: str, point: int) -> list[int]:
        """The definitions of a name that may reach a point."""
        return list(bits(self.into[point] & self.of.get(name, 0)))
