"""Which names only the trips of loops know: each trip binds them before it mentions them, and nothing else does.

    for p in ps: p.move()                      ->      p
    for p in qs: p.stop()

    for p in ps: p.move()                      ->      none: p is read behind the loop
    return p.place

Where such a loop is written out trip by trip, the name stands for one item after the other, as in Python.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.ir.quote import NAMES, nodes, nodes_of


def found(body: list[gast.AST]) -> set[str]:
    """The names of a text of which every mention is in the body of a loop that binds it there first, and once."""
    mentions = Counter(n.id for s in body for n in nodes_of(s, NAMES))
    inside: Counter[str] = Counter()
    for loop in (n for n in nodes(*body) if isinstance(n, gast.For)):
        for bound, count in _bound_first(loop.body).items():
            inside[bound] += count
    return {n for n, count in inside.items() if count == mentions[n]}  # more, where such a loop stands in another one


def captured(body: list[gast.AST]) -> set[str]:
    """The names that functions made in a text mention: these read them when they are called."""
    made = (n for n in nodes(*body) if isinstance(n, (gast.Lambda, gast.FunctionDef)))
    return {n.id for function in made for n in nodes_of(function, NAMES)}


def _bound_first(body: list[gast.AST]) -> dict[str, int]:
    """The names that a block binds before it mentions them, and once, with the number of their mentions."""
    mentions = [nodes_of(s, NAMES) for s in body]
    counts = Counter(n.id for found in mentions for n in found)
    stores = Counter(n.id for found in mentions for n in found if isinstance(n.ctx, gast.Store))
    met: set[str] = set()
    out: dict[str, int] = {}
    for statement, found in zip(body, mentions, strict=True):
        if isinstance(statement, gast.Assign):
            bound = {n.id for n in nodes_of(statement.targets[0], NAMES) if isinstance(n.ctx, gast.Store)}
            read = {n.id for n in nodes_of(statement.value, NAMES)}
            out |= {n: counts[n] for n in bound - read - met if stores[n] == 1}
        met |= {n.id for n in found}
    return out
