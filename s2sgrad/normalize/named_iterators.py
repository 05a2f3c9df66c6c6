"""The names of a function that are iterators, if every draw from them is visible.

    it = iter(x); a = next(it); b = [v for v in zip(it, y)]      ->      it: iter(x)
    it = iter(x); helper(it)                                     ->      nothing: the draws in `helper` are not visible

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     it = iter(x)
...     return next(it)
... ''', "drawing"))
def f(x):
    it = items(x)
    return following(it)
"""

from __future__ import annotations

import builtins
import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import children, name, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory import behaviour
from s2sgrad.normalize import iterables
from s2sgrad.normalize.iterator_kinds import LAZY, IteratorKinds
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue


def named(drawer: IteratorKinds, function: gast.FunctionDef) -> set[str]:
    """The named iterators of a function that occur only where items are drawn from them, by name."""
    inside = list(_of_scope(function))
    candidates = _bound_once(drawer, function, inside)
    if not candidates:
        return set()
    mentions = Counter(n.id for n in nodes(function) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    while True:
        asked = Counter(n for root in _roots(drawer, inside, candidates) for n in _drawn_from(drawer, root, candidates))
        left = {n: value for n, value in candidates.items() if mentions[n] == asked[n]}
        if len(left) == len(candidates):
            return {*candidates}
        candidates = left


def _bound_once(drawer: IteratorKinds, function: gast.FunctionDef, inside: list[gast.AST]) -> dict[str, gast.AST]:
    """The names that are bound exactly once, to an iterator, and not by a nested function."""
    iterators = {b: n.value for n in inside if (b := bound_name(n)) is not None and _makes_iterator(drawer, n.value)}
    if not iterators:
        return {}
    bound = bindings(function.body) + Counter(p.id for p in parameters(function))
    foreign = {n for part in nodes(function) if isinstance(part, (gast.Nonlocal, gast.Global)) for n in part.names}
    whole = _whole(drawer, function, inside, iterators)
    return {n: value for n, value in iterators.items() if bound[n] == 1 and n not in foreign | whole}


def _whole(
    drawer: IteratorKinds, function: gast.FunctionDef, inside: list[gast.AST], iterators: dict[str, gast.AST]
) -> set[str]:
    """The iterators that need no stepwise drawing: generators that are consumed at one place."""
    reads = NameUses(function).reads
    first = [n.args[0] for n in inside if drawer.called(n) is builtins.next and n.args]
    asked = Counter(n.id for n in first if isinstance(n, gast.Name))
    return {n for n, value in iterators.items() if drawer.is_generator(value) and len(reads[n]) < 2 and not asked[n]}


def _makes_iterator(drawer: IteratorKinds, value: gast.AST) -> bool:
    """Whether an expression makes an iterator whose position can be kept in variables."""
    is_iterator = isinstance(value, gast.GeneratorExp) or drawer.called(value) in LAZY or drawer.is_generator(value)
    return is_iterator and all(map(drawer.can_step, filter(drawer.is_generator, nodes(value))))


def rebound(function: gast.FunctionDef) -> frozenset[str]:
    """The names and attributes bound more than once in a function and those nested in it, arguments included."""
    stored = Counter(p.id for p in parameters(function))
    for node in nodes(function):
        if isinstance(node, gast.FunctionDef) and node is not function:
            stored[node.name] += 1
        elif isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            stored[node.id] += 1
        elif isinstance(node, gast.Attribute) and isinstance(node.ctx, (gast.Store, gast.Del)):
            stored[node.attr] += 2  # counts as bound twice
        elif isinstance(node, (gast.Nonlocal, gast.Global)):
            stored.update(2 * node.names)
        elif isinstance(node, (gast.For, gast.While)):
            stored.update(n.id for n in nodes(*node.body) if isinstance(n, gast.Name)
                          and isinstance(n.ctx, gast.Store))  # fmt: skip
    return frozenset(n for n, times in stored.items() if times > 1)


def _roots(drawer: IteratorKinds, inside: list[gast.AST], iterators: dict[str, gast.AST]) -> Iterator[gast.AST]:
    """The expressions from which something draws."""
    yield from iterators.values()
    for node in inside:
        if isinstance(node, gast.For):
            yield node.iter
        elif isinstance(node, gast.ListComp):
            yield node.generators[0].iter
        elif iterables.unpacks(node):
            yield node.value
        elif isinstance(node, gast.Call) and node.args:
            target = drawer.unit.resolve(node.func)
            if reduces(drawer.unit, node):
                yield node.args[1]
            if effects.is_one_of(target, iterables.DRAWS):
                yield node.args[0]
            elif drawer.is_followed(node.func):
                yield from node.args


def _drawn_from(drawer: IteratorKinds, node: gast.AST, iterators: dict[str, gast.AST]) -> Iterator[str]:
    if isinstance(node, gast.Name):
        yield from [node.id] if node.id in iterators else []
    elif isinstance(node, gast.GeneratorExp) and len(node.generators) == 1:
        yield from _drawn_from(drawer, node.generators[0].iter, iterators)
    elif drawer.called(node) in LAZY:
        for part in node.args:
            yield from _drawn_from(drawer, part, iterators)


def _of_scope(function: gast.FunctionDef) -> Iterator[gast.AST]:
    """The nodes of a function without those of nested functions and comprehension variables."""
    waiting: list[Any] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, gast.FunctionDef):
            yield name(node.name, store=True)
        elif isinstance(node, iterables.COMPREHENSIONS):
            waiting += [p for p in children(node) if not isinstance(p, gast.comprehension)]
            waiting += [p for g in node.generators for p in (g.iter, *g.ifs)]
        elif not isinstance(node, gast.Lambda):
            waiting += children(node)


def reduces(unit: Unit, node: gast.Call) -> bool:
    """Whether a call is a `reduce` whose items may all be drawn first: its function is pure."""
    if unit.resolve(node.func) is not functools.reduce or len(node.args) < 2 or isinstance(node.args[1], gast.Starred):
        return False
    function = node.args[0]
    if isinstance(function, gast.Lambda):
        return all(behaviour.is_pure_call(unit, n) for n in nodes(function) if isinstance(n, gast.Call))
    return catalogue.of(unit.resolve(function)).pure
