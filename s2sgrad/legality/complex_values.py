"""Complex numbers: a text is for real ones, until one meets a differentiated value; then it is written anew.

    y = x * 1j                      ->      `ComplexFound`: the text is written for complex numbers
    y = x * w, w of unknown kind    ->      y = x * w; real(y, "y", 3)      raises where `w` turns out to be complex

A differentiated value is real from where it is bound: by its kind, by those of the values that it is made from, or by a
check.  So a check stands only where a constant of unknown kind meets one.  A function sees to its own result; the
transforms look at the arguments themselves, and what calls a user's rule at its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import gast

from s2sgrad import runtime
from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import at, clone, constant, name, nested, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.legality.context import Context
from s2sgrad.rules import table

T = TypeVar("T")


class ComplexFound(Exception):
    """A text for real numbers would differentiate a complex one."""


def first_of_real_numbers(written: Callable[[bool], T], of_complex: bool = False) -> T:
    """What is `written` for real numbers, or for complex ones, where such carry derivatives."""
    if not of_complex:
        with contextlib.suppress(ComplexFound):
            return written(False)
    return written(True)


def require_real(unit: Unit, kinds: Iterable[Kind | None]) -> None:
    """Raise ComplexFound where one of these kinds is complex in a text for real numbers."""
    if not unit.derivative.complex and any(map(is_complex, kinds)):
        raise ComplexFound


def insert_checks(context: Context, inference: Inference) -> bool:
    """Insert the checks of a text for real numbers; whether there are any.  ComplexFound where the kinds say it already."""
    if context.unit.derivative.complex:
        return False
    checks = _Checks(context, inference)
    for statement in effects.walk(context.tree.body):
        checks.look_at(statement)
    if context.unit.primal.is_generated:  # they are in the primal text
        return False
    return sum(map(checks.block, [*nested(context.tree.body)])) > 0


def require_one_name(context: Context) -> None:
    """Refuse complex numbers where several names may stand for memory that is written: a cotangent may be real there."""
    if context.unit.derivative.complex and not context.unit.mirror.names.isdisjoint(context.paths.active):
        context.unit.refuse(context.tree, "complex numbers, and memory that is written and may have several names, are not "
                                          "differentiated together yet: write into copies, or under one name")  # fmt: skip


class _Checks:
    """The values to check in the blocks of one function."""

    def __init__(self, context: Context, inference: Inference) -> None:
        self.context, self.inference = context, inference
        self.active = context.paths.active

    def block(self, body: list[gast.AST]) -> bool:
        out: list[gast.AST] = []
        for statement in body:
            checks = [self.checked(value, statement) for value in self.unsettled(statement)]
            stored = bool(checks) and not binds(statement)
            out += [*at(statement, *checks), statement] if stored else [statement, *at(statement, *checks)]
        changed = len(out) > len(body)
        body[:] = out
        return changed

    def look_at(self, statement: gast.AST) -> None:
        """Raise ComplexFound where a statement makes something complex that carries a derivative, or computes with it."""
        section, operation = effects.stored(statement), self.context.paths.operations.get(id(statement))
        if section is not None:
            if self.context.passes_on(statement.value):
                require_real(self.context.unit, map(self.inference.kind, (section, statement.value)))
        elif operation is not None and not self.context.paths.active.isdisjoint(binds(statement)):
            if not self.context.varied.isdisjoint(activity.sources(operation)):
                given = [] if operation.form in ("call", "display", "push", "grow") else operation.operands
                require_real(self.context.unit, map(self.inference.kind, (operation.node, *given)))
                made = operation.rule is not None and table.makes_complex(operation.rule)
                if made and not is_real(self.inference.kind(operation.node)):
                    raise ComplexFound  # of whatever kind the operands are

    def checked(self, value: gast.AST, statement: gast.AST) -> gast.Expr:
        unit = self.context.unit
        shown = unit.shown(value.id) if isinstance(value, gast.Name) else ""
        given = [clone(value), constant(shown), constant(getattr(statement, "lineno", 0))]
        return gast.Expr(gast.Call(name(unit.helper("real", runtime.real)), given, []))

    def unsettled(self, statement: gast.AST) -> list[gast.AST]:
        """What a statement stores into, or binds to, a differentiated name, if it may be complex."""
        operation = self.context.paths.operations.get(id(statement))
        section = effects.stored(statement)
        if section is not None:
            base = effects.base(section)
            kept = base in self.active and not is_real(self.context.kinds.get(base))
            return [statement.value] if kept and not self.is_settled(statement.value) else []
        if operation is None:
            return []
        if operation.form in ("push", "grow"):
            owner, value = operation.operands
            return [value] if getattr(owner, "id", "") in self.active and not self.is_settled(value) else []
        bound = [n for n in binds(statement) if n in self.active or n == self.context.paths.result]
        if not bound or is_real(self.inference.kind(operation.node)) or self.follows(operation):
            return []
        return [name(n) for n in bound if not is_real(self.context.kinds.get(n)) or isinstance(statement, gast.Assign)]

    def follows(self, operation: Operation) -> bool:
        """Whether the result of an operation is real because its operands are."""
        if operation.form == "call":  # the callee sees to it, if it is differentiated
            return not self.active.isdisjoint(activity.sources(operation))
        if operation.rule is not None and operation.rule.given is not None:  # looked at where the rule is called
            return True
        if operation.rule is not None and operation.rule.may_turn_complex:
            return False
        if operation.form == "item":
            return self.is_settled(operation.operands[0])
        complex_constant = any(runtime.holds_complex(self.constant(n)) for n in nodes(operation.node))
        return not complex_constant and all(map(self.is_settled, effects.loads(operation.node)))

    def constant(self, node: gast.AST) -> Any:
        """The value of a constant, or of an attribute that does not change; None for anything else."""
        if isinstance(node, gast.Constant):
            return node.value
        found = self.context.unit.resolve(node) if isinstance(node, gast.Attribute) else MISSING
        return None if found is MISSING else found

    def is_settled(self, node: gast.AST) -> bool:
        """Whether a value is known to be real, or checked where it is bound."""
        return (isinstance(node, gast.Name) and node.id in self.active) or is_real(self.inference.kind(node))
