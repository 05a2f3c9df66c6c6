"""Remove what nobody reads: first in the reverse sweep, then the records it no longer needs, then forward work.

A restore that nobody reads goes, and its record with it: that is to-be-recorded analysis.  Of a statement with effects
these stay: of `w += rng.random(4)` the draw.  To put something on a stack or to take it off is an effect too, once anything
that comes off it is wanted: then all of that stays.  A store is needed while the content of a memory that it may change is,
and kills nothing; `x.shape` and `np.zeros_like(x)` read the variable but not its content (`x` and `x!` in the sets below).

    x_stack.append(x); y = np.sin(x)  ...  x = x_stack.pop(); x_bar = y_bar      ->      x_bar = y_bar
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects, with_regions
from s2sgrad.analysis.kinds import UNKNOWN, Array, Kind
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.cleanup import remains
from s2sgrad.cleanup.dead_restores import Overwritten
from s2sgrad.cleanup.record_stacks import local_stacks, operated, operations
from s2sgrad.cleanup.sections import Sections
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import assign, at, clone, constant
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.writes import in_place

_LOOPS = (gast.For, gast.While)
POISON = False  # for tests of the liveness: see `_Sweep.poison`


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without statements whose results are never read."""
    sweep = _Sweep(unit, tree)
    while True:
        before = len(sweep.stacks)
        sweep.mark(tree.body, set())
        if len(sweep.stacks) == before and not sweep.keep_local(tree):
            break
    sweep.bound = {p.id for p in parameters(tree)} | {
        b for s in effects.walk(tree.body) if id(s) in sweep.needed for b in (*binds(s), *effects.writes(s))
    }
    tree.body = sweep.pruned(tree.body)
    return tree


