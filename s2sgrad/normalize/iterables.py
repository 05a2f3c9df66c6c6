"""How tools of Python's library consume their iterables, by object.

    sum(xs), list(xs)                         consume all items at once
    any(xs), next(xs)                         consume items at once, but not always all
    zip(xs, ys), filter(f, xs)                draw an item on request
    itertools.accumulate(xs)                  likewise

>>> import itertools
>>> list in DRAWS_ALL, any in DRAWS_ALL, zip in LAZY, itertools.accumulate in LISTED
(True, False, True, True)
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import statistics
from collections.abc import Iterable

import gast
import numpy as np

from s2sgrad import standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.quote import constant
from s2sgrad.ir.unit import Unit

COMPREHENSIONS = (gast.GeneratorExp, gast.ListComp, gast.SetComp, gast.DictComp)

CONTAINERS = frozenset({list, tuple, set, frozenset, dict, sorted})
"""Callables that make a container of all items."""

STATISTICS = frozenset({statistics.mean, statistics.fmean, statistics.variance, statistics.pvariance, statistics.stdev,
                        statistics.pstdev})  # fmt: skip
"""Functions of the numbers in an iterable that have derivative rules."""

DRAWS_ALL = CONTAINERS | STATISTICS | {sum, max, min, math.prod, math.fsum, np.fromiter}
"""Callables that consume all items before they return."""

DRAWS = DRAWS_ALL | {any, all, builtins.next}
"""Callables that draw items before they return: all of them, or as many as they need."""

DRAWN = (itertools.starmap, itertools.filterfalse, itertools.takewhile, itertools.dropwhile, itertools.compress,
         itertools.accumulate, itertools.groupby)  # fmt: skip
"""Tools that are drawn from as the program runs."""

DRAWN_FROM = ("which item of this iterator is next is known as the program runs alone, which cannot be followed: loop "
              "over a list of its items")  # fmt: skip
"""What is said of them."""

LISTED = frozenset({t for t in standard.TOOLS if isinstance(t, type)} | set(DRAWN) | {
    itertools.islice, itertools.product, itertools.pairwise})  # fmt: skip
"""Tools that return iterators, with a counterpart that returns a list: it replaces the tool only where the result is
consumed at once."""

CHAINS = frozenset({itertools.chain, itertools.chain.from_iterable})

LAZY = LISTED | CHAINS | {builtins.enumerate, builtins.zip, builtins.map, builtins.filter}
"""Tools that draw an item on request."""

INDEXED = frozenset({builtins.zip, builtins.enumerate, itertools.islice, itertools.pairwise, itertools.zip_longest})
"""Tools whose items a loop finds by index."""

COMPUTED = LAZY - INDEXED | {itertools.pairwise}
"""Tools whose items are computed, or kept, when they are drawn."""

RUN_THROUGH = LISTED | CHAINS | DRAWS_ALL | {any, all, np.array, functools.reduce, builtins.enumerate, builtins.zip}
"""Callables that consume their arguments during the call, or may as well."""


def consumed(unit: Unit, all_nodes: Iterable[gast.AST]) -> set[int]:
    """The calls, by identity, whose results are consumed at once and then dropped."""
    out: set[int] = set()
    for node in all_nodes:
        if isinstance(node, (gast.For, gast.comprehension)):
            out.add(id(node.iter))
        elif isinstance(node, gast.Call):
            target = unit.resolve(node.func)
            out |= {id(a) for a in node.args} if is_one_of(target, RUN_THROUGH) else set()
        elif isinstance(node, gast.Starred) or unpacks(node):
            out.add(id(node.value))
        out |= set(map(id, mapped(unit, node)))
    return out


def unpacks(node: gast.AST) -> bool:
    """Whether a statement is `a, b = ..`, which draws all items."""
    return isinstance(node, gast.Assign) and any(isinstance(t, (gast.Tuple, gast.List)) for t in node.targets)


def mapped(unit: Unit, node: gast.AST) -> list[gast.AST]:
    """The iterables of `map` and `filter`, which become those of a generator expression."""
    return node.args[1:] if is_one_of(unit.called(node), (builtins.map, builtins.filter)) else []


def slice_bounds(bounds: list[gast.AST]) -> list[gast.AST]:
    """`start, stop, step` from the arguments of `itertools.islice` after the first."""
    whole = [constant(0), *bounds] if len(bounds) == 1 else bounds
    return whole if len(whole) == 3 else [*whole, constant(1)]


def inlined(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The iterable of an iterator whose items are computed in the trips of the loop over it; None for other loops."""
    if isinstance(node, gast.GeneratorExp) and len(node.generators) == 1:
        return node.generators[0].iter
    over = mapped(unit, node)
    return over[0] if len(over) == 1 else None
