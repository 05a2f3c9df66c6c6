"""Dead restores, element by element: no read in this trip or a later one overlaps the elements that are restored.

    for i in reversed(range(1, n)):              for i in reversed(range(1, n)):
        x[i] = x_stack.pop()              ->         b_bar[i] += x_bar[i] * x[i - 1]
        b_bar[i] += x_bar[i] * x[i - 1]

Later trips have a smaller `i`.  Sections are compared as `i + c` along one axis.  A restore of `i + c` does not overlap a
read of elements up to `i + d`, in the same trip or a later one, if d < c.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Graph
from s2sgrad.ir.forms import number, parts_of
from s2sgrad.ir.quote import LOOPS, blocks, mentioned, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.writes import in_place
from s2sgrad.regions.definitions import definitions
from s2sgrad.regions.disjointness import Indices
from s2sgrad.regions.loops import direction_of, least_of


@dataclass
class _Mention:
    """One read of an array in a loop, or a restore: its position in statement order, its index along each axis, the loops
    around it, and the statement of a restore."""

    order: int
    index: list[gast.AST]
    loops: tuple[int, ...]
    statement: gast.AST | None = None


class Sections:
    """Finds, for each loop of the reverse sweep, the restores that no read in the same loop overlaps."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, graph: Graph) -> None:
        self.unit = unit
        self.indices = Indices(unit, tree.body, unit.kinds, definitions(tree, graph))
        self.values = self.indices.values
        self.named: dict[int, set[str]] = {}  # what statements mention, by their identity
        # Variables whose only definition is a section.
        self.views = {n: s for n, s in self.indices.once.items() if _is_section(s.value)}

    def missed_by_later_trips(
        self,
        loop: gast.For,
        base: str,
        index: list[gast.AST],
        shared: frozenset[str],
        passed: Collection[gast.Subscript],
        around: list[gast.For],
    ) -> bool:
        """Whether no later trip of a loop reads from the section of `base` with this index, which one trip restores.

        `shared`: the names with its memory; `passed`: reads to ignore; `around`: the enclosing loops.
        """
        reads = self.mentions(list(_ordered(loop.body)), base, shared, loop.body, passed)
        trips, loops = _Trips.of(self.unit, loop), _loops_in(loop)
        return reads is not None and all(
            (trips is not None and self._stays_clear(index, read, trips))
            or self.indices.apart(index, read.index, around, (), [loop, *(s for s in loops if id(s) in read.loops)])
            for read in reads
        )

    def _stays_clear(self, index: list[gast.AST], read: _Mention, trips: _Trips) -> bool:
        """Whether, along some axis, all later trips read on one side of the section."""
        earlier = _Mention(-1, read.index, read.loops)  # reads in the same trip are checked elsewhere
        return self.apart(_Mention(0, index, ()), _Reads(self, [earlier], trips), trips)

    def spare(self, loop: gast.For) -> dict[int, frozenset[str]]:
        """The dead restores in a loop, each with the names whose memory must not be read after the loop."""
        trips = _Trips.of(self.unit, loop)
        if trips is None:
            return {}
        out: dict[int, frozenset[str]] = {}
        statements = list(_ordered(loop.body))
        reads: dict[str, _Reads] = {}
        for order, statement, loops in statements:
            section = effects.stored(statement)
            if section is None or not isinstance(section.value, gast.Name):
                continue
            if section.value.id in self.unit.derivative.bars and number(statement.value) != 0:
                continue
            if not all(isinstance(p, (gast.Name, gast.BinOp, gast.Slice)) for p in parts_of(section.slice)[:1]):
                continue
            base = section.value.id
            shared = self.unit.memory.with_memory_of(base)
            if base not in reads:
                reads[base] = _Reads(self, self.mentions(statements, base, shared, loop.body, ()), trips)
            restore = _Mention(order, parts_of(section.slice), loops, statement)
            if self.apart(restore, reads[base], trips) or (loops and self._apart_inside(restore, base, loop, trips)):
                out[id(statement)] = shared
        return out

    def _apart_inside(self, restore: _Mention, base: str, outer: gast.For, trips: _Trips) -> bool:
        """The same for a restore in inner loops, of which the innermost reads nothing of it later, if no later trip of the
        others does either.

            for i in reversed(range(m)):
                for j in reversed(range(n)):
                    x_bar[i, j] += y_bar[i, j]; y_bar[i, j] = 0.0      nothing reads `y_bar[i, j]` again
        """
        within, shared = {id(s): s for s in trips.inner}, self.unit.memory.with_memory_of(base)
        chain = [outer, *(within.get(k) for k in restore.loops)]
        for loop, next_ in zip(chain, [*chain[1:], None], strict=True):
            around = None if loop is None else _Trips.of(self.unit, loop)
            reads = None if around is None else self.mentions([*_ordered(loop.body)], base, shared, loop.body, ())
            if reads is None or around is None:
                return False
            if next_ is None:
                order = next(k for k, s, _ in _ordered(loop.body) if s is restore.statement)
                return self.apart(_Mention(order, restore.index, ()), _Reads(self, reads, around), around)
            if not all(id(next_) in read.loops and self._stays_clear(restore.index, read, around) for read in reads):
                return False
        return False

    def mentions(
        self, statements: list, base: str, shared: frozenset[str], body: list[gast.AST], passed: Collection[gast.Subscript]
    ) -> list[_Mention] | None:
        """All reads of an array in a loop, by any of its names; None where one of them is not a simple section of `base`."""
        out = []
        begun: set[str] = set()  # the views that this trip has bound
        outermost = set(map(id, body))
        for order, statement, loops in statements:
            if id(statement) not in self.named:
                self.named[id(statement)] = mentioned(effects.header(statement))
            sections = [] if shared.isdisjoint(self.named[id(statement)]) else self._read(statement, shared, begun)
            if sections is None or any(s.value.id != base for s in sections):
                return None
            read = (s for s in sections if not any(s is p for p in passed))
            out += [_Mention(order, parts_of(s.slice), loops) for s in read]
            bound = effects.targets(statement) if isinstance(statement, gast.Assign) else []
            if len(bound) == 1 and self.views.get(bound[0]) is statement and id(statement) in outermost:
                begun.add(bound[0])
            elif base in bound or (
                not shared.isdisjoint(bound) and set(bound) & (shared - self.unit.temps - self.values.keys())
            ):
                return None
        return out

    def _read(self, statement: gast.AST, shared: frozenset[str], begun: set[str]) -> list[gast.Subscript] | None:
        """The sections of an array that a statement reads; None where it reads it in another way."""
        header, stored, skipped = effects.header(statement), effects.stored(statement), self._only_written(statement, shared)
        if skipped is None:
            return None
        whole = [n for n in nodes(header) if _is_section(n) and n.value.id in shared]
        plain = {id(n.value) for n in (*whole, *filter(_is_shape, nodes(header)))}
        others = [n.id for n in effects.loads(header) if n.id in shared and id(n) not in plain]
        viewed = [self.views[n].value if n in begun else self.values.get(n) for n in others]
        if not all(map(_is_section, viewed)):
            return None
        return [self.seen_whole(n) for n in (*(n for n in whole if id(n) not in skipped and n is not stored), *viewed)]

    def seen_whole(self, section: gast.Subscript) -> gast.Subscript:
        """A section of a name that stands for another section as that one: `v[0]` as `x[i]` where `v` is `x[i]`."""
        while _is_section(self.values.get(section.value.id)):
            section = self.values[section.value.id]
        return section

    def _only_written(self, statement: gast.AST, shared: frozenset[str]) -> set[int] | None:
        """The nodes of a statement's target that are written and not read; None where an array is updated that may be read
        otherwise.  An update of an adjoint reads what it adds to."""
        stored = effects.stored(statement)
        target = stored if stored is not None else getattr(statement, "target", None)
        if not isinstance(target, gast.Subscript):
            return set()
        written = {id(n) for n in nodes(target)}
        if in_place(self.unit, statement, self.unit.kinds) not in shared:
            return written
        if stored is not None:
            return written - {id(n) for n in nodes(target.slice)}
        return None if shared.isdisjoint(self.unit.derivative.bars) else set()

    def apart(self, restore: _Mention, reads: _Reads, trips: _Trips) -> bool:
        """Whether, along some axis, neither a read later in this trip nor one of a later trip overlaps the restore."""
        for axis, part in enumerate(restore.index):
            place = self.nearest(part, trips)
            if place is None or trips.least + place < 0 or not all(map(self.indices.is_one_axis, restore.index[:axis])):
                continue
            if reads.miss(place, restore, axis):
                return True
        return False

    def nearest(self, part: gast.AST, trips: _Trips) -> int | None:
        """`c` of the restored index `variable + c`; for a slice, of the end that later trips would reach first."""
        start, stop = self.indices.span(part, trips.variable, trips.least, {})
        return start if trips.step < 0 else None if stop is None else stop - 1

    def kept_by(self, read: _Mention, axis: int, trips: _Trips) -> int | None:
        """`d` where the section that is read stays on one side of `variable + d` along an axis; else None."""
        if axis >= len(read.index) or not all(map(self.indices.is_one_axis, read.index[:axis])):
            return None
        ranges = self.indices.ranges(loop for loop in trips.inner if id(loop) in read.loops)
        start, stop = self.indices.span(read.index[axis], trips.variable, trips.least, ranges)
        return start if trips.step > 0 else None if stop is None else stop - 1


