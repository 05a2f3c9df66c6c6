"""Webs: a name that is bound several times for independent purposes is split into one name for each.

A web is a set of definitions and uses connected by "this definition reaches this use".  Webs of one name whose live ranges
do not overlap are merged again at the end (`cleanup.coalesce`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     x = x * x
...     for i in range(3):
...         x = x + i
...     for i in range(2):
...         x = x * i
...     return x
... ''', "webs"))
def f(x):
    x2 = x * x
    for i in range(3):
        x2 = x2 + i
    for i2 in range(2):
        x2 = x2 * i2
    result = x2
    return result
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis.effects import accumulates, header, loads, permutes
from s2sgrad.flow.facts import Facts
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with one name per web; `unit.bases` maps each new name to the user's."""
    webs = _Webs(unit, tree)
    names = _names(unit, webs)
    for node, definition, statement in webs.mentions:
        name = names[webs.find(definition)]
        if node.id != name:
            node.id = name
            unit.rewritten(*statement)
    return tree


class _Webs:
    """Definitions, united where one use may read several, or where a statement must keep its name."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.reaching = Facts(tree, unit.kept).reaching
        self.parent = list(range(len(self.reaching.definitions)))
        # Every name that belongs to a web, a definition of that, and the statement that it stands in.
        self.mentions: list[tuple[gast.Name, int, tuple[gast.AST, ...]]] = []
        for number, parameter in enumerate(parameters(tree)):
            self.mentions.append((parameter, number, ()))
        for k, point in enumerate(self.reaching.graph.points):
            if point.role == "whole":
                self.statement(k, point.statement)

    def find(self, web: int) -> int:
        """The representative of a web: its first definition."""
        while self.parent[web] != web:
            self.parent[web] = self.parent[self.parent[web]]
            web = self.parent[web]
        return web

    def unite(self, webs: Iterable[int]) -> None:
        roots = sorted({self.find(web) for web in webs})
        for other in roots[1:]:
            self.parent[other] = roots[0]

    def statement(self, point: int, statement: gast.AST) -> None:
        """Record the reads and definitions of a statement, or of a header."""
        for node in loads(header(statement)):
            reached = self.reaching.reach_point(node.id, point)
            if reached:
                if len(reached) > 1:
                    self.unite(reached)
                self.mentions.append((node, reached[0], (statement,)))
        if isinstance(statement, gast.For):
            self.define(statement, statement.target, self.reaching.graph.entry[id(statement.body)])
        elif isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
            self.define(statement, statement.target, point, statement.target.id)
        elif isinstance(statement, gast.Assign):
            (target,) = statement.targets
            updated = accumulates(self.unit, statement)
            for node in () if isinstance(target, gast.Subscript) else nodes(target):
                if isinstance(node, gast.Name):
                    kept = permutes(statement) or updated == getattr(target, "id", "")
                    self.define(statement, node, point, node.id if kept else None)

    def define(self, statement: gast.AST, node: gast.Name, point: int, updated: str | None = None) -> None:
        """Record a definition; with `updated`, unite it with the definitions of that name that reach it."""
        definition = self.reaching.made[point, node.id]
        self.mentions.append((node, definition, (statement,)))
        if updated is not None:
            self.unite([definition, *self.reaching.reach_point(updated, point)])


def _names(unit: Unit, webs: _Webs) -> dict[int, str]:
    """The name of each web; the first web of a name keeps it."""
    names: dict[int, str] = {}
    used: set[str] = set()
    for number, definition in enumerate(webs.reaching.definitions):
        web, name = webs.find(number), definition.name
        if web in names:
            continue
        if name not in used:
            names[web] = name
            used.add(name)
        else:
            stem = name if not name[-1].isdigit() else f"{name}_"
            names[web] = unit.names.numbered(stem, start=2)
            unit.locals.add(names[web])
            unit.bases[names[web]] = unit.bases.get(name, name)
            if name in unit.kinds:
                unit.kinds[names[web]] = unit.kinds[name]
            for group in (
                unit.temps,
                unit.derivative.bars,
                unit.derivative.floating,
                unit.mirror.names,
                unit.mirror.shadows,
            ):
                if name in group:
                    group.add(names[web])
    return names
