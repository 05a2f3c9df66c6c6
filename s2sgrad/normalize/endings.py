"""Iterables that may be left early, or are infinite: these are drawn from item by item and never turned into lists.

    any(v > 2.0 for v in map(f, itertools.count()))      ->      `left`, and endless
    sum(v for v in zip(itertools.count(), x))            ->      neither

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

import builtins
import itertools

import gast
import numpy as np

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import iterables
from s2sgrad.normalize.check import yields
from s2sgrad.runtime.structure import ENDLESS


class Endings:
    """Facts about the iterators of one function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.yielding = {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef) and yields(n)}
        self.left = left(unit, tree)
        self.looped = set[int]()  # generator expressions, `map` and `filter` that are inlined into the loop over them
        for loop in [n for n in nodes(tree) if isinstance(n, gast.For)]:
            part = loop.iter
            while (inner := inlined(unit, part)) is not None:
                self.looped.add(id(part))
                part = inner

    def require(self, outer: gast.GeneratorExp, listed: gast.GeneratorExp) -> None:
        """Refuse to turn a possibly infinite iterable into a list, where `outer` may be left early."""
        loop = id(outer) in self.looped and outer is not listed
        if id(outer) in self.left and not loop and self.is_endless(listed):
            self.unit.refuse(listed, "what this draws from may have no end, which cannot be followed: write the loops out")

    def is_source(self, call: gast.Call) -> bool:
        """Whether a call makes an iterator that may be infinite by itself."""
        target = self.unit.resolve(call.func)
        nested = isinstance(call.func, gast.Name) and call.func.id in self.yielding
        return nested or is_generator(target) or is_one_of(target, ENDLESS)

    def is_endless(self, node: gast.AST) -> bool:
        """Whether an iterable may be infinite; `zip` is finite if one argument is."""
        if isinstance(node, gast.GeneratorExp):
            return any(self.is_endless(each.iter) for each in node.generators)
        if not isinstance(node, gast.Call):
            return False
        target = self.unit.resolve(node.func)
        if target is builtins.zip:
            return bool(node.args) and all(map(self.is_endless, node.args))
        if is_one_of(target, (itertools.islice, itertools.takewhile, np.array, *iterables.CONTAINERS)):
            return False
        return self.is_source(node) or any(map(self.is_endless, node.args))


def inlined(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The iterable of an iterator whose items are computed in the trips of the loop over it; None for other loops."""
    if isinstance(node, gast.GeneratorExp) and len(node.generators) == 1:
        return node.generators[0].iter
    one = is_one_of(unit.called(node), (builtins.map, builtins.filter)) and len(node.args) == 2
    return node.args[1] if one else None


def left(unit: Unit, tree: gast.FunctionDef) -> set[int]:
    """The generator expressions, by identity, that may be left before their end.

    any(v > 2.0 for v in it)      ->      the expression
    sum(v for v in it)            ->      nothing
    """
    out: set[int] = set()
    for node in nodes(tree):  # parents first
        inner: list[gast.AST] = []
        if isinstance(node, gast.For) and any(isinstance(n, (gast.Break, gast.Return)) for n in nodes(*node.body)):
            inner = [node.iter]
        elif isinstance(node, gast.Call) and is_one_of(unit.resolve(node.func), (any, all, next)):
            inner = node.args
        elif isinstance(node, gast.Compare):
            inner = node.comparators
        elif id(node) in out:
            inner = [each.iter for each in node.generators]
        out |= {id(part) for part in inner if isinstance(part, gast.GeneratorExp)}
    return out
