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
import operator
import statistics
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2sgrad import standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.standard import generators

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

LISTED = frozenset({t for t in standard.TOOLS if isinstance(t, type)} | generators.DRAWN.keys() | {
    itertools.accumulate, itertools.islice, itertools.product, itertools.pairwise})  # fmt: skip
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
            out |= {id(a) for a in node.args} if is_ours(target) or is_one_of(target, RUN_THROUGH) else set()
        elif isinstance(node, gast.Starred) or unpacks(node):
            out.add(id(node.value))
        out |= set(map(id, mapped(unit, node)))
    return out


def is_ours(target: Any) -> bool:
    """Whether a callee is one of the functions that stand for iterators."""
    return isinstance(target, types.FunctionType) and target.__module__ == generators.__name__


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


def accumulation(
    unit: Unit, iterable: gast.AST, func: gast.AST | None = None, *, initial: gast.AST | None = None
) -> tuple[Callable[..., Any], list[gast.AST]]:
    """The generator function for `itertools.accumulate` of these arguments, and what it is called with."""
    function = name(unit.helper("added", operator.add)) if func is None or is_none(func) else func
    if initial is None or is_none(initial):
        return generators.running, [iterable, function]
    is_made = isinstance(initial, (gast.Constant, gast.BinOp, gast.List, gast.Tuple, gast.Dict)) or isinstance(
        unit.called(initial), type)  # fmt: skip
    return generators.running_from if is_made else generators.running_from_any, [initial, iterable, function]
