"""Contributions to adjoints, the variables that hold adjoints, and how contributions are summed.

e, -f, h   ->   e - f + h
"""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.complex_kinds import loosened
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number
from s2sgrad.ir.forms import negated
from s2sgrad.ir.quote import clone, constant, expression, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import has_memory


@dataclass
class Cotangent:
    """A contribution to an adjoint; with `index`, to that section of it.  `full`: known to have its variable's shape; `own`:
    a new array that nothing else will read; `or_none`: it may be None, as its variable.

    `mask`: (condition, branch) of a later `np.where`: the value counts where the condition equals `branch`.  The selection
    is applied at the end of the branch's elementwise chain, so that inf or nan from elements not selected never propagates.

    `idle`: it is exactly 0 where the path taken or a mask excludes its variable, and must stay 0 (see `zeros`).  The level
    says what may be inf or nan there; 0 if it counts everywhere.
    """

    value: gast.AST
    kind: Kind | None
    full: bool = True
    index: gast.AST | None = None
    numeric: bool = True
    mask: tuple[gast.AST, bool] | None = None
    own: bool = False
    idle: int = 0
    or_none: bool = False


@dataclass
class Bar:
    """An adjoint variable that holds a value; `own`: an array allocated here, without other references."""

    name: str
    own: bool = False
    exact: bool = False  # known to have the dtype of its variable
    idle: int = 0  # as for a cotangent

    def meet(self, other: Bar) -> Bar:
        """What is known about the variable after either of two paths."""
        return Bar(self.name, self.own and other.own, self.exact and other.exact, max(self.idle, other.idle))


class Consumed:
    """What the statement in progress has done to memory: adjoints of its targets are free, and the others may be updated in
    place unless they share memory."""

    def __init__(self) -> None:
        self.bars: dict[str, bool] = {}  # adjoints that the statement consumed, and whether they were allocated here
        self.aliased = False  # whether the statement bound an adjoint to possibly aliased memory

    def clear(self) -> None:
        """Begin with another statement."""
        self.bars.clear()
        self.aliased = False


class HeldKinds:
    """The kinds of the adjoints of containers: such an adjoint may be an array, and that of a tuple of numbers, which has no
    memory, has memory then.  `sizeless`: the adjoints of numbers that may be arrays without axes."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.first: dict[str, Kind] = {}  # what each was bound to first
        self.sizeless: set[str] = set()

    def note(self, bar: str, kind: Kind, value: gast.AST) -> None:
        """The adjoint of what is of this kind is bound to a value; of no known kind where the bindings differ."""
        same = isinstance(value, gast.Name) and value.id in self.sizeless
        held = self.inference.kind(value)
        if isinstance(kind, Number) and (same or not isinstance(held, Number)):
            self.sizeless.add(bar)
        if isinstance(kind, Number) and isinstance(value, gast.Name) and isinstance(held, Number) and held.type is None:
            self.inference.env[bar] = held  # another name for a number of any type, such as the seed
        if isinstance(kind, Container):
            found = self.inference.kind(value) or UNKNOWN
            found = found if isinstance(found, Array) or not (isinstance(found, Container) or has_memory(kind)) else kind
            found = loosened(self.inference.unit, found)
            self.inference.env[bar] = found if self.first.setdefault(bar, found) == found else UNKNOWN


def is_outer(unit: Unit, value: gast.AST) -> bool:
    """Whether a value contains outer products, which `cleanup.accumulation` batches if their shapes agree."""
    return any(unit.called(n) is np.outer for n in nodes(value))


def accumulate(target: gast.AST, value: gast.AST) -> gast.AugAssign:
    """`target += value`, or `target -= e` for `-e`."""
    opposite = negated(value)
    return gast.AugAssign(target, gast.Add(), value) if opposite is None else gast.AugAssign(target, gast.Sub(), opposite)


def in_new_memory(unit: Unit, value: gast.AST, kind: Kind | None, or_none: bool = False) -> gast.AST:
    """A copy of an adjoint; `or_none`: it may be None, as its variable."""
    if isinstance(kind, Array) and not or_none:
        return expression("x.copy()", x=value)
    return call(unit, "own", runtime.own, value)


def listed(unit: Unit, value: gast.AST, kind: Kind | None) -> gast.AST:
    """The cotangent of a list, perhaps an array, as a list in memory of its own: an array's items may be views of it."""
    flat = isinstance(kind, Container) and isinstance(kind.element(), Number)
    return gast.Call(unit.builtin(list), [value if flat else call(unit, "own", runtime.own, value)], [])


def total(values: list[gast.AST]) -> gast.AST:
    """`a + b - c`, from the left; `2.0 * a` for `a + a`."""
    called = any(isinstance(n, gast.Call) for n in nodes(values[0]))  # other sums are simplified later
    if len(values) == 2 and called and gast.dump(values[0]) == gast.dump(values[1]):  # exact: 2 is a power of two
        return gast.BinOp(constant(2.0), gast.Mult(), values[0])
    out = values[0]
    for value in values[1:]:
        if (opposite := negated(value)) is not None:
            out = gast.BinOp(out, gast.Sub(), opposite)
        elif (opposite := negated(out)) is not None:
            out = gast.BinOp(value, gast.Sub(), opposite)
        else:
            out = gast.BinOp(out, gast.Add(), value)
    return out


def index_value(index: gast.AST, slice_: gast.Name) -> gast.AST:
    """An index as an expression, with slices as `slice(a, b)`."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple([index_value(e, slice_) for e in index.elts], gast.Load())
    if isinstance(index, gast.Slice):
        parts = [clone(p) if p is not None else constant(None) for p in (index.lower, index.upper, index.step)]
        return gast.Call(slice_, parts, [])
    return clone(index)
