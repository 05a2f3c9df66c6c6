"""Flow-sensitive may-alias analysis: which names may share memory at each point of a function.

    v = u[1:-1]          v aliases u
    u, w = w, u          v aliases w, and u no longer
    p = [v]; v = w + 1   p aliases w, of which it holds a view; v aliases nothing

A name means the memory that it is bound to at that point.  There are also names for memory from outside: `ARGUMENT` and a
parameter for what the caller passed, `OUTSIDE` and a free name for what that stands for.

A list or dict itself is visible through its other names and the containers that hold it (`seers`), not through its items:

    s = [x]; s.append(y)      changes nothing that is visible through x, though s and x share memory
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.analysis.trust import is_writable
from s2sgrad.flow.graph import Graph, Names
from s2sgrad.ir.forms import alone, popped
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.relation import Relation
from s2sgrad.memory.sources import HANDED_OUT, bound_sources, has_memory, sources
from s2sgrad.memory.writes import in_place
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives
from s2sgrad.runtime.traits import traits

ARGUMENT, OUTSIDE = "argument ", "outside "


class State:
    """The facts at one point: `shares`, the may-alias relation; `seers`, from a list or dict to whatever it is visible
    through."""

    __slots__ = ("seers", "shares")

    def __init__(self, shares: Relation, seers: Relation) -> None:
        self.shares, self.seers = shares, seers

    def copy(self) -> State:
        """A copy that may be changed independently."""
        return State(self.shares.copy(), self.seers.copy())

    def joined(self, other: State) -> State:
        """The join of two states."""
        return State(self.shares | other.shares, self.seers | other.seers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and (self.shares, self.seers) == (other.shares, other.seers)

    __hash__ = None  # type: ignore[assignment]


def is_from_outside(names: Iterable[str]) -> bool:
    """Whether names of aliases include memory of the caller's, of a global, or of unknown origin."""
    return any(n.startswith((ARGUMENT, OUTSIDE)) or n == HANDED_OUT for n in names)


def has_shadows(unit: Unit) -> bool:
    """Whether a function is generated text with shadow variables."""
    return traits(unit.primal.function).shadowed


_NOTHING = gast.Constant(None, None)  # a value that shares no memory


def _records(tree: gast.FunctionDef) -> set[str]:
    """The parameters that the adjoint of a pair unpacks: the records, which it owns."""
    passed = {p.id for p in parameters(tree)}
    apart = [s.value for s in tree.body if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple)]
    return {v.id for v in apart if isinstance(v, gast.Name) and v.id in passed}


