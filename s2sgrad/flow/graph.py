"""The control-flow graph of a function in normal form, and the solver for dataflow facts over it.

A point is one evaluation: of a simple statement, of the test of an `if` or a `while`, of the iterable of a `for`.  Other
points evaluate nothing: the end of a block or of the function, the head of a `for`, which decides on the next trip.  Neither
does the entry of a block, which binds the variable of a `for`.

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

Sets are integers with one bit per member, so that a join takes a few machine words.  The graphs are structured: a fact
converges after one round more than loops are nested.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.kept_facts import KeptFacts
from s2sgrad.ir.quote import COMPOUND, IS_COMPOUND, LOOPS

Block = list[gast.AST]
State = TypeVar("State")
Result = TypeVar("Result")
# What builds a part of a graph asks for the blocks in it, and is told their last points.
_Building = Generator[tuple[Block, list[int], gast.AST], Any, Result]
_BRANCHING = IS_COMPOUND | {gast.Raise, gast.Break}
Role = Literal["whole", "head", "enter", "leave", "exit"]


@dataclass(eq=False, slots=True)
class Point:
    """An evaluation (role "whole") of a statement or of its header, or a point between two; `reads` and `binds` are names.

    At the entry of a block, `statement` is the compound statement that owns it, None for the body of the function.
    """

    role: Role
    statement: gast.AST | None
    reads: frozenset[str] = frozenset()
    binds: tuple[str, ...] = ()

    @property
    def is_header(self) -> bool:
        """Whether the point evaluates the header of a compound statement."""
        return self.role == "whole" and isinstance(self.statement, COMPOUND)


def evaluation(statement: gast.AST, kept: KeptFacts | None) -> Point:
    """The evaluation of a statement, or of the header of a compound one."""
    known = {} if kept is None else kept.of(statement)
    if (point := known.get(Point)) is None:
        bound = () if type(statement) in IS_COMPOUND else tuple(binds(statement))
        point = known[Point] = Point("whole", statement, frozenset(effects.reads(statement)), bound)
    return point


class Graph:
    """Points in textual order; `after` and `before` are edges.  What is `kept` of statements is not asked of them again.

    By the identity of a statement: `at`, its point.  By the identity of a block: `entry`, its first point, and `leaving`,
    the points where control may leave it: its end and the `break`s in it."""

    def __init__(self, tree: gast.FunctionDef, kept: KeptFacts | None = None) -> None:
        self.tree, self._kept = tree, kept
        self.points: list[Point] = []
        self.after: list[list[int]] = []
        self.at: dict[int, int] = {}
        self.entry: dict[int, int] = {}
        self.leaving: dict[int, list[int]] = {}
        self._breaks: list[list[int]] = []  # of the enclosing loops
        self._within: list[list[Block]] = [[]]  # for each enclosing loop: the blocks inside it that a `break` leaves
        self._raising: list[int] = []
        self.end = last = self._built(tree.body)
        self.exit = self._point(Point("exit", None), [last, *self._raising])
        self.before: list[list[int]] = [[] for _ in self.points]
        self.is_cyclic = False
        for k, targets in enumerate(self.after):
            for target in targets:
                self.before[target].append(k)
                self.is_cyclic = self.is_cyclic or target <= k

    def _point(self, point: Point, before: Iterable[int]) -> int:
        """Add a point with edges from those `before`; its number."""
        number = len(self.points)
        self.points.append(point)
        self.after.append([])
        for k in before:
            self.after[k].append(number)
        return number

    def _built(self, body: Block) -> int:
        """Add the block of the function; the number of its last point.  Blocks may nest deeper than calls."""
        waiting: list[_Building[int]] = [self._block(body, [], None)]
        end: Any = None
        while waiting:
            try:
                inner = waiting[-1].send(end)
            except StopIteration as done:
                waiting.pop()
                end = done.value
            else:
                waiting.append(self._block(*inner))
                end = None
        last: int = end
        return last

    def _block(self, body: Block, before: Iterable[int], holder: gast.AST | None) -> _Building[int]:
        """Add a block, of a compound statement or of the function; the number of its last point."""
        bound = (holder.target.id,) if isinstance(holder, gast.For) else ()
        self.entry[id(body)] = here = self._point(Point("enter", holder, binds=bound), before)
        self.leaving[id(body)] = []
        self._within[-1].append(body)
        last = [here]
        for statement in body:
            here = self._point(evaluation(statement, self._kept), last)
            self.at[id(statement)] = here
            last = [here] if type(statement) not in _BRANCHING else (yield from self._branching(statement, here))
        self._within[-1].pop()
        end = self._point(Point("leave", None), last)
        self.leaving[id(body)].append(end)
        return end

    def _branching(self, statement: gast.AST, here: int) -> _Building[list[int]]:
        """Add what follows the evaluation of a statement that control may leave in several ways, or in another one than to
        the next; the points from which control continues behind it."""
        kind = type(statement)
        if kind is gast.If:
            ends = []
            for arm in (statement.body, statement.orelse):
                ends.append((yield arm, [here], statement))
            return ends
        if kind in LOOPS:
            head = self._point(Point("head", statement), [here]) if kind is gast.For else here
            self._breaks.append([])
            self._within.append([])
            end = yield statement.body, [head], statement
            self.after[end].append(head)
            self._within.pop()
            broken = self._breaks.pop()
            return broken if broken and is_endless(statement) else [head, *broken]
        if kind is gast.Raise:
            self._raising.append(here)
            return []
        self._breaks[-1].append(here)
        for body in self._within[-1]:
            self.leaving[id(body)].append(here)
        return []

    def replace(self, old: gast.AST, new: gast.AST) -> None:
        """Note that a simple statement stands where another one stood, or that one (of a compound one the header) says
        something else now."""
        self.at[id(new)] = here = self.at.pop(id(old))
        if self._kept is not None:
            self._kept.changed(old)
        self.points[here] = evaluation(new, self._kept)

    def reads(self, statement: gast.AST) -> frozenset[str]:
        """The names that a statement, or the header of a compound one, reads."""
        return self.points[self.at[id(statement)]].reads

    def goes_on(self, body: Block) -> bool:
        """Whether some path through a block reaches the end of the function without raising."""
        return bool(self._ending[self.entry[id(body)]])

    @functools.cached_property
    def _ending(self) -> list[int]:
        """Nonzero for the points from which the regular end of the function can be reached."""
        nothing = [0] * len(self.points)
        into, _ = self.backward([int(k == self.end) for k in range(len(nothing))], nothing)
        return into

    # --- the solver ---

    def forward(self, gen: list[int], kill: list[int], *, start: int = 0, must: bool = False) -> tuple[list[int], list[int]]:
        """The facts before and behind each point, as two lists of sets: on some path to it or, with `must`, on all paths.

        `start` holds on entry to the function.  At unreachable points the result is top with `must`, the empty set without.
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
        """The facts before and behind each point that hold on some path from it to the end."""
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
        """The state before each point, for states of any type; None where a point is unreachable.

        `after(k, state)` is the transfer function of point k; it returns `state` itself where the point changes nothing.
        `joined(a, b)` is the join.

        Without `keep` the state of a point with a single incoming edge is dropped once its successors have it, for callers
        that look at states only in `after`."""
        into: list[State | None] = [None] * len(self.points)
        into[0] = start
        ways = Counter(target for targets in self.after for target in targets)
        waiting = {0}
        while waiting:
            for k in range(len(self.points)):
                if k not in waiting:
                    continue
                waiting.discard(k)
                state: Any = into[k]
                if not keep and ways[k] == 1 and k != 0:
                    into[k] = None
                state = after(k, state)
                for target in self.after[k]:
                    old = into[target]
                    alone = ways[target] == 1 and target != 0  # its only predecessor has grown, so there is nothing to join
                    new = state if old is None or old is state or alone else joined(old, state)
                    if old is None or (new is not old and new != old):
                        into[target] = new
                        waiting.add(target)
        return into

    def backward_by(self, step: Callable[[int, int], int], into: list[int], waiting: Waiting) -> None:
        """Solve a backward problem whose transfer function is more than gen and kill.

        `step(k, then)`: the set before point k if `then` holds behind it; it must be monotone.  `into` holds what is known
        so far and is updated in place, starting at the points in `waiting`, to which a step may add."""

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
                if head <= k and head not in heads:  # the end of a trip sees what is behind the loop: visit the head first
                    heads.add(head)
                    visit(head)
            visit(k)


