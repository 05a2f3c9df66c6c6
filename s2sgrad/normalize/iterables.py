"""What Python's tools do with the iterables that they are given, by object.

    sum(xs), list(xs)                         draw all items, at once
    any(xs), next(xs)                         draw items at once, but not always all
    zip(xs, ys), filter(f, xs)                draw an item when they are asked for one
    itertools.accumulate(xs)                  likewise; `s2sgrad.standard` has them as functions that give lists

>>> import itertools
>>> list in DRAWS_ALL, any in DRAWS_ALL, zip in LAZY, itertools.accumulate in LISTED
(True, False, True, True)
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from collections.abc import Iterable

import gast
import numpy as np

from s2sgrad import standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.quote import constant, mentioned, nodes
from s2sgrad.ir.unit import Unit

COMPREHENSIONS = (gast.GeneratorExp, gast.ListComp, gast.SetComp, gast.DictComp)

CONTAINERS = frozenset({list, tuple, set, frozenset, dict, sorted})
"""What makes a container of all items."""

DRAWS_ALL = CONTAINERS | {sum, max, min, math.prod, math.fsum, np.fromiter}
"""What draws all items before it returns."""

DRAWS = DRAWS_ALL | {any, all, builtins.next}
"""What draws items before it returns: all of them, or those that it needs."""

LISTED = frozenset({t for t in standard.TOOLS if isinstance(t, type)} | {itertools.islice, itertools.product,
                    itertools.pairwise})  # fmt: skip
"""Tools that give iterators, and for which there is a function that gives a list: it stands for one only where the value is
run through at once."""

CHAINS = frozenset({itertools.chain, itertools.chain.from_iterable})

LAZY = LISTED | CHAINS | {builtins.enumerate, builtins.zip, builtins.map, builtins.filter}
"""Tools that draw an item when they are asked for one."""

RUN_THROUGH = LISTED | CHAINS | DRAWS_ALL | {any, all, np.array, functools.reduce, builtins.enumerate, builtins.zip}
"""What runs through its arguments where it is called, or may as well."""


def consumed(unit: Unit, all_nodes: Iterable[gast.AST]) -> set[int]:
    """The calls, by identity, of which the values are run through at once, and then are gone."""
    out: set[int] = set()
    for node in all_nodes:
        if isinstance(node, (gast.For, gast.comprehension)):
            out.add(id(node.iter))
        elif isinstance(node, gast.Starred):
            out.add(id(node.value))
        elif isinstance(node, gast.Call) and is_one_of(unit.resolve(node.func), RUN_THROUGH):
            out |= {id(a) for a in node.args}
    return out


def runs_once(unit: Unit, tree: gast.FunctionDef, parameter: str) -> bool:
    """Whether a function mentions a parameter once, as what a loop, a comprehension or a reduction runs through."""
    body = list(nodes(*tree.body))
    mentioned = [n for n in body if isinstance(n, gast.Name) and n.id == parameter]
    if len(mentioned) != 1:
        return False
    loops = [n for n in body if isinstance(n, (gast.For, gast.While))]
    again = [part for loop in loops for part in nodes(*loop.body, *loop.orelse)]
    over = [part for node in body for part in nodes(*_run_through(unit, node))]
    return not any(n is mentioned[0] for n in again) and any(n is mentioned[0] for n in over)


def _run_through(unit: Unit, node: gast.AST) -> list[gast.AST]:
    """The expressions through which a node runs, each once."""
    if isinstance(node, gast.For):
        return [node.iter]
    if isinstance(node, (gast.ListComp, gast.GeneratorExp, gast.SetComp)):
        return [node.generators[0].iter]
    if isinstance(node, gast.Call) and is_one_of(unit.resolve(node.func), (sum, list, tuple, max, min)):
        return node.args[:1]
    return []


def slice_bounds(bounds: list[gast.AST]) -> list[gast.AST]:
    """`start, stop, step` of a call of `itertools.islice` behind its first argument."""
    whole = [constant(0), *bounds] if len(bounds) == 1 else bounds
    return whole if len(whole) == 3 else [*whole, constant(1)]


def walked(unit: Unit, node: gast.AST) -> set[str]:
    """The names of what a loop may run over as it is, owners of methods included (`d.values()`); a section of a list is new,
    and so is what is sorted."""
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice):
        return set()
    if isinstance(node, gast.Call):
        new = is_one_of(unit.called(node), (list, tuple, sorted))
        return set() if new else set().union(*(walked(unit, a) for a in (node.func, *node.args)))
    return mentioned(node)
