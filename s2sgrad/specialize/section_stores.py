"""Stores into sections; the parts of the index become names and constants.

    x[i + 1, :n * 2] = e     ->      t1 = e; t2 = i + 1; t3 = n * 2; x[t2, :t3] = t1
    x[i] += e                ->      t1 = x[i]; t2 = t1 + e; x[i] = t2

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, i):
...     x[i + 1] += 2.0 * i
... ''', "flatten"))
def f(x, i):
    t1 = i + 1
    t2 = x[t1]
    t3 = 2.0 * i
    t4 = t2 + t3
    x[t1] = t4
    result = None
    return result
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import at, clone, nodes, place_of
from s2sgrad.normalize._calls import walruses
from s2sgrad.primitives.catalogue import may_write
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.object_updates import ObjectUpdates
from s2sgrad.specialize.static_values import Object


class Sections(Family):
    """Writes statements that store into sections."""

    def __init__(self, evaluator: Evaluator, updates: ObjectUpdates, arguments: Arguments) -> None:
        super().__init__(evaluator)
        self.updates, self.arguments = updates, arguments

    def section(self, target: gast.Subscript, value: gast.AST | None = None) -> gast.Subscript:
        """The target of a store, a section of a variable; `value` is evaluated later."""
        section = gast.Subscript(self.evaluator.atom(target.value), self.index(target.slice), gast.Store())
        if value is not None:
            (section.slice,) = self.held_for(value, [section.slice])
            for node in nodes(section.slice):
                for field, part in node.__dict__.items():
                    if isinstance(part, list):
                        part[:] = self.held_for(value, part)
                    elif isinstance(part, gast.AST):
                        (kept,) = self.held_for(value, [part])
                        setattr(node, field, kept)
        return at(target, section)[0]

    def held_for(self, value: gast.AST, parts: list[gast.AST]) -> list[gast.AST]:
        """Parts of an index; variables among them that `value` may rebind before the store are copied."""
        bound = walruses(value)
        parts = [self.writer.hold(p) if getattr(p, "id", None) in bound else p for p in parts]
        return [self.arguments.kept(p, [value]) for p in parts]

    def require_place(self, target: gast.Subscript, value: gast.AST) -> None:
        """Refuse an index counted from the end if the value changes the length of the list."""
        index = target.slice.operand if isinstance(target.slice, gast.UnaryOp) else target.slice
        behind = index is not target.slice or (type(getattr(index, "value", None)) is int and index.value < 0)
        for call in nodes(value) if behind and isinstance(target.value, gast.Name) else ():
            method = call.func if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else None
            if method is not None and may_write(method.attr):
                if isinstance(method.value, gast.Name) and method.value.id == target.value.id:
                    self.unit.refuse(target, f"`.{method.attr}()` changes the list while a place counted from its end is "
                                             "stored in: call it on a line of its own before")  # fmt: skip

    def augmented_section(self, statement: gast.AugAssign) -> None:
        """`x[i] += e` as `t = x[i] + e; x[i] = t` (`cleanup.peephole.augmented` reverses it)."""
        if getattr(statement.target.value, "id", None) in walruses(statement):
            self.unit.refuse(statement, "`:=` in an update of a section binds what is updated: assign before it")
        self.unit.syntax.updates.add(place_of(statement))
        self.require_place(statement.target, statement.value)
        if isinstance(self.statics.held(statement.target.value), Object):
            statement.target.slice = self.index(statement.target.slice)
            new: gast.AST = self.updates.updated_in_place(statement)
            self.evaluator.assign(at(statement, gast.Assign([statement.target], new, None))[0])
            return
        target = self.section(statement.target, statement.value)
        old = self.writer.hold(at(statement, gast.Subscript(clone(target.value), clone(target.slice), gast.Load()))[0])
        new = at(statement, gast.BinOp(old, statement.op, self.evaluator.atom(statement.value)))[0]
        self.writer.out.append(gast.Assign([target], self.writer.hold(new), None))

    def index(self, node: gast.AST) -> gast.AST:
        """An index with atoms as parts."""
        if isinstance(node, gast.Tuple):
            node.elts = self.evaluator.in_order(node.elts, self.index)
            return node
        if isinstance(node, gast.Slice):
            for part in ("lower", "upper", "step"):
                if getattr(node, part) is not None:
                    setattr(node, part, self.evaluator.atom(getattr(node, part)))
            return node
        return self.evaluator.atom(node)
