"""Occurrence counts of names: which names of a block the rest of the function mentions too.

    for i in range(n): t = x[i]; s += t       `t` occurs only in the loop, `s` outside as well
    return s

>>> import gast
>>> tree = gast.parse('''
... for i in range(n):
...     t = x[i]
...     s += t
... print(s)
... ''')
>>> sorted(Mentions([tree]).beside(Mentions(tree.body[:1]), ["t", "s"]))
['s']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import sweep_of


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
