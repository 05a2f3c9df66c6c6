"""The adjoint environment: adjoint variables during the backward walk, and the collection of contributions to them.

The contributions of one source statement are collected and written together, as one expression per variable:

    z = x * y + x       ->      y_bar = z_bar * x; x_bar = z_bar * y + z_bar

A missing adjoint is a zero that is never written.  `+=` is used on numbers and on arrays allocated by this function.
"""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import contents, effects, picked
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, OrNone, argument, operand
from s2sgrad.analysis.shadow_kinds import of_shadow
from s2sgrad.analysis.singular import Singular
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import assign, clone, constant, mentioned, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import is_fresh
from s2sgrad.rules.table import SLOPES, VALUES
from s2sgrad.runtime import item_slots, shadows
from s2sgrad.transform import cotangents, stores, zeros
from s2sgrad.transform.cotangents import Bar, Cotangent, HeldKinds, accumulate, in_new_memory, index_value, is_outer, total
from s2sgrad.transform.saved_predicates import Decisions
from s2sgrad.transform.unbroadcasting import conformed, relation

_TERMS = 40  # terms of a sum in one expression


class Bars:
    """The adjoint variables, and the statements that compute them in the order of the reverse sweep."""

    def __init__(self, unit: Unit, inference: Inference, active: set[str], stacks: set[str], grown: set[str]) -> None:
        self.unit, self.inference = unit, inference
        self.kinds = inference.env
        self.active = active
        self.stacks = stacks
        self.grown = grown
        self.present: dict[str, Bar] = {}
        self.pending: dict[str, list[Cotangent]] = {}
        self.names: dict[str, str] = {}
        self.held = HeldKinds(inference)
        self.out: list[gast.AST] = []
        self.storing: stores.Store | None = None
        self.consumed: dict[str, bool] = {}  # adjoints that the statement consumed, and whether they were allocated here
        self.shared = False  # whether the statement bound an adjoint to possibly aliased memory
        self.alike: dict[str, str] = {}
        self.decisions = Decisions(unit, inference)
        self.arms = 0  # the number of enclosing `if` statements
        self.picked: frozenset[str] = frozenset()  # indices derived from masks
        self.mirrored: set[str] = set()  # names whose adjoints are bound in the forward sweep
        self.borrowed: set[str] = set()  # names that may alias such an adjoint
        self.selected_values: frozenset[str] = frozenset()  # values that are 0 where a mask excludes something
        self.singular: Singular | None = None

    # --- adjoint variables ---

    def bar(self, x: str) -> str:
        """The name of the adjoint of `x`."""
        if x not in self.names:
            self.names[x] = self.unit.local(f"{x}_bar")
            if x in self.unit.temps:
                self.unit.temps.add(self.names[x])
            self.kinds[self.names[x]] = self.kinds.get(x, UNKNOWN)
            self.unit.bars.add(self.names[x])
            self.unit.floating |= {x, self.names[x]}
            self.unit.bases[self.names[x]] = f"{self.unit.bases.get(x, x)}_bar"
            self.unit.words[self.names[x]] = "the gradient in {}", x
        return self.names[x]

    def zero(self, x: str, bound: bool = True) -> gast.AST:
        """A zero of the shape of `x`; if not `bound`, `x` may be None."""
        kind = self.kinds.get(x)
        if isinstance(kind, Number):
            return constant(0.0)
        if isinstance(kind, Array) and bound:
            return call(self.unit, "zeros_like", np.zeros_like, name(x))
        return call(self.unit, "zeros", runtime.zeros, name(x))

    def start(self, x: str, bound: bool = True) -> None:
        """Initialize the missing adjoint of `x` to zero."""
        self.held.note(self.bar(x), self.kinds.get(x, UNKNOWN), name(x))
        self.out.append(assign(self.bar(x), self.zero(x, bound)))
        self.present[x] = Bar(self.bar(x), own=not isinstance(self.kinds.get(x), Number), exact=True, idle=SLOPES)

    def make_own(self, x: str) -> None:
        """Copy the adjoint of `x` unless it was allocated here."""
        bar = self.present[x]
        if not bar.own and x not in self.mirrored:
            kind = self.kinds.get(x)
            if x in self.grown or contents.holds_lists(kind):  # the cotangent of a list may be an array
                copied = assign(bar.name, cotangents.listed(self.unit, name(bar.name), kind))
                missing = gast.Compare(name(bar.name), [gast.IsNot()], [constant(None)])  # where the list is None
                self.out.append(copied if isinstance(kind, Container) else gast.If(missing, [copied], []))
            elif isinstance(kind, Array) and kind.rank == 0:  # arithmetic on 0-d arrays gives numbers
                self.out.append(assign(bar.name, call(self.unit, "array", np.array, name(bar.name))))
            else:
                self.out.append(assign(bar.name, call(self.unit, "own", runtime.own, name(bar.name))))
            bar.own = True

    # --- contributions ---

    def contribute(self, x: gast.AST, cotangent: Cotangent) -> None:
        """Collect a contribution to the adjoint of an operand; it is written at the end of the statement."""
        if not isinstance(x, gast.Name) or x.id not in self.active:
            assert isinstance(x, gast.Name) or self.active.isdisjoint(effects.reads(x)), "an operand is no atom"
            return
        if cotangent.mask is not None:
            if x.id in self.unit.temps:
                self.pending.setdefault(x.id, []).append(cotangent)
                return
            cotangent = self.selected(cotangent)
        if cotangent.index is None and not cotangent.full and not isinstance(self.kinds.get(x.id), Container):
            how = relation(cotangent.kind, self.kinds.get(x.id))
            if how == "same":
                cotangent.full = True
            elif how != "under":
                cotangent = self.spread(cotangent, x.id)
        self.pending.setdefault(x.id, []).append(cotangent)

    def spread(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution brought to exactly the shape of `x`; a mask is applied before any sum."""
        summed = relation(cotangent.kind, self.kinds.get(x)) not in ("same", "under")
        if summed:
            cotangent = self.selected(cotangent)
        like = self.alike.get(x, x)
        value = conformed(self.unit, cotangent.value, cotangent.kind, like, self.kinds.get(x), self.inference.kind)
        return Cotangent(value, self.kinds.get(x), True, None, cotangent.numeric, cotangent.mask, idle=cotangent.idle)

    def selected(self, cotangent: Cotangent) -> Cotangent:
        """The contribution with its mask applied."""
        if cotangent.mask is None:
            return cotangent
        condition, branch = cotangent.mask
        sides = (cotangent.value, constant(0.0)) if branch else (constant(0.0), cotangent.value)
        value = call(self.unit, "where", np.where, clone(condition), *sides)
        return Cotangent(value, self.inference.kind(value), full=False, idle=VALUES)

    def settled(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution with its mask applied, summed if the mask is larger than `x`."""
        if cotangent.mask is None:
            return cotangent
        cotangent = self.selected(cotangent)
        how = relation(cotangent.kind, self.kinds.get(x))
        if how == "under":
            return cotangent
        return replace(cotangent, full=True) if how == "same" else self.spread(cotangent, x)

    def take(self, y: str) -> Cotangent | None:
        """The adjoint of a target, which its own assignment consumes; None if it is zero."""
        if y in self.pending and y in self.unit.temps:
            given = self.pending.pop(y)
            if y in self.present:
                given.insert(0, self._as_cotangent(y))
                del self.present[y]
            if len(given) > _TERMS or any(c.index is not None for c in given) or not all(c.numeric for c in given[1:]):
                given = [self.settled(c, y) for c in given]
                self.write(y, given)
                return self._as_cotangent(y, consume=True)
            if len(given) == 1:
                return given[0]
            given = [self.settled(c, y) for c in given]
            value = total([c.value for c in given])
            idle = zeros.both([c.idle for c in given])
            full = any(c.full for c in given)
            return Cotangent(value, self.inference.kind(value), full, None, given[0].numeric, idle=idle)
        return self._as_cotangent(y, consume=True) if y in self.present else None

    def _as_cotangent(self, y: str, consume: bool = False) -> Cotangent:
        bar = self.present.pop(y) if consume else self.present[y]
        if consume:
            self.consumed[y] = bar.own
        kind = operand(argument(self.kinds.get(y, UNKNOWN)))
        numeric = isinstance(kind, (Number, Array))
        or_none = isinstance(self.kinds.get(y), OrNone)
        return Cotangent(name(bar.name), kind, True, None, numeric, None, consume and bar.own, bar.idle, or_none)

    def flush(self, targets: list[str] = ()) -> None:
        """Write the collected contributions; those to the statement's own targets last, because the others read these."""
        self.pending = {x: [self.settled(c, x) for c in given] for x, given in self.pending.items()}
        if self.storing is not None:
            stores.finish(self)
            self.consumed.clear()
            self.shared = False
            return
        late = [x for x in self.pending if x in targets]
        for x in [x for x in self.pending if x not in late] + late:
            self.write(x, self.pending[x], late=x in late)
        self.pending.clear()
        self.consumed.clear()
        self.shared = False

    def write(self, x: str, given: list[Cotangent], late: bool = False) -> None:
        """Add contributions to the adjoint of `x`; `late`: their values may read it."""
        whole = [c for c in given if c.index is None]
        sections = [c for c in given if c.index is not None]
        kind = operand(argument(self.kinds.get(x, UNKNOWN)))
        bar = self.bar(x)
        if late and sections:  # their values may read the old adjoint
            sections = [replace(c, value=self.named(self._unaliased(c), anew=True).value) for c in sections]
        if whole:
            levels = [c.idle for c in whole] + [self.present[x].idle for _ in (1,) if x in self.present]
            whole = self._broadcasting(x, whole, kind)
            most = len(whole) if late else _TERMS
            for k in range(0, len(whole), most):
                self._write_whole(x, bar, whole[k : k + most], kind)
            if x in self.present:
                self.present[x].idle = zeros.both(levels)
        if not sections:
            return
        if x in self.present:
            self.make_own(x)
        else:
            self.start(x)
        self.present[x].idle = zeros.both([self.present[x].idle, *(c.idle or self.level_of(c.index) for c in sections)])
        for section in self._joined(sections):
            self._write_section(bar, kind, section)

    def _broadcasting(self, x: str, whole: list[Cotangent], kind: Kind) -> list[Cotangent]:
        """Contributions to be summed: if one, or the present adjoint, has the shape of `x`, the others may broadcast."""
        if not isinstance(kind, Array):
            return whole
        held = x in self.present
        small = [relation(c.kind, kind) == "under" and not is_outer(self.unit, c.value) for c in whole]
        whole = [c if c.full or s else self.spread(c, x) for c, s in zip(whole, small, strict=True)]
        whole.sort(key=lambda c: not c.full)
        return whole if held or whole[0].full else [self.spread(whole[0], x), *whole[1:]]

    def _unaliased(self, c: Cotangent) -> Cotangent:
        """A contribution that may be a view of the adjoint it is added to, copied."""
        value = simplified(clone(c.value))
        if isinstance(c.kind, Number) or isinstance(value, gast.Constant) or is_fresh(self.unit, value):
            return c
        return replace(c, value=in_new_memory(self.unit, value, c.kind, c.or_none))

    def _write_whole(self, x: str, bar: str, whole: list[Cotangent], kind: Kind) -> None:
        """Write contributions to all of `x`; the first one may create the adjoint."""
        if x in self.stacks:  # the cotangent of a whole list, to be consumed in place
            self.out.append(assign(bar, call(self.unit, "own", runtime.own, whole[0].value)))
            return
        numeric = isinstance(kind, (Number, Array)) or all(c.numeric for c in whole)
        value = simplified(clone(self._total(whole, numeric)))  # `z_bar * 1.0` only looks like new memory
        held = self.present.get(x)
        if held is None and self._reuse(x, bar, value, kind):
            return
        new = is_fresh(self.unit, value)
        if not new and not (held is not None and held.own):
            self.shared = True
        if held is None:
            self._make(x, bar, value, kind, isinstance(kind, Array) and (new or (len(whole) == 1 and whole[0].own)))
        else:
            self._add(x, held, value, kind, numeric)

    def _add(self, x: str, held: Bar, value: gast.AST, kind: Kind, numeric: bool) -> None:
        """Add to the adjoint of `x`, in place if it has memory of its own."""
        bar = self.bar(x)
        if x in self.mirrored and isinstance(kind, Container):
            self.out.append(assign(bar, call(self.unit, "add_into", shadows.add_into, name(bar), value)))
        elif isinstance(kind, Number) or (isinstance(kind, Array) and held.own) or x in self.mirrored:
            self.out.append(accumulate(name(bar, store=True), value))
        elif numeric:
            self.out.append(assign(bar, total([name(bar), value])))
            is_array = isinstance(kind, Array) and kind.rank != 0
            self.present[x] = Bar(bar, is_array, held.exact and self._is_exact(value, kind))
        else:
            self.held.note(bar, kind, value)
            self.out.append(assign(bar, call(self.unit, "add", runtime.add, name(bar), value)))
            self.present[x] = Bar(bar)

    def _total(self, whole: list[Cotangent], numeric: bool) -> gast.AST:
        """The sum of contributions: with operators, or item by item where they may be containers."""
        if numeric:
            return total([c.value for c in whole])
        value = whole[0].value
        for c in whole[1:]:
            value = call(self.unit, "add", runtime.add, value, c.value)
        return value

    def _reuse(self, x: str, bar: str, value: gast.AST, kind: Kind) -> bool:
        """Update an adjoint in place where the new adjoint of `x` is its old one, scaled or unchanged."""
        if not isinstance(kind, Array) or not self.consumed.get(x) or self.shared:
            return False
        stays = isinstance(value, gast.Name) and value.id == bar
        factor = isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Div))
        scaled = factor and same(value.left, name(bar)) and bar not in effects.reads(value.right)
        if not stays and not scaled:
            return False
        self.present[x] = Bar(bar, True, self._is_exact(value, kind))
        if scaled:
            self.out.append(gast.AugAssign(name(bar, store=True), value.op, value.right))
        return True

    def _make(self, x: str, bar: str, value: gast.AST, kind: Kind, fresh: bool) -> None:
        """Bind the adjoint of `x`; `fresh`: to new memory."""
        if x in self.mirrored:
            if getattr(value, "id", None) != bar:
                whole = gast.Subscript(name(bar), constant(Ellipsis), gast.Store())
                self.out.append(gast.Assign([whole], value, None))
            self.present[x] = Bar(bar, True, True, SLOPES)
            return
        if not fresh and isinstance(kind, Array) and self._is_borrowed(value):
            value, fresh = in_new_memory(self.unit, value, kind, isinstance(self.kinds.get(x), OrNone)), True
        if not fresh and stores.reads_section(self, value):
            value, fresh = stores.detached(self, value, kind), isinstance(kind, Array)
        self.held.note(bar, kind, value)
        self.out.append(assign(bar, value))
        self.present[x] = Bar(bar, fresh and kind.rank != 0, self._is_exact(value, kind))

    def _is_borrowed(self, value: gast.AST) -> bool:
        """Whether a value may alias memory that is updated in place as the adjoint of another name."""
        return bool(self.borrowed) and not is_fresh(self.unit, value) and not self.borrowed.isdisjoint(mentioned(value))

    def _joined(self, sections: list[Cotangent]) -> list[Cotangent]:
        """Merge contributions to the same section."""
        out: list[Cotangent] = []
        for section in sections:
            other = next((c for c in out if same(c.index, section.index) and self.is_basic(c.index)), None)
            if other is None or not (other.numeric and section.numeric):
                out.append(section)
            else:
                other.value = total([other.value, section.value])
        return [replace(c) for c in out]

    def _is_exact(self, value: gast.AST, kind: Kind) -> bool:
        found = self.inference.kind(value)  # a NumPy seed would widen float32
        return isinstance(kind, Array) and isinstance(found, Array) and found.dtype == kind.dtype == "float64"

    def _write_section(self, bar: str, kind: Kind, section: Cotangent) -> None:
        """Add a contribution to a section of an adjoint."""
        slot = isinstance(kind, Container) and bar in self.unit.shadows
        if slot and isinstance(section.index, gast.Slice):  # of a list that was copied
            index = index_value(section.index, self.unit.builtin(slice))
            placed = call(self.unit, "at_section", item_slots.at_section, section.value, name(bar), index)
            self.out.append(assign(bar, call(self.unit, "add_into", shadows.add_into, name(bar), placed)))
        elif slot and Container in map(type, (section.kind, kind.at(getattr(section.index, "value", None)))):
            holder = self.unit.temp()
            self.kinds[holder] = of_shadow(kind.at(getattr(section.index, "value", None)) or UNKNOWN) or section.kind
            self.out.append(assign(holder, gast.Subscript(name(bar), clone(section.index), gast.Load())))
            self.out.append(assign(holder, call(self.unit, "add_into", shadows.add_into, name(holder), section.value)))
        elif slot or (isinstance(kind, Array) and kind.rank != 0 and self.is_basic(section.index)):
            self.out.append(accumulate(gast.Subscript(name(bar), clone(section.index), gast.Store()), section.value))
        else:
            index = index_value(section.index, self.unit.builtin(slice))
            self.out.append(assign(bar, call(self.unit, "add_at", runtime.add_at, name(bar), index, section.value)))

    def is_basic(self, index: gast.AST) -> bool:
        """Whether an index contains no position twice."""
        for part in parts_of(index):
            kind = None if isinstance(part, gast.Slice) else self.inference.kind(part)
            plain = isinstance(part, gast.Slice) or contents.is_plain_index(kind)
            if plain or isinstance(getattr(part, "value", None), str):
                continue
            if not (isinstance(kind, Array) and kind.dtype == "bool"):
                return False
        return True

    def level_of(self, index: gast.AST) -> int:
        """The level of what may be inf or nan outside of a section that a mask selects; 0 for any other section."""
        if self.arms:  # the test acts as the mask
            return VALUES
        parts = parts_of(index)
        kinds = [self.inference.kind(part) for part in parts if not isinstance(part, gast.Slice)]
        masked = any(isinstance(k, Array) and k.dtype == "bool" for k in kinds)
        return VALUES if masked or self.any_picked(parts) else 0

    def any_picked(self, parts: list[gast.AST]) -> bool:
        """Whether some of these indices are derived from masks."""
        return any(getattr(part, "id", None) in self.picked or picked.is_outside(self.unit, part) for part in parts)

    def named(self, g: Cotangent, anew: bool = False) -> Cotangent:
        """The cotangent bound to a name, so that it can be read twice; `anew`: to a new name, which later changes do not
        affect."""
        if isinstance(g.value, gast.Constant) or (isinstance(g.value, gast.Name) and not anew):
            return g
        holder = self.unit.temp()
        self.kinds[holder] = g.kind or UNKNOWN
        value = simplified(clone(g.value))
        value = value if is_fresh(self.unit, value) else stores.hold(self, holder, value, g.kind)
        self.borrowed |= {holder} if self._is_borrowed(value) else set()
        self.out.append(assign(holder, value))
        return Cotangent(name(holder), g.kind, g.full, None, g.numeric, idle=g.idle)

    def isolated(self, g: Cotangent) -> Cotangent:
        """The contribution in a form that the store in progress does not change."""
        if not stores.reads_section(self, g.value):
            return g
        holder = self.unit.temp()
        self.kinds[holder] = g.kind or UNKNOWN
        value = simplified(clone(g.value))
        self.out.append(assign(holder, value if is_fresh(self.unit, value) else stores.detached(self, value, g.kind)))
        return replace(g, value=name(holder))
