"""Names for static values: no statement is written.

g = partial(f, w)      ->      values["g"] is the Partial
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.quote import at, clone, nodes
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.function_unions import Choices
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.object_names import ObjectNames
from s2sgrad.specialize.static_values import Choice, Display, Known, Object, Value, keep_objects, substitute


class Bindings(Family):
    """Binds names to static values, and reads them."""

    def __init__(self, evaluator: Evaluator, homes: Homes, object_names: ObjectNames, choices: Choices) -> None:
        super().__init__(evaluator)
        self.homes, self.object_names, self.choices = homes, object_names, choices
        self.chosen: set[str] = set()  # targets of `a if c else b` and of `a or b`

    def name(self, target: str, value: Value, statement: gast.AST) -> None:
        """Bind a name to a function value or an object."""
        self.homes.require_here(value, statement)
        self.names.require_unread(target, statement)
        if not isinstance(value, Object):
            keep_objects(value)
        else:
            self.require_free(target, statement)
        current = self.names.values.get(target)
        if target in self.names.in_turn and target not in self.names.shared:
            another = self.object_names.another_name
            value = another(target, value, statement) if isinstance(value, Object) else value
            self.names.values[target] = value
            return
        if (self.names.counts[target] > 1 or target in self.names.given) and self.choices.choose(target, value, statement):
            return
        if target in self.chosen:
            self.unit.refuse(statement, "which function or object this is depends on a condition, which cannot be followed: "
                                        "call them in the branches of an `if`")  # fmt: skip
        free = isinstance(current, Object) and (current.rebound or not current.names)
        if current is not None and current is not value and not free:
            self.unit.refuse(statement, f"`{target}` stands for one of several functions or objects, which cannot be "
                                        "followed: call them in the branches of an `if`")  # fmt: skip
        if isinstance(value, Object):
            self.object_names.name_object(target, value, statement)
        elif self.names.counts[target] > 1:
            self.unit.refuse(statement, f"`{target}` is bound to a function here and to something else elsewhere, which "
                                        "cannot be followed: use two names")  # fmt: skip
        else:
            self.names.values[target] = value

    def require_free(self, target: str, statement: gast.AST) -> None:
        """Refuse an object under a name that is an argument or was bound to data."""
        if target in self.names.given:
            self.unit.refuse(statement, f"`{target}` is an argument, and an object that is made here, which cannot be "
                                        "followed: use two names")  # fmt: skip
        if target in self.names.data and target not in self.names.values:
            self.unit.refuse(statement, f"`{target}` stands for an object here and for something else before, which cannot "
                                        "be followed: use two names")  # fmt: skip

    def named(self, node: gast.Name) -> Any:
        """The value of a name."""
        self.names.require_bound(node)
        value = self.names.values.get(node.id, node)
        return self.choices.chosen_now(value) if isinstance(value, Choice) else value

    def as_value(self, node: gast.AST) -> gast.AST:
        """A name as a value; it may stand for a callable from outside, not for a function that is made here."""
        self.names.require_bound(node)
        if not isinstance(node, gast.Name) or node.id not in self.names.values:
            return node
        value = self.names.values[node.id]
        if isinstance(value, (Object, Display)) and value.given is not None:
            self.names.loose.append((node, value))
            return at(node, clone(value.given))[0]
        if isinstance(value, Known):
            return at(node, clone(value.node))[0]
        self.unit.refuse(node, f"`{node.id}`, a function or an object, is used as a value here, where it cannot be "
                               "followed: call it, or move it to module level")  # fmt: skip

    def in_whole(self, node: gast.AST) -> gast.AST:
        """An expression that is not split, with the names of function values replaced."""
        if isinstance(node, gast.Compare) and isinstance(node.left, gast.Name) and node.left.id in self.names.values:
            if getattr(self.names.values[node.left.id], "argument", False):
                self.unit.refuse(node, f"whether `{node.left.id}`, an argument or a function of this text, is something "
                                       "cannot be followed: use two names")  # fmt: skip
        if isinstance(node, gast.Name) and node.id in self.names.values:
            return self.as_value(node)
        names = [n for n in nodes(node) if isinstance(n, gast.Name) and n.id in self.names.values]
        substitute(node, {n.id: self.as_value(n) for n in names})
        return node
