"""Scopes of variables: the innermost block that contains all uses of each, and where a binding replaces an older value.

The reverse sweep needs both: a variable that lives within one trip of a loop is recorded once a trip, at the end of its
block. Any other is recorded before each statement that binds it again.

>>> import gast
>>> tree = gast.parse('''
... def f(x, n):
...     for i in range(n):
...         t = x * x
...         x = t + x
...     return x
... ''').body[0]
>>> graph, (loop, _) = Graph(tree), tree.body
>>> lives = Lifetimes(graph, Liveness(graph))
>>> sorted(lives.locals_of[id(loop.body)]), sorted(lives.locals_of[lives.root])
(['t'], ['i', 'n', 'range', 'x'])
>>> lives.is_rebound("t", loop.body[0]), lives.is_rebound("x", loop.body[1])
(False, True)
"""

from __future__ import annotations

import gast

from s2sgrad.flow.graph import Block, Graph, Names, binds
from s2sgrad.flow.liveness import Liveness
from s2sgrad.ir.scoping import parameters


class Lifetimes:
    """Facts about the blocks (by the identity of their statement lists) and the variables of one function.

    `home[name]`: the innermost block that contains all uses. `locals_of[block]`: the names whose home it is, in order of
    appearance. `repeated`: the blocks that run more than once per call (for a loop whose identity is in `once`: more than
    once per trip).  A name is unbound where a trip of its home begins."""

    def __init__(self, graph: Graph, live: Liveness, once: frozenset[int] = frozenset()) -> None:
        self.graph, tree, self.once = graph, graph.tree, once
        self.root = id(tree.body)
        self.blocks: dict[int, Block] = {self.root: tree.body}
        self.parent: dict[int, int] = {}
        self.repeated: set[int] = set()
        self.home: dict[str, int] = {}
        self._mention(tree.body, False)
        for name, block in self.home.items():
            while block != self.root and live.is_live_at(name, graph.entry[block]):  # live on entry: read before it is bound
                block = self.parent[block]
            self.home[name] = block
        for parameter in parameters(tree):
            self.home[parameter.id] = self.root
        self.locals_of: dict[int, list[str]] = {}
        for name, block in self.home.items():
            self.locals_of.setdefault(block, []).append(name)
        self._assign()

    def _mention(self, body: Block, repeated: bool) -> None:
        """Enter the blocks of `body`, and set each home to the common ancestor of the blocks that mention the name."""
        block = id(body)
        if repeated:
            self.repeated.add(block)
        for statement in body:
            for name in [*sorted(self.graph.reads(statement)), *binds(statement)]:
                known = self.home.get(name)
                self.home[name] = block if known is None else self._common(known, block)
            if isinstance(statement, (gast.If, gast.For, gast.While)):
                inside = id(statement) not in self.once and (repeated or not isinstance(statement, gast.If))
                for inner in (statement.body, statement.orelse):
                    self.blocks[id(inner)], self.parent[id(inner)] = inner, block
                    self._mention(inner, inside)

    def _common(self, a: int, b: int) -> int:
        """The innermost block that encloses two."""
        above = {a}
        while a in self.parent:
            a = self.parent[a]
            above.add(a)
        while b not in above:
            b = self.parent[b]
        return b

    def _assign(self) -> None:
        """Solve for the names that may and that must be bound at each point."""
        graph = self.graph
        self.names = Names(self.home)
        gen = [self.names.mask(point.binds) for point in graph.points]
        kill = [0] * len(gen)
        for block, names in self.locals_of.items():
            if block != self.root:
                kill[graph.entry[block]] = self.names.mask(names)
        start = self.names.mask(p.id for p in parameters(graph.tree))
        self._may, _ = graph.forward(gen, kill, start=start)
        self._must, _ = graph.forward(gen, kill, start=start, must=True)

    def is_rebound(self, name: str, statement: gast.AST) -> bool:
        """Whether a name may hold an older value where a statement (for a loop: its header) binds it."""
        return bool(self._may[self.graph.at[id(statement)]] & self.names.mask([name]))

    def is_assigned(self, name: str, statement: gast.AST) -> bool:
        """Whether a name is bound on every path to a statement, or to the header of a compound one."""
        return bool(self._must[self.graph.at[id(statement)]] & self.names.mask([name]))

    def is_assigned_at(self, name: str, point: int) -> bool:
        """Whether a name is bound on every path to a point."""
        return bool(self._must[point] & self.names.mask([name]))

    def unbound_reads(self, statement: gast.AST) -> set[str]:
        """The names that a statement (a compound one: its header) reads although they may be unbound."""
        return {n for n in self.graph.reads(statement) & self.home.keys() if not self.is_assigned(n, statement)}

    def may_end_unbound(self, name: str) -> bool:
        """Whether a name may be unbound where control leaves its home block."""
        missing = self.names.mask([name])
        return any(missing & ~self._must[point] for point in self.graph.leaving[self.home[name]]) if missing else False
