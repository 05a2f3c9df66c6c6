"""Which lists and dicts of a function may be one object, or stand in one another; asked of `points_to`.

    c = a if x > 0 else b; c.append(x)      ->      {a, b, c}: the kind of an item is one for all of them
    rows = [a]; rows[0].append(x)           ->      `a` is in what `rows` stands for

>>> from s2sgrad.driver.pipeline import normalizing
>>> from s2sgrad.source import read
>>> def f(x):
...     a, b, other = [], [], []
...     c = a if x > 0.0 else b
...     c.append(x)
...     rows = [c]
...     rows.append(other)
...     return a, b, rows[0], other
>>> *_, (_, unit, tree) = normalizing(read(f))
>>> same = OneObject(unit, tree.body)
>>> sorted(n for n in same.named("c") if n in "abc"), sorted(n for n in same.named("a") if n in "abc")
(['a', 'b', 'c'], ['a', 'c'])
>>> sorted(same.around("a")), "other" in same.named("a")
(['result', 'rows'], False)
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping

import gast

from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.places import Places


class OneObject:
    """The objects for which the names of some statements may stand, whenever that is; `kinds` are those of what was there
    before."""

    def __init__(self, unit: Unit, body: list[gast.AST], kinds: Mapping[str, Kind] = types.MappingProxyType({})) -> None:
        self.points = mod_ref.points_of(unit, body, unit.locals - binding_counts(body).keys(), kinds)
        self.points.run()

    def named(self, name: str) -> set[str]:
        """The names that may stand for an object for which this one may stand."""
        mine = self.points.names.get(name, set())
        return {name} | {other for other, places in self.points.names.items() if not mine.isdisjoint(places)}

    def around(self, name: str) -> set[str]:
        """The names of what such an object may stand in."""
        mine = self.points.names.get(name, set())
        return {other for other, places in self._inside.items() if not mine.isdisjoint(places)} - {name}

    @functools.cached_property
    def _inside(self) -> dict[str, Places]:
        """What an item of each name may be."""
        return {name: self.points.items(places) for name, places in self.points.names.items()}
