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
from s2sgrad.ir.quote import at, clone, constant, name
from s2sgrad.ir.unit import MISSING
from s2sgrad.runtime.checks import require_instance
from s2sgrad.specialize.class_members import class_name, looked_up
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.named_tuples import NamedTuples
from s2sgrad.specialize.static_values import Partial
from s2sgrad.specialize.texts import Texts

_OF_ALL = {*dir(namedtuple("_Empty", "")), *HELD_BY_DATA}


class TupleMethods(Family):
    """Evaluates what named tuples compute."""

    def __init__(self, evaluator: Evaluator, texts: Texts, tuples: NamedTuples) -> None:
        super().__init__(evaluator)
        self.texts, self.tuples = texts, tuples

    def of_tuple(self, node: gast.Attribute) -> Any:
        """The attribute of what is data; MISSING where it is none that a named tuple computes."""
        classes = self.tuples.member_classes(node.attr)
        if not classes:
            return MISSING
        members = {id(m): m for m in (looked_up(c, node.attr) for c in classes)}
        member = next(iter(members.values()))
        if len(members) > 1 or not isinstance(member, (types.FunctionType, property)):
            self.unit.refuse(node, f"`{node.attr}` is what {len(classes)} named tuples compute, or is no method, which "
                                   "cannot be followed: use a method of one class")  # fmt: skip
        held = self.writer.hold(node.value) if not isinstance(node.value, gast.Name) else node.value
        check = name(self.unit.helper("require_instance", require_instance))
        among = gast.Tuple([class_name(self.unit, c) for c in classes], gast.Load())
        arguments = [clone(held), among, constant(node.attr), constant(getattr(node, "lineno", 0))]
        self.writer.out += at(node, gast.Expr(gast.Call(check, arguments, [])))
        method: Any = member.fget if isinstance(member, property) else member
        bound = Partial(self.texts.text_of(method), [held], {})
        return self.evaluator.apply(bound, [], {}, node) if isinstance(member, property) else bound
