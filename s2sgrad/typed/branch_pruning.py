"""Branch pruning: tests that the kinds of their operands decide.

    if callback is not None: callback(x)      ->      nothing, where None is passed for `callback`
    if isinstance(t, dict): ..                ->      one of the branches, by the kind of `t` in this call
    which = number_of(p, (A, B))
    if which == 1: ..                         ->      one of the branches, by the classes that `p` may be of
    for k in range(len(p.kids)): ..           ->      nothing, where no object is ever given any `kids`

The kind of a variable is the join over all its bindings; a test for None asks only those that reach it:

    if out is None: out = np.zeros(3)      ->      out = np.zeros(3), where None is passed for `out`

What a call leaves in a list or dict is unknown while it writes its argument: tests of what is in there wait until the call
returns it (`inplace.writers_with_pairs`).
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis import effects, type_tests
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Text, join, operand
from s2sgrad.flow.counts import bound_once
from s2sgrad.flow.facts import Facts
from s2sgrad.ir.forms import bound_name, is_none, truth
from s2sgrad.ir.quote import nodes, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.runtime.traits import traits


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Remove the branches that are not taken; whether there were any."""
    once = bound_once(tree.body)
    pruner = _Pruner(unit, inference, {n: s.value for n, s in once.items() if bound_name(s)})
    pruner.leave_open(tree)
    pruner.ask_definitions(tree)
    tree.body = rewritten(tree.body, pruner.pruned)
    return pruner.changed


class _Pruner:
    """Decides tests, and replaces `if` statements by the branch that is taken."""

    def __init__(self, unit: Unit, inference: Inference, values: dict[str, gast.AST]) -> None:
        self.unit, self.inference, self.values = unit, inference, values
        self.changed = False
        self.reached: dict[int, Kind | None] = {}  # by the operand of a test: its kind there
        self.open: set[str] = set()  # names of what a call may have written, and of what is made of it

    def leave_open(self, tree: gast.FunctionDef) -> None:
        """Find the names whose kinds do not tell what is in the lists and dicts that calls write.  They are those of these,
        of what may share their items, and of all that is computed from any of them.  An adjoint leaves in its record what
        was there.
        """
        walked = [s for s in effects.walk(tree.body) if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr))]
        calls = [c for s in walked if isinstance(c := s.value, gast.Call) and not _is_adjoint(self.unit.called(c))]
        written = (a.id for c in calls for a in mod_ref.written_by(self.unit, c) if isinstance(a, gast.Name))
        held = {n for n in written if isinstance(self.inference.env.get(n), Container)}
        while held - self.open:
            self.open |= held
            for statement in walked:
                bound, read = effects.writes(statement), effects.reads(statement)
                held |= bound if read & held else set()
                held |= {n for n in read if bound & held and isinstance(self.inference.env.get(n), Container)}

    def ask_definitions(self, tree: gast.FunctionDef) -> None:
        """Infer the kinds of operands of undecided tests for None, or for types, from the definitions that reach these."""
        tests = [(s, n) for s in effects.walk(tree.body) for n in nodes(effects.header(s))]
        asked = [(s, owner) for s, n in tests if (owner := self._asked(n)) is not None and self._known(n) is None
                 and owner.id not in self.open]  # fmt: skip
        if not asked:
            return
        reaching = Facts(tree).reaching
        for statement, owner in asked:
            found: Kind | None = None
            for number in reaching.reach(owner.id, statement):
                point = reaching.definitions[number].point
                found = join(found, self._defined(reaching.graph.points[point].statement, owner))
            self.reached[id(owner)] = found

    def _asked(self, test: gast.AST) -> gast.Name | None:
        """The variable that is tested for None, or for its type."""
        compares = isinstance(test, gast.Compare) and isinstance(test.ops[0], (gast.Is, gast.IsNot))
        owner = test.left if compares and is_none(test.comparators[0]) else type_tests.operand_asked(self.unit, test)
        return owner if isinstance(owner, gast.Name) and owner.id in self.unit.locals else None

    def _defined(self, statement: gast.AST | None, name: gast.Name) -> Kind:
        """The kind that a definition gives a name: that of the argument, or of the value."""
        if statement is None:
            return self.inference.given.get(name.id, UNKNOWN)
        if isinstance(statement, gast.Assign) and bound_name(statement):
            return self.inference.kind(statement.value) or UNKNOWN
        kind = self._kind(name) or UNKNOWN
        return operand(kind) if isinstance(statement, gast.AugAssign) else kind

    def pruned(self, statement: gast.AST) -> list[gast.AST]:
        """The statements in place of one: for a decided `if`, the branch that is taken; for a loop over what is always
        empty, none."""
        decided = None
        if isinstance(statement, gast.For) and self._has_no_trip(statement.iter):
            decided = False
        elif isinstance(statement, gast.If):
            decided = self.decided(statement.test)
        if decided is None:
            return [statement]
        self.changed = True
        taken: list[gast.AST] = statement.body if decided else statement.orelse
        return taken

    def _has_no_trip(self, iterated: gast.AST) -> bool:
        """Whether this is a range over the items of a list or dict that never has one."""
        if self.unit.called(iterated) is not range or len(iterated.args) != 1:
            return False
        count = self.values.get(getattr(iterated.args[0], "id", ""), iterated.args[0])
        kind = self._kind(count.args[0]) if self.unit.called(count) is len and len(count.args) == 1 else None
        return isinstance(kind, Container) and kind.items == ()

    def decided(self, test: gast.AST) -> bool | None:
        """The truth value of a test; None where the kinds do not decide it."""
        return truth(test, self._known)

    def _known(self, test: gast.AST) -> bool | None:
        if isinstance(test, gast.Name) and test.id in self.values:
            return self.decided(self.values[test.id])
        if isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (gast.Is, gast.IsNot)):
            same = self._is_same(test.left, test.comparators[0])
            if same is not None:
                return same == isinstance(test.ops[0], gast.Is)
        return type_tests.decided(self.unit, test, self._kind, self.values)

    def _is_same(self, left: gast.AST, right: gast.AST) -> bool | None:
        """Whether both operands are the same module, or both None; None where that is unknown."""
        sides = [self.unit.resolve(side) for side in (left, right)]
        if all(isinstance(side, types.ModuleType) for side in sides):
            return sides[0] is sides[1]
        return _is_none(self._kind(left)) if is_none(right) else None

    def _kind(self, node: gast.AST) -> Kind | None:
        if isinstance(node, gast.Name) and node.id in self.open:
            return None
        return self.reached.get(id(node)) or (self.inference.kind(node) if isinstance(node, gast.Name) else None)


def _is_adjoint(function: Any) -> bool:
    return not traits(function).same_signature


def _is_none(kind: Kind | None) -> bool | None:
    if isinstance(kind, Known):
        return kind.value is None
    return False if isinstance(kind, (Array, Number, Container, Text)) else None
