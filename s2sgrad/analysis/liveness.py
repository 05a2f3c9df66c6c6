"""Which names are still read after each statement.

t = u[0]; u[0] = u[1]; u[1] = t      ->      after the first: t, u; after the second: t, u; after the third: u, if it is read
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.lifetimes import Block, binds


def after(tree: gast.FunctionDef) -> dict[int, frozenset[str]]:
    """The names that may be read after each simple statement, by the identity of the statement."""
    walker = _Walker()
    walker.block(tree.body, frozenset())
    return walker.live


class _Walker:
    def __init__(self) -> None:
        self.live: dict[int, frozenset[str]] = {}
        self.breaks: list[frozenset[str]] = []

    def block(self, body: Block, live: frozenset[str]) -> frozenset[str]:
        for statement in reversed(body):
            if isinstance(statement, gast.If):
                live = self.block(statement.body, live) | self.block(statement.orelse, live) | effects.reads(statement)
            elif isinstance(statement, (gast.For, gast.While)):
                live = self.loop(statement, live)
            elif isinstance(statement, gast.Break):
                live = self.breaks[-1]
            else:
                self.live[id(statement)] = live | self.live.get(id(statement), frozenset())
                live = (live - set(binds(statement))) | effects.reads(statement)
        return live

    def loop(self, loop: gast.For | gast.While, live: frozenset[str]) -> frozenset[str]:
        reads = effects.reads(loop)
        head = live | (reads if isinstance(loop, gast.While) else frozenset())
        while True:
            self.breaks.append(live)
            start = self.block(loop.body, head) - set(binds(loop))
            self.breaks.pop()
            if start <= head:
                return head | reads
            head |= start
