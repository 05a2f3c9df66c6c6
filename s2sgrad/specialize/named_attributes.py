"""Attributes of objects that are followed, by a name in the text; a name that a program computes is known to its run alone.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Machine:
...     def __init__(self, gain): self.gain = gain
... def f(x):
...     m = Machine(x)
...     return getattr(m, "gain") * getattr(m, "shift", 2.0)
... ''', "flatten"))
def f(x):
    m_gain = x
    t1 = None
    t2 = m_gain
    result = t2 * 2.0
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.quote import at, clone, constant
from s2sgrad.specialize.class_members import looked_up
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Object


class NamedAttributes(Family):
    """`getattr`, `setattr` and `hasattr`."""

    def __init__(self, evaluator: Evaluator, objects: Objects) -> None:
        super().__init__(evaluator)
        self.objects = objects

    def get_by_name(self, node: gast.Call) -> Any:
        """`getattr(owner, word)` or `getattr(owner, word, otherwise)`; None where it is an ordinary call."""
        owner, *otherwise = self.evaluator.in_order([node.args[0], *node.args[2:]], self.evaluator.evaluate)
        if not isinstance(owner, Object):
            node.args = [self.evaluator.data(owner, node.args[0]), node.args[1], *otherwise]
            return None
        word = self.word_of(node)
        if not otherwise or word in {*owner.attributes, *dir(owner.cls)}:
            return self.objects.get(owner, word, node)
        self.require_straight_line(owner, node)
        return otherwise[0]

    def has_by_name(self, node: gast.Call) -> Any:
        """`hasattr(owner, word)`; None where it is an ordinary call."""
        owner = self.evaluator.operand(node.args[0])
        if not isinstance(owner, Object):
            node.args[0] = self.evaluator.data(owner, node.args[0])
            return None
        word = self.word_of(node)
        if hasattr(owner.cls, word):
            looked_up(owner.cls, word)
            return constant(True)
        self.require_straight_line(None if word in owner.attributes else owner, node)
        return constant(False)

    def set_by_name(self, node: gast.Call) -> gast.AST:
        """`setattr(owner, word, value)`."""
        target = gast.Attribute(clone(node.args[0]), self.word_of(node), gast.Store())
        self.evaluator.statement(at(node, gast.Assign([target], node.args[2], None))[0])
        return constant(None)

    def word_of(self, node: gast.Call) -> str:
        """The name in the text."""
        word = getattr(node.args[1], "value", None) if isinstance(node.args[1], gast.Constant) else None
        if not isinstance(word, str):
            self.unit.refuse(node, "which attribute this is, is known only when it runs, which cannot be followed: write "
                                   "its name out")  # fmt: skip
        return word

    def require_straight_line(self, owner: Object | None, node: gast.AST) -> None:
        """Refuse to say whether an object has an attribute where a branch, or an earlier trip of a loop, may have set it."""
        if owner is None or owner.given is not None or tuple(self.writer.loops) != owner.loops:
            self.unit.refuse(node, "whether an object has this attribute by now cannot be followed: set it to None in "
                                   "`__init__`, and ask for that")  # fmt: skip
