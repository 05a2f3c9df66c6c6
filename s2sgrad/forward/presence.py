"""Which tangents may be nonzero at each point; only these are written.

    s = 0.0
    for i in range(n):      ->      the tangent of `s` exists before the loop, because a later trip has one
        s = s + x[i]

>>> import gast
>>> from s2sgrad.analysis.primitive_calls import Operation
>>> from s2sgrad.flow.facts import Facts
>>> tree = gast.parse('''
... def f(x, n):
...     s = n
...     for i in n:
...         s = x
...     return s
... ''').body[0]
>>> first, loop, last = tree.body
>>> atoms = {id(s): Operation("atom", s.value) for s in (first, *loop.body)}
>>> presence = Presence(Facts(tree), atoms, {"x", "s"}, {"x"})
>>> sorted(presence.at_loop(loop)), sorted(presence.before(first))
(['s', 'x'], ['x'])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.passing import carriers
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Block, Point, is_endless

Names = frozenset[str]


class Presence:
    """The `active` variables of one function whose tangents may be nonzero; on entry, those that are `given`."""

    def __init__(
        self, facts: Facts, operations: Operations, active: set[str], given: set[str], mirrored: Collection[str] = ()
    ) -> None:
        self.graph, self.live, self.operations, self.active = facts.graph, facts.liveness, operations, active
        self.mirrored = active.intersection(mirrored)  # present wherever they are bound
        start = frozenset(given & active) | self.mirrored
        self.into: list[Names | None] = self.graph.solve(start, self._after, frozenset.union)

    def _after(self, k: int, state: Names) -> Names:
        """The transfer function of a point."""
        point = self.graph.points[k]
        if point.role == "enter":
            return state.difference(point.binds)
        if point.role != "whole" or point.is_header:
            return state
        return self._behind(point, state)

    def _behind(self, point: Point, state: Names) -> Names:
        """The state behind a simple statement."""
        statement: Any = point.statement
        section = effects.stored(statement)
        if section is not None:
            stored = any(n.id in state for n in effects.loads(statement.value))
            return state | ({effects.base(section)} & self.active) if stored else state
        if effects.permutes(statement):
            pairs = zip(statement.targets[0].elts, statement.value.elts, strict=True)
            moved = {t.id for t, v in pairs if v.id in state}
            return state.difference(point.binds) | moved
        operation = self.operations.get(id(statement))
        if operation is None:
            return state.difference(point.binds) | self.mirrored.intersection(point.binds)
        if operation.form in ("push", "grow"):
            owner, value = operation.operands
            pushed = isinstance(value, gast.Name) and value.id in state
            return state | ({effects.base(owner)} & self.active) if pushed else state
        carries = not state.isdisjoint(carriers(operation))
        new = (self.active if carries else self.mirrored).intersection(point.binds)
        return state.difference(point.binds) | new if point.binds else state

    # --- queries ---

    def before(self, statement: gast.AST) -> Names:
        """The variables that are present on entry to a statement."""
        return self.into[self.graph.at[id(statement)]] or frozenset()

    def behind_arms(self, arms: Iterable[Block]) -> Names:
        """The variables that are present and live behind the branches of an `if`."""
        ends = [self.end(arm) for arm in arms]
        return self._present_and_live(t for end in ends if self.reached(end) for t in self.graph.after[end])

    def at_loop(self, loop: gast.For | gast.While) -> Names:
        """The variables that are present and live at the head of a loop, or behind the loop."""
        return self._present_and_live([self._head(loop), *self._exits(loop)])

    def behind_loop(self, loop: gast.For | gast.While) -> Names:
        """The variables that are present and live behind a loop."""
        return self._present_and_live(self._exits(loop))

    def goes_on(self, block: Block) -> bool:
        """Whether the end of a block is reachable."""
        return self.reached(self.end(block))

    def reached(self, point: int) -> bool:
        """Whether a point is reachable."""
        return self.into[point] is not None

    def end(self, block: Block) -> int:
        """The point at the end of a block."""
        points = self.graph.leaving[id(block)]
        return next(k for k in points if self.graph.points[k].role == "leave")

    def _head(self, loop: gast.For | gast.While) -> int:
        here = self.graph.at[id(loop)]
        return here + 1 if isinstance(loop, gast.For) else here

    def _exits(self, loop: gast.For | gast.While) -> set[int]:
        head, entry, end = self._head(loop), self.graph.entry[id(loop.body)], self.end(loop.body)
        broken = [k for k in self.graph.leaving[id(loop.body)] if k != end]
        ways = broken if broken and is_endless(loop) else [head, *broken]
        return {t for k in ways if self.reached(k) for t in self.graph.after[k]} - {entry}

    def _present_and_live(self, points: Iterable[int]) -> Names:
        """The variables that are present at one of these points and live there."""
        out: set[str] = set()
        for k in points:
            state, live = self.into[k] or frozenset(), self.live.names.decoded(self.live.before_point[k])
            out |= state & live
        return frozenset(out)
