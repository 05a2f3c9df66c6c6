"""Which objects the variables of a text in normal form may be or hold, as far as it is written; it may say too little.

    t = reference(Vec, 0); vs = []; vs.append(t); u = vs[k]      ->      vs holds a Vec, u may be one

What it does not say is checked when the text runs: a reference refuses operators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.forms import appended_to, bound_name
from s2sgrad.ir.quote import blocks, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.record import Gives
from s2sgrad.runtime import references

_Table = defaultdict[str, frozenset[type]]
_MADE = "(made)"  # no variable
_TRIPS = 2


def _none() -> frozenset[type]:
    return frozenset()


class ObjectFlow:
    """`be`: the classes of the objects that a variable may be; `hold`: of those in it; `deep`: of those further in."""

    def __init__(self, unit: Unit, statements: Iterable[gast.AST]) -> None:
        self.unit = unit
        self.tables: tuple[_Table, _Table, _Table] = (defaultdict(_none), defaultdict(_none), defaultdict(_none))
        self._walk(statements)

    @property
    def be(self) -> _Table:
        """The classes of the objects that a variable may be."""
        return self.tables[0]

    @property
    def hold(self) -> _Table:
        """The classes of the objects that a variable may hold."""
        return self.tables[1]

    @property
    def deep(self) -> _Table:
        """The classes of the objects that what a variable holds may hold."""
        return self.tables[2]

    def _walk(self, statements: Iterable[gast.AST]) -> None:
        for statement in statements:
            if isinstance(statement, (gast.For, gast.While)):
                for _ in range(_TRIPS):
                    before = self._copied()
                    self._walk(statement.body)
                    self._join(before)
            elif isinstance(statement, gast.If):
                before = self._copied()
                self._walk(statement.body)
                after, self.tables = self.tables, before
                self._walk(statement.orelse)
                self._join(after)
            elif isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
                self._follow(statement)
            else:
                for block in blocks(statement):
                    self._walk(block)

    def _copied(self) -> tuple[_Table, _Table, _Table]:
        be, hold, deep = (table.copy() for table in self.tables)
        return be, hold, deep

    def _join(self, others: tuple[_Table, _Table, _Table]) -> None:
        for table, other in zip(self.tables, others, strict=True):
            for name, classes in other.items():
                table[name] |= classes

    def _follow(self, statement: gast.AST) -> None:
        if (owner := appended_to(getattr(statement, "value", None))) is not None and isinstance(owner, gast.Name):
            self._put(owner.id, statement.value.args[0])
        elif (section := effects.stored(statement)) is not None:
            self._put(effects.base(section), statement.value)
        elif isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
            self._take_apart(statement.targets[0].elts, statement.value)
        elif (target := bound_name(statement)) is not None:
            self._bind(target, statement.value)

    def _take_apart(self, targets: list[gast.AST], value: gast.AST) -> None:
        held = [*value.elts] if isinstance(value, gast.Tuple) else [None] * len(targets)
        found = []
        for target, item in zip(targets, held, strict=True):
            self._clear(_MADE)
            self._take_out(_MADE, value) if item is None else self._bind(_MADE, item)
            found.append((target.id, [table[_MADE] for table in self.tables]))
        for target, classes in found:
            for table, new in zip(self.tables, classes, strict=True):
                table[target] = new

    def _clear(self, target: str) -> None:
        for table in self.tables:
            table.pop(target, None)

    def _put(self, owner: str, item: gast.AST) -> None:
        """A container holds a value from now on."""
        if isinstance(item, gast.Name):
            self.hold[owner] |= self.be[item.id]
            self.deep[owner] |= self.hold[item.id] | self.deep[item.id]

    def _take_out(self, target: str, owner: gast.AST) -> None:
        if isinstance(owner, gast.Name):
            self.be[target] |= self.hold[owner.id]
            self.hold[target] |= self.deep[owner.id]
            self.deep[target] |= self.deep[owner.id]

    def _same(self, target: str, value: str) -> None:
        for table in self.tables:
            table[target] |= table[value]

    def _bind(self, target: str, value: gast.AST) -> None:
        """A variable is bound anew."""
        before = [table[target] for table in self.tables]
        self._clear(target)
        if any(isinstance(n, gast.Name) and n.id == target for n in nodes(value)):
            for table, classes in zip(self.tables, before, strict=True):  # `xs = xs + [v]`
                table[target] = classes
        if isinstance(value, gast.Name):
            self._same(target, value.id)
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            for item in value.values if isinstance(value, gast.Dict) else value.elts:
                self._put(target, item)
        elif isinstance(value, gast.Subscript):
            if isinstance(value.slice, gast.Slice) and isinstance(value.value, gast.Name):
                self._same(target, value.value.id)
            else:
                self._take_out(target, value.value)
        elif isinstance(value, gast.Call):
            self._called(target, value)
        elif isinstance(value, (gast.BinOp, gast.IfExp, gast.BoolOp)):
            for part in nodes(value):
                if isinstance(part, gast.Name):
                    self._same(target, part.id)
            if isinstance(value, gast.BinOp):  # of containers: objects have no operators left
                self.be.pop(target, None)

    def _called(self, target: str, call: gast.Call) -> None:
        """What a call returns: a new object, a container of what it is given, or an item of that."""
        called = self.unit.resolve(call.func)
        if called is references.reference:
            self.be[target] |= {self.unit.resolve(call.args[0])}
            return
        record = catalogue.of(called)
        if getattr(called, "__module__", "") == references.__name__ or record.flat:
            return
        for part in nodes(*call.args, *([call.func.value] if isinstance(call.func, gast.Attribute) else [])):
            if isinstance(part, gast.Name):
                self._same(target, part.id)
                if record.gives is not Gives.SHELL:
                    self._take_out(target, part)
