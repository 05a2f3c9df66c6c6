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

from s2sgrad.ir.quote import NAMES, blocks, nodes, nodes_of


def found(body: list[gast.AST]) -> set[str]:
    """The names of a text of which every mention is in the body of a loop that binds it there first, and once."""
    mentions = Counter(n.id for s in body for n in nodes_of(s, NAMES))
    inside: Counter[str] = Counter()
    for loop in (n for n in nodes(*body) if isinstance(n, gast.For)):
        for bound, count in _bound_first(loop.body).items():
            inside[bound] += count
    return {n for n, count in inside.items() if count == mentions[n]}  # more, where such a loop stands in another one


def straight(body: list[gast.AST]) -> set[str]:
    """The names of which every mention has a binding before it in its own block, or in one around it, and none in a branch
    or a loop since then: each stands for what the text bound last."""
    unsure: set[str] = set()
    return _followed(body, set(), unsure) - unsure - captured(body)


def _followed(block: list[gast.AST], known: set[str], unsure: set[str]) -> set[str]:
    """Follow a block at whose head the bindings of `known` names are; those that it binds itself."""
    out: set[str] = set()
    for statement in block:
        inner = blocks(statement)
        within = [n for part in inner for s in part for n in nodes_of(s, NAMES)]
        known = known - {n.id for n in within if isinstance(n.ctx, gast.Store)}
        binds = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
        header = nodes_of(statement.value if binds else statement, NAMES)
        unsure |= (Counter(n.id for n in header) - Counter(n.id for n in within)).keys() - known
        for part in inner:
            out |= _followed(part, known, unsure)
        if binds and not isinstance(statement.value, (gast.Name, gast.Attribute, gast.Subscript)):  # which may be a branch
            unsure.add(statement.targets[0].id)
        if binds:
            known, out = known | {statement.targets[0].id}, out | {statement.targets[0].id}
    return out


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
