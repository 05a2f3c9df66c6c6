"""The sum of contributions to one adjoint: `+=` on numbers and on arrays allocated by this function, new memory otherwise.

z = x * y + x       ->      x_bar = z_bar * y + z_bar                  (or x_bar += .., if it is present and its own)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number, OrNone, argument, operand
from s2sgrad.analysis.shadow_kinds import of_shadow
from s2sgrad.ir.quote import assign, clone, constant, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.memory.sources import is_fresh
from s2sgrad.rules.table import SLOPES
from s2sgrad.runtime import item_slots, shadows
from s2sgrad.transform import stores, zeros
from s2sgrad.transform.cotangents import Bar, Cotangent, accumulate, in_new_memory, index_value, is_outer, total
from s2sgrad.transform.environment import Environment
from s2sgrad.transform.projections import may_be_narrow
from s2sgrad.transform.unbroadcasting import relation

TERMS = 40  # terms of a sum in one expression


class Sum:
    """Contributions to the adjoint `bar` of one variable."""

    def __init__(self, adjoints: Environment, x: str) -> None:
        self.adjoints, self.unit, self.x = adjoints, adjoints.unit, x
        self.kind: Any = operand(argument(adjoints.kinds.get(x, UNKNOWN)))
        self.bar = adjoints.bar(x)

    def write(self, given: list[Cotangent], late: bool = False) -> None:
        """Write them; `late`: their values may read the adjoint."""
        x = self.x
        whole = [c for c in given if c.index is None]
        sections = [c for c in given if c.index is not None]
        if late and sections:  # their values may read the old adjoint
            sections = [replace(c, value=self.adjoints.named(self._unaliased(c), anew=True).value) for c in sections]
        if whole:
            levels = [c.idle for c in whole] + [self.adjoints.present[x].idle for _ in (1,) if x in self.adjoints.present]
            whole = self._broadcasting(whole)
            most = len(whole) if late else TERMS
            for k in range(0, len(whole), most):
                self._whole(whole[k : k + most])
            if x in self.adjoints.present:
                self.adjoints.present[x].idle = zeros.both(levels)
        if not sections:
            return
        if x in self.adjoints.present:
            self.adjoints.make_own(x)
        else:
            self.adjoints.start(x)
        present, level_of = self.adjoints.present[x], self.adjoints.exclusions.level_of
        present.idle = zeros.both([present.idle, *(c.idle or level_of(c.index) for c in sections)])
        for section in self._joined(sections):
            self._section(section)

    def _broadcasting(self, whole: list[Cotangent]) -> list[Cotangent]:
        """Contributions to be summed: where one, or the present adjoint, has full shape, the others may broadcast."""
        x, kind = self.x, self.kind
        if not isinstance(kind, Array):
            return whole
        held = x in self.adjoints.present
        small = [relation(c.kind, kind) == "under" and not is_outer(self.unit, c.value) for c in whole]
        whole = [c if c.full or s else self.adjoints.settling.spread(c, x) for c, s in zip(whole, small, strict=True)]
        whole.sort(key=lambda c: not c.full)
        return whole if held or whole[0].full else [self.adjoints.settling.spread(whole[0], x), *whole[1:]]

    def _unaliased(self, c: Cotangent) -> Cotangent:
        """A contribution that may be a view of the adjoint it is added to, copied."""
        value = simplified(clone(c.value))
        if isinstance(c.kind, Number) or isinstance(value, gast.Constant) or is_fresh(self.unit, value):
            return c
        return replace(c, value=in_new_memory(self.unit, value, c.kind, c.or_none))

    def _whole(self, whole: list[Cotangent]) -> None:
        """Write contributions to all of the variable; the first one may create the adjoint."""
        x, bar, kind = self.x, self.bar, self.kind
        if x in self.adjoints.stacks:  # the cotangent of a whole list, to be consumed in place
            self.adjoints.out.append(assign(bar, call(self.unit, "own", runtime.own, whole[0].value)))
            return
        numeric = isinstance(kind, (Number, Array)) or all(c.numeric for c in whole)
        value = simplified(clone(self._total(whole, numeric)))  # `z_bar * 1.0` only looks like new memory
        held = self.adjoints.present.get(x)
        if held is None and self._reuse(value):
            return
        new = is_fresh(self.unit, value)
        if not new and not (held is not None and held.own):
            self.adjoints.consumed.aliased = True
        if held is None:
            self._make(value, isinstance(kind, Array) and (new or (len(whole) == 1 and whole[0].own)))
            if isinstance(value, (gast.Dict, gast.List, gast.Tuple)) and whole[0].own:
                self.adjoints.present[x] = Bar(bar, True, True)
                self.unit.temps.add(bar)  # a display, to be written where it is read
        else:
            self._add(held, value, numeric)

    def _add(self, held: Bar, value: gast.AST, numeric: bool) -> None:
        """Add to the adjoint, in place if it has memory of its own."""
        x, bar, kind = self.x, self.bar, self.kind
        if x in self.adjoints.mirrored and isinstance(kind, Container):
            self.adjoints.out.append(assign(bar, call(self.unit, "add_into", shadows.add_into, name(bar), value)))
        elif isinstance(kind, Number) or (isinstance(kind, Array) and held.own) or x in self.adjoints.mirrored:
            self.adjoints.out.append(accumulate(name(bar, store=True), value))
        elif numeric:
            self.adjoints.out.append(assign(bar, total([name(bar), value])))
            is_array = isinstance(kind, Array) and kind.rank != 0 and not may_be_narrow(self.adjoints, kind, value)
            self.adjoints.present[x] = Bar(bar, is_array, held.exact and self._is_exact(value))
        else:
            self.adjoints.held.note(bar, kind, value)
            self.adjoints.out.append(assign(bar, call(self.unit, "add", runtime.add, name(bar), value)))
            self.adjoints.present[x] = Bar(bar)

    def _total(self, whole: list[Cotangent], numeric: bool) -> gast.AST:
        """The sum of contributions: with operators, or item by item where they may be containers."""
        if numeric:
            return total([c.value for c in whole])
        value = whole[0].value
        for c in whole[1:]:
            value = call(self.unit, "add", runtime.add, value, c.value)
        return value

    def _reuse(self, value: gast.AST) -> bool:
        """Update the adjoint in place where the new one is the old one, scaled or unchanged."""
        x, bar, kind = self.x, self.bar, self.kind
        if not isinstance(kind, Array) or not self.adjoints.consumed.bars.get(x) or self.adjoints.consumed.aliased:
            return False
        stays = isinstance(value, gast.Name) and value.id == bar
        factor = isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Div))
        scaled = factor and same(value.left, name(bar)) and bar not in effects.reads(value.right)
        if not stays and not scaled:
            return False
        self.adjoints.present[x] = Bar(bar, True, self._is_exact(value))
        if scaled:
            self.adjoints.out.append(gast.AugAssign(name(bar, store=True), value.op, value.right))
        return True

    def _make(self, value: gast.AST, fresh: bool) -> None:
        """Bind the adjoint; `fresh`: to new memory."""
        x, bar, kind = self.x, self.bar, self.kind
        if x in self.adjoints.mirrored:
            if getattr(value, "id", None) != bar:
                whole = gast.Subscript(name(bar), constant(Ellipsis), gast.Store())
                self.adjoints.out.append(gast.Assign([whole], value, None))
            self.adjoints.present[x] = Bar(bar, True, True, SLOPES)
            return
        if not fresh and not isinstance(kind, Number) and self.adjoints.is_borrowed(value):
            value = in_new_memory(self.unit, value, kind, isinstance(self.adjoints.kinds.get(x), OrNone))
            fresh = isinstance(kind, Array)
        if not fresh and stores.reads_section(self.adjoints, value):
            value, fresh = stores.detached(self.adjoints, value, kind), isinstance(kind, Array)
        fresh = fresh and not may_be_narrow(self.adjoints, kind, value)
        self.adjoints.held.note(bar, kind, value)
        self.adjoints.out.append(assign(bar, value))
        self.adjoints.present[x] = Bar(bar, fresh and kind.rank != 0, self._is_exact(value))

    def _joined(self, sections: list[Cotangent]) -> list[Cotangent]:
        """Merge contributions to the same section."""
        out: list[Cotangent] = []
        for section in sections:
            other = next(
                (c for c in out if same(c.index, section.index) and self.adjoints.exclusions.selects_once(c.index)),
                None,
            )
            if other is None or not (other.numeric and section.numeric):
                out.append(section)
            else:
                other.value = total([other.value, section.value])
        return [replace(c) for c in out]

    def _is_exact(self, value: gast.AST) -> bool:
        found = self.adjoints.inference.kind(value)  # a NumPy seed would widen float32
        return isinstance(self.kind, Array) and isinstance(found, Array) and found.dtype == self.kind.dtype == "float64"

    def _section(self, section: Cotangent) -> None:
        """Add a contribution to a section of the adjoint."""
        bar, kind = self.bar, self.kind
        slot = isinstance(kind, Container) and bar in self.unit.mirror.shadows
        if slot and isinstance(section.index, gast.Slice):  # of a list that was copied
            index = index_value(section.index, self.unit.builtin(slice))
            placed = call(self.unit, "at_section", item_slots.at_section, section.value, name(bar), index)
            self.adjoints.out.append(assign(bar, call(self.unit, "add_into", shadows.add_into, name(bar), placed)))
        elif slot and Container in map(type, (section.kind, kind.at(getattr(section.index, "value", None)))):
            holder = self.unit.temp()
            self.adjoints.kinds[holder] = (
                of_shadow(kind.at(getattr(section.index, "value", None)) or UNKNOWN) or section.kind or UNKNOWN
            )
            self.adjoints.out.append(assign(holder, gast.Subscript(name(bar), clone(section.index), gast.Load())))
            self.adjoints.out.append(
                assign(holder, call(self.unit, "add_into", shadows.add_into, name(holder), section.value))
            )
        elif slot and not section.numeric:  # of a number, an array, or a list
            added = gast.Dict([clone(section.index)], [section.value])
            self.adjoints.out.append(assign(bar, call(self.unit, "add_into", shadows.add_into, name(bar), added)))
        elif slot or (isinstance(kind, Array) and kind.rank != 0 and self.adjoints.exclusions.selects_once(section.index)):
            self.adjoints.out.append(
                accumulate(gast.Subscript(name(bar), clone(section.index), gast.Store()), section.value)
            )
        else:
            self.adjoints.present[self.x].exact &= isinstance(kind, Array)
            index = index_value(section.index, self.unit.builtin(slice))
            self.adjoints.out.append(assign(bar, call(self.unit, "add_at", runtime.add_at, name(bar), index, section.value)))
