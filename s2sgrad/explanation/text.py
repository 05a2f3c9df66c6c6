"""What the generated text keeps for its reverse sweep, by the lines of the user's text.

    x_stack.append(x); x = r * x  ..  x = x_stack.pop(); r_bar += x_bar * x
                          ->      line 4: `x` is recorded, its old value, for the derivative of line 4

It is read off the final text: there is a note if and only if there is a record.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.explanation.program import NAMELESS, Finder, Names
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped
from s2sgrad.ir.quote import assign, blocks, clone, nested, nodes
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.normalize.separate_records import separated
from s2sgrad.runtime import checkpoints
from s2sgrad.source import Primal


def records(unit: Unit, tree: gast.FunctionDef, finder: Finder, again: bool = False) -> None:
    """Note what a function, given with both sweeps, records, keeps and recomputes; `again`: it is under `checkpoint`, and
    everything is recomputed."""
    parts = unit.derivative.tapes
    if parts:  # one record a trip is one stack for several variables
        tree = clone(tree)
        tree.body = separated(tree.body, lambda stack: None if stack is None else parts.get(stack))
    _Sweeps(unit, tree, finder, again).run()


def joined(fwd: gast.FunctionDef, bwd: gast.FunctionDef) -> gast.FunctionDef:
    """Both sweeps of a callee, which are two functions, in one tree: the one returns `y, saved`, which the other unpacks."""
    *forward, returned = fwd.body
    saved, record = returned.value.elts[1].elts, bwd.args.args[0].id
    head = next((s for s in bwd.body if isinstance(s, gast.Assign) and getattr(s.value, "id", None) == record), None)
    state_names = [] if head is None else head.targets[0].elts
    reverse = [s for s in bwd.body if s is not head and not isinstance(alone(s), gast.Constant)]
    names = {new.id: old.id for new, old in zip(state_names, saved, strict=True) if isinstance(old, gast.Name)}
    renamed = [assign(new, name_(old)) for new, old in names.items() if new != old]
    return gast.FunctionDef(fwd.name, fwd.args, [*forward, *renamed, *reverse], [], None, None, [])


class _Sweeps:
    """Reads the notes off a function with both sweeps."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, finder: Finder, again: bool) -> None:
        self.unit, self.found = unit, finder
        self.keeping = "recomputed" if again else "kept"
        records = {r: n for r, n in unit.derivative.records.items() if r != n}  # the record of a call is an ordinary value
        self.kept_of = {**{unit.bases[r]: n for r, n in records.items() if r in unit.bases}, **records}
        self.bars = {*unit.derivative.bars, *(unit.bases.get(bar, bar) for bar in unit.derivative.bars)}
        self.facts, self.names = Facts(tree), Names(unit)
        self.places: dict[int, tuple[Primal, int]] = {}
        self.locate(tree.body, (unit.primal, 0))
        self.copied = {unit.bases.get(n, n) for n in unit.arguments.own_copies}  # arguments that are copied at the start
        whole = [*effects.walk(tree.body)]
        self.reverse = [s for s in whole if sweep_of(s) == "reverse"]
        self.forward = [s for s in whole if sweep_of(s) != "reverse"]
        loops = [s for s in whole if isinstance(s, (gast.For, gast.While))]
        self.repeated = {id(s) for loop in loops for s in effects.walk(loop.body)}
        self.notes: dict[tuple[int, int, str, str, str], tuple[Primal, set[int]]] = {}
        self.block = {id(s): body for body in nested(tree.body) for s in body}
        self.readers: dict[tuple[int, str], list[gast.AST]] = {}  # reads of a definition in the reverse sweep
        graph, reaching = self.facts.graph, self.facts.reaching
        for statement in self.reverse:
            for name in effects.reads(statement):
                for k in reaching.reach(name, statement):
                    point = graph.points[reaching.definitions[k].point]
                    if point.role == "whole" and point.statement is not None:
                        self.readers.setdefault((id(point.statement), name), []).append(statement)

    def run(self) -> None:
        """Visit the statements of both sweeps."""
        for statement in self.forward:
            self.of_forward(statement)
        for statement in self.reverse:
            name = bound_name(statement)
            if name is not None and self.names.shown(name) and name not in self.bars and not self.is_restore(statement):
                self.note(statement, "recomputed", name, "", self.readers.get((id(statement), name), []))
        self.hand_on()

    def of_forward(self, statement: gast.AST) -> None:
        """Note what a statement of the forward sweep keeps: in a record, or under a name that the reverse sweep reads."""
        call = alone(statement)
        if call is not None and self.unit.called(call) is checkpoints.keep and sweep_of(statement) == "forward":
            few = "before a few passes, and from there computed again"
            for state in call.args[2:]:
                self.note(statement, "recorded", state.id, few, ())
            return
        record = self.recorded(statement)
        if record is not None:
            kept = self.kept_of[record]
            self.note(statement, "recorded", kept, self.when(statement, kept), self.uses(statement, record))
            return
        if self.is_own_copy(statement):
            return
        for name in binds(statement) if getattr(getattr(statement, "origin", None), "line", 0) else ():
            readers = self.readers.get((id(statement), name), [])
            if readers and name not in self.kept_of and self.names.word(name) != NAMELESS:
                self.note(statement, self.keeping, name, "", [r for reader in readers for r in self.ends(reader)])

    def hand_on(self) -> None:
        """Add the collected notes to the explanations of their functions."""
        for (_, line, kind, shown, why), (primal, read_at) in self.notes.items():
            lines = ", ".join(map(str, sorted(read_at - {0})))
            uses = f"for the derivative of line{'s' * (',' in lines)} {lines}" if lines else "for the reverse sweep"
            if line:
                self.found(primal).add(line, kind, shown, ", ".join(filter(None, [why, uses])))

    def is_own_copy(self, statement: gast.AST) -> bool:
        """Whether a statement is the copy of an argument at the start: the first binding of its name."""
        name = bound_name(statement)
        base = name if name is None else self.unit.bases.get(name, name)
        if base not in self.copied:
            return False
        self.copied.discard(base)
        return True

    # --- records and their reads ---

    def recorded(self, statement: gast.AST) -> str | None:
        """The record that a statement of the forward sweep adds to; None for any other statement."""
        call, name = alone(statement), bound_name(statement)
        owner = appended_to(call)
        if owner is None and call is not None and self.unit.called(call) is runtime.push:
            owner = call.args[0]
        if isinstance(owner, gast.Name) and owner.id in self.kept_of:
            return str(owner.id)
        empty = isinstance(getattr(statement, "value", None), gast.List) and not statement.value.elts
        return name if name in self.kept_of and not empty else None

    def when(self, statement: gast.AST, kept: str) -> str:
        """Which value of a variable is recorded, in words: before or after the user's statement."""
        body = self.block[id(statement)]
        place = next(k for k, s in enumerate(body) if s is statement)
        mine = [s for s in body[place + 1 :] if self.places[id(s)] == self.places[id(statement)]]
        old = any({kept, self.unit.bases.get(kept)} & effects.writes(s) for s in mine)
        section = effects.stored(body[place + 1]) is not None if old else False
        value = "what is overwritten" if section else f"its {'old ' * old}value" if self.names.shown(kept) else ""
        stacked = alone(statement) is not None and id(statement) in self.repeated
        return ", ".join(filter(None, [value, "in each pass" if stacked else ""]))

    def uses(self, statement: gast.AST, record: str) -> list[gast.AST]:
        """The statements that read the recorded value, or a variable restored from it."""
        if alone(statement) is None:
            takers = self.readers.get((id(statement), record), [])
        else:
            takers = [s for s in self.reverse if any(popped(n) == record for n in nodes(effects.header(s)))]
        return [r for taker in takers for r in self.ends(taker)]

    def ends(self, reader: gast.AST) -> list[gast.AST]:
        """The final readers: a restore passes on what it reads."""
        if not self.is_restore(reader):
            return [reader]
        section = effects.stored(reader)
        if section is not None:
            return self.behind(reader, effects.base(section))
        return [r for name in binds(reader) for r in self.readers.get((id(reader), name), []) if r is not reader]

    def behind(self, restore: gast.AST, base: str) -> list[gast.AST]:
        """The statements that read a variable after its contents were restored and before it is rebound."""
        graph = self.facts.graph
        gen = [int(point.statement is restore and point.role == "whole") for point in graph.points]
        kill = [int(base in point.binds) for point in graph.points]
        into, _ = graph.forward(gen, kill)
        reached = [p.statement for k, p in enumerate(graph.points) if into[k] and base in p.reads and p.role == "whole"]
        return [s for s in reached if not self.is_restore(s)]

    def is_restore(self, statement: gast.AST) -> bool:
        """Whether a statement of the reverse sweep only restores a recorded or saved value."""
        if not isinstance(statement, gast.Assign):
            return False
        value, target = statement.value, statement.targets[0]
        base = effects.base(target) if isinstance(target, (gast.Name, gast.Subscript)) else None
        if base is None or base in self.bars:
            return effects.permutes(statement)
        return any(popped(n) in self.kept_of or getattr(n, "id", None) in self.kept_of for n in nodes(value))

    # --- notes ---

    def note(self, statement: gast.AST, kind: str, name: str, why: str, readers: Iterable[gast.AST]) -> None:
        """Add a note on a name at the user's line that a statement comes from."""
        shown = self.names.word(name)
        primal, line = self.places[id(statement)]
        lines = self.notes.setdefault((id(primal), line, kind, shown, why), (primal, set()))[1]
        lines |= {self.places[id(r)][1] for r in readers if self.places[id(r)][0] is primal and not _returns(r)}

    def locate(self, body: list[gast.AST], before: tuple[Primal, int]) -> None:
        """Find the user's line that each statement comes from; by default that of its neighbours."""
        origins = [(o.primal or self.unit.primal, o.line) for s in body if (o := getattr(s, "origin", None)) and o.line]
        before = before if before[1] or not origins else origins[0]
        for statement in body:
            origin = getattr(statement, "origin", None)
            if origin is not None and origin.line:
                before = origin.primal or self.unit.primal, origin.line
            self.places[id(statement)] = before
            for inner in blocks(statement):
                self.locate(inner, before)


def _returns(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Return)
