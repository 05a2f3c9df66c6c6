"""Which names of a function stand for iterators of which every draw is known.

    it = iter(x); a = next(it); b = [v for v in zip(it, y)]      ->      it: iter(x)
    it = iter(x); helper(it)                                     ->      nothing: what draws from it is not seen here
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from s2sgrad.normalize.draws import LAZY, Sources
from s2sgrad.quote import name, nodes
from s2sgrad.unit import parameters

TO_THE_END = (list, tuple, sum, max, min, sorted, set, frozenset, dict, math.prod, math.fsum, np.fromiter)
_RESIZING = ("append", "pop", "extend", "insert", "remove", "clear")
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def named(drawer: Sources, function: gast.FunctionDef) -> dict[str, gast.AST]:
    """The iterators of a function that have a name, and are mentioned only where items are drawn from them."""
    inside = list(_of_scope(function))
    stored = Counter(n.id for n in inside if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load))
    stored.update(p.id for p in parameters(function))
    foreign = {n for part in nodes(function) if isinstance(part, (gast.Nonlocal, gast.Global)) for n in part.names}
    held: dict[str, gast.AST] = {}
    for node in inside:
        if isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name):
            made = isinstance(node.value, gast.GeneratorExp) or drawer.called(node.value) in LAZY
            made = made and not any(map(drawer.is_generator, nodes(node.value)))  # its text is a loop
            if made and stored[node.targets[0].id] == 1 and node.targets[0].id not in foreign:
                held[node.targets[0].id] = node.value
    mentions = Counter(n.id for n in nodes(function) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    resized = {c.func.value.id for c in nodes(function) if isinstance(c, gast.Call) and isinstance(c.func, gast.Attribute)
               and c.func.attr in _RESIZING and isinstance(c.func.value, gast.Name)}  # fmt: skip
    while True:
        asked = Counter(n for root in _roots(drawer, inside, held) for n in _drawn_from(drawer, root, held))
        left = {n: value for n, value in held.items() if mentions[n] == asked[n]
                and not resized & {m.id for m in nodes(value) if isinstance(m, gast.Name)}}  # fmt: skip
        if len(left) == len(held):
            return held
        held = left


def _roots(drawer: Sources, inside: list[gast.AST], held: dict[str, gast.AST]) -> Iterator[gast.AST]:
    """The expressions from which something draws."""
    yield from held.values()
    for node in inside:
        if isinstance(node, gast.For):
            yield node.iter
        elif isinstance(node, gast.ListComp):
            yield node.generators[0].iter
        elif isinstance(node, gast.Call) and node.args:
            target = drawer.unit.resolve(node.func)
            if hashable(target) and target in (next, any, all, *TO_THE_END):
                yield node.args[0]


def _drawn_from(drawer: Sources, node: gast.AST, held: dict[str, gast.AST]) -> Iterator[str]:
    if isinstance(node, gast.Name):
        yield from [node.id] if node.id in held else []
    elif isinstance(node, gast.GeneratorExp) and len(node.generators) == 1:
        yield from _drawn_from(drawer, node.generators[0].iter, held)
    elif drawer.called(node) in LAZY:
        for part in node.args:
            yield from _drawn_from(drawer, part, held)


def _of_scope(function: gast.FunctionDef) -> Iterator[gast.AST]:
    """The nodes of a function, those of functions in it left out, and the variables of comprehensions."""
    waiting: list[Any] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, gast.FunctionDef):
            yield name(node.name, store=True)
        elif isinstance(node, _COMPREHENSIONS):
            waiting += [p for p in gast.iter_child_nodes(node) if not isinstance(p, gast.comprehension)]
            waiting += [p for g in node.generators for p in (g.iter, *g.ifs)]
        elif not isinstance(node, gast.Lambda):
            waiting += gast.iter_child_nodes(node)


def hashable(target: Any) -> bool:
    """Whether a value can be looked for in a set."""
    return type(target).__hash__ is not None
