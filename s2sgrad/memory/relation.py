"""A relation of names that is changed in a few places and kept as it was before: sets of names by name, both ways.

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
    """Pairs of different names; with `symmetric` each of them both ways."""

    __slots__ = ("_of", "_to", "names")

    def __init__(self, names: Names, symmetric: bool = False) -> None:
        self.names = names
        self._of: _Sets = {}
        self._to: _Sets = self._of if symmetric else {}

    def of(self, name: str) -> int:
        """The names to which this one stands in the relation."""
        return self._of.get(name, 0)

    def to(self, name: str) -> int:
        """The names that stand in the relation to this one."""
        return self._to.get(name, 0)

    def add(self, name: str, others: int) -> None:
        """A name stands in the relation to others from now on."""
        bit, known = self.names.member(name), self.of(name)
        new = others & ~bit & ~known
        if new:
            self._of[name], back = known | new, self._to
            for other in self.names.decoded(new):
                back[other] = back.get(other, 0) | bit

    def add_to(self, name: str, others: int) -> None:
        """Others stand in the relation to a name from now on."""
        bit, known = self.names.member(name), self.to(name)
        new = others & ~bit & ~known
        if new:
            self._to[name], back = known | new, self._of
            for other in self.names.decoded(new):
                back[other] = back.get(other, 0) | bit

    def drop(self, name: str) -> None:
        """A name stands in the relation to none, and none to it."""
        for one, back in ((self._of, self._to), (self._to, self._of)):
            for other in self.names.decoded(one.pop(name, 0)):
                left = back[other] & ~self.names.member(name)
                if left:
                    back[other] = left
                else:
                    del back[other]

    def mentions(self, name: str) -> bool:
        """Whether a name stands in the relation to any, or any to it."""
        return name in self._of or name in self._to

    def pairs(self) -> list[tuple[str, int]]:
        """All names that stand in it to others, with these."""
        return list(self._of.items())

    def renamed(self, new: dict[str, str]) -> Relation:
        """The relation among names of which some have changed places."""
        out = Relation(self.names, self._to is self._of)
        moved = [(self.names.member(old), self.names.member(name)) for old, name in new.items()]
        among = self.names.mask(new)
        for name, others in self._of.items():
            after = others & ~among
            for old, bit in moved:
                after |= bit if others & old else 0
            out.add(new.get(name, name), after)
        return out

    def copy(self) -> Relation:
        """The same relation, to be changed."""
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
