"""A checkpointed loop: the reverse sweep reruns each trip from a saved state, and then its adjoint.

    for k in checkpointed(range(n), slots=s):      ->      states = Checkpoints(n, s)
        u = step(u)                                        for k in range(n):
                                                               keep(states, k, u)
                                                               u = step(u)
                                                           ...
                                                           for k in reversed(range(n)):
                                                               first, u = latest(states, k)
                                                               for j in range(first, k):
                                                                   keep(states, j, u)
                                                                   u = step(u)
                                                               u_bar = step_bwd(u, u_bar)

The state is what the body reads from the previous trip; dead-code elimination reduces it to what the adjoint needs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes, scoping
from s2sgrad.ir.checkpoints import remove_checkpoint, remove_checkpoints
from s2sgrad.ir.exits import with_exits
from s2sgrad.ir.forms import alone, appended_to
from s2sgrad.ir.quote import COMPOUND, assign, blocks, clone, empty_arguments, expression, loaded, name, rewritten
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Origin, Unit
from s2sgrad.memory import repeats
from s2sgrad.memory.sources import has_memory
from s2sgrad.memory.writes import in_place
from s2sgrad.runtime.checkpoints import Checkpoints, keep, latest
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.walk import Walk


class Checkpointed:
    """One loop with `slots` saved states, in the block `body`; `block` writes the adjoint of its trips."""

    def __init__(self, walk: Walk, block: Callable[[Block], Block], loop: gast.For, slots: gast.AST, body: Block) -> None:
        self.walk, self.block, self.unit, self.kinds = walk, block, walk.unit, walk.kinds
        self.loop, self.slots, self.around = loop, slots, body
        remove_checkpoint(loop)
        self.appended = _only_appended(loop.body)
        self.changed = self._changed()
        self._refuse_shadows()
        self.state = self._state()
        self.shared = self._shared()
        self.first = _without_checkpoints(walk.unit, loop.body)
        self.again = self._silent(with_exits(clone(self.first), gast.Break, lambda _: []))
        self.before = len(walk.records.storage.stacks)
        self.states = walk.new_local("states", UNKNOWN, body)

    # --- the state of a trip ---

    def _changed(self) -> list[str]:
        """The names that the body binds, or whose contents it changes, in textual order."""
        bound = dict.fromkeys(n for s in effects.walk(self.loop.body) for n in binds(s))
        changed = dict(bound)
        for statement in effects.walk(self.loop.body):
            changed |= dict.fromkeys(sorted(self.walk.records.memory.changed(statement)))
        kept = [n for n in changed if n in bound or self._is_written(n) or not isinstance(self.kinds.get(n), Array)]
        return [n for n in kept if n in self.unit.locals and n not in self.appended and not self._is_of_trip(n)]

    def _is_of_trip(self, local: str) -> bool:
        """Whether a variable lives within one trip."""
        block = self.walk.lifetimes.home.get(local)
        while block is not None and block != id(self.loop.body):
            block = self.walk.lifetimes.parent.get(block)
        return block is not None

    def _state(self) -> list[str]:
        """Those of them that the body may read before it binds them."""
        whole = gast.For(self.loop.target, self.loop.iter, self.loop.body, [], None)
        facts = Facts(gast.FunctionDef("", empty_arguments(), [whole], [], None, None, []))
        entry = facts.graph.entry[id(self.loop.body)]
        return [n for n in self.changed if facts.liveness.is_live_at(n, entry)]

    def _refuse_shadows(self) -> None:
        """Refuse names with shadows: these start as zeros, before any adjoint."""
        for statement in effects.walk(self.loop.body):
            written = {in_place(self.unit, statement, self.kinds), *binds(statement)}
            for one in sorted(self.walk.adjoints.mirrored.intersection(written)):
                self.unit.refuse(statement, f"`{one}` may stand for memory that has another name as well, which cannot be "
                                            "followed in a loop over `checkpointed`: copy it")  # fmt: skip

    def _shared(self) -> set[str]:
        """Those of them that are written in place and aliased by a name that the reverse sweep may read: they are restored
        in the same memory.  Refused where the loop rebinds them, for then it is not always the same memory.
        """
        records, lifetimes = self.walk.records, self.walk.lifetimes
        before = {n for n in lifetimes.home if lifetimes.is_rebound(n, self.loop)}
        rebound = {n for s in effects.walk(self.loop.body) if not isinstance(s, gast.AugAssign) for n in binds(s)}
        out: set[str] = set()
        for mine in [n for n in self.changed if self._is_written(n) and (n in before or n in self.state)]:
            for other in sorted(records.memory.with_memory_of(mine) & before - {mine} - records.remade):
                swapped = other in self.changed and other not in records.memory.at_once_with(mine)
                if swapped or not self._is_written(other):
                    continue
                if mine in rebound or not isinstance(self.kinds.get(mine), Array):
                    self.unit.refuse(self.loop, f"`{mine}`, which this loop over `checkpointed` writes in place, may share "
                                                f"its memory with `{other}`: copy it before the loop")  # fmt: skip
                out.add(mine)
        return out

    def _is_written(self, local: str) -> bool:
        """Whether the loop may write the object that a variable holds; the items of a list are separate objects."""
        kind = self.kinds.get(local)
        if isinstance(kind, Array):
            return local in self._arrays
        return has_memory(kind) and local in self.walk.records.memory.written | self._resized

    @functools.cached_property
    def _resized(self) -> set[str]:
        """The names of lists that the loop resizes."""
        memory = self.walk.records.memory
        resized = {n for s in effects.walk(self.loop.body) for n in effects.changed_by_call(getattr(s, "value", None))}
        seen = {n for r in resized - self.appended for n in memory.with_memory_of(r)}
        return {n for n in seen if not isinstance(self.kinds.get(n), Array)}

    @functools.cached_property
    def _arrays(self) -> set[str]:
        """The names of arrays, and of possible arrays, whose memory the loop writes."""
        out: set[str] = set()
        for statement in effects.walk(self.loop.body):
            section, base = effects.stored(statement), in_place(self.unit, statement, self.kinds)
            owner = None if section is None else self.walk.inference.kind(loaded(section.value))
            if base is not None and not isinstance(owner, Container):
                out |= self.walk.records.memory.with_memory_of(base)
        return out

    # --- generation ---

    def trip(self) -> Block:
        """The body with records, whose adjoint is emitted; its stacks start empty in each trip."""
        stacks = self.walk.records.storage.stacks
        forward = self.block(self.loop.body)
        made, stacks[self.before :] = stacks[self.before :], []
        return [*(assign(stack, gast.List([], gast.Load())) for stack in made), *forward]

    def heads(self) -> tuple[Block, Block]:
        """(statements before the loop, restores after its adjoint) for the values that the loop overwrites."""
        count = self.loop.iter.args[0]
        ahead: Block = [assign(self.states, call(self.unit, "Checkpoints", Checkpoints, clone(count), self.slots))]
        behind: Block = []
        lifetimes = self.walk.lifetimes
        for local in self.state:
            if not lifetimes.is_assigned(local, self.loop):
                self.walk.records.unbound.add(local)
        bound = {n for s in effects.walk(self.loop.body) for n in binds(s)}
        for changed in self.changed:
            if changed in self.walk.records.remade and changed not in bound and changed not in self.state:
                continue  # only its contents change, and the reverse sweep has its own copy
            if lifetimes.is_rebound(changed, self.loop):
                record, restore = self._recorded(changed)
                ahead, behind = ahead + record, restore + behind
        return ahead, behind

    def _recorded(self, changed: str) -> tuple[Block, Block]:
        """Record and restore a variable around the loop."""
        records, once = self.walk.records, id(self.around) not in self.walk.lifetimes.repeated
        unsure = not self.walk.lifetimes.is_assigned(changed, self.loop)
        if unsure:
            records.unbound.add(changed)
        if changed in self.shared:
            return records.content(changed, once)
        kind = self.kinds.get(changed)
        if isinstance(kind, Number) or changed not in records.memory.written | self._resized:
            return records.pair(changed, once, unsure)
        plain = isinstance(kind, Array) and not unsure
        value = expression("x.copy()", x=changed) if plain else call(self.unit, "copied", copied, name(changed))
        return records.held(changed, value, once)

    def forward(self, kept: bool) -> Block:
        """The body of the loop in the forward sweep; `kept`: whether states are saved."""
        return [*([self._save(self.loop.target.id)] if kept else []), *self._checked(self.loop.body, self.first)]

    def backward(self, forward: Block, swept: Block) -> Block:
        """A trip of the reverse sweep: from the last state forward to this trip, through it with records, and back."""
        trip, first, j = self.loop.target.id, self.unit.local("first"), self.unit.local("j")
        self.kinds[first] = self.kinds[j] = Number(int)
        held = {n: self._contents(n) for n in self.state if n in self.shared}
        targets = [first, *(held.get(n, n) for n in self.state)]
        given = gast.Tuple([name(n, store=True) for n in targets], gast.Store())
        content = [gast.Assign([expression("x[...]", x=n)], name(kept), None) for n, kept in held.items()]
        back = gast.Assign([given], self._call(latest, trip), None)
        notes.STATES.put(back, self.states)
        scoping.rename({trip: j}, *self.again)
        steps = gast.Call(self.unit.builtin(range), [name(first), name(trip)], [])
        ahead = gast.For(name(j, store=True), steps, [self._save(j), *self.again], [], None)
        out = [back, *content, ahead, *with_exits(self._silent(forward), gast.Break, lambda _: [])]
        for statement in effects.walk(out):
            statement.origin = Origin(None, 0, 0, None)
        return [*out, *swept]

    def _contents(self, local: str) -> str:
        """A variable for the restored contents of an array."""
        held = self.unit.local(f"{self.unit.bases.get(local, local)}_then")
        self.kinds[held] = self.kinds.get(local, UNKNOWN)
        return held

    def _save(self, trip: str) -> gast.Expr:
        """The call that saves the state before a trip."""
        kept = gast.Expr(self._call(keep, trip, *self.state))
        notes.STATES.put(kept, self.states)
        return kept

    def _call(self, function: Any, *names: str) -> gast.Call:
        return gast.Call(self.unit.reached(function.__name__, function), [name(n) for n in (self.states, *names)], [])

    def _checked(self, body: Block, copies: Block) -> Block:
        """Copies of statements, with the forward sweep's checks of variables that may be unbound."""
        out: Block = []
        for statement, copy in zip(body, copies, strict=True):
            if isinstance(statement, COMPOUND):
                for inner, inner_copy in zip(blocks(statement), blocks(copy), strict=True):
                    inner_copy[:] = self._checked(inner, inner_copy)
            out += [*self.walk.bound(statement), copy]
        return out

    def _silent(self, body: Block) -> Block:
        """Statements without those to run only once: output, and appends to lists that are not read."""
        return rewritten(body, lambda s: [] if repeats.only_shows(self.unit, s) or _appends(s) & self.appended else [s])


def _without_checkpoints(unit: Unit, body: Block) -> Block:
    """The statements in the form without checkpoints."""
    copies: Block = clone(body)
    for statement in copies:
        remove_checkpoints(unit, statement)
    return copies


def _appends(statement: gast.AST) -> set[str]:
    """The list to which a statement appends."""
    owner = appended_to(alone(statement))
    return {owner.id} if isinstance(owner, gast.Name) else set()


def _only_appended(body: Block) -> set[str]:
    """The lists that statements append to and mention nowhere else."""
    mentions = read_counts(body) + binding_counts(body)
    appended = Counter(n for s in effects.walk(body) for n in _appends(s))
    return {n for n, count in appended.items() if mentions[n] == count}
