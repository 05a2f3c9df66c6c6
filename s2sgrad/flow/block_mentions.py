"""The positions at which each block mentions each name, nested blocks included; updated as statements change.

    t = x[i]
    for k in range(n): s = s + t          in the outer block, the first statement and the second mention `t`

>>> import gast
>>> tree = gast.parse('''
... t = x[i]
... for k in range(n):
...     s = s + t
...     break
... ''')
>>> mentions, loop = BlockMentions(tree.body), tree.body[1]
>>> mentions.of(tree.body, "t"), mentions.of(loop.body, "t"), mentions.of(tree.body, BREAK)
([0, 1], [0], [1])
>>> loop.body[0].value.right.id = "s"
>>> mentions.changed(loop.body, 0)
>>> mentions.of(tree.body, "t")
[0]
"""

from __future__ import annotations

import bisect

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Block
from s2sgrad.ir.quote import COMPOUND, mentioned

BREAK = "break"  # its positions are those of the statements that contain a `break`


class BlockMentions:
    """The positions of names in the blocks of one function; `BREAK` is indexed like a name.

    Keys are identities: `place[statement]` is the block of a statement and its position there, `holder[block]` the compound
    statement that owns a block.
    """

    def __init__(self, body: Block) -> None:
        self.place: dict[int, tuple[Block, int]] = {}
        self.holder: dict[int, gast.AST] = {}
        self._places: dict[int, dict[str, list[int]]] = {}
        self._names: dict[tuple[int, int], set[str]] = {}
        self._places_of_any: dict[int, dict[frozenset[str], list[int]]] = {}
        waiting, blocks = [body], []
        while waiting:
            block = waiting.pop()
            blocks.append(block)
            for k, statement in enumerate(block):
                self.place[id(statement)] = block, k
                if isinstance(statement, COMPOUND):
                    waiting += [statement.body, statement.orelse]
                    self.holder |= {id(inner): statement for inner in waiting[-2:]}
        for block in reversed(blocks):  # inner blocks first
            places = self._places[id(block)] = {}
            for k in range(len(block)):
                self._names[id(block), k] = self._mentioned_at(block, k)
                for name in self._names[id(block), k]:
                    places.setdefault(name, []).append(k)

    def of(self, block: Block, name: str, start: int = 0) -> list[int]:
        """The positions in a block, from `start` on, of the statements that mention a name."""
        places = self._places[id(block)].get(name, [])
        return places[bisect.bisect_left(places, start) :]

    def of_any(self, block: Block, names: frozenset[str], start: int = 0) -> list[int]:
        """The positions in a block, from `start` on, of the statements that mention at least one of the names."""
        known = self._places_of_any.setdefault(id(block), {})
        if names not in known:
            known[names] = sorted(set().union(*(self._places[id(block)].get(name, ()) for name in names)))
        places = known[names]
        return places[bisect.bisect_left(places, start) :]

    def changed(self, block: Block, k: int) -> None:
        """Index a changed or new statement again, and the compound statements around it as far as their names change."""
        self.place[id(block[k])] = block, k
        self._places_of_any.pop(id(block), None)
        before, now = self._names[id(block), k], self._mentioned_at(block, k)
        places = self._places[id(block)]
        for name in before - now:
            places[name].remove(k)
            if not places[name]:
                del places[name]
        for name in now - before:
            bisect.insort(places.setdefault(name, []), k)
        self._names[id(block), k] = now
        if now != before and id(block) in self.holder:
            self.changed(*self.place[id(self.holder[id(block)])])

    def _mentioned_at(self, block: Block, k: int) -> set[str]:
        """The names that a statement mentions, nested blocks included."""
        statement = block[k]
        if isinstance(statement, gast.Break):
            return {BREAK}
        if not isinstance(statement, COMPOUND):
            return mentioned(statement)
        names = mentioned(effects.header(statement))
        if isinstance(statement, gast.For):
            names.add(statement.target.id)
        return names.union(self._places[id(statement.body)], self._places[id(statement.orelse)])