@dataclass
class _Trips:
    """The trips of a loop: its variable, the direction in which that moves, its least value; the loops inside."""

    variable: str
    step: int
    least: int
    inner: list[gast.For]

    @classmethod
    def of(cls, unit: Unit, loop: gast.For) -> _Trips | None:
        """Those of a loop over a range; None where direction or least value are unknown."""
        step, least = direction_of(unit, loop), least_of(unit, loop)
        return None if step is None or least is None else cls(loop.target.id, step, least, _loops_in(loop))


class _Reads:
    """The reads of one array in a loop (None: not all are known), and their common bound along an axis."""

    def __init__(self, sections: Sections, reads: list[_Mention] | None, trips: _Trips) -> None:
        self.sections, self.reads, self.trips = sections, reads, trips
        # By axis: the outermost bound, the last read that attains it, and the loops around the reads that attain it.
        self._kept: dict[int, tuple[int, int, set[int]] | None] = {}

    def miss(self, place: int, restore: _Mention, axis: int) -> bool:
        """Whether neither a read later in this trip nor one of a later trip overlaps a section at `variable + place`."""
        if not self.reads:
            return self.reads is not None
        if axis not in self._kept:
            self._kept[axis] = self._keeping(axis)
        kept = self._kept[axis]
        if kept is None or kept[0] != place:  # later trips move further in the same direction
            return kept is not None and (kept[0] < place) == (self.trips.step < 0)
        _, last, loops = kept
        return last <= restore.order and loops.isdisjoint(restore.loops)

    def _keeping(self, axis: int) -> tuple[int, int, set[int]] | None:
        """The entry of `_kept` for an axis; None where some read is unbounded along it."""
        reads = self.reads or []
        bounds = [bound for read in reads if (bound := self.sections.kept_by(read, axis, self.trips)) is not None]
        if len(bounds) < len(reads):
            return None
        outermost = max(bounds) if self.trips.step < 0 else min(bounds)
        there = [read for read, bound in zip(reads, bounds, strict=True) if bound == outermost]
        return outermost, max(read.order for read in there), set().union(*(read.loops for read in there))


def _loops_in(loop: gast.For) -> list[gast.For]:
    return [s for s in effects.walk(loop.body) if isinstance(s, gast.For)]


def _is_section(node: gast.AST | None) -> bool:
    return isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name)


def _is_shape(node: gast.AST) -> bool:
    return isinstance(node, gast.Attribute) and node.attr in effects.FLAT_ATTRIBUTES


def _ordered(
    body: list[gast.AST], loops: tuple[int, ...] = (), start: list[int] | None = None
) -> Iterator[tuple[int, gast.AST, tuple[int, ...]]]:
    """(order, statement, enclosing loops below the outer one), nested statements included."""
    start = [0] if start is None else start
    for statement in body:
        start[0] += 1
        yield start[0], statement, loops
        for inner in blocks(statement):
            yield from _ordered(inner, (*loops, id(statement)) if isinstance(statement, LOOPS) else loops, start)
