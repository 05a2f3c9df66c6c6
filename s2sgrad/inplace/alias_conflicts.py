"""Where one memory has two names that matter: a store through one while the other is still read.

    v = u[1:-1]; u[2] = 0.0; return v[1]      ->      Clash: the store writes u while v, which may share its memory, lives

Follows the program forwards with the pairs of names that may share memory, so that `u, un = un, u` shares nothing.

A store into a list or dict, and what makes it longer or shorter, is seen through its other names and through what holds
it (`holders`), but not by its items:

    s = [x]; s.append(y); return x      ->      no clash, though s and x share memory
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.flow.liveness import Liveness
from s2sgrad.inplace.rebind_markers import is_said
from s2sgrad.ir.quote import place_of
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.sources import bound_sources, has_memory, sources
from s2sgrad.memory.writes import in_place

_Pairs = dict[str, frozenset[str]]
ARGUMENT, OUTSIDE = "argument ", "outside "
_HOLDERS = "@"  # before a name: the names through which a list or dict is seen


@dataclass(frozen=True)
class Clash:
    """A statement that writes the memory of `written` while `seen` may share it and is read later."""

    statement: gast.AST = field(compare=False)
    written: str
    seen: str


@dataclass
class Sharing:
    """`clashes`, and the parameters whose own memory the function writes (`arguments`)."""

    clashes: list[Clash] = field(default_factory=list)
    arguments: dict[str, gast.AST] = field(default_factory=dict)


def writes_in_place(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """Whether any statement writes memory that could have a second name."""
    return any(in_place(unit, s, kinds) is not None or resized(unit, s) is not None for s in effects.walk(tree.body))


def resized(unit: Unit, statement: gast.AST) -> str | None:
    """The list that a statement of the user's grows or shrinks."""
    if unit.primal.is_generated or not isinstance(statement, (gast.Assign, gast.Expr)):
        return None
    if is_said(unit, statement):
        return statement.value.args[0].id
    return next((n for n in effects.changed_by_call(statement.value) if n in unit.locals), None)


def updates_item(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a store into a list or dict is the user's `d[k] op= e`, which writes an array in place."""
    section = effects.stored(statement)
    if section is None or place_of(statement) not in unit.updates or not isinstance(section.value, gast.Name):
        return False
    value = kinds.get(getattr(statement.value, "id", ""))
    return isinstance(kinds.get(section.value.id), Container) and not isinstance(value, Number)


def kind_at(kinds: dict[str, Kind], node: gast.AST) -> Kind | None:
    """The kind of a variable, or of an item of a container."""
    if isinstance(node, gast.Name):
        return kinds.get(node.id)
    owner = kind_at(kinds, node.value) if isinstance(node, gast.Subscript) else None
    return owner.at(getattr(node.slice, "value", None)) if isinstance(owner, Container) else None


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], separate: frozenset[str] = frozenset()) -> Sharing:
    """Follow a function.  Names in `separate` are taken to share nothing: they are checked when the text runs."""
    walker = _Walker(unit, kinds, Facts(tree).liveness, separate)
    walker.fresh_stacks = _fresh_stacks(unit, tree, kinds)
    walker.changed_later = _changed_later(unit, tree)
    start: _Pairs = {}
    for parameter in parameters(tree):
        if has_memory(kinds.get(parameter.id)):
            walker.join(start, parameter.id, {ARGUMENT + parameter.id})
            start[_HOLDERS + parameter.id] = frozenset({ARGUMENT + parameter.id})
    walker.block(tree.body, start)
    return walker.found


