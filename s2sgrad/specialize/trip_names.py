"""Names that are private to the trips of loops: each trip binds them before it reads them, and nothing else does.

    for p in ps: p.move()                      ->      p
    for p in qs: p.stop()

    for p in ps: p.move()                      ->      none: p is read after the loop
    return p.place

When such a loop is unrolled, the name stands for one item after the other, as in Python.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.ir.quote import NAMES, blocks, nodes, nodes_of

_STRAIGHT = (gast.Attribute, gast.IfExp, gast.Name, gast.Subscript)


def found(body: list[gast.AST]) -> set[str]:
    """The names whose every occurrence is in the body of a loop that binds them there first, and once; a function that reads
    one may be called after the loop."""
    mentions = Counter(n.id for s in body for n in nodes_of(s, NAMES))
    inside: Counter[str] = Counter()
    for loop in (n for n in nodes(*body) if isinstance(n, gast.For)):
        for bound, count in _bound_first(loop.body).items():
            inside[bound] += count
    private = {n for n, count in inside.items() if count == mentions[n]}  # nested loops count twice
    return private - captured(body)


def straight(body: list[gast.AST]) -> set[str]:
    """The names whose every read has a reaching binding in the same or an enclosing block, with none in a branch or loop
    since: each stands for the latest binding in the text."""
    unsure: set[str] = set()
    return _followed(body, set(), unsure) - unsure - captured(body)


def _followed(block: list[gast.AST], defined: set[str], unsure: set[str]) -> set[str]:
    """Walk a block; `known`: the names with such a binding at its start.  Returns the names that it binds itself."""
    out: set[str] = set()
    for statement in block:
        inner = blocks(statement)
        within = [n for part in inner for s in part for n in nodes_of(s, NAMES)]
        defined = defined - {n.id for n in within if isinstance(n.ctx, gast.Store)}
        binds = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
        header = nodes_of(statement.value if binds else statement, NAMES)
        unsure |= (Counter(n.id for n in header) - Counter(n.id for n in within)).keys() - defined
        for part in inner:
            out |= _followed(part, defined, unsure)
        if binds and not isinstance(statement.value, _STRAIGHT):  # may become a branch
            unsure.add(statement.targets[0].id)
        if binds:
            defined, out = defined | {statement.targets[0].id}, out | {statement.targets[0].id}
    return out


def captured(body: list[gast.AST]) -> set[str]:
    """The names that functions made in a text mention, and read when they are called."""
    functions = (n for n in nodes(*body) if isinstance(n, (gast.Lambda, gast.FunctionDef)))
    return {n.id for function in functions for n in nodes_of(function, NAMES)}


def _bound_first(body: list[gast.AST]) -> dict[str, int]:
    """The names that a block binds once and before any other mention, with their number of mentions."""
    mentions = [nodes_of(s, NAMES) for s in body]
    counts = Counter(n.id for uses in mentions for n in uses)
    stores = Counter(n.id for uses in mentions for n in uses if isinstance(n.ctx, gast.Store))
    seen: set[str] = set()
    out: dict[str, int] = {}
    for statement, uses in zip(body, mentions, strict=True):
        if isinstance(statement, gast.Assign):
            bound = {n.id for n in nodes_of(statement.targets[0], NAMES) if isinstance(n.ctx, gast.Store)}
            read = {n.id for n in nodes_of(statement.value, NAMES)}
            out |= {n: counts[n] for n in bound - read - seen if stores[n] == 1}
        seen |= {n.id for n in uses}
    return out
