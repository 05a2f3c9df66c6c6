"""Records: what the forward sweep saves and the reverse sweep restores, except for what is recomputed (`recomputation`).

    x = x * r    ->    x_stack.append(x); x = x * r    ...    x = x_stack.pop(); r_bar += x_bar * x        (in a loop)

- a variable that is rebound: recorded before the statement, restored at the start of the statement's adjoint.
- a section that a store overwrites: a copy is recorded, and restored into the same array, which may have other names.
- a variable that lives within one trip of a loop: recorded at the end of its block, restored at the start of its adjoint.
- code that runs once per call uses a plain variable for the old value. In loops, a stack.

Every overwritten value is restored; dead-code elimination then removes unused restores together with their records.
"""

from __future__ import annotations

import functools

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, operand
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir import notes
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.quote import assign, at, clone, expression, statements
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.writes import in_place
from s2sgrad.runtime import shadows
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.overwritten_sections import Sections
from s2sgrad.transform.recomputation import Recomputation, Recomputed
from s2sgrad.transform.storage import Storage
from s2sgrad.transform.unbound import Unbound


class Records:
    """Records and restores for one function."""

    def __init__(
        self, unit: Unit, lifetimes: Lifetimes, inference: Inference, memory: Memory, grown: set[str], operations: Operations
    ) -> None:
        self.unit, self.lifetimes, self.inference, self.operations = unit, lifetimes, inference, operations
        self.kinds = inference.env
        self.memory = memory
        self.grown = grown  # resized lists: not to be recorded before they have changed
        self.shadows: dict[str, str] = {}  # from a name to its shadow, which is recorded with it
        self.storage = Storage(unit, self.kinds)
        self.sections = Sections(unit, lifetimes, inference, self.storage, self.shadows)
        self.unbound = Unbound(unit, lifetimes, self.kinds, self.shadows)

    # --- recomputation ---

    @functools.cached_property
    def plans(self) -> dict[int, Recomputed]:
        """The recomputations by the identity of the block; positions are indices of its statements."""
        return Recomputation(self.unit, self.lifetimes, self.kinds, self.memory, self.operations).plans

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
                mine = mine and bound not in plan.names and bound not in self.unit.mirror.names
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
            old = self.storage.old(known, self.kinds.get(name), f"{form}old")
            return [assign(old, value)], [assign(name, name_(old))]
        stack = self.storage.stack(known, f"{form}stack")
        self.unit.derivative.stack_bases.pop(stack, None)
        return statements("stack.append(x)", stack=stack, x=value), statements("x = stack.pop()", stack=stack, x=name)

    def is_unaliased(self, name: str) -> bool:
        """Whether the reverse sweep reads no alias of `name`: a recomputed subexpression is computed from `name` as
        restored, and one that is recorded early from a copy.

            t = np.squeeze(w[::2]) * x; w[::2] = 0.0; w = w * w      ->      False: `w[::2]` is to be restored in `t` too
        """
        return self.memory.with_memory_of(name) - self.remade == {name}

    @functools.cached_property
    def remade(self) -> set[str]:
        """The names that the reverse sweep binds to values it recomputes, or to copies."""
        blocks = self.lifetimes.blocks
        early = (names for block, plan in self.plans.items() for names in self.early(blocks[block], plan).values())
        return set().union(*early, *(plan.names for plan in self.plans.values())) & self.unit.temps

    def around(self, statement: gast.AST, body: Block) -> tuple[Block, Block]:
        """What the forward sweep records before a statement, and the reverse sweep restores from that."""
        if effects.stored(statement) is not None:
            return self.sections.of_store(statement, id(body) not in self.lifetimes.repeated)
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
                self.unbound.add(name)
            entry = self.entry(statement)
            if entry is None:
                return self.content(name, once)
            if name not in self.shadows:
                return self.sections.entry(name, entry, once)
            pairs = [self.sections.entry(n, self._entry_of(statement, n), once, False) for n in (name, self.shadows[name])]
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
            self.unbound.add(name)
        record, restore = self.pair(name, once, unsure)
        if name in self.shadows:
            if unsure:
                self.unbound.add(self.shadows[name])
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
            old = self.storage.old(name, self.kinds.get(name))
            return [assign(old, value)], [assign(name, name_(old))]
        references = self._is_mirrored(name) or (name in self.memory.written and isinstance(value, gast.Name))
        stack = self.storage.stack(name, "references" if references else "stack")
        push = statements("stack.append(x)", stack=stack, x=value)
        return push, statements("x = stack.pop()", stack=stack, x=name)

    def _is_mirrored(self, name: str) -> bool:
        """Whether a name has a shadow, or is one."""
        return name in self.unit.mirror.names or name in self.unit.mirror.shadows

    def content(self, name: str, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore the contents of an array, for `x += e`."""
        kind = operand(self.kinds.get(name))
        if not isinstance(kind, Array):
            stack = self.storage.stack(name)
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
        alone = len(self.memory.with_memory_of(name)) == 1 and name not in self.unit.mirror.names
        target: gast.AST = name_(name, store=True) if alone else expression("x[...]", x=name)
        target.ctx = gast.Store()
        return self.storage.copied(name, target, name_(name), kind, once)

    def kept(self, statement: gast.AST, name: str) -> gast.AST:
        """The value of `name` after the statement, in memory that restoring the value before it does not change."""
        in_place_ = in_place(self.unit, statement, self.kinds) is not None
        if not in_place_ or (len(self.memory.with_memory_of(name)) == 1 and self._is_array(name)):
            return name_(name)
        return call(self.unit, "copied", copied, name_(name))

    def _is_array(self, name: str) -> bool:
        """Whether a name that is updated is bound to an array."""
        return isinstance(operand(self.kinds.get(name)), Array)


def recorded_for(statement: gast.AST, records: Block) -> Block:
    """The records of a statement at its source position; unlike it, they raise nothing."""
    for made in at(statement, *records):
        notes.UNCERTAIN.drop(made)
    return records