class Aliases:
    """The may-alias relation before each statement of one function.

    Names in `separate` alias nothing, which a run-time check ensures; what is popped from one of the `stacks` has no other
    references.  Without `keep`, only `ever` can be asked.
    """

    def __init__(
        self,
        unit: Unit,
        tree: gast.FunctionDef,
        kinds: dict[str, Kind],
        separate: Collection[str] = frozenset(),
        stacks: Collection[str] = frozenset(),
        keep: bool = True,
    ) -> None:
        self.unit, self.kinds, self.separate, self.stacks = unit, kinds, separate, stacks
        self.graph = Graph(tree, unit.kept)
        self.given = {p.id for p in parameters(tree)}
        passed = [p.id for p in parameters(tree) if has_memory(kinds.get(p.id))]
        self.names = Names(())
        self._ever: dict[str, int] = {}  # all pairs that hold at some point
        self._keep_states = keep
        self._own: State | None = None
        self._nothing = State(Relation(self.names, symmetric=True), Relation(self.names))
        start = self._nothing.copy()
        owned = _records(tree) if traits(unit.primal.function).takes_record else set()
        for p in passed:
            if p in owned:
                continue
            start.seers.add(p, self.names.member(ARGUMENT + p))
            self._join(start, p, start.seers.of(p))
        free = frozenset().union(*(point.reads for point in self.graph.points)) - unit.locals
        self.handed_out = self.names.interned(OUTSIDE + n for n in sorted(free) if is_writable(unit.resolve(name_(n))))
        self.knotted: set[str] = set()  # containers in which two places may share memory, at some point
        self._sources: dict[tuple[int, str | None], set[str]] = {}  # by the expression and the name that it is bound to
        self.states = self.graph.solve(start, self._after, State.joined, keep)

    # --- questions ---

    def may_alias(self, one: str, other: str, before: gast.AST) -> bool:
        """Whether two names may share memory on entry to a statement."""
        return self.tracked(other) in self.memory_of(one, before)

    def is_fresh(self, name: str, before: gast.AST) -> bool:
        """Whether the memory of a name has no other references, not even from the caller."""
        return self.memory_of(name, before) == {name}

    def memory_of(self, name: str, before: gast.AST) -> set[str]:
        """The names that may share memory with a name on entry to a statement, itself included."""
        return set(self.names.decoded(self._closed({name}, self._before(before))))

    def memory_behind(self, name: str, statement: gast.AST) -> set[str]:
        """The names that may share memory with a name behind a simple statement, itself included."""
        after = self._after(self.graph.at[id(statement)], self._before(statement))
        return set(self.names.decoded(self._closed({name}, after)))

    def seers(self, name: str, before: gast.AST) -> set[str]:
        """The names through which the list or dict that `name` stands for is visible, itself included."""
        return set(self.names.decoded(self._seen(self.tracked(name), self._before(before))))

    def seen_inside(self, owner: str, item: Kind | None, before: gast.AST) -> set[str]:
        """The names through which an item of this kind in a container may be visible."""
        names = self._inside(owner, self._before(before))
        never = (Array, Number) if isinstance(item, Container) else (Number,)
        return {n for n in self.names.decoded(names) if not isinstance(self.kinds.get(n.removeprefix(ARGUMENT)), never)}

    def _inside(self, owner: str, state: State) -> int:
        """The names through which items of a container may be visible."""
        inside = state.seers.to(self.tracked(owner))
        names = self._closed({owner}, state) | inside
        for key in self.names.decoded(inside):
            names |= state.seers.of(key)
        return names

    def ever(self) -> dict[str, frozenset[str]]:
        """By name: the names that may share memory with it at some point, itself included, where there are others."""
        among = {name: others | self.names.member(name) for name, others in self._ever.items() if others}
        decoded = {members: self.names.decoded(members) for members in set(among.values())}  # many sets are equal
        return {name: decoded[members] for name, members in among.items()}

    def tracked(self, name: str) -> str:
        """The name under which the memory of a variable is tracked: a free name gets the prefix `OUTSIDE`."""
        return name if name in self.unit.locals else OUTSIDE + name

    def _before(self, statement: gast.AST) -> State:
        """The state on entry to a statement; no aliases if it is unreachable."""
        return self.states[self.graph.at[id(statement)]] or self._nothing

    # --- transfer functions ---

    def _after(self, point: int, state: State) -> State:
        """The transfer function of a point."""
        if self._keep_states or len(self.graph.before[point]) != 1 or len(self.graph.after[point]) != 1:
            self._own = None
        statement = self.graph.points[point].statement
        role = self.graph.points[point].role
        if role == "enter" and isinstance(statement, gast.For):
            return self._bind(statement.target.id, _NOTHING, state)
        if role != "whole":
            return state
        if isinstance(statement, gast.Assign):
            if effects.stored(statement) is not None:
                return self._store(statement, state)
            if effects.permutes(statement):
                return self._permute(statement, state)
            unpacks = self.unit.primal.is_generated and isinstance(statement.targets[0], gast.Tuple)
            record = unpacks and _is_record(self.unit, statement.value, self.given)
            value = _NOTHING if record else statement.value
            for target in effects.targets(statement):
                state = self._bind(target, value, state)
            if record:
                state = self._share(statement.targets[0].elts, state)
        elif isinstance(call := alone(statement), gast.Call):
            if self.unit.resolve(call.func) is runtime.set_attribute:  # stored in the caller's object
                owner, _, kept = call.args
                state = self._keep(owner.id, [kept], state, key=OUTSIDE + owner.id)
            if self.unit.resolve(call.func) is not runtime.push:  # `push` copies arrays
                for owner in effects.changed_by_call(call):
                    state = self._keep(owner, call.args, state)
        return state

    def _store(self, statement: gast.Assign, state: State) -> State:
        base, section = in_place(self.unit, statement, self.kinds), effects.stored(statement)
        if base is None or section is None or isinstance(self.kinds.get(base), Array):
            return state
        nested = not isinstance(section.value, gast.Name)  # into an item, which may have other names
        return self._keep(base, [statement.value], state, self._inside(base, state) if nested else 0)

    def _share(self, parts: list[gast.AST], state: State) -> State:
        """Relate the parts of a pair's record that may share memory, as stated by the function that makes it."""
        shared = traits(self.unit.primal.function).slots.shared
        state = self._to_change(state) if shared else state
        for k, j in shared:
            if has_memory(self.kinds.get(parts[k].id)) and has_memory(self.kinds.get(parts[j].id)):
                self._join(state, parts[k].id, self.names.member(parts[j].id))
        return state

    def _to_change(self, state: State) -> State:
        """A state that may be changed: a copy, unless this one was made here or at a preceding point with a single
        successor."""
        if self._own is None or state is not self._own:
            self._own = state.copy()
        return self._own

    def _keep(self, owner: str, values: Iterable[gast.AST], state: State, inside: int = 0, key: str | None = None) -> State:
        """A container, or one `inside` it, stores values, which become visible through whatever that is visible through."""
        state = self._to_change(state)
        owner = self.tracked(owner) if key is None else key
        for value in values:
            names = self._of(value)
            if self._closed(names, state) & (state.shares.of(owner) | self.names.member(owner)):
                self.knotted |= {owner, *self.names.decoded(self._seen(owner, state))}
            seers, kept = self._seen(owner, state) | inside, self._closed(names, state)
            for name in self.names.decoded(seers):  # read from there by any of these names
                if name == owner or not isinstance(self.kinds.get(name), (Array, Number)):
                    self._join(state, name, kept)
            for name in map(self.tracked, names):
                for seen in [name, *self._held(name, state)]:
                    state.seers.add(seen, seers)
        return state

    def _permute(self, statement: gast.Assign, state: State) -> State:
        """`a, b = b, a`: rename the relation by the permutation."""
        new = {v.id: t.id for t, v in zip(statement.targets[0].elts, statement.value.elts, strict=True)}
        after = State(state.shares.renamed(new), state.seers.renamed(new))
        for name, others in after.shares.pairs():
            self._ever[name] = self._ever.get(name, 0) | others
        return after

    def _bind(self, target: str, value: gast.AST, state: State) -> State:
        """Bind a name to the value of an expression."""
        shared = 0
        if has_memory(self.kinds.get(target)) and target not in self.separate:
            shared = self._closed(self._of(value, target), state)
        seen, seeing = self._visibility(target, value, state)
        if not isinstance(self.kinds.get(target), Array) and self._is_knotted(value, state):
            self.knotted.add(target)
        before = state.shares.mentions(target) or state.seers.mentions(target)
        if not before and not shared and not seen and not seeing:
            return state
        after = self._to_change(state)
        after.shares.drop(target)
        after.seers.drop(target)
        self._join(after, target, shared)
        after.seers.add(target, seen)
        after.seers.add_to(target, seeing)
        return after

    def _is_knotted(self, value: gast.AST, state: State) -> bool:
        """Whether two places of a list or dict may share memory: in a display, or in a container made from such a one."""
        if isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            met = 0
            for item in value.values if isinstance(value, gast.Dict) else value.elts:
                held = self._closed(self._of(item), state)
                if held & met:
                    return True
                met |= held
        return not self.knotted.isdisjoint(self._of(value))

    def _visibility(self, target: str, value: gast.AST, state: State) -> tuple[int, int]:
        """What the value of `target = value` is visible through, and what is visible through it."""
        if not has_memory(self.kinds.get(target)) or isinstance(self.kinds.get(target), Array):
            return 0, 0
        passed = [self.tracked(n) for n in self._of(value)]
        seen = seeing = 0
        kept = isinstance(value, (gast.Tuple, gast.List, gast.Dict))
        if kept or _copies(self.unit, value, target, self.kinds):  # a new container: its contents are visible through it
            for name in passed:
                seeing |= (self.names.member(name) if kept else 0) | state.seers.to(name)
            return state.seers.of(target) if seeing & self.names.member(target) else 0, seeing
        item = popped(value) or _owner_of_item(value, self.kinds)
        for name in passed:  # the same object, or an item of it
            inside = state.seers.to(name)
            seen |= self._seen(name, state) | inside
            seeing |= (0 if name == item else self.names.member(name)) | inside  # a list is no item of itself
        for key in self.names.decoded(seeing):
            seen |= state.seers.of(key)
        return seen, seeing

    # --- sets of names ---

    def _of(self, value: gast.AST, target: str | None = None) -> set[str]:
        """The names with which an expression shares memory; for an assignment to `target`, without what a call allocates for
        it.

        The stack that a value is popped from does not count.
        """
        key = id(value), target
        if key not in self._sources:
            bound = sources(self.unit, value, self.kinds) if target is None else (
                bound_sources(self.unit, [target], value, self.kinds))  # fmt: skip
            self._sources[key] = bound.difference(self.stacks)
        return self._sources[key]

    def _closed(self, names: set[str], state: State) -> int:
        """The names, and all that may alias one of them; the result of a call may alias anything outside."""
        out = self.handed_out if HANDED_OUT in names else 0
        for name in names:
            if name not in self.separate:
                out |= self.names.member(self.tracked(name)) | state.shares.of(self.tracked(name))
        return out

    def _seen(self, name: str, state: State) -> int:
        """What a list or dict is visible through, itself included."""
        return state.seers.of(name) | self.names.member(name)

    def _held(self, owner: str, state: State) -> frozenset[str]:
        """The names of what a list or dict may hold."""
        return self.names.decoded(state.seers.to(owner))

    def _join(self, state: State, name: str, others: int) -> None:
        """Two-way: a name shares memory with others from here on."""
        state.shares.add(name, others)
        bit, ever = self.names.member(name), self._ever.get(name, 0)
        new = others & ~bit & ~ever
        self._ever[name] = ever | new
        for other in self.names.decoded(new):
            self._ever[other] = self._ever.get(other, 0) | bit


