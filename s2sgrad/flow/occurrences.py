"""The statements that mention each name in a function; updated as statements are replaced.

    v = u[1:]; w = v * x      both mention `v`, the first binds it

>>> import gast
>>> tree = gast.parse('''
... def f(u, x):
...     v = u[1:]
...     w = v * x
...     return w
... ''').body[0]
>>> places = Occurrences(tree)
>>> [gast.unparse(s) for s in places.of("v")], [gast.unparse(s) for s in places.binding("v")]
(['v = u[1:]', 'w = v * x'], ['v = u[1:]'])
>>> places.replace(tree.body[1], gast.parse("w = u[1:] * x").body)
>>> [gast.unparse(s) for s in places.of("v")], len(places.reading("u"))
(['v = u[1:]'], 2)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import COMPOUND, Block, binds


class Occurrences:
    """The statements of a function (of a compound one: the header) by the names that they read or bind, in textual order;
    replacements come last."""

    def __init__(self, tree: gast.FunctionDef) -> None:
        self._statements: dict[str, dict[int, gast.AST]] = {}
        self._reads: dict[int, frozenset[str]] = {}
        self._binds: dict[int, frozenset[str]] = {}
        self._blocks: dict[int, Block] = {}
        self._note(tree.body, tree.body)

    def of(self, name: str) -> list[gast.AST]:
        """The statements that read or bind a name."""
        return list(self._statements.get(name, {}).values())

    def reading(self, name: str) -> list[gast.AST]:
        """The statements that read a name."""
        return [s for s in self.of(name) if name in self._reads[id(s)]]

    def binding(self, name: str) -> list[gast.AST]:
        """The statements that bind or update a name."""
        return [s for s in self.of(name) if name in self._binds[id(s)]]

    def block(self, statement: gast.AST) -> Block:
        """The block that contains a statement."""
        return self._blocks[id(statement)]

    def replace(self, statement: gast.AST, new: list[gast.AST]) -> None:
        """Replace a statement, with those in it, by others; it may be among them, changed or not."""
        body = self.block(statement)
        k = body.index(statement)
        body[k : k + 1] = new
        kept = any(s is statement for s in new)
        mentioned = self._reads[id(statement)] | self._binds[id(statement)]
        for old in () if kept else effects.walk([statement]):
            del self._blocks[id(old)]
            for name in self._reads.pop(id(old)) | self._binds.pop(id(old)):
                del self._statements[name][id(old)]
        self._note(new, body)
        for name in mentioned - (self._reads[id(statement)] | self._binds[id(statement)]) if kept else ():
            del self._statements[name][id(statement)]

    def _note(self, statements: Block, body: Block) -> None:
        """Index statements of a block, and those in them."""
        waiting = [(s, body) for s in reversed(statements)]
        while waiting:
            statement, body = waiting.pop()
            self._blocks[id(statement)] = body
            self._reads[id(statement)] = frozenset(effects.reads(statement))
            self._binds[id(statement)] = frozenset(binds(statement))
            for name in self._reads[id(statement)] | self._binds[id(statement)]:
                self._statements.setdefault(name, {})[id(statement)] = statement
            if isinstance(statement, COMPOUND):
                waiting += [(s, b) for b in (statement.orelse, statement.body) for s in reversed(b)]
