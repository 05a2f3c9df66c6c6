"""Attributes that are computed when they are first read, and kept: `functools.cached_property`.

    @cached_property                                  p_square = None
    def square(self): ..              ->              ..
    p.square + p.square                               p_square = ..; p_square + p_square

A variable, or a list of references' attributes, holds None until then; it is asked where it is not known.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import functools
... class P:
...     def __init__(self, v): self.v = v
...     @functools.cached_property
...     def square(self): return self.v * self.v
... def f(x):
...     p = P(x)
...     for k in range(3):
...         x = x + p.square
...     return x * p.square
... ''', "flatten"))
def f(x):
    p_square = None
    v = x
    p_v = v
    t1 = None
    for k in range(3):
        t3 = p_square is None
        if t3:
            t5 = p_v
            t4 = t5 * p_v
            p_square = t4
        x = x + p_square
    t7 = p_square is None
    if t7:
        t9 = p_v
        t8 = t9 * p_v
        p_square = t8
    result = x * p_square
    return result
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis.reached_classes import cached_in
from s2sgrad.ir.exits import always_leaves
from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue
from s2sgrad.specialize.static_values import Function, Object, Partial, Record, Value


class CachedAttributes:
    """Reads and stores such attributes."""

    unit: Unit
    flattener: Any
    values: dict[str, Value]
    counts: Counter[str]

    def not_yet_computed(self, instance: Object, node: gast.AST) -> None:
        """Variables for the attributes of a new object."""
        for attribute in sorted(cached_in(instance.cls)):
            local = instance.attributes[attribute] = self.unit.attribute(instance.base, attribute)
            self.shared.add(local)
            self.counts[local] += 1
            self.flattener.out += at(node, assign(local, constant(None)))

    def cached(self, owner: Object, member: functools.cached_property, attribute: str, node: gast.AST) -> gast.AST:
        """`owner.attribute`; computed here where the object was made in this block, and nothing has computed it."""
        local = owner.attributes.get(attribute)
        if local is None:
            self.unit.refuse(node, f"`{attribute}` is a cached_property of an object of the caller's, which is kept there "
                                   "once it is computed, and cannot be followed: use a property")  # fmt: skip
        if not owner.rebound and owner.computed.get(attribute) in self.flattener.blocks:
            return name(local)
        here = self.flattener.blocks[-1]
        compute = self.bound(member.func, owner, node)
        if attribute not in owner.computed and owner.block == here and not owner.rebound and owner.is_new:
            value = self.data_of(self.apply(compute, [], {}, node), attribute, node)
            self.counts[local] += 1
            self.flattener.assign(at(node, assign(local, value))[0])
        else:
            self.computed_once(name(local), member, compute, node)
        owner.computed[attribute] = here
        return name(local)

    def require_settable(self, owner: Object, found: Any, attribute: str, node: gast.AST) -> None:
        """Refuse to set such an attribute of an object that is split into variables."""
        if isinstance(found, functools.cached_property) and (owner.is_new or owner.made):
            self.unit.refuse(node, f"`{attribute}` is computed when it is first read, and set here, which cannot be "
                                   "followed: use a property with a setter")  # fmt: skip

    def computed_once(self, held: gast.Name, member: functools.cached_property, compute: Partial, node: gast.AST) -> None:
        """`if held is None: held = compute()`."""
        if not _gives_something(compute.inner):
            self.unit.refuse(node, f"whether `{member.attrname}` is computed before this cannot be followed, for it may be "
                                   "None: return a number or an array")  # fmt: skip
        function = self.unit.temp()
        self.values[function] = compute
        self.counts[held.id] += 2
        test = gast.Compare(clone(held), [gast.Is()], [constant(None)])
        call = assign(held.id, gast.Call(name(function), [], []))
        self.flattener.statement(at(node, gast.If(test, [call], []))[0])

    def data_of(self, value: Any, attribute: str, node: gast.AST) -> gast.AST:
        """The value of an attribute, which is data."""
        if not isinstance(value, gast.AST):
            self.unit.refuse(node, f"`{attribute}`, which is kept, is a function or an object that is made here, which "
                                   "cannot be followed: use a property")  # fmt: skip
        return value

    def cached_of_record(self, owner: Record, attribute: str, node: gast.AST) -> gast.AST:
        """`owner.attribute` for a reference."""
        members = {id(m): m for c in owner.classes for m in [self.looked_up(c, attribute)]}
        member = next(iter(members.values()))
        if len(members) > 1 or not isinstance(member, functools.cached_property):
            self.unit.refuse(node, f"what computes `{attribute}` depends on the class of the object, which cannot be "
                                   "followed: use a property")  # fmt: skip
        place = self.place_of(owner, node)
        held = self.unit.local(attribute)
        self.counts[held] += 2
        self.flattener.out += at(node, assign(held, gast.Subscript(place.value, place.slice, gast.Load())))
        self.computed_once(name(held), member, self.bound(member.func, owner, node), node)
        self.flattener.out += at(node, gast.Assign([clone(place)], name(held), None))
        return name(held)


def is_something(unit: Unit, value: gast.AST | None) -> bool:
    """Whether an expression is never None, as far as its form tells."""
    if isinstance(value, gast.Constant):
        return value.value is not None
    if isinstance(value, gast.Call):
        target = unit.resolve(value.func)
        record = catalogue.of(target)
        return target is not MISSING and record.rule is not None and not record.keeps_kind  # a copy of None is None
    return isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.List, gast.Tuple, gast.Dict, gast.ListComp))


def _gives_something(function: Any) -> bool:
    """Whether a function never returns None, as far as the forms of what it returns tell."""
    body = getattr(getattr(function, "node", None), "body", None)
    if not isinstance(function, Function) or not isinstance(body, list) or not always_leaves(body):
        return False
    inside = list(nodes(*body))
    bound: dict[str, list[gast.AST]] = {}
    for assigned in (n for n in inside if isinstance(n, (gast.Assign, gast.AugAssign))):
        updated = isinstance(assigned, gast.AugAssign)
        value = gast.BinOp(assigned.target, assigned.op, assigned.value) if updated else assigned.value
        for target in [assigned.target] if updated else assigned.targets:
            bound.setdefault(getattr(target, "id", ""), []).append(value)
    count = bindings(body)
    values = [n.value for n in inside if isinstance(n, gast.Return)]
    words = {v.id for v in values if isinstance(v, gast.Name)}
    each = [v for value in values for v in bound.get(getattr(value, "id", ""), [value])]
    return all(count[w] == len(bound.get(w, ())) for w in words) and all(is_something(function.unit, v) for v in each)
