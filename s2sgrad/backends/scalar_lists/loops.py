"""Which loops read and write single elements of arrays, all of them, and nothing else of these arrays.

for i in range(1, len(x)):
    y[i] = y[i - 1] + x[i]        ->      {"x", "y"}
for i in range(3):
    x[i] = w @ z[i]               ->      nothing: three elements, and rows of z
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.elements import element_of
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.backends.scalar_lists.nested_kinds import NestedKinds
from s2sgrad.backends.scalar_lists.own_numbers import gives_number
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import LOOPS, blocks, children, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.primitives import libraries
from s2sgrad.regions.trip_counts import Sizes, Trips

YIELDS = {"float64": float, "int64": int, "bool": bool}
_MOSTLY = 2  # as many elements as sections and calls, which take longer
_QUICK = (len, min, max, abs, float, int, range, reversed)


@dataclass(eq=False)
class Plan:
    """A loop, the arrays of which it reads or writes elements alone, and those that it swaps among them."""

    loop: gast.AST
    arrays: set[str]
    swapped: set[str] = field(default_factory=set)
    elements: dict[int, str] = field(default_factory=dict)  # by the identity of a subscript: its array

    def drop(self, array: str) -> None:
        """Leave an array as it is, and those among which it is swapped."""
        gone = self.swapped if array in self.swapped else {array}
        self.arrays, self.swapped = self.arrays - gone, self.swapped - gone

    def find_elements(self) -> None:
        """Note where the elements stand."""
        found = (n for n in nodes(self.loop) if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name))
        self.elements = {id(n): n.value.id for n in found if n.value.id in self.arrays}


class Plans:
    """The loops of a function that may run on lists; those within them are not looked at."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, nested: NestedKinds) -> None:
        self.unit, self.kinds, self.nested = unit, unit.kinds, nested
        self.sizes = Sizes(unit, tree)
        self.found: list[Plan] = []
        self.stored = {effects.base(t) for s in effects.walk(tree.body) if (t := section(s)) is not None}
        self._block(tree.body, {p.id for p in parameters(tree)}, [])

    def _block(self, body: list[gast.AST], bound: set[str], around: Trips) -> None:
        """Look for loops in a block: `bound` are names that surely stand for something, `around` the loops around it."""
        bound = set(bound)
        for statement in body:
            if isinstance(statement, LOOPS):
                plan = self._plan(statement, bound)
                if plan is not None:
                    self.found.append(plan)
                else:
                    loop = self.sizes.trip(statement, around) if isinstance(statement, gast.For) else ("", None)
                    outer = [*around, loop]
                    self._block(statement.body, bound | set(binds(statement)), outer)
                    self._block(statement.orelse, bound, around)
                continue
            for arm in blocks(statement):
                self._block(arm, bound, around)
            bound |= set(binds(statement))

    def _plan(self, loop: gast.AST, bound: set[str]) -> Plan | None:
        inside = [*effects.walk([loop])]
        if any(isinstance(s, (gast.Return, gast.With, gast.Try, gast.Break)) for s in inside):
            return None
        mentions = _Mentions(self)
        mentions.count(loop, [])
        swapped, rebound = set[str](), set[str]()
        for statement in inside:
            (swapped if effects.permutes(statement) else rebound).update(binds(statement))
        swapped = {n for n in swapped if isinstance(self.kinds.get(n), Array)}
        out = {n for n in mentions.covered if mentions.all[n] == mentions.elements[n] and n in bound - rebound}
        out = swapped & out | {n for n in out - swapped if self._is_alone(n, mentions, inside, swapped)}
        if not (swapped <= out and self._are_apart(swapped)):
            out -= swapped
        mine = sum(mentions.elements[n] for n in out)
        others = sum(mentions.all.values()) - mine + mentions.calls
        return Plan(loop, out, swapped & out) if out and mine >= _MOSTLY * others else None

    def _is_alone(self, array: str, mentions: _Mentions, inside: list[gast.AST], swapped: set[str]) -> bool:
        """Whether no other name for the memory of an array stands in a loop that changes it."""
        others = self.unit.memory.at_once_with(array) - {array}
        if not others & mentions.all.keys():
            return True
        written = {effects.base(t) for s in inside if (t := section(s)) is not None}
        changed = (written | set().union(*map(self.unit.memory.changed, inside))) - swapped
        return not (others | {array}) & changed

    def _are_apart(self, swapped: set[str]) -> bool:
        """Whether buffers that are swapped are of one shape, and share memory with nothing else.

        Those that nobody stores to may be the caller's: after an odd number of swaps their lists would be written there.
        """
        if swapped.isdisjoint(self.stored):
            return False
        kinds = {self.kinds[n] for n in swapped}
        known = all(k.dims is not None and None not in k.dims for k in kinds)
        return len(kinds) <= 1 and known and all(self.unit.memory.at_once_with(n) == {n} for n in swapped)


class _Mentions:
    """How often arrays are mentioned in a loop, how often as elements, and of which it comes by all elements."""

    def __init__(self, plans: Plans) -> None:
        self.unit, self.kinds, self.sizes, self.nested = plans.unit, plans.kinds, plans.sizes, plans.nested
        self.all: Counter[str] = Counter()
        self.elements: Counter[str] = Counter()
        self.covered: set[str] = set()
        self.calls = 0

    def count(self, statement: gast.AST, trips: Trips) -> None:
        swap = effects.permutes(statement)
        for node in () if swap else contents(self.unit, effects.header(statement)):
            if isinstance(node, gast.Name) and isinstance(self.kinds.get(node.id), Array):
                self.all[node.id] += 1
            if isinstance(node, gast.Call) and not self._is_quick(node):
                self.calls += 1
            kind = element_of(node, self.unit)
            if kind is not None and kind.dtype in YIELDS and (kind.dtype == "float64" or isinstance(node.ctx, gast.Load)):
                self.elements[node.value.id] += 1
                if self.sizes.cover(trips, kind, parts_of(node.slice)):
                    self.covered.add(node.value.id)
        if isinstance(statement, gast.For):
            trips = [*trips, self.sizes.trip(statement, trips)]
        for child in (child for inner in blocks(statement) for child in inner):
            self.count(child, trips)

    def _is_quick(self, call: gast.Call) -> bool:
        """Whether a call is one of Python's own, of a stack, or gives a number for numbers."""
        target = self.unit.resolve(call.func)
        if isinstance(call.func, gast.Attribute) and effects.changed_by_call(call):
            return True
        return target in _QUICK or libraries.is_of_math(target) or gives_number(self.unit, self.nested, call)


def section(statement: gast.AST) -> gast.AST | None:
    """The section, or the name, that a statement changes in place."""
    return statement.target if isinstance(statement, gast.AugAssign) else effects.stored(statement)


def contents(unit: Unit, node: gast.AST) -> Iterator[gast.AST]:
    """The nodes of an expression or a statement in their order, without the names of which a shape alone is read."""
    shapes = {id(n) for n in shape_reads(unit, node)}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) not in shapes:
            yield part
            waiting += reversed(children(part))
