"""Methods and properties of the user's named tuples: the text of the one class in reach that has a member of this name.

    s.energy(k)  where only `State` has `energy`      ->      require_instance(s, State, ..), and the body with `self = s`

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from typing import NamedTuple
... class State(NamedTuple):
...     pos: float
...     vel: float
...     def energy(self, k): return k * self.pos**2 + self.vel**2
... def f(x):
...     return State(x, 2.0).energy(0.5)
... ''', "flatten"))
def f(x):
    t1 = State(x, 2.0)
    require_instance(t1, (State,), 'energy', 8)
    t3 = t1.pos
    t4 = t3 ** 2
    t5 = 0.5 * t4
    t6 = t1.vel
    t7 = t6 ** 2
    t2 = t5 + t7
    result = t2
    return result
"""

from __future__ import annotations

import types
from collections import namedtuple
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import HELD_BY_DATA
from s2sgrad.analysis.reached_classes import is_named_tuple, reached
from s2sgrad.ir.quote import at, clone, constant, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime.checks import require_instance
from s2sgrad.specialize.static_values import Partial

_OF_ALL = {*dir(namedtuple("_Empty", "")), *HELD_BY_DATA}


class TupleMethods:
    """What named tuples compute; `tuple_members` are the classes that have each name, once it is asked for."""

    unit: Unit
    flattener: Any
    tuple_members: dict[str, list[type]] | None = None

    def member_classes(self, attribute: str) -> list[type]:
        """The named tuples in reach that compute an attribute of this name."""
        if attribute in _OF_ALL or attribute.startswith("_"):
            return []
        return self.members_by_name().get(attribute, [])

    def members_by_name(self) -> dict[str, list[type]]:
        """The named tuples in reach by the names of what they compute; empty where the module has none."""
        if self.tuple_members is None:
            self.tuple_members = {}
            home = self.unit.primal.function
            named = [*home.__globals__.values(), *self.unit.helpers.values()]
            classes = reached(home)[0] if any(map(is_named_tuple, named)) else ()
            for cls in sorted(filter(is_named_tuple, classes), key=lambda c: c.__qualname__):
                for word in {w for k in cls.__mro__ for w in vars(k)} - {*cls._fields}:
                    self.tuple_members.setdefault(word, []).append(cls)
        return self.tuple_members

    def asks_tuples(self, target: types.FunctionType) -> bool:
        """Whether a user's function, or what it calls, may ask a named tuple for what it computes: it is written out, where
        the classes are in reach."""
        return bool(self.members_by_name()) and any(map(self.member_classes, reached(target)[1]))

    def may_be_of_tuple(self, node: gast.AST) -> bool:
        """Whether an attribute may be one that a named tuple computes."""
        if not isinstance(node, gast.Attribute) or not self.member_classes(node.attr):
            return False
        return self.unit.resolve(node) is MISSING

    def of_tuple(self, node: gast.Attribute) -> Any:
        """The attribute of what is data; MISSING where it is none that a named tuple computes."""
        classes = self.member_classes(node.attr)
        if not classes:
            return MISSING
        members = {id(m): m for m in (self.looked_up(c, node.attr) for c in classes)}
        member = next(iter(members.values()))
        if len(members) > 1 or not isinstance(member, (types.FunctionType, property)):
            self.unit.refuse(node, f"`{node.attr}` is what {len(classes)} named tuples compute, or is no method, which "
                                   "cannot be followed: use a method of one class")  # fmt: skip
        held = self.flattener.hold(node.value) if not isinstance(node.value, gast.Name) else node.value
        check = name(self.unit.helper("require_instance", require_instance))
        among = gast.Tuple([self.class_name(c) for c in classes], gast.Load())
        arguments = [clone(held), among, constant(node.attr), constant(getattr(node, "lineno", 0))]
        self.flattener.out += at(node, gast.Expr(gast.Call(check, arguments, [])))
        bound = Partial(self.text_of(getattr(member, "fget", member)), [held], {})
        return self.apply(bound, [], {}, node) if isinstance(member, property) else bound
