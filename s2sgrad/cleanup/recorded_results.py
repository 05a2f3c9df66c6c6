"""Results on the record, in place of what they are computed from, where the reverse sweep reads nothing else of it.

    for _ in range(n):                              for _ in range(n):
        u_stack.append(u[1:-1].copy())                  t = u[2:] - u[:-2]
        t = u[2:] - u[:-2]                              t_stack.append(t)
        u[1:-1] += c * t                                u[1:-1] += c * t
    ..                                     ->       ..
    for _ in reversed(range(n)):                    for _ in reversed(range(n)):
        u[1:-1] = u_stack.pop()                         t = t_stack.pop()
        t = u[2:] - u[:-2]                              c_bar += u_bar[1:-1] @ t
        c_bar += u_bar[1:-1] @ t                        ..
        ..

There are no more records than before, and none with more axes.  What only a shape is asked of is not recorded at all, where
an argument has the same shape.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(u, c, n):
...     u = u.copy()
...     for _ in range(n):
...         u[1:-1] += c * (u[2:] - u[:-2])
...     return u @ u
... ''', "recorded_results", np.ones(4), 2.0, 3, argnums=1))
-     u2_stack = []
+     t4_stack = []
+         t4_stack.append(t4)
-         u2_stack.append(u2[1:-1].copy())
-         u2[1:-1] = u2_stack.pop()
+         t4_2 = t4_stack.pop()
-         t2_2 = u2[2:]
-         t3_2 = u2[:-2]
-         t4_2 = t2_2 - t3_2
"""

from __future__ import annotations

import bisect
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.cleanup import forward_substitution
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped, target_name
from s2sgrad.ir.quote import NAMES, clone, name, nodes, nodes_of
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory import behaviour
from s2sgrad.memory.sources import sources


@dataclass(eq=False)
class _Record:
    """A stack that one loop pushes to and one other pops from, once a trip each. `own`: the name of what is popped, or of
    the array into which it is restored. `given`: what stands for it in the first loop. `uses`: what is computed from it."""

    stack: str
    push: gast.Expr
    pop: gast.Assign
    own: str
    given: str
    rank: int
    uses: set[str] = field(default_factory=set)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Record results where that takes no more records."""
    _swap(unit, tree)
    return tree


def run_again(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The same for folded expressions, and fold what is read once now."""
    return forward_substitution.run(unit, tree) if _swap(unit, tree) else tree


