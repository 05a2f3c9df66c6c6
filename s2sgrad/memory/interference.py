"""Whether a piece of a function may change what another one reads, under whatever name; before kinds are known.

    ys = xs; rows = [xs]; ..; ys[0] = 1.0; rows.append(ys)      ->      `xs` changes, for `ys[0] = ..`

Both are asked of `points_to`: the locations that the one writes, and those that the other may read.

>>> from s2sgrad.source import read
>>> def f(x):
...     xs, out = list(x), []
...     ys = xs
...     for v in x:
...         out.append(v)
...         ys[0] = v
...     return xs, out
>>> unit, tree = Unit.of(read(f))
>>> names = Interference(unit, tree)
>>> [n for n in ("x", "xs", "ys", "out") if names.may_change([gast.Name(n, gast.Load(), None, None)], tree.body)]
['xs', 'ys', 'out']
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.library_calls import hands_function
from s2sgrad.memory.places import ANY, Place, Places
from s2sgrad.memory.points_to import Points

CHANGES_BETWEEN = ("what this function reads may change between the items that it is called with, which cannot be followed: "
                   "make a list of the items first")  # fmt: skip
_AROUND = Place("own", "")  # what the functions around a nested one hold


def free(function: gast.AST) -> list[gast.AST]:
    """What a lambda reads besides its parameters."""
    if not isinstance(function, gast.Lambda):
        return []
    own = {p.id for p in nodes(function.args) if isinstance(p, gast.Name)}
    return [n for n in nodes(function.body) if isinstance(n, gast.Name) and n.id not in own]


class Interference:
    """What the pieces of one function write and read."""

    def __init__(self, unit: Unit, function: gast.FunctionDef) -> None:
        self.unit, self.function = unit, function
        self.nodes = list(nodes(function))  # kept alive: locations are known by them
        if any(hands_function(unit.called(node), node) for node in self.nodes if isinstance(node, gast.Call)):
            self.points  # noqa: B018  # a pass that asks later may have written these calls in another way

    @functools.cached_property
    def points(self) -> Points:
        """The locations of the function's names."""
        points = Points(self.unit, self.function, {}, mod_ref.summary_of)
        for name in self.unit.locals - scoping.all_bindings(self.function).keys():
            points.names.setdefault(name, {_AROUND})
        points.run()
        return points

    def may_change(self, parts: list[gast.AST], body: list[gast.AST] | None = None) -> bool:
        """Whether statements, by default all, may change what these expressions read when they, or iterators over them, are
        evaluated."""
        if any(isinstance(node, gast.NamedExpr) for node in nodes(*parts)):
            return True
        writing = self.function.body if body is None else body
        updated = {n.target.id for n in nodes(*writing) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)}
        if any(isinstance(node, gast.Name) and node.id in updated for node in nodes(*parts)):
            return True
        return _meet(self.points.written if body is None else self.points.written_by(body), self.read(parts))

    def may_read(self, parts: list[gast.AST], local: str) -> bool:
        """Whether these expressions, or iterators over them, may read the object for which a variable stands."""
        return _meet(self.points.names.get(local, set()), self.read(parts))

    def read(self, parts: list[gast.AST]) -> Places:
        """The locations that expressions may read; of a nested function, what it mentions."""
        own = {p.id for part in nodes(*parts) if isinstance(part, gast.Lambda) for p in nodes(part.args)
               if isinstance(p, gast.Name)}  # fmt: skip
        paths = (n for n in nodes(*parts) if isinstance(n, (gast.Name, gast.Attribute, gast.Subscript)))
        found = set().union(*(self.points.value(n) for n in paths if getattr(n, "id", None) not in own))
        return self.points.items(p for p in found if p.kind == "closure") | found


def _meet(some: Places, others: Places) -> bool:
    """Whether two sets of locations may have one in common."""
    if ANY in some or ANY in others:
        return bool(some and others)
    return any(p in others or (p.kind == "outside" and any(o.kind == "outside" for o in others)) for p in some)
