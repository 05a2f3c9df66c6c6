"""Counts over the text of a function in normal form: how often each name is bound, changed, read and mentioned.

    for i in range(n): t = x[i]; s += t       `t` is bound and read once, and occurs only in the loop, `s` outside as well
    return s

>>> import gast
>>> tree = gast.parse('''
... for i in range(n):
...     t = x[i]
...     s += t
... print(s)
... ''')
>>> binding_counts(tree.body)["t"], write_counts(tree.body)["s"], read_counts(tree.body)["x"]
(1, 1, 1)
>>> sorted(Mentions([tree]).beside(Mentions(tree.body[:1]), ["t", "s"]))
['s']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import sweep_of


def binding_counts(body: Block) -> Counter[str]:
    """How many statements of a block, nested ones included, bind or update each name."""
    return Counter(name for statement in effects.walk(body) for name in binds(statement))


def write_counts(body: Block) -> Counter[str]:
    """How many statements of a block, nested ones included, bind each name or change in place what it stands for."""
    return Counter(name for statement in effects.walk(body) for name in effects.writes(statement))


def read_counts(body: Block) -> Counter[str]:
    """How often the statements of a block, nested ones included, read each name; augmented targets do not count."""
    return Counter(n.id for statement in effects.walk(body) for n in effects.loads(effects.header(statement)))


def bound_once(body: Block) -> dict[str, gast.Assign]:
    """By name, in textual order: its assignment, for names that only one statement binds and none updates.

    >>> import gast
    >>> list(bound_once(gast.parse("a = 1; b = a; b += a; c, d = a, b").body))
    ['a', 'c', 'd']
    """
    once: dict[str, gast.AST | None] = {}
    for statement in effects.walk(body):
        for name in binds(statement):
            once[name] = None if name in once else statement
    return {name: s for name, s in once.items() if isinstance(s, gast.Assign)}


class Mentions:
    """Occurrence counts of names in some trees, and how many statements of their reverse sweep read each."""

    def __init__(self, parts: list[gast.AST]) -> None:
        self.names = Counter(n.id for n in nodes(*parts) if isinstance(n, gast.Name))
        swept = (s for s in effects.walk(parts) if sweep_of(s) == "reverse")
        self.reads = Counter(n for s in swept for n in effects.reads(s))

    def beside(self, part: Mentions, names: Iterable[str]) -> set[str]:
        """Those of these names that occur here outside of `part`."""
        return {n for n in names if self.names[n] > part.names[n]}

    def read_beside(self, part: Mentions, names: Iterable[str]) -> bool:
        """Whether the reverse sweep reads one of these names outside of `part`."""
        return any(self.reads[n] > part.reads[n] for n in names)

    def replace(self, old: list[gast.AST], new: list[gast.AST]) -> None:
        """Update the counts for statements that replace others."""
        for part, count in ((Mentions(old), Counter.subtract), (Mentions(new), Counter.update)):
            count(self.names, part.names)
            count(self.reads, part.reads)