class Waiting:
    """A worklist of those points that matter, taken from the last to the first.

    >>> waiting = Waiting(range(3))
    >>> waiting.last(), waiting.add(2), waiting.add(7), waiting.last(), waiting.last()
    (2, None, None, 2, 1)
    """

    def __init__(self, points: Collection[int]) -> None:
        self.points = points
        self._known = set(points)
        self._heap = sorted(-k for k in points)

    def add(self, point: int) -> None:
        """Schedule a point again."""
        if point in self.points and point not in self._known:
            self._known.add(point)
            heapq.heappush(self._heap, -point)

    def last(self) -> int | None:
        """Remove and return the last point; None where the list is empty."""
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
    """Sets of some names as integers, one bit per name in order; other names are ignored.

    >>> names = Names(["x", "y", "z"])
    >>> names.mask(["z", "x", "other"]), sorted(names.decoded(0b110))
    (5, ['y', 'z'])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self.bit = {name: 1 << k for k, name in enumerate(self.names)}

    def member(self, name: str) -> int:
        """The singleton set of a name; a new name gets a bit."""
        if name not in self.bit:
            self.bit[name] = 1 << len(self.names)
            self.names.append(name)
        return self.bit[name]

    def mask(self, names: Iterable[str]) -> int:
        """The set of those names that have a bit."""
        out = 0
        for name in names:
            out |= self.bit.get(name, 0)
        return out

    def interned(self, names: Iterable[str]) -> int:
        """The set of all these names; new ones get bits."""
        out = 0
        for name in names:
            if name not in self.bit:
                self.bit[name] = 1 << len(self.names)
                self.names.append(name)
            out |= self.bit[name]
        return out

    def decoded(self, members: int) -> frozenset[str]:
        """The names in a set."""
        if 4 * members.bit_count() > members.bit_length():  # dense: decode all binary digits at once, lowest first
            return frozenset(itertools.compress(self.names, map("1".__eq__, bin(members)[:1:-1])))
        return frozenset([self.names[k] for k in bits(members)])


def bits(members: int) -> Iterator[int]:
    """The indices of the set bits, from the lowest."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def binds(statement: gast.AST) -> list[str]:
    """The names that a statement (a compound one: its header) binds or updates, in order; a store binds none."""
    kind = type(statement)
    if kind is gast.Assign:
        return effects.targets(statement)
    if kind is gast.AugAssign:
        return [statement.target.id] if type(statement.target) is gast.Name else []
    return [statement.target.id] if kind is gast.For else []