def _fresh_stacks(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """Lists that start empty, grow by values that nothing else refers to, and shrink: no two items share memory.

    The stacks of a record of ours are such lists, but for those that are named for the references that they hold.
    """
    lists: set[str] = set()
    other: set[str] = set()
    made = made_once(unit, tree, kinds)
    for statement in effects.walk(tree.body):
        value = getattr(statement, "value", None)
        bound = set(binds(statement))
        if isinstance(statement, gast.Assign) and isinstance(value, gast.List) and not value.elts:
            lists |= bound
            continue
        if unit.primal.is_generated and isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            lists |= {b for b in bound if b.rstrip("_0123456789").endswith("_stack")}
            other |= {b for b in bound if "_stack" not in b}
            continue
        method = value.func if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else None
        owner = method.value if method is not None and method.attr in ("append", "pop") else None
        keeps = isinstance(owner, gast.Name) and not set().union(*(sources(unit, a, kinds) for a in value.args)) - made
        mentioned = [n.id for n in effects.loads(effects.header(statement))]
        other |= {n for n in mentioned if mentioned.count(n) > int(keeps and n == owner.id)} | bound
    return lists - other


def made_once(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """Temporaries that are bound once, to new memory, and read once."""
    reads: Counter[str] = Counter()
    for statement in effects.walk(tree.body):
        reads.update(n.id for n in effects.loads(effects.header(statement)))
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and not sources(unit, statement.value, kinds):
            out |= {b for b in binds(statement) if b in unit.temps and reads[b] == 1}
    return out



def _changed_later(unit: Unit, tree: gast.FunctionDef) -> dict[int, set[str]]:
    """By statements that bind a list anew in the place of a change: the lists that are changed in place behind them."""
    out: dict[int, set[str]] = {}
    changed: set[str] = set()
    for statement in reversed(list(effects.walk(tree.body))):
        if is_said(unit, statement):
            out[id(statement)] = set(changed)
        else:
            changed |= effects.writes(statement) - set(binds(statement))
    return out


class _Walker:
    def __init__(
        self, unit: Unit, kinds: dict[str, Kind], live: Liveness, separate: frozenset[str]
    ) -> None:
        self.unit, self.kinds, self.live, self.separate = unit, kinds, live, separate
        self.found = Sharing()
        self.fresh_stacks: set[str] = set()
        self.changed_later: dict[int, set[str]] = {}
        self.breaks: list[list[_Pairs]] = []

    def block(self, body: Block, pairs: _Pairs) -> _Pairs | None:
        """The pairs after the block, which `pairs` is changed into; None if it ends in a break."""
        for statement in body:
            if isinstance(statement, gast.If):
                arms = [self.block(arm, dict(pairs)) for arm in (statement.body, statement.orelse)]
                after = _joined([a for a in arms if a is not None])
                if after is None:
                    return None
                pairs.clear()
                pairs.update(after)
            elif isinstance(statement, (gast.For, gast.While)):
                self.loop(statement, pairs)
            elif isinstance(statement, gast.Break):
                self.breaks[-1].append(dict(pairs))
                return None
            else:
                self.simple(statement, pairs)
        return pairs

    def loop(self, loop: gast.For | gast.While, pairs: _Pairs) -> None:
        while True:
            self.breaks.append([])
            end = self.block(loop.body, dict(pairs))
            broken = self.breaks.pop()
            after = _joined([pairs, *([] if end is None else [end]), *broken])
            if after == pairs:
                return
            pairs.clear()
            pairs.update(after)

    def simple(self, statement: gast.AST, pairs: _Pairs) -> None:
        base = in_place(self.unit, statement, self.kinds)
        if base is not None:
            self.store(statement, base, pairs)
        elif (grown := resized(self.unit, statement)) is not None:
            self.store(statement, grown, pairs)
        if isinstance(statement, gast.Assign):
            section = effects.stored(statement)
            if section is not None:
                if not isinstance(self.kinds.get(base), Array):
                    self.join(pairs, base, self.closed(sources(self.unit, statement.value, self.kinds), pairs))
                    self.hold(base, statement.value, pairs)
                return
            if effects.permutes(statement):
                self.permute(statement, pairs)
                return
            record = self.unit.primal.is_generated and isinstance(statement.targets[0], gast.Tuple)
            for target in effects.targets(statement):
                self.bind(target, gast.Constant(None, None) if record else statement.value, pairs)
        elif isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call):
            if self.unit.resolve(statement.value.func) is runtime.set_attribute:  # the caller keeps it
                owner, _, kept = statement.value.args
                self.join(pairs, OUTSIDE + owner.id, self.closed(sources(self.unit, kept, self.kinds), pairs))
                for key in [kept.id, *self.held(kept.id, pairs)]:
                    pairs[_HOLDERS + key] = pairs.get(_HOLDERS + key, frozenset()) | {OUTSIDE + owner.id}
            copies = self.unit.resolve(statement.value.func) is runtime.push
            for kept in () if copies else effects.changed_by_call(statement.value):
                for argument in statement.value.args:
                    self.join(pairs, kept, self.closed(sources(self.unit, argument, self.kinds), pairs))
                    self.hold(kept, argument, pairs)

    def store(self, statement: gast.AST, base: str, pairs: _Pairs) -> None:
        if isinstance(self.kinds.get(base), Container) or resized(self.unit, statement) == base:
            shared = set(pairs.get(_HOLDERS + base, ())) if base in self.unit.locals else {OUTSIDE + base}
            section = effects.stored(statement)
            if section is not None and not isinstance(section.value, gast.Name):  # of an item
                shared |= self.seen_inside(base, kind_at(self.kinds, section.value), pairs)
            elif getattr(statement, "inner", False):  # an item that has changed is put back
                shared |= self.seen_inside(base, self.kinds.get(statement.value.id), pairs) - {statement.value.id}
            elif updates_item(self.unit, statement, self.kinds):
                shared |= self.closed({base}, pairs)
        else:
            shared = self.closed({base}, pairs)
        bound = effects.targets(statement) if isinstance(statement, gast.Assign) else ()
        changed = self.changed_later.get(id(statement), set())
        for other in sorted(shared - {base}):
            if other.startswith(ARGUMENT):
                self.found.arguments.setdefault(other.removeprefix(ARGUMENT), statement)
            elif other.startswith(OUTSIDE) or other in changed or (
                other not in bound and self.live.is_live(other, statement)
            ):
                clash = Clash(statement, base, other)
                if clash not in self.found.clashes or is_said(self.unit, statement):
                    self.found.clashes.append(clash)

    def seen_inside(self, owner: str, item: Kind | None, pairs: _Pairs) -> set[str]:
        """The names through which an item of this kind of a container may be seen."""
        inside = self.held(owner, pairs)
        names = set(inside).union(*(pairs.get(_HOLDERS + key, frozenset()) for key in inside), self.closed({owner}, pairs))
        never = (Array, Number) if isinstance(item, Container) else (Number,)
        return {n for n in names if not isinstance(self.kinds.get(n.removeprefix(ARGUMENT)), never)}

    def permute(self, statement: gast.Assign, pairs: _Pairs) -> None:
        """`a, b = b, a`: every name shares what its new value shared, under the new names."""
        new = {v.id: t.id for t, v in zip(statement.targets[0].elts, statement.value.elts, strict=True)}
        new |= {_HOLDERS + v: _HOLDERS + t for v, t in new.items()}
        after = {new.get(n, n): frozenset(new.get(o, o) for o in others) for n, others in pairs.items()}
        pairs.clear()
        pairs.update(after)

    def bind(self, target: str, value: gast.AST, pairs: _Pairs) -> None:
        shared: set[str] = set()
        popped = self.popped(value)
        if popped in self.fresh_stacks:
            pass  # what is taken off is in it no more, and nowhere else
        elif has_memory(self.kinds.get(target)) and target not in self.separate:
            shared = self.closed(bound_sources(self.unit, [target], value, self.kinds), pairs)
        holders = self.held_by(target, value, pairs)
        for other in pairs.pop(target, ()):
            pairs[other] = pairs[other] - {target}
        pairs.pop(_HOLDERS + target, None)
        for key in [k for k, others in pairs.items() if k[0] == _HOLDERS and target in others]:
            pairs[key] = pairs[key] - {target}
        self.join(pairs, target, shared - {target})
        for name, others in holders.items():
            pairs[_HOLDERS + name] = pairs.get(_HOLDERS + name, frozenset()) | (others - {name})

    # --- what sees a list or dict ---

    def seen(self, name: str, pairs: _Pairs) -> frozenset[str]:
        """The names through which what `name` stands for is seen, itself included."""
        known = name in self.unit.locals
        return pairs.get(_HOLDERS + name, frozenset()) | {name if known else OUTSIDE + name}

    def hold(self, owner: str, value: gast.AST, pairs: _Pairs) -> None:
        """`owner` holds a value from now on, and whatever sees `owner` sees that value."""
        seers = self.seen(owner, pairs)
        for name in sources(self.unit, value, self.kinds):
            for key in [name, *self.held(name, pairs)]:
                pairs[_HOLDERS + key] = pairs.get(_HOLDERS + key, frozenset()) | (seers - {key})

    def held(self, owner: str, pairs: _Pairs) -> list[str]:
        """What a list or dict may hold, of what has a name."""
        return [k[1:] for k, others in pairs.items() if k[0] == _HOLDERS and owner in others]

    def held_by(self, target: str, value: gast.AST, pairs: _Pairs) -> dict[str, frozenset[str]]:
        """Who sees what, of what `target = value` changes."""
        if not has_memory(self.kinds.get(target)) or isinstance(self.kinds.get(target), Array):
            return {}
        given = sources(self.unit, value, self.kinds)
        out: dict[str, frozenset[str]] = {target: frozenset()}
        kept = isinstance(value, (gast.Tuple, gast.List, gast.Dict))
        if kept or self.copies(value):  # a container of its own: it sees what it holds
            for name in given:
                for key in [*([name] if kept else []), *self.held(name, pairs)]:
                    out[key] = pairs.get(_HOLDERS + key, frozenset()) | {target}
            return out
        item = self.popped(value)
        for name in given:  # the same object, or an item of it
            out[target] |= self.seen(name, pairs) | set(self.held(name, pairs))
            for key in [*([] if name == item else [name]), *self.held(name, pairs)]:  # a list is no item of itself
                out[key] = pairs.get(_HOLDERS + key, frozenset()) | {target}
                out[target] |= pairs.get(_HOLDERS + key, frozenset())
        return out

    def copies(self, value: gast.AST) -> bool:
        """Whether an expression is a new container with the items of another: `list(a)`, `a[1:]`, `a + b`, `a.copy()`."""
        if isinstance(value, gast.BinOp):
            return True
        if isinstance(value, gast.Subscript):
            container = isinstance(value.value, gast.Name) and isinstance(self.kinds.get(value.value.id), Container)
            return container and isinstance(value.slice, gast.Slice)
        if not isinstance(value, gast.Call):
            return False
        target = self.unit.resolve(value.func)
        if target is MISSING and isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
            return isinstance(value.func.value, gast.Name) and isinstance(self.kinds.get(value.func.value.id), Container)
        return target in (list, dict, tuple, sorted, copy.copy)

    def popped(self, value: gast.AST) -> str | None:
        """The list that an expression takes its last item off."""
        call = value if isinstance(value, gast.Call) and not value.args and isinstance(value.func, gast.Attribute) else None
        if call is None or call.func.attr != "pop" or not isinstance(call.func.value, gast.Name):
            return None
        return call.func.value.id

    def closed(self, names: set[str], pairs: _Pairs) -> set[str]:
        """The names and all that may share memory with one of them."""
        out = set()
        for name in names:
            if name in self.separate:
                continue
            out.add(name if name in self.unit.locals else OUTSIDE + name)
            out |= pairs.get(name, frozenset())
        return out

    def join(self, pairs: _Pairs, name: str, others: set[str]) -> None:
        if not others:
            return
        pairs[name] = pairs.get(name, frozenset()) | (others - {name})
        for other in others - {name}:
            pairs[other] = pairs.get(other, frozenset()) | {name}


def _joined(states: list[_Pairs]) -> _Pairs | None:
    if not states:
        return None
    out = dict(states[0])
    for state in states[1:]:
        for name, others in state.items():
            out[name] = out.get(name, frozenset()) | others
    return out
