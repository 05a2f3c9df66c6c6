"""Counts over the text of a function in normal form: how often each name is bound, changed and read.

    for i in range(n): t = x[i]; s += t       `t` is bound and read once

>>> import gast
>>> tree = gast.parse('''
... for i in range(n):
...     t = x[i]
...     s += t
... print(s)
... ''')
>>> binding_counts(tree.body)["t"], write_counts(tree.body)["s"], read_counts(tree.body)["x"]
(1, 1, 1)
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Block, binds


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
