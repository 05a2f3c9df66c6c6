"""Results of library functions that build containers or return items: some by the primitive's record, some by the object.

list(xs)   a new list of the items        zip(xs, ys)   of tuples of them        next(it, v)   an item, or v
"""

from __future__ import annotations

import copy
import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.trust import Trust
from s2sgrad.memory.arguments import Arguments, Points, objects_of
from s2sgrad.memory.places import NONE, Place, Places
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives

SLICE = "slice"  # the part of the location of a `slice`
_Model = Callable[[Points, Arguments, gast.AST], Places]
_MODELS: dict[int, tuple[Any, _Model]] = {}  # by the identity of the function


def model(target: Any) -> _Model | None:
    """The model of such a function; None for any other."""
    return _MODELS.get(id(target), (None, _BY_RESULT.get(catalogue.of(target).gives)))[1]


def are_containers(points: Points, places: Places) -> bool:
    """Whether a value is known to be a list, a tuple or a dict."""
    return bool(places) and all(map(points.is_container, places))


def alike(points: Points, places: Places, node: gast.AST) -> Places:
    """New memory of the structure that these have, as in a deep copy."""

    @functools.cache
    def made(place: Place) -> Places:
        if place == NONE:
            return {place}
        of = place.part if isinstance(place.part, Place) else place
        copy_, new = Place("shell", id(node), of), Place("new", id(node), of)
        return {copy_} if points.is_container(place) else {new} if points.trust(place) == Trust.ARRAY else {copy_, new}

    holds: dict[Place, Places] = {}  # by the copy: the items of all that it may be a copy of
    for place in points.reached(places):
        copies = {p for p in made(place) if p.kind == "shell"}
        points.tangled |= copies if place in points.tangled else set()
        for p in copies:
            holds.setdefault(p, set()).update(points.items((place,)))
    for p, held in holds.items():
        points.kept.put(p, *map(made, held))
    return set().union(*map(made, places))


def _of(*functions: Any) -> Callable[[_Model], _Model]:
    def register(model: _Model) -> _Model:
        _MODELS.update({id(function): (function, model) for function in functions})
        return model

    return register


def _shell(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`list(xs)`: a new container of the items."""
    return points.shell(node, points.items(args.all()) | objects_of(points, args.all()))


def _rows(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`zip(xs, ys)`: a new container of tuples of the items."""
    return points.shell(node, points.shell(node, points.items(args.all()), "item"))


def _operator(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`operator.add(a, b)`: a new array, or a list with the items of both."""
    lists = {p for p in args.all() if points.trust(p) != Trust.ARRAY}
    joined = points.shell(node, points.items(lists)) if lists else set()
    return {Place("new", id(node))} | joined | objects_of(points, args.all())


_BY_RESULT: dict[Gives, _Model] = {Gives.SHELL: _shell, Gives.ROWS: _rows, Gives.OPERATOR: _operator}


@_of(dict)
def _dict(points: Points, args: Arguments, node: gast.AST) -> Places:
    pairs = set().union(*map(points.items, args.places), *(points.items(points.items(p)) for p in args.places))
    return points.shell(node, pairs.union(args.unpacked or (), *args.named.values()) | objects_of(points, args.all()))


@_of(range)
def _range(points: Points, args: Arguments, node: gast.AST) -> Places:
    return points.shell(node, ())


@_of(slice)
def _slice(points: Points, args: Arguments, node: gast.AST) -> Places:
    return points.shell(node, (), SLICE)


@_of(itertools.repeat)
def _repeat(points: Points, args: Arguments, node: gast.AST) -> Places:
    return points.shell(node, args.all())


@_of(next)
def _next(points: Points, args: Arguments, node: gast.AST) -> Places:
    return points.items(args[0]) | args[1] | objects_of(points, args.all())


@_of(max, min)
def _extreme(points: Points, args: Arguments, node: gast.AST) -> Places:
    chosen = points.items(args.all()) if len(args.places) == 1 else args.all()
    return chosen | args.named.get("default", set()) | {Place("new", id(node))}


@_of(sum)
def _sum(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`sum(xs)`; of lists, a list of their items."""
    items, start = points.items, args[1] | args.named.get("start", set())
    lists = any(points.trust(p) != Trust.ARRAY for p in items(args[0]) | args.all())
    joined = points.shell(node, items(items(args[0])) | items(start)) if lists else set()
    return {Place("new", id(node))} | start | joined | objects_of(points, args.all())


@_of(getattr)
def _getattr(points: Points, args: Arguments, node: gast.AST) -> Places:
    return points.reached(args.all())


@_of(copy.copy)
def _copied(points: Points, args: Arguments, node: gast.AST) -> Places:
    every = args.all()
    return {Place("new", id(node))} | points.shell(node, points.items(every)) | objects_of(points, every)


@_of(copy.deepcopy)
def _deeply_copied(points: Points, args: Arguments, node: gast.AST) -> Places:
    new = {Place("new", id(node))}
    return new | points.shell(node, new) | objects_of(points, args.all())


@_of(runtime.add_at)
def _added_at(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`add_at(x_bar, i, e)`: the cotangent, of which an item may be `e` now; of a tuple, a new one."""
    points.write(args[0])
    points.keep(args[0], args[2])
    new = set() if are_containers(points, args[0]) else {Place("new", id(node))}
    return args[0] | new | points.shell(node, points.items(args[0]) | args[2])


@_of(runtime.add)
def _added(points: Points, args: Arguments, node: gast.AST) -> Places:
    """`add(a, b)`: new numbers, in a new container or in none; what is None in the one is that of the other."""
    every = args.all()
    new = set() if are_containers(points, every) else {Place("new", id(node))}
    return every | new | points.shell(node, points.items(every))


@_of(operator.getitem)
def _item(points: Points, args: Arguments, node: gast.AST) -> Places:
    items = points.items(args[0])
    return items | points.shell(node, items)


@_of(np.random.default_rng)
def _generator(points: Points, args: Arguments, node: gast.AST) -> Places:
    return {Place("drawing", id(node))}
