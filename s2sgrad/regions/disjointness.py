"""Disjointness: which sections of an array have no element in common: `x[i]` and `x[i - 1]`, `a[k + 1:, j]` and `a[:k, 0]`.

    x[i - 1]  and  x[i]       ->  disjoint, if i is the variable of a loop that starts at 1 or later
    a[k + 1:, k + 1:] and a[k + 1:, k]  ->  disjoint along the second axis

Indices are compared as a loop's variable plus a constant, both nonnegative: a negative index counts from the other end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import gast

from s2sgrad.analysis.kinds import Kind, Number
from s2sgrad.flow.counts import bound_once
from s2sgrad.ir.forms import is_natural, whole_number
from s2sgrad.ir.unit import Unit
from s2sgrad.regions.loops import least_of, limits_of

Ranges = dict[str, tuple[gast.AST, gast.AST]]  # by the variable of a loop: start and stop


class Indices:
    """The indices of one function; `values` maps a temporary with a single definition to its value, and other names to what
    they stand for wherever they are read (`definitions`).
    """

    def __init__(
        self, unit: Unit, body: list[gast.AST], kinds: dict[str, Kind], known: Mapping[str, gast.AST] = MappingProxyType({})
    ) -> None:
        self.unit, self.kinds = unit, kinds
        self.once = bound_once(body)
        self.values = {n: s.value for n, s in self.once.items() if n in unit.temps} | dict(known)

    def apart(
        self,
        one: list[gast.AST],
        other: list[gast.AST],
        loops: list[gast.For],
        ended: Collection[gast.For] = (),
        inner: Collection[gast.For] = (),
    ) -> bool:
        """Whether two sections, given by the parts of their indices, are disjoint in each trip of `loops`.

        Trips of `ended` loops are over, and the first section may belong to any of them: the other must be constant.
        `inner`: further loops that enclose the second section only."""
        ranges = self.ranges((*loops, *inner))
        for a, b in zip(one, other, strict=False):
            if not (self.is_one_axis(a) and self.is_one_axis(b)):
                return False
            for loop in loops:
                least = least_of(self.unit, loop)
                if least is None:
                    continue
                (start, stop), (start_, stop_) = (self.span(p, loop.target.id, least, ranges) for p in (a, b))
                if _before(start, b, least) or (loop not in ended and _before(start_, a, least)):
                    return True
                if loop not in ended and (_follows(stop, start_) or _follows(stop_, start)):
                    return True
        return False

    def ranges(self, loops: Iterable[gast.For]) -> Ranges:
        """The bounds of the variables of these loops, where they are known."""
        return {loop.target.id: found for loop in loops if (found := limits_of(self.unit, loop)) is not None}

    def span(self, part: gast.AST, variable: str, least: int, ranges: Ranges) -> tuple[int | None, int | None]:
        """(a, b): the part lies in `variable + a : variable + b`; None for an unknown bound."""
        if isinstance(part, gast.Slice) and part.step is not None:
            return None, None
        if isinstance(part, gast.Slice):
            return (
                None if part.lower is None else self._bound(part.lower, variable, least, ranges, 0),
                None if part.upper is None else self._bound(part.upper, variable, least, ranges, 1),
            )
        last = self._bound(part, variable, least, ranges, 1)
        return self._bound(part, variable, least, ranges, 0), None if last is None else last + 1

    def _bound(self, node: gast.AST, variable: str, least: int, ranges: Ranges, end: int) -> int | None:
        """`c` if an index is at least (`end` 0), or at most (`end` 1), `variable + c`."""
        offset = self.offset(node, variable)
        if offset is None and isinstance(node, gast.Name) and node.id in ranges:
            start, stop = ranges[node.id]
            if end and (_natural(start) is not None or self._bound(start, variable, least, {}, 0) is not None):
                last = self.offset(stop, variable)  # an empty range has no trip
                return None if last is None else last - 1
            offset = None if end else self.offset(start, variable)
        return None if offset is None or least + offset < 0 else offset

    def is_one_axis(self, part: gast.AST) -> bool:
        """Whether a part of an index stands for exactly one axis: not `...`, and not a mask, which may stand for several."""
        if isinstance(part, gast.Slice):
            return True
        if isinstance(part, gast.BinOp):
            return self.is_one_axis(part.left) and self.is_one_axis(part.right)
        if isinstance(part, gast.Name):
            return isinstance(self.kinds.get(part.id), Number)
        return type(getattr(part, "value", None)) is int

    def offset(self, node: gast.AST, variable: str) -> int | None:
        """`c` if an expression is `variable + c`, else None."""
        if isinstance(node, gast.Name):
            if node.id == variable:
                return 0
            return self.offset(self.values[node.id], variable) if node.id in self.values else None
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            sign = 1 if isinstance(node.op, gast.Add) else -1
            left, right = node.left, node.right
            for moving, fixed in ((left, whole_number(right)), (right, whole_number(left) if sign == 1 else None)):
                if fixed is not None:
                    base = self.offset(moving, variable)
                    return None if base is None else base + sign * fixed
        return None


def _follows(stop: int | None, start: int | None) -> bool:
    return stop is not None and start is not None and stop <= start


def _before(start: int | None, fixed: gast.AST, least: int) -> bool:
    """Whether a constant part ends before `variable + start`, in every trip."""
    last = _natural(fixed)
    return start is not None and last is not None and last < least + start


def _natural(part: gast.AST) -> int | None:
    """The last element of a constant part, counted from the start."""
    value = part
    if isinstance(part, gast.Slice):
        value = part.upper if part.step is None else None
    return value.value - isinstance(part, gast.Slice) if is_natural(value) else None
