"""Restores that nobody reads, because another store into the same section follows first.

    x[i] = x_stack.pop()                   # what x[i] /= d overwrote
    d_bar -= x_bar[i] * q / d              d_bar -= x_bar[i] * q / d
    x_bar[i] /= d                   ->     x_bar[i] /= d
    x[i] = x_stack_.pop()                  x[i] = x_stack_.pop()        # what x[i] = e overwrote

Every way on from the restore is followed: to the end of its block, around its loops and out of them.  It must meet a store
into the same section before it meets a read of that memory; reads of sections that surely lie apart are passed by.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.flow.block_mentions import BREAK, BlockMentions
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import COMPOUND, Transformer, clone, mentioned, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.writes import in_place
from s2sgrad.regions.later_trips import Sections

_LOOPS = (gast.For, gast.While)
_SUMS = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context)


class _Met(Enum):
    """What a way on from a restore meets first."""

    STORE = "another store into the section"
    READ = "something that may read it, or change what the section is"
    NOTHING = "neither"


@dataclass
class _Restore:
    """A restore of the section `text` of `base`, written without temporaries; what it depends on."""

    statement: gast.AST
    base: str
    text: str
    index: list[gast.AST]
    names: frozenset[str]
    shared: frozenset[str]
    loops: list[gast.For]  # around it, the innermost first
    ended: list[gast.For]  # those left, having met no read of any section that they restored
    loads: list[gast.Subscript] | None = None  # reads of the very section behind it in its block, where they are allowed


class Overwritten:
    """Finds them in one function, forward and reverse sweep in one."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, sections: Sections) -> None:
        self.unit, self.sections = unit, sections
        self.counts = Counter(b for s in effects.walk(tree.body) for b in binds(s) if not isinstance(s, gast.For))
        self.counters = {s.target.id for s in effects.walk(tree.body) if isinstance(s, gast.For)}
        self.counts.update(p.id for p in parameters(tree))
        self.behind = False  # whether what is followed comes behind the restore in its block, or within that
        self.inside: list[gast.For] = []  # the loops behind the restore that are looked into
        self.separate: set[str] = set()
        restores = [s for s in effects.walk(tree.body) if _is_restore(s)]
        self.mentions = BlockMentions(tree.body if restores else [])
        self.within = [self.mentions.place[id(s)] for s in restores]

    def restores(self) -> set[int]:
        """The restores, by identity, that are overwritten before anything reads them."""
        out = set()
        for body, k in self.within:
            restore = self._restore(body, k)
            if restore is not None and self._onwards(restore, body, k) is _Met.STORE:
                out.add(id(body[k]))
        return out

    def only_loads(self, body: list[gast.AST], k: int) -> list[gast.Subscript]:
        """The reads of a restored section that alone make the restore needed; none where others do, or none does."""
        restore = self._restore(body, k)
        if restore is None:
            return []
        restore.loads = []
        return restore.loads if self._onwards(restore, body, k) is _Met.STORE else []

    def _restore(self, body: list[gast.AST], k: int) -> _Restore | None:
        section = effects.stored(body[k])
        if not isinstance(section.value, gast.Name) or section.value.id in self.unit.bars:
            return None
        base = section.value.id
        shared = self.unit.memory.at_once_with(base) - self.separate
        index = self._written_out(section.slice)
        names = frozenset(mentioned(index))
        lasting = all(self.counts[n] <= (n not in self.counters) for n in names) and not names & self.unit.memory.written
        if not lasting or not isinstance(self.unit.kinds.get(base), Array):
            return None
        loops, block = [], body
        while id(block) in self.mentions.holder:
            outer = self.mentions.holder[id(block)]
            block, _ = self.mentions.place[id(outer)]
            if isinstance(outer, gast.For):
                loops.append(outer)
        return _Restore(body[k], base, gast.dump(index), parts_of(section.slice), names, shared, loops, [])

    def _written_out(self, index: gast.AST) -> gast.AST:
        """An index without the temporaries that are sums of other names."""
        values = self.sections.values

        class Replace(Transformer):
            def visit_Name(self, node: gast.Name) -> gast.AST:
                value = values.get(node.id)
                if value is None or not all(isinstance(n, _SUMS) for n in nodes(value)):
                    return node
                return self.visit(clone(value))

        return Replace().visit(clone(index))

    # --- the ways on ---

    def _onwards(self, restore: _Restore, body: list[gast.AST], k: int) -> _Met:
        while True:
            self.behind = not restore.ended and body[k] is restore.statement
            met = self._block(restore, body, k + 1)
            self.behind = False
            if met is not _Met.NOTHING:
                return met
            if id(body) not in self.mentions.holder:
                return _Met.STORE  # the function ends, and nothing has read it
            outer = self.mentions.holder[id(body)]
            if isinstance(outer, gast.For) and outer.target.id in restore.names:
                around = [loop for loop in restore.loops if loop is not outer and loop not in restore.ended]
                passed = restore.loads or ()
                if not self.sections.missed_by_later_trips(outer, restore.index, restore.shared, passed, around):
                    return _Met.READ
                bounds = mentioned(self._written_out(outer.iter))
                names = (restore.names - {outer.target.id}) | (bounds & self.counters)  # where its trips lie
                restore = replace(restore, text="", names=names, ended=[*restore.ended, outer])
            elif isinstance(outer, _LOOPS):
                if self._statement(restore, outer) is _Met.READ:
                    return _Met.READ
                restore = replace(restore, loops=[loop for loop in restore.loops if loop is not outer])
            body, k = self.mentions.place[id(outer)]

    def _block(self, restore: _Restore, body: list[gast.AST], start: int = 0) -> _Met:
        """What a way through a block, from a place on, meets first; statements that mention nothing of it are passed by."""
        met, last = _Met.NOTHING, -1
        for k in self._mentioning(restore, body, start):
            if k != last:
                met, last = self._statement(restore, body[k]), k
            if met is not _Met.NOTHING:
                break
        return met

    def _mentioning(self, restore: _Restore, body: list[gast.AST], start: int) -> Iterator[int]:
        """Where a block mentions what matters to a restore, in order."""
        others = {BREAK, *restore.names, *(loop.target.id for loop in restore.loops)} - restore.shared
        memory = self.mentions.of_any(body, restore.shared, start)
        return heapq.merge(memory, *(places for name in others if (places := self.mentions.of(body, name, start))))

    def detach(self, name: str) -> None:
        """Note that a section that was bound to a name is one no more."""
        if self.counts[name] == 1:
            self.separate.add(name)
            self.sections.values.pop(name, None)

    def _statement(self, restore: _Restore, statement: gast.AST) -> _Met:
        met = self._met(restore, statement)
        if self.behind and restore.loads is not None and self._stores_beside(restore, statement):
            self.behind = False  # from here on the section may hold something else
        return met

    def _stores_beside(self, restore: _Restore, statement: gast.AST) -> bool:
        """Whether a simple statement stores into the same memory, other than surely beside the section."""
        section = effects.stored(statement)
        if section is None or effects.base(section) not in restore.shared:
            return False
        return not isinstance(section.value, gast.Name) or not self._apart(restore, section.slice)

    def _met(self, restore: _Restore, statement: gast.AST) -> _Met:
        if statement is restore.statement and not restore.ended:
            return _Met.STORE
        if isinstance(statement, gast.Break) or self._reads(restore, statement):
            return _Met.READ
        if set(binds(statement)) & (restore.names | (restore.shared - self.sections.values.keys())):
            return _Met.STORE if self._leaves(restore, statement) else _Met.READ
        if isinstance(statement, COMPOUND):
            return self._within(restore, statement)
        section = effects.stored(statement)
        if section is not None and isinstance(section.value, gast.Name) and section.value.id == restore.base:
            same = gast.dump(self._written_out(section.slice)) == restore.text
            return _Met.STORE if same or effects.is_whole(section.slice) else _Met.NOTHING
        return _Met.NOTHING

    def _within(self, restore: _Restore, statement: gast.AST) -> _Met:
        """What the ways through an `if` or a loop meet first."""
        inner = list(effects.walk([*statement.body, *statement.orelse]))
        variables = {loop.target.id for loop in restore.loops}
        others = [s for s in (statement, *inner) if isinstance(s, gast.For) and s not in restore.loops]
        if any(loop.target.id in variables for loop in others):
            return _Met.READ  # whose variable means another number in there
        self.behind = self.behind and not any(self._stores_beside(restore, s) for s in inner)
        if isinstance(statement, gast.If):
            arms = {self._block(restore, statement.body), self._block(restore, statement.orelse)}
            return arms.pop() if len(arms) == 1 else _Met.READ if _Met.READ in arms else _Met.NOTHING
        inside, self.inside = self.inside, [*self.inside, *([statement] if isinstance(statement, gast.For) else [])]
        met = self._block(restore, statement.body)
        self.inside = inside
        return _Met.READ if met is _Met.READ else _Met.NOTHING  # it may have no trip at all

    def _reads(self, restore: _Restore, statement: gast.AST) -> bool:
        """Whether a statement (or the header of one) may read what the restore wrote."""
        stored = effects.stored(statement)
        passed = self._passed(restore, statement)
        for node in nodes(effects.header(statement)):
            read = isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load)
            if read and node.id in restore.shared and id(node) not in passed and not self._views_beside(restore, node):
                return True
        changed = in_place(self.unit, statement, self.unit.kinds)
        return changed in restore.shared and stored is None and not isinstance(statement, gast.AugAssign)

    def _views_beside(self, restore: _Restore, node: gast.Name) -> bool:
        """Whether a name stands for a section that surely lies beside the restored one, or for a load of it."""
        view = self.sections.values.get(node.id)
        if not isinstance(view, gast.Subscript) or not isinstance(view.value, gast.Name):
            return False
        return any(view is load for load in restore.loads or ()) or self._apart(restore, view.slice)

    def _passed(self, restore: _Restore, statement: gast.AST) -> set[int]:
        """The mentions of the memory in a statement, by identity, that do not read what the restore wrote."""
        header = effects.header(statement)
        passed = {id(n) for n in shape_reads(self.unit, header)}
        stored = effects.stored(statement)
        if stored is not None and isinstance(stored.value, gast.Name):
            passed.add(id(stored.value))
        for node in nodes(header):
            if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node is not stored:
                if node.value.id in restore.shared and (self._is_load(restore, node) or self._apart(restore, node.slice)):
                    passed.add(id(node.value))
        return passed

    def _leaves(self, restore: _Restore, statement: gast.AST) -> bool:
        """Whether a statement binds the array's only name to another: `x = x_stack.pop()` at the head of a trip."""
        if binds(statement) != [restore.base] or not isinstance(statement, gast.Assign):
            return False
        body, k = self.mentions.place[id(statement)]
        made = {n for s in body[k + 1 :] for n in binds(s) if n in self.sections.values}  # this trip has not made them yet
        return restore.shared - made == {restore.base}

    def _is_load(self, restore: _Restore, node: gast.Subscript) -> bool:
        """Whether this reads the section that was restored, in the same trip; it is noted."""
        if restore.loads is None or node.value.id != restore.base or not isinstance(node.ctx, gast.Load):
            return False
        if not any(node is load for load in restore.loads):
            if not self.behind or gast.dump(self._written_out(node.slice)) != restore.text:
                return False
            restore.loads.append(node)
        return True

    def _apart(self, restore: _Restore, index: gast.AST) -> bool:
        return self.sections.indices.apart(restore.index, parts_of(index), restore.loops, restore.ended, self.inside)


def _is_restore(statement: gast.AST) -> bool:
    """Whether the reverse sweep stores into a section."""
    return effects.stored(statement) is not None and getattr(statement.origin, "sweep", "") == "reverse"
