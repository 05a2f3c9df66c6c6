"""Attribute lookup on references whose class is known only at run time: class attributes, properties and methods.

    s.area()  of a `Square` or a `Disc`      ->      which = number_of(s, (Square, Disc)), and the body of each under a test

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Square:
...     def __init__(self, a): self.a = a
...     def area(self): return self.a**2
... class Disc:
...     def __init__(self, a): self.a = a
...     def area(self): return 3.14 * self.a**2
... def f(x):
...     s = Square(x) if x > 1.0 else Disc(x)
...     return s.area()
... ''', "flatten"))
def f(x):
    a_ = []
    t1 = x > 1.0
    if t1:
        new_square_a = x
        t2 = None
        t3 = len(a_)
        t4 = reference(Square, t3)
        a_.append(new_square_a)
        s = t4
    else:
        new_disc_a = x
        t5 = None
        t6 = len(a_)
        t7 = reference(Disc, t6)
        a_.append(new_disc_a)
        s = t7
    which = number_of(s, (Disc, Square))
    t15 = which == 0
    if t15:
        self_2 = s
        t9 = place(self_2, 'a')
        t10 = a_[t9]
        t11 = t10 ** 2
        t8 = 3.14 * t11
        value = t8
    else:
        self_3 = s
        t13 = place(self_3, 'a')
        t14 = a_[t13]
        t12 = t14 ** 2
        value = t12
    result = value
    no_object(result, 10)
    return result
"""

from __future__ import annotations

import functools
import types
from collections import Counter
from dataclasses import replace
from typing import Any

import gast

from s2sgrad.analysis.reached_classes import asks_class
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, at, clone, constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import references
from s2sgrad.specialize.static_values import Choice, Known, Object, Record
from s2sgrad.standard.containers import STAND_INS