class _Sweep:
    """Backward liveness over the structured program, and the statements found needed."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.needed: set[int] = set()
        self.stacks: set[str] = set()  # stacks of which some record is read
        self.breaks: list[set[str]] = []
        self.facts: dict[int, tuple[set[str], set[str], set[str]]] = {}
        self.contents: frozenset[str] = unit.memory.written
        self.sections = Sections(unit, tree) if self.contents - unit.bars else None
        found = Overwritten(unit, tree, self.sections) if self.sections is not None else None
        self.overwritten: set[int] = found.restores() if found is not None else set()
        self.partly: set[int] = set()  # those whose array is read
        self.spare: dict[int, dict[int, frozenset[str]]] = {}  # by loop: restores that only what follows it may need
        self.spared: list[set[int]] = []
        self.bound: set[str] = set()
        self.doubtful: set[int] = set()  # spared ones: other elements of the array are still read
        self.contexts: dict[int, list[tuple[gast.AST, list[gast.AST], tuple[gast.AST, ...]]]] = {}
        self.ends: set[int] = set()  # the statements that make, enter and leave these contexts
        self._find_contexts(tree.body)
        for statement in effects.walk(tree.body):
            if isinstance(statement, (gast.If, *_LOOPS)):
                self._find_contexts(statement.body)
                self._find_contexts(statement.orelse)
        self.referred = _referred(unit, tree)
        self.local_stacks = local_stacks(unit, tree)
        self.touched: dict[int, list[tuple[gast.Call, str]]] = {}
        self.parts: dict[int, list[gast.AST]] = {}
        self.known: dict[int, set[str]] = {}  # what each statement reads
        self.anchors: set[int] = set()
        self.left: dict[int, list[gast.AST]] = {}  # by a statement that is not needed: the statements that remain of it

    def mark(self, body: list[gast.AST], live: set[str]) -> set[str]:
        """Mark what the block needs for `live` to be right after it; the names live before it."""
        for statement in reversed(body):
            if isinstance(statement, gast.If):
                live = self._if(statement, live)
            elif isinstance(statement, _LOOPS):
                live = self._loop(statement, live)
            elif isinstance(statement, gast.Break):
                live = set(self.breaks[-1])
                self.needed.add(id(statement))
            else:
                live = self._simple(statement, live)
        for made, inside, ends in self.contexts.get(id(body), ()):
            if any(map(self._stays, inside)):
                self.needed |= {id(made), *map(id, ends)}
        return live

    def keep_local(self, tree: gast.FunctionDef) -> bool:
        """Need a binding of each variable that is read before any: without one its name would be a global's."""
        read, bound, binders = set(), {p.id for p in parameters(tree)}, {}
        for statement in effects.walk(tree.body):
            if id(statement) in self.needed:
                read |= effects.reads(statement)
                bound.update(binds(statement))
            else:
                read = read.union(*map(effects.reads, self.left.get(id(statement), ())))
                if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name):
                    binders.setdefault(statement.targets[0].id, statement)
        anchors = {id(binders[name]) for name in (read & binders.keys()) - bound}
        self.anchors |= anchors
        return bool(anchors)

    def _find_contexts(self, body: list[gast.AST]) -> None:
        """The contexts that are needed only for what they hold."""
        found = [
            (body[r.made], body[r.enter + 1 : r.exit], (body[r.enter], body[r.exit], body[r.final]))
            for r in with_regions.regions(body)
            if with_regions.is_quiet(self.unit, body[r.made].value)
        ]
        if found:
            self.contexts[id(body)] = found
            self.ends |= {id(part) for made, _, ends in found for part in (made, *ends)}

    def _if(self, statement: gast.If, live: set[str]) -> set[str]:
        arms = [self.mark(arm, set(live)) for arm in (statement.body, statement.orelse)]
        live = arms[0] | arms[1]
        if any(map(self._stays, (*statement.body, *statement.orelse))):
            return live | self._need(statement)
        return live | self._rest(statement)

    def _loop(self, loop: gast.For | gast.While, live: set[str]) -> set[str]:
        after = set(live)
        bound = {loop.target.id} if isinstance(loop, gast.For) else set()
        head = live | self.reads(loop) if isinstance(loop, gast.While) else set(live)
        self.spared.append(self._spared(loop, after))
        while True:
            self.breaks.append(after)
            start = self.mark(loop.body, set(head)) - bound
            self.breaks.pop()
            if start <= head:
                break
            head |= start
        self.spared.pop()
        if any(map(self._stays, loop.body)) or isinstance(loop, gast.While) or (bound & live):
            self._need(loop)
        return head | self.reads(loop) if id(loop) in self.needed else after | self._rest(loop)

    def _spared(self, loop: gast.For | gast.While, after: set[str]) -> set[int]:
        """The restores in a loop that nothing in it meets, where nothing after it reads their memory either."""
        if self.sections is None or not isinstance(loop, gast.For) or _sweep(loop) != "reverse":
            return set()
        if id(loop) not in self.spare:
            self.spare[id(loop)] = self.sections.spare(loop)
        return {k for k, shared in self.spare[id(loop)].items() if not any(f"{n}!" in after for n in shared)}

    def reads(self, statement: gast.AST) -> set[str]:
        """What a statement (or the header of one) reads: variables, and the contents of what is written in place."""
        if id(statement) not in self.known:
            self.known[id(statement)] = self._read_by(statement)
        return self.known[id(statement)]

    def _read_by(self, statement: gast.AST) -> set[str]:
        names = effects.reads(statement)
        held = names & self.contents
        if not held:
            return names
        shapes = Counter(n.id for n in shape_reads(self.unit, effects.header(statement)))
        changed = in_place(self.unit, statement, self.unit.kinds)
        if changed is not None and effects.accumulates(self.unit, statement) is None:
            shapes[changed] += not isinstance(getattr(statement, "target", None), gast.Name)
        mentions = Counter(n.id for n in effects.loads(effects.header(statement)) if n.id in held)
        return names | {f"{n}!" for n in held if mentions[n] > shapes[n]}

    def _simple(self, statement: gast.AST, live: set[str]) -> set[str]:
        facts = self.facts.get(id(statement))
        if facts is None:
            bound = set(effects.targets(statement)) if isinstance(statement, gast.Assign) else set()
            changed = in_place(self.unit, statement, self.unit.kinds)
            wanted = bound | {f"{b}!" for b in bound if b in self.contents}
            if changed is not None:
                wanted |= {f"{n}!" for n in self.unit.memory.with_memory_of(changed)}
            elif isinstance(statement, (gast.AugAssign, gast.Expr)):
                wanted |= effects.writes(statement)
                if getattr(statement, "restore", False):  # of a list, whatever its name
                    wanted = set().union(*map(self.unit.memory.with_memory_of, wanted))
                    wanted |= {f"{n}!" for n in wanted}
            read = self.reads(statement)
            over = _overwritten(statement, self.unit.kinds)
            facts = read, wanted, bound | {f"{b}!" for b in (*bound, *over)}
            self.facts[id(statement)] = facts
        reads, wanted, bound = facts
        if not self._is_needed(statement, wanted, live):
            return live | self._rest(statement)
        self._need(statement)
        if _only_refers(statement) and not any(f"{b}!" in live for b in effects.targets(statement)):
            reads = {r for r in reads if not r.endswith("!")}  # what it refers to is not looked into
        return (live - bound) | reads

    def _is_needed(self, statement: gast.AST, wanted: set[str], live: set[str]) -> bool:
        if id(statement) in self.ends:
            return False
        stack = operated(self.unit, statement.value) if isinstance(statement, gast.Expr) else None
        if stack in self.local_stacks:
            return stack in self.stacks
        if id(statement) in self.overwritten:
            if wanted & live:
                self.partly.add(id(statement))
            return False
        if any(id(statement) in spared for spared in self.spared):
            self.doubtful.add(id(statement))
            return False
        if getattr(statement, "uncertain", False) and _sweep(statement) == "forward":
            return True  # NumPy may have to say that the shapes do not fit
        if getattr(statement, "restore", False):  # what refers to the list may read it
            return bool(wanted & live) or any(self.unit.bases.get(n, n) in self.referred for n in wanted)
        if isinstance(statement, (gast.Assign, gast.AugAssign)):
            return bool(wanted & live) or id(statement) in self.anchors or effects.uses_up(self.unit, statement)
        return True

    def _stays(self, statement: gast.AST) -> bool:
        return id(statement) in self.needed or id(statement) in self.left

    def _need(self, statement: gast.AST) -> set[str]:
        """Mark a statement, or the header of a compound one; what it reads."""
        self.needed.add(id(statement))
        self.left.pop(id(statement), None)
        self.stacks.update(name for _, name in self._operations(statement))
        return self.reads(statement)

    def _rest(self, statement: gast.AST) -> set[str]:
        """Mark what remains of a statement that is not needed, or of the header of a compound one; what that reads."""
        if id(statement) in self.ends:
            return set()
        touched = self._operations(statement)
        if id(statement) not in self.parts or touched:
            idle = {id(call) for call, stack in touched if stack not in self.stacks}
            if isinstance(statement, gast.Assign) and effects.accumulates(self.unit, statement) in binds(statement):
                idle.add(id(statement.value))
            parts = remains.of_statement(self.unit, statement, lambda call: id(call) in idle)
            self.parts[id(statement)] = at(statement, *(gast.Expr(part) for part in parts))
        left = self.parts[id(statement)]
        if left:
            self.left[id(statement)] = left
            self.stacks.update(name for part in left for _, name in self._operations(part))  # a pop keeps its push
        return set().union(*map(self.reads, left))

    def _alone(self, left: gast.Expr) -> gast.AST:
        """A call of what is not known keeps a name for what it returns: alone, it may keep its arguments."""
        call = left.value
        known = not isinstance(call, gast.Call) or self.unit.resolve(call.func) is not MISSING
        if known or not (call.args or call.keywords) or any(operations(self.unit, left)):
            return left
        holder = self.unit.temp()
        self.unit.kinds[holder] = UNKNOWN
        return at(left, assign(holder, call))[0]

    def _operations(self, statement: gast.AST) -> list[tuple[gast.Call, str]]:
        """What a statement does to stacks."""
        if id(statement) not in self.touched:
            found = operations(self.unit, effects.header(statement)) if self.local_stacks else ()
            self.touched[id(statement)] = [(call, stack) for call, stack in found if stack in self.local_stacks]
        return self.touched[id(statement)]

    def poison(self, statement: gast.AST) -> list[gast.AST]:
        """In the place of a restore that nobody needs: its array filled with nan, which must not reach any result."""
        section = effects.stored(statement)
        if section is None or _sweep(statement) != "reverse" or id(statement) in self.doubtful:
            return []
        base = effects.base(section)
        if base in self.unit.bars or base not in self.bound or not isinstance(self.unit.kinds.get(base), Array):
            return []
        if id(statement) in self.partly:  # the rest of the array may be read
            kind = self.unit.kinds[base].dtype
            lost = gast.Assign([clone(section)], constant(float("nan")), None)
            return at(statement, lost) if kind is not None and kind.startswith("float") else []
        check = self.unit.reached("poison", runtime.poison)
        return at(statement, gast.Expr(gast.Call(check, [gast.Name(base, gast.Load(), None, None)], [])))

    def pruned(self, body: list[gast.AST]) -> list[gast.AST]:
        out = []
        for statement in body:
            if id(statement) not in self.needed:
                out += self.poison(statement) if POISON else []
                out += [self._alone(left) for left in self.left.get(id(statement), ())]
                continue
            if isinstance(statement, (gast.If, *_LOOPS)):
                statement.body = self.pruned(statement.body)
                statement.orelse = self.pruned(statement.orelse)
            out.append(statement)
        return out


