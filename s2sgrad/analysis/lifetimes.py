"""Where each variable lives: the innermost block that holds its whole life, and where it is bound over an old value.

The reverse sweep needs both: a variable that lives inside one trip of a loop is recorded once a trip, at the end of its
block; any other is recorded before each statement that binds it anew.

    for i in range(n):
        t = x * x       # t lives in the body; x, carried from trip to trip, lives outside it and is rebound here
        x = t + x
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.unit import parameters

Block = list[gast.AST]


def binds(statement: gast.AST) -> list[str]:
    """The names that a statement (a compound one: its header) binds or updates, in order; a store binds none."""
    if isinstance(statement, gast.Assign):
        return effects.targets(statement)
    if isinstance(statement, gast.AugAssign):
        return [statement.target.id] if isinstance(statement.target, gast.Name) else []
    return [statement.target.id] if isinstance(statement, gast.For) else []


class Lifetimes:
    """Facts about the blocks (by the identity of their statement lists) and the variables of one function.

    `home[name]`: the block of the whole life; `locals_of[block]`: names at home there, in order of appearance;
    `repeated`: blocks that run more than once a call; `rebinds`: (statement, name) pairs where an older value is
    overwritten; `unsure`: (statement, name) pairs where none may be bound yet; `unsure_end[block]`: names at home there
    that may be unbound at the block's end; `loose[statement]`: names that it reads and that may be unbound then.
    """

    def __init__(self, tree: gast.FunctionDef) -> None:
        self.root = id(tree.body)
        self.blocks: dict[int, Block] = {self.root: tree.body}
        self.parent: dict[int, int] = {}
        self.repeated: set[int] = set()
        self.home: dict[str, int] = {}
        self.rebinds: set[tuple[int, str]] = set()
        self.unsure: set[tuple[int, str]] = set()
        self.unsure_end: dict[int, set[str]] = {}
        self.loose: dict[int, set[str]] = {}
        self._exposed: dict[int, set[str]] = {}
        self._mention(tree.body, False)
        self._expose(tree.body)
        for name, block in self.home.items():
            while block != self.root and name in self._exposed[block]:
                block = self.parent[block]
            self.home[name] = block
        for parameter in parameters(tree):
            self.home[parameter.id] = self.root
        self.locals_of: dict[int, list[str]] = {}
        for name, block in self.home.items():
            self.locals_of.setdefault(block, []).append(name)
        bound = {p.id for p in parameters(tree)}
        self._breaks: list[list[tuple[set[str], set[str]]]] = []
        self._bodies: list[int] = []
        self._unsure_at_break: dict[int, set[str]] = {}
        self._bind(tree.body, set(bound), set(bound))

    def _mention(self, body: Block, repeated: bool) -> None:
        block = id(body)
        if repeated:
            self.repeated.add(block)
        for statement in body:
            for name in [*sorted(effects.reads(statement)), *binds(statement)]:
                known = self.home.get(name)
                self.home[name] = block if known is None else self._common(known, block)
            if isinstance(statement, (gast.If, gast.For, gast.While)):
                inside = repeated or not isinstance(statement, gast.If)
                for inner in (statement.body, statement.orelse):
                    self.blocks[id(inner)], self.parent[id(inner)] = inner, block
                    self._mention(inner, inside)

    def _common(self, a: int, b: int) -> int:
        above = {a}
        while a in self.parent:
            a = self.parent[a]
            above.add(a)
        while b not in above:
            b = self.parent[b]
        return b

    def _expose(self, body: Block) -> tuple[set[str], set[str]]:
        """(read before they are surely bound, surely bound) in the block."""
        exposed: set[str] = set()
        bound: set[str] = set()
        for statement in body:
            exposed |= effects.reads(statement) - bound
            if isinstance(statement, gast.If):
                (e1, b1), (e2, b2) = self._expose(statement.body), self._expose(statement.orelse)
                exposed |= (e1 | e2) - bound
                bound |= b1 & b2
            elif isinstance(statement, (gast.For, gast.While)):
                inner, _ = self._expose(statement.body)
                self._expose(statement.orelse)
                exposed |= inner - bound - set(binds(statement))
            else:
                bound |= set(binds(statement))
        self._exposed[id(body)] = exposed
        return exposed, bound

    def exposed(self, body: Block) -> set[str]:
        """The names that a block may read before it binds them."""
        return self._exposed[id(body)]

    def _bind(self, body: Block, may: set[str], must: set[str]) -> bool:
        """Follow what may and what must be bound through the block (both sets change); False if it ends in a break."""
        block = id(body)
        if block != self.root:
            may.difference_update(self.locals_of.get(block, ()))
            must.difference_update(self.locals_of.get(block, ()))
        goes_on = True
        for statement in body:
            loose = (effects.reads(statement) & self.home.keys()) - must
            if loose:
                self.loose[id(statement)] = loose
            if isinstance(statement, gast.Break):
                self._breaks[-1].append((set(may), set(must)))
                missing = {n for n in self.locals_of.get(self._bodies[-1], ()) if n not in must}
                self._unsure_at_break.setdefault(self._bodies[-1], set()).update(missing)
                goes_on = False
                break
            if isinstance(statement, gast.If):
                arms = []
                for inner in (statement.body, statement.orelse):
                    m1, m2 = set(may), set(must)
                    if self._bind(inner, m1, m2):
                        arms.append((m1, m2))
                if not arms:
                    goes_on = False
                    break
                may |= set().union(*(m for m, _ in arms))
                must.clear()
                must |= set.intersection(*(m for _, m in arms))
            elif isinstance(statement, (gast.For, gast.While)):
                self._loop(statement, may, must)
            else:
                for name in binds(statement):
                    self._note(statement, name, may, must)
        missing = {n for n in self.locals_of.get(block, ()) if n not in must}
        self.unsure_end[block] = missing | self._unsure_at_break.get(block, set())
        return goes_on

    def _note(self, statement: gast.AST, name: str, may: set[str], must: set[str]) -> None:
        if name in may:
            self.rebinds.add((id(statement), name))
        if name not in must:
            self.unsure.add((id(statement), name))
        may.add(name)
        must.add(name)

    def _loop(self, loop: gast.For | gast.While, may: set[str], must: set[str]) -> None:
        for name in binds(loop):
            self._note(loop, name, may, must)
            must.discard(name)
        while True:
            before = set(may)
            self._breaks.append([])
            self._bodies.append(id(loop.body))
            self._bind(loop.body, may_inner := set(may), must | set(binds(loop)))
            self._bodies.pop()
            broken = self._breaks.pop()
            may |= may_inner.union(*(m for m, _ in broken))
            if may == before:
                break
        endless = isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)
        if endless and broken:
            must |= set.intersection(*(m for _, m in broken))
