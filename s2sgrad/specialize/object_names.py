"""Names that stand for objects: for one, or for several in turn.

v = v + u      ->      v_x = result_x; v_y = result_y      the variables of `v` take the attributes of the result
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import assign, at, name
from s2sgrad.specialize.evaluator import Family
from s2sgrad.specialize.static_values import Object


class ObjectNames(Family):
    """Binds names to objects, one after the other."""

    def name_object(self, target: str, value: Object, statement: gast.AST) -> None:
        """Bind a name to an object, possibly to several in turn."""
        if self.names.counts[target] > 1:
            self.rebind(target, value, statement)
            return
        self.names.values[target] = self.another_name(target, value, statement)

    def another_name(self, target: str, value: Object, statement: gast.AST) -> Object:
        """The object for a name that is not rebound while this matters."""
        if value.loops and value.names and value.block != self.writer.blocks[-1]:
            self.unit.refuse(statement, f"`{target}` is another name, in some trips, of an object that the loop makes "
                                        "again in each, which cannot be followed: make a new object")  # fmt: skip
        if value.rebound:
            value = self.copied(target, value, statement)
        value.names += 1
        return value

    def rebind(self, target: str, value: Object, statement: gast.AST) -> None:
        """`v = v + w`: a name for several objects in turn; its variables take the attributes of each."""
        known = self.names.values.get(target)
        if known is None:
            made = self.names.values[target] = self.copied(target, value, statement)
            made.rebound = True
            return
        if not isinstance(known, Object) or known.cls is not value.cls or set(known.attributes) != set(value.attributes):
            self.unit.refuse(statement, f"`{target}` stands for objects of different kinds, which cannot be followed: use "
                                        "two names")  # fmt: skip
        if known.names:
            self.unit.refuse(statement, f"`{target}` is bound anew while another name stands for the same object, which "
                                        "cannot be followed: make a new object")  # fmt: skip
        if known is not value:
            self.transfer(value, known, statement)

    def copied(self, base: str, value: Object, node: gast.AST) -> Object:
        """A copy of an object, with its own variables; valid while neither is changed."""
        if value.given is not None:
            self.unit.refuse(node, f"`{base}` stands for an argument and for other objects, which cannot be followed: use "
                                   "two names")  # fmt: skip
        out = Object(value.cls, base, made=True, copied=bool(value.names) or value.rebound)
        value.copied = value.copied or out.copied
        out.attributes = {a: self.unit.attribute(base, a) for a in value.attributes}
        self.names.shared |= set(out.attributes.values())
        self.transfer(value, out, node)
        return out

    def transfer(self, value: Object, to: Object, node: gast.AST) -> None:
        """Assign the attributes of one object to the variables of another."""
        for attribute, local in value.attributes.items():
            if local in self.names.values:
                self.unit.refuse(node, f"the attribute `{attribute}` of an object that is bound anew is a function or an "
                                       "object, which cannot be followed")  # fmt: skip
            self.names.counts[to.attributes[attribute]] += 2
            self.writer.out += at(node, assign(to.attributes[attribute], name(local)))
        if value.names or value.rebound:
            if value.written and self.writer.loops:
                self.unit.refuse(node, "a second name for an object whose attributes this loop writes cannot be followed: "
                                       "make a new object")  # fmt: skip
            to.copied = value.copied = True
