"""Updates of objects made in the function, and of what they hold.

    o.w += e      ->      o_w += e
    o += e        ->      o = o.__iadd__(e), or o = o + e
    o[i] += e     ->      item = o[i]; item += e; o[i] = item; so is `o.p += e` of a property

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Shelf:
...     def __init__(self, a): self.held = [a]
...     def __getitem__(self, k): return self.held[k]
...     def __setitem__(self, k, a): self.held[k] = a
... def f(x):
...     shelf = Shelf(x)
...     shelf[0] *= 2.0
...     return x
... ''', "flatten"))
def f(x):
    t2 = [x]
    shelf_held = t2
    t1 = None
    t3 = shelf_held[0]
    item = t3
    item *= 2.0
    shelf_held[0] = item
    t4 = None
    result = x
    return result
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.analysis.plain_classes import member
from s2sgrad.ir.quote import assign, at, clone, name
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.object_operators import OPERATORS
from s2sgrad.specialize.objects import Objects, part_of_an_array
from s2sgrad.specialize.static_values import Object


class ObjectUpdates(Family):
    """Writes `op=` on objects, their attributes and items."""

    def __init__(self, evaluator: Evaluator, objects: Objects) -> None:
        super().__init__(evaluator)
        self.objects = objects

    def updates(self, statement: gast.AugAssign) -> bool:
        """Write `op=` on an attribute or an object; returns whether it was one."""
        if isinstance(statement.target, gast.Attribute):
            self.updated(statement)
            return True
        if isinstance(self.statics.held(statement.target), Object):
            self.evaluator.statement(self.updated_object(statement))
            return True
        return False

    def updated_object(self, statement: gast.AugAssign) -> gast.AST:
        """`o += value` for an object: `o = o + value`, or the result of `__iadd__`."""
        owner = self.statics.held(statement.target)
        word = f"__i{OPERATORS[type(statement.op)]}__"
        read = name(statement.target.id)
        value: gast.AST = gast.BinOp(read, statement.op, statement.value)
        if hasattr(owner.cls, word):
            value = gast.Call(gast.Attribute(read, word, gast.Load()), [statement.value], [])
        return at(statement, assign(statement.target.id, at(statement, value)[0]))[0]

    def updated(self, statement: gast.AugAssign) -> None:
        """`o.w += value` as an update of its variable; for a property, as two calls."""
        target = statement.target
        owner = self.statics.held(target.value)
        if isinstance(owner, Object) and isinstance(member(owner.cls, target.attr), (property, functools.cached_property)):
            update = gast.Assign([target], self.updated_in_place(statement), None)
            self.evaluator.statement(at(statement, update)[0])
            return
        if not isinstance(owner, Object) and (section := part_of_an_array(target)) is not None:
            self.evaluator.statement(at(statement, gast.AugAssign(section, statement.op, statement.value))[0])
            return
        self.evaluator.statement(at(statement, gast.AugAssign(self.variable(target), statement.op, statement.value))[0])
        self.objects.passed_on(owner, target.attr, statement)

    def updated_in_place(self, statement: gast.AugAssign) -> gast.AST:
        """What `o[i] op= e`, or `o.w op= e` of a property, stores: an array is updated itself."""
        read = clone(statement.target)
        read.ctx = gast.Load()
        value = self.evaluator.operand(read)
        if not isinstance(value, gast.AST):
            return at(statement, gast.BinOp(value, statement.op, statement.value))[0]
        holder = self.unit.local("item")
        self.names.counts[holder] += 2
        self.writer.out += at(statement, assign(holder, value))
        update = gast.AugAssign(name(holder, store=True), statement.op, statement.value)
        self.evaluator.statement(at(statement, update)[0])
        return name(holder)

    def variable(self, target: gast.Attribute) -> gast.Name:
        """The variable of an attribute that is updated in place."""
        owner = self.statics.held(target.value)
        plain = isinstance(owner, Object) and target.attr in owner.attributes
        if not plain or owner.attributes[target.attr] in self.names.values:
            self.unit.refuse(target, "an update of an attribute of what is not made here is not differentiated: use a local "
                                     "variable")  # fmt: skip
        self.objects.is_written(owner, target.attr, target)
        self.names.counts[owner.attributes[target.attr]] += 1
        return name(owner.attributes[target.attr], store=True)
