"""Iterables that may have no end by themselves: these are never turned into lists.

    (t * c for t in (u * u for u in itertools.count(1)))      ->      one loop, where a loop runs over it
    any(a * b for a in made() for b in x)                     ->      refused: a list of it might have no end

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import itertools
... def f(c):
...     for v in (t * c for t in (u * u for u in itertools.count(1))):
...         if v > 5.0:
...             return v
... ''', "library_desugaring"))
def f(c):
    for u in itertools.count(1):
        t = u * u
        v = t * c
        if v > 5.0:
            return v
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.iterables import inlined
from s2sgrad.runtime.structure import ENDLESS


class Endings:
    """Facts about the iterators of one function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.yielding = {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef) and yields(n)}
        self.looped = set[int]()  # generator expressions, `map` and `filter` that are inlined into the loop over them
        for loop in [n for n in nodes(tree) if isinstance(n, gast.For)]:
            part = loop.iter
            while (inner := inlined(unit, part)) is not None:
                self.looped.add(id(part))
                part = inner

    def require(self, outer: gast.GeneratorExp, listed: gast.GeneratorExp) -> None:
        """Refuse to turn what may have no end into a list; `outer` draws from it."""
        loop = id(outer) in self.looped and outer is not listed
        if not loop and any(isinstance(n, gast.Call) and self.is_source(n) for n in nodes(listed)):
            self.unit.refuse(listed, "what this draws from may have no end, which cannot be followed: write the loops out")

    def is_source(self, call: gast.Call) -> bool:
        """Whether a call makes an iterator that may be infinite by itself."""
        target = self.unit.resolve(call.func)
        nested = isinstance(call.func, gast.Name) and call.func.id in self.yielding
        return nested or is_generator(target) or is_one_of(target, ENDLESS)
