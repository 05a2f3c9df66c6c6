"""Branch pruning: tests that the kinds of their operands decide.

    if callback is not None: callback(x)      ->      nothing, where None is passed for `callback`
    if isinstance(t, dict): ..                ->      one of the branches, by the kind of `t` in this call

The kind of a variable is the join over all its bindings: one that is None at first and an array later decides nothing.
"""

from __future__ import annotations

import types

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Kind, Known, Number, Text
from s2sgrad.flow.graph import bound_once
from s2sgrad.ir.forms import bound_name, is_none, parts_of, truth
from s2sgrad.ir.quote import rewritten
from s2sgrad.ir.unit import Unit

_PLAIN = (dict, list, tuple, str, set, frozenset, np.ndarray)  # no number is an instance of these


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Remove the branches that are not taken; whether there were any."""
    once = bound_once(tree.body)
    pruner = _Pruner(unit, inference, {n: s.value for n, s in once.items() if n in unit.temps and bound_name(s)})
    tree.body = rewritten(tree.body, pruner.pruned)
    return pruner.changed


class _Pruner:
    """Decides tests, and replaces `if` statements by the branch that is taken."""
    def __init__(self, unit: Unit, inference: Inference, values: dict[str, gast.AST]) -> None:
        self.unit, self.inference, self.values = unit, inference, values
        self.changed = False

    def pruned(self, statement: gast.AST) -> list[gast.AST]:
        """The statements in place of one: for a decided `if`, those of the branch that is taken."""
        decided = self.decided(statement.test) if isinstance(statement, gast.If) else None
        if decided is None:
            return [statement]
        self.changed = True
        return statement.body if decided else statement.orelse

    def decided(self, test: gast.AST) -> bool | None:
        """The truth value of a test; None where the kinds do not decide it."""
        return truth(test, self._known)

    def _known(self, test: gast.AST) -> bool | None:
        if isinstance(test, gast.Name) and test.id in self.values:
            return self.decided(self.values[test.id])
        if isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (gast.Is, gast.IsNot)):
            same = self._is_same(test.left, test.comparators[0])
            return None if same is None else same == isinstance(test.ops[0], gast.Is)
        if self.unit.called(test) is isinstance and len(test.args) == 2:
            return self._is_instance(*test.args)
        return None

    def _is_same(self, left: gast.AST, right: gast.AST) -> bool | None:
        """Whether both operands are the same module, or both None; None where that is unknown."""
        sides = [self.unit.resolve(side) for side in (left, right)]
        if all(isinstance(side, types.ModuleType) for side in sides):
            return sides[0] is sides[1]
        return _is_none(self._kind(left)) if is_none(right) else None

    def _kind(self, node: gast.AST) -> Kind | None:
        return self.inference.kind(node) if isinstance(node, gast.Name) else None

    def _is_instance(self, owner: gast.AST, classes: gast.AST) -> bool | None:
        """The result of an `isinstance` test; None where it is unknown."""
        kind = self._kind(owner)
        classes = self.values.get(getattr(classes, "id", ""), classes)
        asked = tuple(self.unit.resolve(c) for c in parts_of(classes))
        if kind is None or not asked or not all(c in _PLAIN or c in (int, float, complex, np.generic) for c in asked):
            return None
        if isinstance(kind, Array):
            return np.ndarray in asked
        if isinstance(kind, Container):
            return kind.type in asked if kind.type in (dict, list, tuple) else None
        if isinstance(kind, Text):
            return str in asked
        if not isinstance(kind, Number) or not all(c in _PLAIN or c is np.generic for c in asked):
            return None
        if np.generic not in asked:
            return False
        return issubclass(kind.type, np.generic) if isinstance(kind.type, type) else None


def _is_none(kind: Kind | None) -> bool | None:
    if isinstance(kind, Known):
        return kind.value is None
    return False if isinstance(kind, (Array, Number, Container, Text)) else None
