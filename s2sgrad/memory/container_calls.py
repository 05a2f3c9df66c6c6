"""What functions of a library that give containers and items return: by how their results share memory, some by the object.

    list(xs)   a new list of the items        zip(xs, ys)   of tuples of them        next(it, v)   an item, or v
"""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.trust import Trust
from s2sgrad.memory.arguments import Given, Points, objects_of
from s2sgrad.memory.places import Place, Places
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives

_Known = Callable[[Points, Given, gast.AST], Places]
_KNOWN: dict[int, tuple[Any, _Known]] = {}  # by the identity of the function


def known(target: Any) -> _Known | None:
    """What tells the result of such a function; None for any other."""
    return _KNOWN.get(id(target), (None, _BY_RESULT.get(catalogue.of(target).gives)))[1]


def _of(*functions: Any) -> Callable[[_Known], _Known]:
    def register(known: _Known) -> _Known:
        _KNOWN.update({id(function): (function, known) for function in functions})
        return known

    return register


def _shell(points: Points, given: Given, node: gast.AST) -> Places:
    """`list(xs)`: a new container of the items."""
    return points.shell(node, points.items(given.all()) | objects_of(points, given.all()))


def _rows(points: Points, given: Given, node: gast.AST) -> Places:
    """`zip(xs, ys)`: a new container of tuples of the items."""
    return points.shell(node, points.shell(node, points.items(given.all()), "item"))


def _operator(points: Points, given: Given, node: gast.AST) -> Places:
    """`operator.add(a, b)`: new memory, or a list of the items of two."""
    lists = {p for p in given.all() if points.trust(p) != Trust.ARRAY}
    joined = points.shell(node, points.items(lists)) if lists else set()
    return {Place("new", id(node))} | joined | objects_of(points, given.all())


_BY_RESULT: dict[Gives, _Known] = {Gives.SHELL: _shell, Gives.ROWS: _rows, Gives.OPERATOR: _operator}


@_of(dict)
def _dict(points: Points, given: Given, node: gast.AST) -> Places:
    pairs = set().union(*map(points.items, given.places), *(points.items(points.items(p)) for p in given.places))
    return points.shell(node, pairs.union(given.unpacked or (), *given.named.values()) | objects_of(points, given.all()))


@_of(itertools.repeat)
def _repeat(points: Points, given: Given, node: gast.AST) -> Places:
    return points.shell(node, given.all())


@_of(next)
def _next(points: Points, given: Given, node: gast.AST) -> Places:
    return points.items(given[0]) | given[1] | objects_of(points, given.all())


@_of(max, min)
def _extreme(points: Points, given: Given, node: gast.AST) -> Places:
    chosen = points.items(given.all()) if len(given.places) == 1 else given.all()
    return chosen | given.named.get("default", set()) | {Place("new", id(node))}


@_of(sum)
def _sum(points: Points, given: Given, node: gast.AST) -> Places:
    """Of lists: a list of their items."""
    items, start = points.items, given[1] | given.named.get("start", set())
    lists = any(points.trust(p) != Trust.ARRAY for p in items(given[0]) | given.all())
    joined = points.shell(node, items(items(given[0])) | items(start)) if lists else set()
    return {Place("new", id(node))} | start | joined | objects_of(points, given.all())


@_of(getattr)
def _getattr(points: Points, given: Given, node: gast.AST) -> Places:
    return points.reached(given.all())


@_of(copy.copy)
def _copied(points: Points, given: Given, node: gast.AST) -> Places:
    every = given.all()
    return {Place("new", id(node))} | points.shell(node, points.items(every)) | objects_of(points, every)


@_of(copy.deepcopy)
def _deeply_copied(points: Points, given: Given, node: gast.AST) -> Places:
    new = {Place("new", id(node))}
    return new | points.shell(node, new) | objects_of(points, given.all())


@_of(operator.getitem)
def _item(points: Points, given: Given, node: gast.AST) -> Places:
    items = points.items(given[0])
    return items | points.shell(node, items)


@_of(np.random.default_rng)
def _generator(points: Points, given: Given, node: gast.AST) -> Places:
    return {Place("drawing", id(node))}
