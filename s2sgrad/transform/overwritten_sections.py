"""Records of sections and items that stores overwrite: a copy, or the item itself where other names may have it.

x[i] = e     ->     x_old = x[i].copy(); x[i] = e      ...      x[i] = x_old
d[k] = e     ->     d_old = held(d, k); d[k] = e       ...      d = put_back(d, k, d_old)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Unknown, operand
from s2sgrad.flow.graph import Block, binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import as_target, assign, clone, constant, expression, loaded, place_of, statements
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.storage import Storage


class Sections:
    """What the stores of one function overwrite; `shadows` maps a name to its shadow, which is recorded with it."""

    def __init__(
        self, unit: Unit, lifetimes: Lifetimes, inference: Inference, storage: Storage, shadows: dict[str, str]
    ) -> None:
        self.unit, self.lifetimes, self.inference, self.storage, self.shadows = unit, lifetimes, inference, storage, shadows
        stores = [s for s in effects.walk(lifetimes.blocks[lifetimes.root]) if effects.stored(s) is not None]
        self.updated = {effects.base(effects.stored(s)) for s in stores if place_of(s) in unit.syntax.updates}

    def of_store(self, statement: gast.Assign, once: bool) -> tuple[Block, Block]:
        """(record, restore) of the section that a store overwrites; `once`: the code runs once per call."""
        target: Any = effects.stored(statement)
        base = effects.base(target)
        owner = self.inference.kind(loaded(target.value))
        if isinstance(owner, Container) and base in self.shadows:
            shadow = clone(target)
            effects.owner(shadow).id = self.shadows[base]
            pairs = [self._of_item(effects.base(place), owner, place, once) for place in (target, shadow)]
            return [s for record, _ in pairs for s in record], [s for _, restore in pairs for s in restore]
        if isinstance(owner, Container) and not self.unit.primal.is_generated:
            found = self._array_of_item(statement, base, target, owner, once)
            if found is not None:
                return found
        if (isinstance(owner, Container) and owner.type is dict) or self._may_be_key(owner, target.slice):
            return self.entry(base, target, once)
        return self.storage.copied(base, clone(target), loaded(target), self.inference.kind(loaded(target)), once)

    def _may_be_key(self, owner: Kind | None, index: gast.AST) -> bool:
        """Whether an index may be a key that is not in the dict yet: a string is one, and so may be a name if the owner is
        unknown."""
        if isinstance(index, gast.Constant):
            return isinstance(index.value, str)
        sections = any(isinstance(p, gast.Slice) or getattr(p, "value", 0) is Ellipsis for p in parts_of(index))
        kind = UNKNOWN if sections else self.inference.kind(index)
        return isinstance(owner, Unknown) and not sections and not isinstance(kind, Array) and self.unit.primal.is_generated

    def _array_of_item(
        self, statement: gast.Assign, base: str, target: gast.Subscript, owner: Container, once: bool
    ) -> tuple[Block, Block] | None:
        """(record, restore) of an item whose array is updated in place, here or elsewhere, so that it may have aliases."""
        item = operand(self.inference.kind(loaded(target)))
        if place_of(statement) in self.unit.syntax.updates:  # `xs[0] += e` changes the array itself
            if isinstance(item, Array):
                content = gast.Subscript(loaded(target), constant(Ellipsis), gast.Store())
                return self.storage.copied(base, content, loaded(target), item, once)
            if isinstance(item, Unknown):
                record, (back,) = self.storage.copied(base, clone(target), loaded(target), item, once)
                back.value = call(self.unit, "restored", runtime.restored, loaded(target), back.value)
                return record, [back]
        if owner.type is list and base in self.updated and isinstance(item, Array):  # its contents are restored
            return self.storage.by_reference(base, target, self.inference.kind(loaded(target)), once)
        return None

    def _of_item(self, base: str, owner: Container, target: gast.Subscript, once: bool) -> tuple[Block, Block]:
        """(record, restore) of an item that a store replaces, as the same object."""
        fixed = owner.type is not dict or self._has_key(target)
        if not fixed:
            return self.entry(base, target, once, False)
        return self.storage.by_reference(base, target, self.inference.kind(loaded(target)), once)

    def _has_key(self, target: gast.Subscript) -> bool:
        """Whether a dict has a key from its only definition, a display, on."""
        root = self.lifetimes.blocks[self.lifetimes.root]
        base = next((x for x, bar in self.shadows.items() if bar == effects.base(target)), effects.base(target))
        bound = [s for s in effects.walk(root) if base in binds(s)]
        value = bound[0].value if len(bound) == 1 and isinstance(bound[0], gast.Assign) else None
        keys = value.keys if isinstance(value, gast.Dict) and isinstance(target.value, gast.Name) else []
        return any(same(key, target.slice) for key in keys if isinstance(key, gast.Constant))

    def entry(self, base: str, target: gast.Subscript, once: bool, copied: bool = True) -> tuple[Block, Block]:
        """(record, restore) of the entry of a dict that a store creates or overwrites."""
        owner, key = target.value, target.slice
        value = call(self.unit, "held", runtime.held, loaded(owner), clone(key))
        array = isinstance(self.inference.kind(loaded(target)), Array)
        itself = array and base in self.updated and not self.unit.primal.is_generated  # its contents are restored
        stack = self.storage.old(base, None) if once else self.storage.stack(base)
        if itself or not copied:
            value.args.append(constant(False))
            self.storage.referring.add(stack)
        taken: gast.AST = name_(stack) if once else expression("stack.pop()", stack=stack)
        put = call(self.unit, "put_back", runtime.put_back, loaded(owner), clone(key), taken)
        back = gast.Assign([as_target(owner)], put, None)
        return [assign(stack, value)] if once else statements("stack.append(x)", stack=stack, x=value), [back]