def _referred(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The variables (by the user's names) whose objects something else may refer to: an item of a list, another name.

    A record refers to what it holds as well, which matters where there are several: in what we wrote ourselves.
    """
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        value = getattr(statement, "value", None)
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "append":
            record = isinstance(value.func.value, gast.Name) and value.func.value.id in unit.own_names
            if unit.primal.is_generated or not record:
                out |= {a.id for a in value.args if isinstance(a, gast.Name)}
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            out |= {n.id for n in effects.loads(value)}
        elif isinstance(value, gast.Name) and isinstance(statement, gast.Assign):
            out.add(value.id)
    return {unit.bases.get(n, n) for n in out}


def _only_refers(statement: gast.AST) -> bool:
    """Whether a statement binds a name to another one, or to a tuple or list of others."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
        return False
    value = statement.value
    parts = value.elts if isinstance(value, (gast.Tuple, gast.List)) else [value]
    return all(isinstance(p, gast.Name) for p in parts)


def _overwritten(statement: gast.AST, kinds: dict[str, Kind]) -> list[str]:
    """The array of which a store writes every element."""
    section = effects.stored(statement)
    if section is None or not isinstance(section.value, gast.Name) or not isinstance(kinds.get(section.value.id), Array):
        return []
    return [section.value.id] if effects.is_whole(section.slice) else []


def _sweep(statement: gast.AST) -> str | None:
    return getattr(getattr(statement, "origin", None), "sweep", None)
