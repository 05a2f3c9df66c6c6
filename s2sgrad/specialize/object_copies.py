"""Copies of objects: new objects, with the attributes of the old one or with copies of them.

    q = copy.copy(p)          ->      q_v = p_v
    q = copy.deepcopy(p)      ->      q_v = copy.deepcopy(p_v)

What is data is copied in one call, so that two attributes which share a list do so in the copy as well.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import copy
... class Cell:
...     def __init__(self, v): self.v, self.held = v, [v]
... def f(x):
...     p = Cell(x)
...     q = copy.copy(p)
...     q.held.append(q.v)
...     return p.held[1]
... ''', "flatten"))
def f(x):
    t1_ = x
    t2 = [x]
    p_v = t1_
    p_held = t2
    t1 = None
    q_v = p_v
    q_held = p_held
    t3 = q_held
    t3.append(q_v)
    result = p_held[1]
    return result
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import lineage
from s2sgrad.analysis.reached_classes import fields_of
from s2sgrad.ir.quote import at, clone, constant, name, statements
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import loops, targets
from s2sgrad.runtime.deep_copies import Memo, deep_copy, objects_under, places_under
from s2sgrad.specialize.static_values import Adapted, Display, Function, Known, Object, Record, Value
from s2sgrad.standard.containers import STAND_INS

_STATES = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")  # methods that `copy` asks


@dataclass
class Copying:
    """One deep copy: `made` are the copies of static values, by the identity of the old one, `pending` the places that get
    copies of data; `memo` is the dict for what methods `__deepcopy__` copy, where there is one."""

    memo: gast.AST | None = None
    made: dict[int, Any] = field(default_factory=dict)
    pending: list[tuple[Object | Display, Any, gast.AST]] = field(default_factory=list)


class ObjectCopies:
    """Writes `copy.copy(o)` and `copy.deepcopy(o)`."""

    unit: Unit
    flattener: Any
    copying: dict[str, Copying]  # by the name of the memo

    def copied_object(self, node: gast.Call) -> Any:
        """A copy of an object that is made here or is the caller's; None where it is data."""
        owner, *memo = self.flattener.in_order(node.args, self.flattener.operand)
        classes = self.copied_classes(owner, node)
        deep = self.unit.resolve(node.func) is copy.deepcopy
        if deep and not any(hasattr(c, "__deepcopy__") for c in classes) and self.may_hold_objects(owner, classes):
            return self.copied_heap(owner, bool(memo), node)
        if not classes and not isinstance(owner, Object):
            node.args = [self.flattener.data(v, a) for v, a in zip([owner, *memo], node.args, strict=True)]
            if memo and getattr(memo[0], "id", "") in self.copying:
                node.func = name(self.unit.helper("deep_copy", deep_copy))
            return None
        copying = None
        if deep:
            copying = self.copying.get(getattr(memo[0], "id", "")) if memo else Copying()
            if copying is None:
                self.unit.refuse(node, "a deep copy with a dict of what is copied is followed in `__deepcopy__` alone, with "
                                       "the one that it is given: leave it out")  # fmt: skip
        return self.by_class_of(owner, classes, lambda of: self.copy_method(of, copying, node), node)

    def replaced(self, node: gast.Call) -> Any:
        """`dataclasses.replace(o, ..)`; None where `o` is data."""
        owner, *values = self.flattener.in_order([node.args[0], *(k.value for k in node.keywords)], self.evaluate)
        keywords = {k.arg: value for k, value in zip(node.keywords, values, strict=True)}
        classes = tuple(c for c in self.copied_classes(owner, node) if dataclasses.is_dataclass(c))
        if not classes and not isinstance(owner, Object):
            self.unit.refuse(node, "which object is replaced cannot be followed: bind the new one to another name")

        def construct(of: Object | Record) -> Any:
            kept = [f.name for f in dataclasses.fields(of.cls) if f.init and f.name not in keywords]
            return self.construct(of.cls, [], {**{f: self.attribute_of(of, f, node) for f in kept}, **keywords}, node)

        return self.by_class_of(owner, classes, construct, node)

    def by_class_of(
        self, owner: Any, classes: tuple[type, ...], run: Callable[[Object | Record], Any], node: gast.AST
    ) -> Any:
        """What `run` gives for an object, under a test of its class where that is not known."""
        if isinstance(owner, Object):
            return run(owner)
        if len(classes) == 1 and self.of_exactly.get(owner.id) == classes:
            return run(Record(classes, owner))
        options = [Adapted(Record((c,), owner), lambda of, *_: run(of)) for c in classes]
        record = Record(classes, owner, True, "copied")
        return self.apply_choice(self.chosen_by_class(record, options, node), [], {}, node)

    def attribute_of(self, owner: Object | Record, attribute: str, node: gast.AST) -> Any:
        """The value of an attribute."""
        if isinstance(owner, Object):
            return self.get(owner, attribute, node)
        return self.of_record(owner, attribute, at(node, gast.Attribute(owner.node, attribute, gast.Load()))[0])

    def copied_classes(self, owner: Any, node: gast.Call) -> tuple[type, ...]:
        """The classes of the reference that is copied; none where it is not known to be one."""
        if not self.in_columns or not isinstance(owner, gast.Name):
            return ()
        found = self.of_exactly.get(owner.id) or self.may_be(owner, node)
        return tuple(c for c in self.followed if c in found)

    def copy_method(self, owner: Object | Record, copying: Copying | None, node: gast.AST) -> Any:
        """What the method of the class gives, if it has one, else a new object."""
        word = "__copy__" if copying is None else "__deepcopy__"
        if self.looked_up(owner.cls, word) is not MISSING:
            given = [] if copying is None else [self.dict_of_copies(copying, node)]
            return self.apply(self.method(owner, word, node), given, {}, node)
        self.require_plain_state(owner.cls, node)
        if isinstance(owner, Record):
            return self.copied_record(owner, node) if copying is None else self.copied_heap(owner.node, False, node)
        return self.shallow_copy(owner, node) if copying is None else self.deep_copy(owner, copying, node)

    def require_plain_state(self, cls: type, node: gast.AST) -> None:
        """Refuse objects that say themselves what `copy` takes from them."""
        if any(self.looked_up(cls, n) is not getattr(object, n, MISSING) for n in _STATES):
            self.unit.refuse(node, f"a copy of an object of `{cls.__name__}`, which says itself what its state is, cannot "
                                   "be followed: write `__copy__` or `__deepcopy__`")  # fmt: skip

    def shallow_copy(self, owner: Object, node: gast.AST) -> Object:
        """A new object that shares what the attributes hold."""
        instance = self.begun_object(owner.cls)
        for attribute, local in owner.attributes.items():
            held = self.values.get(local) or name(local)
            self.put(instance, attribute, self.shared_in(owner.cls, attribute, held, node), node)
        instance.made = True
        return instance

    def copied_record(self, owner: Record, node: gast.AST) -> gast.AST:
        """The reference to a new object that shares what the attributes of another one hold."""
        self.hint = f"new_{owner.cls.__name__.lower()}"
        instance = self.begun_object(owner.cls)
        for attribute in self.held_by[owner.cls]:
            held = self.attribute_of(owner, attribute, node)
            self.put(instance, attribute, self.shared_in(owner.cls, attribute, held, node), node)
        instance.made = True
        return self.made_reference(instance, node)

    def may_hold_objects(self, owner: Any, classes: tuple[type, ...]) -> bool:
        """Whether data may be a reference, or hold some."""
        if not self.in_columns or not isinstance(owner, gast.Name):
            return False
        return bool(classes or self.flow().classes_inside(owner.id))

    def copied_heap(self, owner: gast.AST, continued: bool, node: gast.AST) -> gast.AST:
        """A deep copy of what is a reference or holds some: the objects in reach get new places in the columns."""
        if continued:
            self.unit.refuse(node, "a deep copy in `__deepcopy__` of an object that is kept in a list or an attribute, or "
                                   "has several names, cannot be followed: copy its attributes")  # fmt: skip
        numbers: dict[str, list[type]] = {}
        for cls in self.followed:
            numbers.setdefault(self.families[cls], []).append(cls)
        columns = []
        for classes in numbers.values():
            self.column(classes[0], self.held_by[classes[0]][0])
            columns.append([*self.columns[self.families[classes[0]]].values()])
        given = [gast.Tuple([gast.Tuple([*map(self.class_name, classes)], gast.Load()),
                             gast.Tuple([*map(name, lists)], gast.Load())], gast.Load())
                 for classes, lists in zip(numbers.values(), columns, strict=True)]  # fmt: skip
        memo = self.flattener.atom(self.call_of(objects_under, [owner, *given], node))
        copied, places = self.unit.helper("deep_copy", deep_copy), self.unit.helper("places_under", places_under)
        for number, lists in enumerate(columns):
            place = self.unit.local("place")
            self.counts[place] += 2
            appended = [s for c in lists for s in statements("c.append(f(c[k], memo))", c=c, f=copied, k=place, memo=memo)]
            loop = statements("for k in f(memo, n): body", k=place, f=places, memo=memo, n=constant(number), body=appended)
            self.flattener.out += self.flattener.block(loops.block(self.unit, targets.block(self.unit, at(node, *loop))))
        return self.flattener.hold(self.call_of(deep_copy, [owner, memo], node))

    def shared_in(self, cls: type, attribute: str, held: Any, node: gast.AST) -> Any:
        """An attribute of a shallow copy: a list or dict by inheritance has its items, and a new list or dict for them."""
        bases = (k for k in lineage(cls) if k in STAND_INS.values())
        if not any(attribute in fields_of(k) for k in bases):
            return held
        return self.flattener.hold(self.call_of(copy.copy, [held], node))

    def deep_copy(self, owner: Object, copying: Copying, node: gast.AST) -> Object:
        """A new object of copies, one for each object that can be reached."""
        outer, copying.pending = copying.pending, []
        out = self.deeply(owner, copying, node)
        called, memo = (copy.deepcopy, []) if copying.memo is None else (deep_copy, [copying.memo])
        held = [data for *_, data in copying.pending]
        items: list[gast.AST] = [self.call_of(called, [data, *memo], node) for data in held]
        if len(held) > 1:
            parts = self.flattener.hold(at(node, gast.Tuple(held, gast.Load()))[0])
            whole = self.flattener.hold(self.call_of(called, [parts, *memo], node))
            items = [gast.Subscript(name(whole.id), constant(k), gast.Load()) for k in range(len(held))]
        for (into, place, _), item in zip(copying.pending, items, strict=True):
            self.fill(into, place, self.flattener.hold(at(node, item)[0]), node)
        for instance in copying.made.values():
            if isinstance(instance, Object):
                instance.made = True
        copying.pending = outer
        return out

    def fill(self, into: Object | Display, place: Any, value: Any, node: gast.AST) -> None:
        """Give a new object an attribute, or a new display an item."""
        if isinstance(into, Object):
            self.put(into, place, value, node)
        else:
            into.items[place] = value

    def deeply(self, value: Any, copying: Copying, node: gast.AST) -> Any:
        """A copy of a static value, without the data in it."""
        if id(value) in copying.made:
            return copying.made[id(value)]
        if isinstance(value, (Function, Known)):
            return value
        if isinstance(value, Object) and self.looked_up(value.cls, "__deepcopy__") is not MISSING:
            out = copying.made[id(value)] = self.copy_method(value, copying, node)
            return out
        if isinstance(value, Object):
            self.require_plain_state(value.cls, node)
            self.hint = self.hint or value.base
            out = copying.made[id(value)] = self.begun_object(value.cls)
            parts = {a: self.values.get(local) or name(local) for a, local in value.attributes.items()}
        elif isinstance(value, Display):
            block = self.flattener.blocks[-1] if self.flattener.blocks else 0
            out = copying.made[id(value)] = Display({}, None, block, value.mapping, value.literal)
            parts = value.items
        else:
            self.unit.refuse(node, "a copy of what holds a function that is bound to something cannot be followed: copy the "
                                   "attributes by themselves")  # fmt: skip
        for place, held in parts.items():
            if isinstance(held, Value):
                self.fill(out, place, self.deeply(held, copying, node), node)
            else:
                copying.pending.append((out, place, held))
        return out

    def dict_of_copies(self, copying: Copying, node: gast.AST) -> gast.AST:
        """The dict that `__deepcopy__` is given."""
        if copying.memo is None:
            copying.memo = self.flattener.hold(at(node, gast.Call(name(self.unit.helper("Memo", Memo)), [], []))[0])
            self.copying[copying.memo.id] = copying
        return copying.memo

    def call_of(self, function: Any, arguments: list[gast.AST], node: gast.AST) -> gast.AST:
        """A call of a function that stands outside."""
        called = name(self.unit.helper(function.__name__, function))
        return at(node, gast.Call(called, [clone(a) for a in arguments], []))[0]