def _is_record(unit: Unit, value: gast.AST, given: set[str]) -> bool:
    """Whether generated text unpacks the record that it is given: its parts have no other references.

    In a record with shadows, several parts may share memory.
    """
    return isinstance(value, gast.Name) and value.id in given and not has_shadows(unit)


def _owner_of_item(value: gast.AST, kinds: dict[str, Kind]) -> str | None:
    """The list, tuple or dict of which an expression is an item."""
    plain = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
    held = plain and not isinstance(value.slice, gast.Slice) and isinstance(kinds.get(value.value.id), Container)
    return value.value.id if held else None


def _copies(unit: Unit, value: gast.AST, bound: str, kinds: dict[str, Kind]) -> bool:
    """Whether an expression makes a new container with the items of another: `list(a)`, `a[1:]`, `a + b`, `a.copy()`."""
    if isinstance(value, gast.BinOp):
        return True
    if isinstance(value, gast.Subscript):
        container = isinstance(value.value, gast.Name) and isinstance(kinds.get(value.value.id), Container)
        return container and isinstance(value.slice, gast.Slice)
    if not isinstance(value, gast.Call):
        return False
    target = unit.resolve(value.func)
    if target is MISSING and isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
        return isinstance(value.func.value, gast.Name) and isinstance(kinds.get(value.func.value.id), Container)
    listed = isinstance(kinds.get(bound), Container)  # an iterator sees later changes of the list
    return target in (dict, copy.copy) or (listed and catalogue.of(target).gives is Gives.SHELL)
