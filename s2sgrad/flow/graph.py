"""The control-flow graph of a function in normal form, and the solver for facts that follow its edges.

A point is one evaluation: of a simple statement, of the test of an `if` or a `while`, of what a `for` runs over.  Besides
there are points without an evaluation: the head of a `for`, where the next trip is decided; the entry of a block, which
binds the variable of a `for`; the end of a block; the end of the function.

>>> import gast
>>> graph = Graph(gast.parse('''
... def f(x):
...     while x > 1.0:
...         x = x * 0.5
...     return x
... ''').body[0])
>>> for k, point in enumerate(graph.points):
...     print(k, point.role, graph.after[k])
0 enter [1]
1 whole [2, 5]
2 enter [3]
3 whole [4]
4 leave [1]
5 whole [6]
6 leave [7]
7 exit []

Sets are integers, one bit a member, so that joining two of them takes a few machine words.  The graphs are structured: a
fact settles after as many rounds as loops are nested, and one.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.quote import COMPOUND

Block = list[gast.AST]
State = TypeVar("State")
Role = Literal["whole", "head", "enter", "leave", "exit"]


@dataclass(eq=False, slots=True)
class Point:
    """An evaluation (`whole`) of a statement or of its header, or a place between two: `reads` and `binds` are names.

    At the entry of a block `statement` is what holds it, None for the function's own.
    """

    role: Role
    statement: gast.AST | None
    reads: frozenset[str] = frozenset()
    binds: tuple[str, ...] = ()

    @property
    def is_header(self) -> bool:
        """Whether it is the evaluation of the header of a compound statement."""
        return self.role == "whole" and isinstance(self.statement, COMPOUND)


class Graph:
    """Points in textual order; `after` and `before` are edges.

    By the identity of statements: `at`, their points.  By the identity of blocks: `entry`, where they begin, and `leaving`,
    where control may leave them: their end and the `break`s in them.
    """

    def __init__(self, tree: gast.FunctionDef) -> None:
        self.tree = tree
        self.points: list[Point] = []
        self.after: list[list[int]] = []
        self.at: dict[int, int] = {}
        self.entry: dict[int, int] = {}
        self.leaving: dict[int, list[int]] = {}
        self._breaks: list[list[int]] = []  # of the loops around
        self._within: list[list[Block]] = [[]]  # by such a loop: the blocks around that a `break` leaves
        self._raising: list[int] = []
        self.end = last = self._block(tree.body, [], None)
        self.exit = self._point(Point("exit", None), [last, *self._raising])
        self.before: list[list[int]] = [[] for _ in self.points]
        self.is_cyclic = False
        for k, targets in enumerate(self.after):
            for target in targets:
                self.before[target].append(k)
                self.is_cyclic = self.is_cyclic or target <= k

    def _point(self, point: Point, before: Iterable[int]) -> int:
        number = len(self.points)
        self.points.append(point)
        self.after.append([])
        for k in before:
            self.after[k].append(number)
        return number

    def _block(self, body: Block, before: Iterable[int], holder: gast.AST | None) -> int:
        """Add a block, of a compound statement or of the function; the point of its end."""
        bound = (holder.target.id,) if isinstance(holder, gast.For) else ()
        self.entry[id(body)] = here = self._point(Point("enter", holder, binds=bound), before)
        self.leaving[id(body)] = []
        self._within[-1].append(body)
        last = [here]
        for statement in body:
            last = self._statement(statement, last)
        self._within[-1].pop()
        end = self._point(Point("leave", None), last)
        self.leaving[id(body)].append(end)
        return end

    def _statement(self, statement: gast.AST, before: list[int]) -> list[int]:
        """Add a statement; the points from which control goes on behind it."""
        reads = frozenset(effects.reads(statement))
        if isinstance(statement, COMPOUND):
            here = self._point(Point("whole", statement, reads), before)
        else:
            here = self._point(Point("whole", statement, reads, tuple(binds(statement))), before)
        self.at[id(statement)] = here
        if isinstance(statement, gast.If):
            return [self._block(arm, [here], statement) for arm in (statement.body, statement.orelse)]
        if isinstance(statement, (gast.For, gast.While)):
            head = self._point(Point("head", statement), [here]) if isinstance(statement, gast.For) else here
            self._breaks.append([])
            self._within.append([])
            end = self._block(statement.body, [head], statement)
            self.after[end].append(head)
            self._within.pop()
            broken = self._breaks.pop()
            return broken if broken and is_endless(statement) else [head, *broken]
        if isinstance(statement, gast.Raise):
            self._raising.append(here)
            return []
        if isinstance(statement, gast.Break):
            self._breaks[-1].append(here)
            for body in self._within[-1]:
                self.leaving[id(body)].append(here)
            return []
        return [here]

    def reads(self, statement: gast.AST) -> frozenset[str]:
        """The names that a statement, or the header of one, reads."""
        return self.points[self.at[id(statement)]].reads

    def goes_on(self, body: Block) -> bool:
        """Whether some way through a block leads to the end of the function, and does not raise before."""
        return bool(self._ending[self.entry[id(body)]])

    @functools.cached_property
    def _ending(self) -> list[int]:
        nothing = [0] * len(self.points)
        into, _ = self.backward([int(k == self.end) for k in range(len(nothing))], nothing)
        return into

    # --- the solver ---

    def forward(self, gen: list[int], kill: list[int], *, start: int = 0, must: bool = False) -> tuple[list[int], list[int]]:
        """What holds before and behind each point: on some way to it or, with `must`, on all.

        `start` holds at the beginning of the function.  Where no way leads everything holds that must, and nothing that may.
        """
        top = -1 if must else 0
        into, out = [top] * len(self.points), [top] * len(self.points)
        into[0] = start
        changed = True
        while changed:
            changed = False
            for k, before in enumerate(self.before):
                here = into[0] if k == 0 else out[before[0]] if len(before) == 1 else _joined([out[b] for b in before], must)
                then = (here & ~kill[k]) | gen[k]
                if here != into[k] or then != out[k]:
                    into[k], out[k], changed = here, then, self.is_cyclic
        return into, out

    def backward(self, gen: list[int], kill: list[int]) -> tuple[list[int], list[int]]:
        """What holds before and behind each point on some way from it to the end."""
        into, out = [0] * len(self.points), [0] * len(self.points)
        changed = True
        while changed:
            changed = False
            for k in range(len(self.points) - 1, -1, -1):
                after = self.after[k]
                then = into[after[0]] if len(after) == 1 else _joined([into[a] for a in after], False)
                here = (then & ~kill[k]) | gen[k]
                if here != into[k] or then != out[k]:
                    into[k], out[k], changed = here, then, self.is_cyclic
        return into, out

    def solve(
        self, start: State, after: Callable[[int, State], State], joined: Callable[[State, State], State], keep: bool = True
    ) -> list[State | None]:
        """What holds before each point, in whatever form; None where no way leads.

        Without `keep`, for who looks at states only on the way, one is let go of behind a point with a single way to it.

        `after(k, state)` holds behind a point; it is `state` itself where the point changes nothing.  `joined(a, b)` holds
        where a or b does.
        """
        into: list[State | None] = [None] * len(self.points)
        into[0] = start
        ways = Counter(target for targets in self.after for target in targets)
        waiting = {0}
        while waiting:
            for k in range(len(self.points)):
                if k not in waiting:
                    continue
                waiting.discard(k)
                state = into[k]
                if not keep and ways[k] == 1 and k != 0:
                    into[k] = None
                state = after(k, state)
                for target in self.after[k]:
                    old = into[target]
                    alone = ways[target] == 1 and target != 0  # what held there before has grown: it need not be joined
                    new = state if old is None or old is state or alone else joined(old, state)
                    if old is None or (new is not old and new != old):
                        into[target] = new
                        waiting.add(target)
        return into

    def backward_by(self, step: Callable[[int, int], int], into: list[int], waiting: Waiting) -> None:
        """Find what holds before each point where that is more than a matter of what is made and taken away there.

        `step(k, then)`: what holds before a point if `then` holds behind it; the more holds there, the more here.  `into` is
        what is known so far, and filled in place, beginning at the points that are `waiting`; to these a step may add.
        """


        def visit(k: int) -> None:
            after = self.after[k]
            here = step(k, into[after[0]] if len(after) == 1 else _joined([into[a] for a in after], False))
            if here != into[k]:
                into[k] = here
                for before in self.before[k]:
                    waiting.add(before)

        heads: set[int] = set()
        while (k := waiting.last()) is not None:
            for head in self.after[k]:
                if head <= k and head not in heads:  # what holds behind a loop holds at the end of a trip: begin with that
                    heads.add(head)
                    visit(head)
            visit(k)


class Waiting:
    """The points that are still to be looked at, of some that alone matter: from the last to the first.

    >>> waiting = Waiting(range(3))
    >>> waiting.last(), waiting.add(2), waiting.add(7), waiting.last(), waiting.last()
    (2, None, None, 2, 1)
    """

    def __init__(self, points: Collection[int]) -> None:
        self.points = points
        self._known = set(points)
        self._heap = sorted(-k for k in points)

    def add(self, point: int) -> None:
        """Look at a point again."""
        if point in self.points and point not in self._known:
            self._known.add(point)
            heapq.heappush(self._heap, -point)

    def last(self) -> int | None:
        """Take off the last point; None where none is left."""
        if not self._heap:
            return None
        point = -heapq.heappop(self._heap)
        self._known.discard(point)
        return point


def _joined(sets: list[int], must: bool) -> int:
    out = -1 if must else 0
    for one in sets:
        out = out & one if must else out | one
    return out


def is_endless(loop: gast.AST) -> bool:
    """Whether this is `while True`, which only a `break` leaves."""
    return isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)


class Names:
    """Sets of some names as integers: a bit for each, in order; other names are left out.

    >>> names = Names(["x", "y", "z"])
    >>> names.mask(["z", "x", "other"]), sorted(names.decoded(0b110))
    (5, ['y', 'z'])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self.bit = {name: 1 << k for k, name in enumerate(self.names)}

    def member(self, name: str) -> int:
        """The set of one name, which is added where it is new."""
        if name not in self.bit:
            self.bit[name] = 1 << len(self.names)
            self.names.append(name)
        return self.bit[name]

    def mask(self, names: Iterable[str]) -> int:
        """The set of these names."""
        out = 0
        for name in names:
            out |= self.bit.get(name, 0)
        return out

    def interned(self, names: Iterable[str]) -> int:
        """The set of these names; those that are new get a bit."""
        out = 0
        for name in names:
            if name not in self.bit:
                self.bit[name] = 1 << len(self.names)
                self.names.append(name)
            out |= self.bit[name]
        return out

    def decoded(self, members: int) -> frozenset[str]:
        """The names in a set."""
        if 4 * members.bit_count() > members.bit_length():  # many of them: all digits at once, the lowest first
            return frozenset(itertools.compress(self.names, map("1".__eq__, bin(members)[:1:-1])))
        return frozenset([self.names[k] for k in bits(members)])


def bits(members: int) -> Iterator[int]:
    """The numbers of the members of a set, from the lowest."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def binds(statement: gast.AST) -> list[str]:
    """The names that a statement (a compound one: its header) binds or updates, in order; a store binds none."""
    if isinstance(statement, gast.Assign):
        return effects.targets(statement)
    if isinstance(statement, gast.AugAssign):
        return [statement.target.id] if isinstance(statement.target, gast.Name) else []
    return [statement.target.id] if isinstance(statement, gast.For) else []


def binding_counts(body: Block) -> Counter[str]:
    """How many statements of a block, those in others included, bind or update each name."""
    return Counter(name for statement in effects.walk(body) for name in binds(statement))


def bound_once(body: Block) -> dict[str, gast.Assign]:
    """By name, in textual order: the assignment that alone binds it, and nothing updates it.

    >>> import gast
    >>> list(bound_once(gast.parse("a = 1; b = a; b += a; c, d = a, b").body))
    ['a', 'c', 'd']
    """
    counts = binding_counts(body)
    assigned = (s for s in effects.walk(body) if isinstance(s, gast.Assign))
    return {name: s for s in assigned for name in effects.targets(s) if counts[name] == 1}
