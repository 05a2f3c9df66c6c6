"""The adjoint environment: adjoint variables during the backward walk, and the collection of contributions to them.

The contributions of one source statement are collected and written together, as one expression per variable:

    z = x * y + x       ->      y_bar = z_bar * x; x_bar = z_bar * y + z_bar

A missing adjoint is a zero that is never written.  `+=` is used on numbers and on arrays allocated by this function.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import contents, effects
from s2sgrad.analysis.complex_kinds import loosened, taken
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Foreign, Kind, Number, OrNone, argument, operand
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.ir.quote import assign, clone, constant, mentioned, name
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.simplify import simplified
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import is_fresh
from s2sgrad.rules.table import SLOPES
from s2sgrad.transform import cotangents, projections, stores, zeros
from s2sgrad.transform.cotangents import (
    Bar,
    Consumed,
    Cotangent,
    HeldKinds,
    total,
)
from s2sgrad.transform.exclusions import Exclusions
from s2sgrad.transform.paths import Paths
from s2sgrad.transform.saved_predicates import Decisions
from s2sgrad.transform.settling import Settling
from s2sgrad.transform.sums import TERMS, Sum
from s2sgrad.transform.unbroadcasting import relation


class Adjoints:
    """The adjoint variables, and the statements that compute them in the order of the reverse sweep."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, inference: Inference, paths: Paths) -> None:
        self.unit, self.inference, self.paths = unit, inference, paths
        self.present: dict[str, Bar] = {}
        self.pending: dict[str, list[Cotangent]] = {}
        self.names: dict[str, str] = {}
        self.held = HeldKinds(inference)
        self.out: list[gast.AST] = []
        self.storing: stores.Store | None = None
        self.consumed = Consumed()
        self.settling = Settling(unit, inference, paths.active)
        self.exclusions = Exclusions(unit, tree, inference, paths)
        self.decisions = Decisions(unit, inference)
        self.mirrored: set[str] = set()  # names whose adjoints are bound in the forward sweep
        self.borrowed: set[str] = set()  # names that may alias such an adjoint

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of variables."""
        return self.inference.env

    @property
    def active(self) -> set[str]:
        """The variables with adjoints."""
        return self.paths.active

    @property
    def stacks(self) -> set[str]:
        """The lists whose adjoints exist from the start."""
        return self.paths.stacks

    def bar(self, x: str) -> str:
        """The name of the adjoint of `x`."""
        if x not in self.names:
            self.names[x] = self.unit.local(f"{x}_bar")
            if x in self.unit.temps:
                self.unit.temps.add(self.names[x])
            self.kinds[self.names[x]] = loosened(self.unit, self.kinds.get(x, UNKNOWN))
            self.unit.derivative.bars.add(self.names[x])
            self.unit.derivative.floating |= {x, self.names[x]}
            self.unit.bases[self.names[x]] = f"{self.unit.bases.get(x, x)}_bar"
            self.unit.words[self.names[x]] = "the gradient in {}", x
        return self.names[x]

    def zero(self, x: str, bound: bool = True) -> gast.AST:
        """A zero of the shape of `x`; if not `bound`, `x` may be None."""
        kind = self.kinds.get(x)
        if x in self.paths.each:  # a loop stores each item
            items = gast.List([constant(None)], gast.Load())
            return gast.BinOp(items, gast.Mult(), gast.Call(self.unit.builtin(len), [name(x)], []))
        if isinstance(kind, (Number, Foreign)):
            return constant(0.0)
        if isinstance(kind, Array) and bound and self.unit.derivative.complex and not is_real(kind) and not is_complex(kind):
            wide = gast.keyword("dtype", self.unit.builtin(complex))  # at another place the name may stand for real numbers
            return gast.Call(numpy_function(self.unit, "zeros_like"), [name(x)], [wide])
        if isinstance(kind, Array) and bound:
            return call(self.unit, "zeros_like", np.zeros_like, name(x))
        return call(self.unit, "zeros", runtime.zeros, name(x))

    def start(self, x: str, bound: bool = True) -> None:
        """Initialize the missing adjoint of `x` to zero."""
        self.held.note(self.bar(x), self.kinds.get(x, UNKNOWN), name(x))
        self.out.append(assign(self.bar(x), self.zero(x, bound)))
        kind = self.kinds.get(x)
        self.present[x] = Bar(
            self.bar(x), not isinstance(kind, Number), isinstance(kind, Array) or x in self.paths.each, idle=SLOPES
        )

    def make_own(self, x: str) -> None:
        """Copy the adjoint of `x` unless it was allocated here."""
        bar = self.present[x]
        if not bar.own and x not in self.mirrored:
            kind = self.kinds.get(x)
            listed = x in self.paths.grown or contents.holds_lists(kind)
            if listed:  # the cotangent of a list may be an array
                copied = assign(bar.name, cotangents.listed(self.unit, name(bar.name), kind))
                self.held.note(bar.name, kind or UNKNOWN, copied.value)
                missing = gast.Compare(name(bar.name), [gast.IsNot()], [constant(None)])  # where the list is None
                self.out.append(copied if isinstance(kind, Container) else gast.If(missing, [copied], []))
            if projections.may_be_narrow(self, kind, name(bar.name)):
                self.out.append(assign(bar.name, call(self.unit, "widened", runtime.widened, name(bar.name), name(x))))
            elif isinstance(kind, Array) and kind.rank == 0:  # arithmetic on 0-d arrays gives numbers
                self.out.append(assign(bar.name, call(self.unit, "array", np.array, name(bar.name))))
            elif not listed:
                self.out.append(assign(bar.name, call(self.unit, "own", runtime.own, name(bar.name))))
            bar.own = True

    # --- contributions ---

    def contribute(self, x: gast.AST, cotangent: Cotangent) -> None:
        """Collect a contribution to the adjoint of an operand; it is written at the end of the statement."""
        if not isinstance(x, gast.Name) or x.id not in self.active:
            assert isinstance(x, gast.Name) or self.active.isdisjoint(effects.reads(x)), "an operand is no atom"
            return
        cotangent = projections.projected(self, x.id, cotangent)
        if cotangent.mask is not None:
            if x.id in self.unit.temps:
                self.pending.setdefault(x.id, []).append(cotangent)
                return
            cotangent = self.settling.selected(cotangent)
        if cotangent.index is None and not cotangent.full and not isinstance(self.kinds.get(x.id), Container):
            how = relation(cotangent.kind, self.kinds.get(x.id))
            if how == "same":
                cotangent.full = True
            elif how != "under":
                cotangent = self.settling.spread(cotangent, x.id)
        self.pending.setdefault(x.id, []).append(cotangent)

    def take(self, y: str) -> Cotangent | None:
        """The adjoint of a target, which its own assignment consumes; None if it is zero."""
        if y in self.pending and y in self.unit.temps:
            given = self.pending.pop(y)
            if y in self.present:
                given.insert(0, self._as_cotangent(y))
                del self.present[y]
            if len(given) > TERMS or any(c.index is not None for c in given) or not all(c.numeric for c in given[1:]):
                given = [self.settling.settled(c, y) for c in given]
                self.write(y, given)
                return self._as_cotangent(y, consume=True)
            if len(given) == 1:
                return given[0]
            given = [self.settling.settled(c, y) for c in given]
            value = total([c.value for c in given])
            idle = zeros.both([c.idle for c in given])
            full = any(c.full for c in given)
            return Cotangent(value, self.inference.kind(value), full, None, given[0].numeric, idle=idle)
        return self._as_cotangent(y, consume=True) if y in self.present else None

    def _as_cotangent(self, y: str, consume: bool = False) -> Cotangent:
        bar = self.present.pop(y) if consume else self.present[y]
        if consume:
            self.consumed.bars[y] = bar.own
        kind = operand(argument(self.kinds.get(y, UNKNOWN)))
        numeric = isinstance(kind, (Number, Array))
        or_none = isinstance(self.kinds.get(y), OrNone)
        return Cotangent(name(bar.name), kind, True, None, numeric, None, consume and bar.own, bar.idle, or_none)

    def flush(self, targets: Collection[str] = ()) -> None:
        """Write the collected contributions; those to the statement's own targets last, because the others read these."""
        self.pending = {x: [self.settling.settled(c, x) for c in given] for x, given in self.pending.items()}
        if self.storing is not None:
            stores.finish(self)
            self.consumed.clear()
            return
        late = [x for x in self.pending if x in targets]
        for x in [x for x in self.pending if x not in late] + late:
            self.write(x, self.pending[x], late=x in late)
        self.pending.clear()
        self.consumed.clear()

    def write(self, x: str, given: list[Cotangent], late: bool = False) -> None:
        """Add contributions to the adjoint of `x`; `late`: their values may read it."""
        Sum(self, x).write(given, late)

    def is_borrowed(self, value: gast.AST) -> bool:
        """Whether a value may alias memory that is updated in place as the adjoint of another name."""
        return bool(self.borrowed) and not is_fresh(self.unit, value) and not self.borrowed.isdisjoint(mentioned(value))

    def named(self, g: Cotangent, anew: bool = False, of: str | None = None) -> Cotangent:
        """The cotangent bound to a name, so that it can be read twice; `anew`: to a new name, which later changes do not
        affect; `of`: it is the cotangent of this variable."""
        if isinstance(g.value, gast.Constant) or (isinstance(g.value, gast.Name) and not anew):
            return g
        holder = self.unit.temp()
        self.kinds[holder] = self._kind_of(g) or UNKNOWN
        value = simplified(clone(g.value))
        value = value if is_fresh(self.unit, value) else stores.hold(self, holder, value, g.kind)
        self.borrowed |= {holder} if self.is_borrowed(value) else set()
        if of in self.unit.temps:
            self.unit.derivative.cotangents[holder] = of
        if isinstance(value, gast.Tuple):
            self.unit.derivative.bars.add(holder)
        self.out.append(assign(holder, value))
        return Cotangent(name(holder), g.kind, g.full, None, g.numeric, idle=g.idle)

    def _kind_of(self, g: Cotangent) -> Kind | None:
        """The kind of a cotangent; where complex numbers occur it is real only if its value is known to be."""
        return (
            g.kind if not self.unit.derivative.complex or is_real(self.inference.kind(g.value)) else taken(self.unit, g.kind)
        )

    def isolated(self, g: Cotangent) -> Cotangent:
        """The contribution in a form that the store in progress does not change."""
        if not stores.reads_section(self, g.value):
            return g
        holder = self.unit.temp()
        self.kinds[holder] = self._kind_of(g) or UNKNOWN
        value = simplified(clone(g.value))
        self.out.append(assign(holder, value if is_fresh(self.unit, value) else stores.detached(self, value, g.kind)))
        return replace(g, value=name(holder))
