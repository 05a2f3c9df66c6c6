"""Complex numbers, which have no derivative yet: refused where one meets a differentiated value.

    y = x * 1j                      ->      Unsupported: complex numbers cannot be differentiated yet ...
    y = x * w, w of unknown kind    ->      y = x * w; real(y, "y", 3)      raises where `w` turns out to be complex

A differentiated value is real from where it is bound: by its kind, by those of the values that it is made from, or by a
check.  So a check stands only where a constant of unknown kind meets one.  A function sees to its own result; the
transforms look at the arguments themselves, and what calls a user's rule at its result.
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import at, clone, constant, name, nested
from s2sgrad.legality.context import Context

_MESSAGE = "complex numbers cannot be differentiated yet: compute with real and imaginary parts"


def check(context: Context, statement: gast.AST, operation: Operation | None) -> None:
    """Raise Unsupported where a statement makes something complex of what is not, and carries a derivative, by the kinds;
    what is complex already was refused where it was made, in a callee too."""
    section = effects.stored(statement)
    if section is not None:
        if is_complex(context.kinds.get(effects.base(section))) and context.passes_on(statement.value):
            context.unit.refuse(statement, _MESSAGE)
    elif operation is not None and operation.form != "call":
        carriers = [n for n in activity.sources(operation) if n in context.varied]
        becomes = any(is_complex(context.kinds.get(n)) for n in binds(statement))
        if becomes and not all(is_complex(context.kinds.get(n)) for n in carriers):
            context.unit.refuse(operation.node, _MESSAGE)


def insert_checks(context: Context, inference: Inference) -> bool:
    """Insert the checks; whether there are any."""
    if context.unit.primal.is_generated:  # they are in the primal text
        return False
    checks = _Checks(context, inference)
    return sum(map(checks.block, [*nested(context.tree.body)])) > 0


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
        if operation.form == "rule" and operation.rule.given is not None:  # looked at where the rule is called
            return True
        if operation.form == "item":
            return self.is_settled(operation.operands[0])
        return all(map(self.is_settled, effects.loads(operation.node)))

    def is_settled(self, node: gast.AST) -> bool:
        """Whether a value is known to be real, or checked where it is bound."""
        return (isinstance(node, gast.Name) and node.id in self.active) or is_real(self.inference.kind(node))
