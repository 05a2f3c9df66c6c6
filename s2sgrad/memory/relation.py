"""A mutable binary relation of names, stored as bit sets in both directions and cheap to copy.

>>> from s2sgrad.flow.graph import Names
>>> names = Names(["x", "p", "q"])
>>> holds = Relation(names)
>>> holds.add("x", names.mask(["p", "q"]))
>>> sorted(names.decoded(holds.of("x"))), sorted(names.decoded(holds.to("q")))
(['p', 'q'], ['x'])
>>> later = holds.copy()
>>> later.drop("p")
>>> sorted(names.decoded(later.of("x"))), later == holds
(['q'], False)
"""

from __future__ import annotations

from s2sgrad.flow.graph import Names

_Sets = dict[str, int]  # none of them is empty


class Relation:
    """Pairs of different names; a `symmetric` relation contains each pair in both directions."""

    __slots__ = ("_of", "_to", "names")

    def __init__(self, names: Names, symmetric: bool = False) -> None:
        self.names = names
        self._of: _Sets = {}
        self._to: _Sets = self._of if symmetric else {}

    def of(self, name: str) -> int:
        """The names to which this one is related."""
        return self._of.get(name, 0)

    def to(self, name: str) -> int:
        """The names that are related to this one."""
        return self._to.get(name, 0)

    def add(self, name: str, others: int) -> None:
        """Relate a name to others."""
        bit, known = self.names.member(name), self.of(name)
        new = others & ~bit & ~known
        if new:
            self._of[name], back = known | new, self._to
            for other in self.names.decoded(new):
                back[other] = back.get(other, 0) | bit

    def add_to(self, name: str, others: int) -> None:
        """Relate others to a name."""
        bit, known = self.names.member(name), self.to(name)
        new = others & ~bit & ~known
        if new:
            self._to[name], back = known | new, self._of
            for other in self.names.decoded(new):
                back[other] = back.get(other, 0) | bit

    def drop(self, name: str) -> None:
        """Remove all pairs of a name."""
        for one, back in ((self._of, self._to), (self._to, self._of)):
            for other in self.names.decoded(one.pop(name, 0)):
                left = back[other] & ~self.names.member(name)
                if left:
                    back[other] = left
                else:
                    del back[other]

    def mentions(self, name: str) -> bool:
        """Whether a name occurs in any pair."""
        return name in self._of or name in self._to

    def pairs(self) -> list[tuple[str, int]]:
        """Each name with the set that it is related to, where that is not empty."""
        return list(self._of.items())

    def renamed(self, new: dict[str, str]) -> Relation:
        """The relation after a permutation of names: `new` maps the old name to the new one.

        >>> holds = Relation(Names(["x", "p", "q"]))
        >>> holds.add("x", holds.names.mask(["p"]))
        >>> turned = holds.renamed({"p": "q", "q": "p"})
        >>> [sorted(holds.names.decoded(s)) for s in (turned.of("x"), turned.to("q"), turned.to("p"))]
        [['q'], ['x'], []]
        """
        moved = [(self.names.member(old), self.names.member(name)) for old, name in new.items()]
        among = self.names.mask(new)

        def permuted(others: int) -> int:
            if not others & among:
                return others
            after = others & ~among
            for old, bit in moved:
                after |= bit if others & old else 0
            return after

        out = Relation(self.names)
        out._of = {new.get(name, name): permuted(others) for name, others in self._of.items()}
        symmetric = self._to is self._of
        out._to = out._of if symmetric else {new.get(name, name): permuted(s) for name, s in self._to.items()}
        return out

    def copy(self) -> Relation:
        """A copy that may be changed independently."""
        out = Relation(self.names)
        out._of = self._of.copy()
        out._to = out._of if self._to is self._of else self._to.copy()
        return out

    def __or__(self, other: Relation) -> Relation:
        out = self.copy()
        for mine, more in ((out._of, other._of), *([] if self._to is self._of else [(out._to, other._to)])):
            for name, others in more.items():
                mine[name] = mine.get(name, 0) | others
        return out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relation) and self._of == other._of

    __hash__ = None  # type: ignore[assignment]