class ClassChoices:
    """`owner.attribute` dispatched by the class of the object, and calls of objects; `Columns` has the fields."""

    unit: Unit
    flattener: Any
    counts: Counter[str]
    held_by: dict[type, Any]
    of_exactly: dict[str, tuple[type, ...]]
    no_objects: set[str]

    def of_record(self, owner: Record, attribute: str, node: gast.AST) -> Any:
        """`owner.attribute`."""
        if any(isinstance(self.looked_up(c, attribute), functools.cached_property) for c in owner.classes):
            return self.cached_of_record(owner, attribute, node)
        if all(attribute in self.held_by[c] for c in owner.classes):
            place = self.place_of(owner, node)
            return self.flattener.hold(at(node, gast.Subscript(place.value, place.slice, gast.Load()))[0])
        if isinstance(owner.node, gast.Name) and owner.node.id in self.unit.locals and not self.is_fixed(owner.node.id):
            owner = replace(owner, node=self.flattener.hold(owner.node))  # an argument of the call may rebind it
        each = [self.looked_up(c, attribute) for c in owner.classes]
        if (recursive := self.as_recursive(each, owner, node)) is not None:
            return self.apply(recursive, [], {}, node) if any(isinstance(m, property) for m in each) else recursive
        owner = self.without_running(owner, attribute)
        members = {id(f): f for c in owner.classes for f in [self.looked_up(c, attribute)]}
        if owner.is_checked and (len(members) == 1 or len(owner.classes) == 1):
            self.chosen_by_class(owner, [], node)
        if len(members) == 1 and not any(map(asks_class, members.values())):
            return self.had_of_class(owner, next(iter(members.values())), attribute, node)
        if len(owner.classes) == 1:
            return self.had_of_class(Record(owner.classes, owner.node), *members.values(), attribute, node)
        return self.had_by_class(owner, attribute, node)

    def had_by_class(self, owner: Record, attribute: str, node: gast.AST) -> Any:
        """`owner.attribute`, a method or property that depends on the class of the object."""
        each = [Record((c,), owner.node) for c in owner.classes]
        methods = [self.looked_up(o.cls, attribute) for o in each]
        if not all(isinstance(m, (types.FunctionType, property)) for m in methods):
            self.unit.refuse(node, f"what `{attribute}` is depends on the class of the object, which cannot be followed: "
                                   "use a method")  # fmt: skip
        asked = [isinstance(m, property) for m in methods]
        options = [self.bound(m.fget if p else m, o, node) for o, m, p in zip(each, methods, asked, strict=True)]
        if any(asked) and not all(asked):
            self.unit.refuse(node, f"`{attribute}` is a method or a property, by the class of the object: make it a method")
        choice = self.chosen_by_class(owner, options, node)
        return self.apply_choice(choice, [], {}, node) if any(asked) else choice

    def had_of_class(self, owner: Record, member: Any, attribute: str, node: gast.AST) -> Any:
        """`owner.attribute`, found in the class."""
        if isinstance(member, property):
            return self.apply(self.bound(member.fget, owner, node), [], {}, node)
        return self.of_class(owner, member, attribute, node)

    def require_inherited(self, owners: list[Object | Record], used: str, node: gast.AST) -> None:
        """Refuse what was written out, with `used`, as the method of a list or dict: an object has one of its own."""
        words = [method, used] if (method := notes.METHOD.of(node)) is not None else []
        classes = [c for owner in owners for c in getattr(owner, "classes", (owner.cls,))]
        inherited = {id(f) for base in STAND_INS.values() for f in vars(base).values()}
        if any(id(self.looked_up(c, word)) not in inherited for word in words for c in classes):
            self.unit.refuse(node, f"`{words[0]}` is asked here of what may be a list or dict, or an object with a method "
                                   "of this name, which cannot be followed: give the method another name")  # fmt: skip

    def chosen_by_class(self, owner: Record, options: list[Any], node: gast.AST) -> Choice:
        """A choice among several values by the class of an object."""
        classes = [self.class_name(c) for c in owner.classes]
        which = self.unit.local("which")
        arguments = [clone(owner.node), gast.Tuple(classes, gast.Load())]
        asked = references.number_among if owner.is_checked else references.number_of
        asked = references.operand_number if owner.is_checked and owner.operator else asked
        if owner.is_checked:
            arguments += [constant(owner.operator or getattr(node, "attr", "__call__"))]
            arguments.append(constant(getattr(node, "lineno", 0)))
        call = gast.Call(name(self.unit.helper(asked.__name__, asked)), arguments, [])
        self.flattener.out += at(node, assign(which, call))
        self.counts[which] += 2
        return Choice(which, options)

    def called_object(self, node: gast.Call) -> Any:
        """The callee of a call, if it may be an object or a function that is data; else None."""
        if not self.calls_object(node):
            return None
        owner = self.flattener.atom(node.func)
        record = self.without_running(self.record(owner, "__call__", node), "__call__")
        exact = isinstance(owner, gast.Name) and owner.id in self.of_exactly
        options = [self.bound(self.looked_up(c, "__call__"), Record((c,), owner), node) for c in record.classes]
        if not exact and not record.is_checked:
            other = self.unit.local("f")
            self.no_objects.add(other)
            self.flattener.out += at(node, assign(other, clone(owner)))
            options.append(Known(None, name(other)))
        if len(options) > 1 or record.is_checked:
            choice = self.chosen_by_class(record, options, node)
        return options[0] if len(options) == 1 else choice

    def without_running(self, owner: Record, attribute: str) -> Record:
        """The object, without the classes whose method is being inlined; a run-time check excludes these."""
        own = {c: self.looked_up(c, attribute) for c in owner.classes}
        left = tuple(c for c in owner.classes if not self.is_running(getattr(own[c], "fget", own[c])))
        if left != owner.classes and attribute != "__call__":
            running = next(getattr(own[c], "fget", own[c]) for c in owner.classes if c not in left)
            self.met_again(running, running.__name__)
        return replace(owner, classes=left, is_checked=True) if left and left != owner.classes else owner