def _swap(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Record results; whether there are some."""
    swapped = False
    loops = [s for s in tree.body if isinstance(s, gast.For) and not leaves_trip(s.body) and not s.orelse]
    counts = _Counts(tree)
    for k, reverse in enumerate(loops):
        for forward in loops[:k]:
            pair = _Pair(unit, tree, forward, reverse, counts)
            if pair.records:
                pair.ask_arguments_for_shapes()
                pair.match()
                if pair.swap():
                    swapped, counts = True, _Counts(tree)
    return swapped


class _Counts:
    """How often each name is bound and read, until something is swapped; counted when they are asked for."""

    def __init__(self, tree: gast.FunctionDef) -> None:
        self._tree = tree

    @cached_property
    def bindings(self) -> Counter[str]:
        return binding_counts(self._tree.body)

    @cached_property
    def reads(self) -> Counter[str]:
        return read_counts(self._tree.body)


class _Pair:
    """A loop that records, and one that reads the records."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, forward: gast.For, reverse: gast.For, counts: _Counts
    ) -> None:  # fmt: skip
        self.unit, self.tree, self.forward, self.reverse, self.counts = unit, tree, forward, reverse, counts
        self.again: dict[str, tuple[gast.Assign, gast.Assign]] = {}  # what is computed again, and where it was at first
        pushes = {n.id: s for s in forward.body if isinstance(n := appended_to(alone(s)), gast.Name)}
        taken = ((s, popped(s.value)) for s in reverse.body if isinstance(s, gast.Assign)) if pushes else ()
        pops = [(s, stack) for s, stack in taken if stack is not None and stack in pushes]
        self.changes = Counter(n for s in effects.walk(reverse.body) for n in unit.changed(s)) if pops else Counter()
        found = [self._record(stack, pushes[stack], s) for s, stack in pops if counts.reads[stack] == 2]
        owned = Counter(r.own for r in found if r is not None)
        self.records = [r for r in found if r is not None and owned[r.own] == 1]

    def _record(self, stack: str, push: gast.Expr, pop: gast.Assign) -> _Record | None:
        value, bound, section = push.value.args[0], bound_name(pop), effects.stored(pop)
        memory = self.unit.memory
        if bound is not None and isinstance(value, gast.Name):
            own, given = bound, value.id
        elif section is not None and isinstance(section.value, gast.Name):
            own = given = section.value.id
            if memory.with_memory_of(own) & {p.id for p in parameters(self.tree)}:
                return None
        else:
            return None
        kind = self.unit.kinds.get(given)
        rank = 0 if isinstance(kind, Number) else kind.rank if isinstance(kind, Array) else None
        if rank is None or own in self.unit.mirror.names or stack not in self.unit.derivative.stack_bases:
            return None
        if self.changes[own] != 1:
            return None
        return _Record(stack, push, pop, own, given, rank)

    def ask_arguments_for_shapes(self) -> None:
        """Read shapes off arguments that are never bound again, where they are those of what is recorded."""
        bound = self.counts.bindings
        given = [p.id for p in parameters(self.tree) if p not in self.tree.args.kwonlyargs]  # a seed may be None
        fixed = [n for n in given if isinstance(self.unit.kinds.get(n), Array) and not bound[n]]
        here = {bound_name(s) for s in self.reverse.body}
        for statement in self.reverse.body if fixed else ():
            value: Any = getattr(statement, "value", None)
            if self.unit.called(value) is np.zeros_like and not value.keywords and isinstance(value.args[0], gast.Name):
                asked = value.args[0].id
                like = next((p for p in fixed if self._is_alike(p, asked)), None) if asked in here else None
                if like is not None:
                    value.args[0] = name(like)
                    self.unit.rewritten(statement)

    def _is_alike(self, first: str, second: str) -> bool:
        kinds: list[Any] = [self.unit.kinds.get(n) for n in (first, second)]
        if not all(isinstance(k, Array) and k.dtype == "float64" and k.dims for k in kinds):
            return False
        return kinds[0].dims == kinds[1].dims and None not in kinds[0].dims  # not side by side: sizes must be known equal

    # --- what is computed again from the records ---

    def match(self) -> None:
        """Find what the reverse loop computes again from the records and from what never changes."""
        bindings = self.counts.bindings
        first, same = self._first(bindings)
        self.places = {id(s): k for k, s in enumerate(self.forward.body)}
        self.changed_at: dict[str, list[int]] = {}
        for place, statement in enumerate(self.forward.body):
            for changed_name in {n for s in effects.walk([statement]) for n in self.unit.changed(s)}:
                self.changed_at.setdefault(changed_name, []).append(place)
        given = {r.own: r for r in self.records}
        ready: dict[str, str] = {}  # what stands for a name in the first loop
        for statement in self.reverse.body:
            ready |= {r.own: r.given for r in self.records if r.pop is statement}
            reads = effects.reads(statement)
            if not reads & ready.keys() or not self._is_result(statement, bindings):
                continue
            if (reads - ready.keys()) & self.changed:
                continue
            copy = clone(statement.value)
            for node in nodes_of(copy, NAMES):
                node.id = ready.get(node.id, node.id)
                node.id = same.get(node.id, node.id)
            before = first.get(gast.dump(copy))
            if before is not None and all(self._holds(before, given[n]) for n in reads & given.keys()):
                self.again[target_name(statement)] = statement, before
                ready[target_name(statement)] = target_name(before)

    @cached_property
    def changed(self) -> set[str]:
        """What is changed from the one loop to the other, in both as well."""
        start, end = (self.tree.body.index(loop) for loop in (self.forward, self.reverse))
        return {n for s in effects.walk(self.tree.body[start : end + 1]) for n in self.unit.changed(s)}

    def _first(self, bindings: Counter[str]) -> tuple[dict[str, gast.Assign], dict[str, str]]:
        """The results of the first loop by their text, in which one name stands for the same value."""
        first: dict[str, gast.Assign] = {}
        same: dict[str, str] = {}
        current: dict[str, str] = {}
        read_by: dict[str, list[str]] = {}
        for statement in self.forward.body:
            changed = {n for s in effects.walk([statement]) for n in self.unit.changed(s)}
            for text in {text for n in changed for text in read_by.pop(n, ())}:
                current.pop(text, None)
            if not self._is_result(statement, bindings):
                continue
            bound, copy = target_name(statement), clone(statement.value)
            for node in nodes_of(copy, NAMES):
                node.id = same.get(node.id, node.id)
            text = gast.dump(copy)
            first.setdefault(text, statement)
            same[bound] = current.setdefault(text, bound)
            for read in effects.reads(statement):
                read_by.setdefault(read, []).append(text)
        return first, same

    def _is_result(self, statement: gast.AST, bindings: Counter[str]) -> bool:
        """Whether a statement binds a name, once, to a number or an array that is computed without side effects."""
        bound = bound_name(statement)
        if bound is None or bindings[bound] != 1 or not isinstance(self.unit.kinds.get(bound), (Number, Array)):
            return False
        if bound in effects.reads(statement) or popped(statement.value) is not None:
            return False
        return behaviour.is_pure(self.unit, statement.value)

    def _holds(self, before: gast.Assign, record: _Record) -> bool:
        """Whether what is recorded does not change between a statement of the first loop and the push."""
        here, pushed = self.places[id(before)], self.places[id(record.push)]
        start, end = (here, pushed) if here < pushed else (pushed + 1, here)
        at = self.changed_at.get(record.given, [])
        return bisect.bisect_left(at, start) == bisect.bisect_left(at, end)

    # --- what is recorded in its place ---

    def swap(self) -> bool:
        """Record the results that are read, where nothing else is computed from the records; whether there are some."""
        if not self.again:
            return False
        readers: dict[str, list[gast.AST]] = {}
        for statement in effects.walk(self.tree.body[self.tree.body.index(self.reverse) :]):
            for read in effects.reads(statement):
                readers.setdefault(read, []).append(statement)
        swapped = False
        for group in self._groups(readers):
            gone = set().union(*(r.uses for r in group))
            inner = {id(self.again[n][0]) for n in gone}
            results = [n for n in self.again if n in gone and any(id(s) not in inner for s in readers.get(n, ()))]
            if self._is_better(group, gone, results):
                self._put(group, gone, results)
                swapped = True
        return swapped

    def _groups(self, readers: dict[str, list[gast.AST]]) -> list[list[_Record]]:
        """The records of which only results are computed, those together of which one is."""
        ours = {id(again) for again, _ in self.again.values()}
        groups: dict[int, list[_Record]] = {}
        group_of: dict[str, int] = {}
        for place, record in enumerate(self.records):
            if all(id(s) in ours for s in readers.get(record.own, ()) if s is not record.pop):
                record.uses = self._computed_from(record.own, readers)
                shared = {group_of[n] for n in record.uses if n in group_of}
                groups[place] = [record, *(r for g in sorted(shared) for r in groups.pop(g))]
                group_of |= dict.fromkeys(set().union(*(r.uses for r in groups[place])), place)
        return [*groups.values()]

    def _computed_from(self, start: str, readers: dict[str, list[gast.AST]]) -> set[str]:
        """What is computed again from a name, directly or not, up to what others read."""
        ours = {id(again): n for n, (again, _) in self.again.items()}
        found: set[str] = set()
        waiting = [start]
        while waiting:
            here = readers.get(waiting.pop(), ())
            new = {ours[id(s)] for s in here if id(s) in ours} - found
            found |= new
            waiting += [n for n in new if all(id(s) in ours for s in readers.get(n, ()))]
        return found

    def _is_better(self, group: list[_Record], gone: set[str], results: list[str]) -> bool:
        """Whether these results can be recorded in place of this group, and at no more cost."""
        if not gone or len(results) > len(group):
            return False
        for result in results:
            _, before = self.again[result]
            bound = target_name(before)
            kind = self.unit.kinds[bound]
            rank = kind.rank if isinstance(kind, Array) else 0
            if rank is None or rank > max(r.rank for r in group) or {bound, result} & self.unit.memory.written:
                return False
            if isinstance(kind, Array) and sources(self.unit, before.value, self.unit.kinds):
                return False  # a view of what may change
        work = sum(isinstance(n, (gast.BinOp, gast.UnaryOp, gast.Call)) for g in gone for n in nodes(self.again[g][0].value))
        work += sum(effects.stored(r.pop) is not None for r in group)
        arrays = any(isinstance(self.unit.kinds[r], Array) for r in results)
        return (work > 1 and arrays) or len(results) < len(group)

    def _put(self, group: list[_Record], gone: set[str], results: list[str]) -> None:
        replaced: dict[int, list[gast.AST]] = {id(self.again[n][0]): [] for n in gone}
        for record in group:
            replaced[id(record.push)] = replaced[id(record.pop)] = []
        for record, result in zip(group, results, strict=False):
            again, before = self.again[result]
            base = target_name(before)
            self._rename(record.stack, base)
            again.value = record.pop.value
            record.push.value.args[0] = name(base)
            replaced[id(again)] = [again]
            replaced[id(before)] = [before, record.push]
        for loop in (self.forward, self.reverse):
            loop.body[:] = [new for s in loop.body for new in replaced.get(id(s), [s])]
            self.unit.rewritten(*loop.body)

    def _rename(self, old: str, base: str) -> None:
        """Name a stack after what it keeps now."""
        stack, derivative = self.unit.local(f"{base}_stack"), self.unit.derivative
        derivative.stack_bases.pop(old)
        derivative.stack_bases[stack] = self.unit.bases.get(base, base), False, stack  # popped in an order of its own
        derivative.records.pop(old, None)
        derivative.records[stack] = base
        self.unit.words[stack] = "what is kept of {}", base
        self.unit.kinds[stack] = self.unit.kinds.get(old)
        rename({old: stack}, *self.tree.body)
        self.unit.rewritten(*(s for s in self.tree.body if bound_name(s) == stack))
