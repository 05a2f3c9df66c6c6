"""Records: what the forward sweep saves and the reverse sweep restores, except for what is recomputed (`recomputation`).

    x = x * r    ->    x_stack.append(x); x = x * r    ...    x = x_stack.pop(); r_bar += x_bar * x        (in a loop)

- a variable that is rebound: recorded before the statement, restored at the start of the statement's adjoint;
- a section that a store overwrites: a copy is recorded, and restored into the same array, which may have other names;
- a variable that lives within one trip of a loop: recorded at the end of its block, restored at the start of its adjoint;
- code that runs once per call uses a plain variable for the old value; in loops, a stack.

Every overwritten value is restored; dead-code elimination then removes unused restores together with their records.
"""

from __future__ import annotations

import functools

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, Pointer, PointerOrNone, Unknown, operand
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir import notes
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import as_target, assign, at, clone, constant, expression, loaded, place_of, statements
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.writes import in_place
from s2sgrad.runtime import shadows
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.recomputation import Recomputation, Recomputed


class Records:
    """Records and restores for one function; `stacks` are those it has created."""

    def __init__(self, unit: Unit, lifetimes: Lifetimes, inference: Inference, memory: Memory) -> None:
        self.unit, self.lifetimes, self.inference = unit, lifetimes, inference
        self.kinds = inference.env
        self.memory = memory
        self.stacks: list[str] = []
        self.referring: set[str] = set()  # stacks of references to objects that may still be written
        self.grown: set[str] = set()  # resized lists: not to be recorded before they have changed
        self.unbound: dict[int, list[str]] = {}
        self.shadows: dict[str, str] = {}  # from a name to its shadow, which is recorded with it
        root = lifetimes.blocks[lifetimes.root]
        stores = [s for s in effects.walk(root) if effects.stored(s) is not None]
        self.updated = {effects.base(effects.stored(s)) for s in stores if place_of(s) in unit.updates}

    # --- recomputation ---

    @functools.cached_property
    def plans(self) -> dict[int, Recomputed]:
        """The recomputations by the identity of the block; positions are indices of its statements."""
        return Recomputation(self.unit, self.lifetimes, self.kinds, self.memory).plans

    # --- records ---

    def early(self, body: Block, plan: Recomputed) -> dict[int, list[str]]:
        """Names to record at their binding, by statement: views of memory that is written while they are dead."""
        out: dict[int, list[str]] = {}
        if leaves(body, gast.Break):
            return out
        once = id(body) not in self.lifetimes.repeated
        counts = binding_counts(body)
        for statement in body:
            moved = not isinstance(statement, gast.Assign) or effects.permutes(statement)
            for bound in () if moved else binds(statement):
                mine = bound in self.memory.written and not {bound} & (self.memory.bases | self.grown)
                mine = mine and bound not in plan.names and bound not in self.unit.mirrored
                if once and not (bound in self.unit.temps and self.memory.with_memory_of(bound) & self.rebound):
                    continue  # restoring the viewed memory restores the view
                if mine and counts[bound] == 1 and self.lifetimes.home.get(bound) == id(body):
                    out.setdefault(id(statement), []).append(bound)
        return out

    @functools.cached_property
    def rebound(self) -> set[str]:
        """The names that are restored by rebinding, so that their old values are in other memory."""
        root = self.lifetimes.blocks[self.lifetimes.root]
        bound = ((s, n) for s in effects.walk(root) if in_place(self.unit, s, self.kinds) is None for n in binds(s))
        return {n for s, n in bound if self.lifetimes.is_rebound(n, s)}

    def early_pair(self, name: str, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record a copy of `name` and restore it; on a stack of its own, which is not used in the order of the others."""
        copies = isinstance(self.kinds.get(name), Array)
        value = expression("x.copy()", x=name) if copies else call(self.unit, "copied", copied, name_(name))
        whole = sorted(self.memory.with_memory_of(name) - self.unit.temps)
        of_whole = name in self.unit.temps and len(whole) == 1
        known, form = (whole[0], "part_") if of_whole else (name, "")
        if id(body) not in self.lifetimes.repeated:
            old = self._old(known, self.kinds.get(name), f"{form}old")
            return [assign(old, value)], [assign(name, name_(old))]
        stack = self.stack(known, f"{form}stack")
        self.unit.stack_bases.pop(stack, None)
        return statements("stack.append(x)", stack=stack, x=value), statements("x = stack.pop()", stack=stack, x=name)

    def is_unaliased(self, name: str) -> bool:
        """Whether the reverse sweep reads no alias of `name`: a recomputed subexpression is computed from `name` as
        restored, and one that is recorded early from a copy.

            t = np.squeeze(w[::2]) * x; w[::2] = 0.0; w = w * w      ->      False: `w[::2]` is to be restored in `t` too
        """
        return self.memory.with_memory_of(name) - self.remade == {name}

    @functools.cached_property
    def remade(self) -> set[str]:
        blocks = self.lifetimes.blocks
        """The names that the reverse sweep binds to values it recomputes, or to copies."""
        early = (names for block, plan in self.plans.items() for names in self.early(blocks[block], plan).values())
        return set().union(*early, *(plan.names for plan in self.plans.values())) & self.unit.temps

    def around(self, statement: gast.AST, body: Block) -> tuple[Block, Block]:
        """What the forward sweep records before a statement, and the reverse sweep restores from that."""
        if effects.stored(statement) is not None:
            return self.section(statement, body)
        records: Block = []
        restores: Block = []
        for target in binds(statement):
            record, restore = self.before(statement, target, body)
            records += record
            restores = restore + restores
        return records, restores

    def before(self, statement: gast.AST, name: str, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the value of `name` that a statement overwrites; empty if there is none."""
        if not self.lifetimes.is_rebound(name, statement):
            return [], []
        unsure = not self.lifetimes.is_assigned(name, statement)
        once = id(body) not in self.lifetimes.repeated
        if in_place(self.unit, statement, self.kinds) is not None:
            if unsure:
                self.needs_binding(name)
            entry = self.entry(statement)
            if entry is None:
                return self.content(name, once)
            if name not in self.shadows:
                return self._entry(name, entry, once)
            pairs = [self._entry(n, self._entry_of(statement, n), once, False) for n in (name, self.shadows[name])]
            return [s for record, _ in pairs for s in record], [s for _, restore in pairs for s in restore]
        return self.both(name, once, unsure)

    def entry(self, statement: gast.AST) -> gast.Subscript | None:
        """The entry that `d = put_back(d, key, old)` in generated text overwrites."""
        if self.unit.called(getattr(statement, "value", None)) is not runtime.put_back:
            return None
        (base,) = binds(statement)
        return self._entry_of(statement, base)

    def _entry_of(self, statement: gast.AST, base: str) -> gast.Subscript:
        return gast.Subscript(name_(base), clone(statement.value.args[1]), gast.Store())

    def at_end(self, name: str) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of a variable whose lifetime ends with the block."""
        return self.both(name, False, self.lifetimes.may_end_unbound(name))

    def both(self, name: str, once: bool, unsure: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore the binding of `name`, and that of its shadow."""
        if unsure:
            self.needs_binding(name)
        record, restore = self.pair(name, once, unsure)
        if name in self.shadows:
            if unsure:
                self.needs_binding(self.shadows[name])
            more, back = self.pair(self.shadows[name], once, unsure)
            record, restore = record + more, restore + back
        return record, restore

    def pair(self, name: str, once: bool, unsure: bool = False) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore the binding of `name`: a saved variable, or a stack where the code may run again."""
        value: gast.AST = name_(name)
        if name in self.memory.written and not self._is_mirrored(name) and self.is_unaliased(name):
            copies = isinstance(self.kinds.get(name), Array) and not unsure  # the restored array has no aliases either
            value = expression("x.copy()", x=name) if copies else call(self.unit, "copied", copied, value)
        return self.held(name, value, once)

    def held(self, name: str, value: gast.AST, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record this value of `name`, and bind `name` to it again."""
        if once:
            old = self._old(name, self.kinds.get(name))
            return [assign(old, value)], [assign(name, name_(old))]
        references = self._is_mirrored(name) or (name in self.memory.written and isinstance(value, gast.Name))
        stack = self.stack(name, "references" if references else "stack")
        push = statements("stack.append(x)", stack=stack, x=value)
        return push, statements("x = stack.pop()", stack=stack, x=name)

    def _is_mirrored(self, name: str) -> bool:
        """Whether a name has a shadow, or is one."""
        return name in self.unit.mirrored or name in self.unit.shadows

    def content(self, name: str, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore the contents of an array, for `x += e`."""
        kind = operand(self.kinds.get(name))
        if not isinstance(kind, Array):
            stack = self.stack(name)
            kept: gast.AST = name_(name)
            if isinstance(kind, Container):
                kept = call(self.unit, "copied", copied, kept)
            if name in self.shadows and isinstance(kind, Container):
                back = call(self.unit, "refilled", shadows.refilled, name_(name), expression("s.pop()", s=stack))
                return statements("s.append(x)", s=stack, x=kept), [assign(name, back)]
            if isinstance(kind, Container):
                return statements("s.append(x)", s=stack, x=kept), statements("x = s.pop()", s=stack, x=name)
            push = gast.Expr(call(self.unit, "push", runtime.push, name_(stack), kept))
            value = expression(
                "restored(x, s.pop())", restored=self.unit.helper("restored", runtime.restored), x=name, s=stack
            )
            return [push], [assign(name, value)]
        alone = len(self.memory.with_memory_of(name)) == 1 and name not in self.unit.mirrored
        target: gast.AST = name_(name, store=True) if alone else expression("x[...]", x=name)
        target.ctx = gast.Store()
        return self._copied(name, target, name_(name), kind, once)

    def kept(self, statement: gast.AST, name: str) -> gast.AST:
        """The value of `name` after the statement, in memory that restoring the value before it does not change."""
        in_place_ = in_place(self.unit, statement, self.kinds) is not None
        if not in_place_ or (len(self.memory.with_memory_of(name)) == 1 and self._is_array(name)):
            return name_(name)
        return call(self.unit, "copied", copied, name_(name))

    def _is_array(self, name: str) -> bool:
        """Whether a name that is updated is bound to an array."""
        return isinstance(operand(self.kinds.get(name)), Array)

    def section(self, statement: gast.Assign, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the section that a store overwrites."""
        target = effects.stored(statement)
        base = effects.base(target)
        owner = self.inference.kind(loaded(target.value))
        once = id(body) not in self.lifetimes.repeated
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
            return self._entry(base, target, once)
        return self._copied(base, clone(target), loaded(target), self.inference.kind(loaded(target)), once)

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
    ) -> tuple[list[gast.AST], list[gast.AST]] | None:
        """(record, restore) of an item whose array is updated in place, here or elsewhere, so that it may have aliases."""
        item = operand(self.inference.kind(loaded(target)))
        if place_of(statement) in self.unit.updates:  # `xs[0] += e` changes the array itself
            if isinstance(item, Array):
                content = gast.Subscript(loaded(target), constant(Ellipsis), gast.Store())
                return self._copied(base, content, loaded(target), item, once)
            if isinstance(item, Unknown):
                record, (back,) = self._copied(base, clone(target), loaded(target), item, once)
                back.value = call(self.unit, "restored", runtime.restored, loaded(target), back.value)
                return record, [back]
        if owner.type is list and base in self.updated and isinstance(item, Array):  # its contents are restored
            return self._by_reference(base, target, once)
        return None

    def _of_item(self, base: str, owner: Container, target: gast.Subscript, once: bool) -> tuple[Block, Block]:
        """(record, restore) of an item that a store replaces, as the same object."""
        fixed = owner.type is not dict or self._has_key(target)
        return self._by_reference(base, target, once) if fixed else self._entry(base, target, once, False)

    def _has_key(self, target: gast.Subscript) -> bool:
        """Whether a dict has a key from its only definition, a display, on."""
        root = self.lifetimes.blocks[self.lifetimes.root]
        base = next((x for x, bar in self.shadows.items() if bar == effects.base(target)), effects.base(target))
        bound = [s for s in effects.walk(root) if base in binds(s)]
        value = bound[0].value if len(bound) == 1 and isinstance(bound[0], gast.Assign) else None
        keys = value.keys if isinstance(value, gast.Dict) and isinstance(target.value, gast.Name) else []
        return any(same(key, target.slice) for key in keys if isinstance(key, gast.Constant))

    def _by_reference(self, base: str, target: gast.Subscript, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of an item that a store replaces, by reference."""
        if once:
            old = self._old(base, self.inference.kind(loaded(target)))
            return [assign(old, loaded(target))], [gast.Assign([clone(target)], name_(old), None)]
        stack = self.stack(base)
        self.referring.add(stack)
        taken = expression("stack.pop()", stack=stack)
        return statements("stack.append(x)", stack=stack, x=loaded(target)), [gast.Assign([clone(target)], taken, None)]

    def _entry(
        self, base: str, target: gast.Subscript, once: bool, copied: bool = True
    ) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the entry of a dict that a store creates or overwrites."""
        owner, key = target.value, target.slice
        value = call(self.unit, "held", runtime.held, loaded(owner), clone(key))
        array = isinstance(self.inference.kind(loaded(target)), Array)
        itself = array and base in self.updated and not self.unit.primal.is_generated  # its contents are restored
        stack = self._old(base, None) if once else self.stack(base)
        if itself or not copied:
            value.args.append(constant(False))
            self.referring.add(stack)
        taken: gast.AST = name_(stack) if once else expression("stack.pop()", stack=stack)
        put = call(self.unit, "put_back", runtime.put_back, loaded(owner), clone(key), taken)
        back = gast.Assign([as_target(owner)], put, None)
        return [assign(stack, value)] if once else statements("stack.append(x)", stack=stack, x=value), [back]

    def _copied(
        self, base: str, target: gast.AST, value: gast.AST, kind: Kind | None, once: bool
    ) -> tuple[list[gast.AST], list[gast.AST]]:
        if isinstance(kind, Array):
            value = expression("x.copy()", x=value)
        elif not isinstance(kind, Number):
            value = call(self.unit, "copied", copied, value)
        if once:
            old = self._old(base, kind)
            return [assign(old, value)], [gast.Assign([target], name_(old), None)]
        stack = self.stack(base, numbers=isinstance(kind, Number))
        return statements("stack.append(x)", stack=stack, x=value), [
            gast.Assign([target], expression("stack.pop()", stack=stack), None)
        ]

    def _old(self, name: str, kind: Kind | None, of: str = "old") -> str:
        old = self.unit.local(f"{name}_{of}")
        self.kinds[old] = kind
        self.unit.bases[old] = f"{self.unit.bases.get(name, name)}_{of}"
        self.unit.words[old] = "what was in {} before", name
        self.unit.records[old] = name
        return old

    def stack(self, name: str, of: str = "stack", numbers: bool = False) -> str:
        """A new stack for the old values of a variable; `numbers`: of elements of an array."""
        stack = self.unit.local(f"{name}_{of}")
        self.stacks.append(stack)
        self.unit.words[stack] = "what is kept of {}", name
        self.unit.records[stack] = name
        if of == "references":
            self.referring.add(stack)
        else:
            self.unit.stack_bases[stack] = self.unit.bases.get(name, name), numbers, _sort(self.kinds.get(name))
        self.kinds[stack] = Container(list, None)
        return stack

    def needs_binding(self, name: str) -> None:
        """Bind `name`, which may be unbound where it is recorded, to None at the start of its block."""
        names = self.unbound.setdefault(self.lifetimes.home[name], [])
        if name not in names:
            names.append(name)

    def head(self, body: Block) -> list[gast.AST]:
        """The initial bindings at the start of a block."""
        return [assign(name, self._dummy(name)) for name in self.unbound.get(id(body), ())]

    def _dummy(self, name: str) -> gast.AST:
        """The initial value of a possibly unbound name; with a shadow, a value of its kind, so that the join stays
        precise."""
        kind = self.kinds.get(name)
        return self.nothing_like(kind) if name in self.unit.shadows | self.shadows.keys() else constant(None)

    def nothing_like(self, kind: Kind | None) -> gast.AST:
        """A minimal value of a kind: an empty array, a container of minimal items."""
        if isinstance(kind, Array):
            return call(self.unit, "unset", runtime.unset, constant(kind.rank or 0))
        if not isinstance(kind, Container) or kind.type not in (list, tuple, dict):
            return constant(0.0 if isinstance(kind, Number) else None)
        items = list(map(self.nothing_like, () if kind.items is None else kind.items))
        if kind.type is dict:
            return gast.Dict([constant(k) for k in kind.keys or ()], items)
        return gast.Tuple(items, gast.Load()) if kind.type is tuple else gast.List(items, gast.Load())


def recorded_for(statement: gast.AST, records: Block) -> Block:
    """The records of a statement at its source position; unlike it, they raise nothing."""
    for made in at(statement, *records):
        notes.UNCERTAIN.drop(made)
    return records


def _sort(kind: Kind | None) -> type | None:
    """What distinguishes values from others under the same name: that they are references, or the type of container."""
    if isinstance(kind, (Pointer, PointerOrNone)):
        return Pointer
    return kind.type if isinstance(kind, Container) else None
