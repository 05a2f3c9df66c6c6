"""Functions that are handed to a rule: the derivative calls them again, so that they must be the same functions then.

    y = quad(rate, 0.0, 1.0)     ->     Unsupported: `rate`, which is handed to `quad`, changes what lives outside of it ...
    CFG["a"] = 5.0               ->     Unsupported in reverse, where a function was handed over, which may read it

Both are recorded: the run knows whether anything changes.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.forms import bound_name
from s2sgrad.legality.context import Context
from s2sgrad.memory import mod_ref
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.closures import closure


def check(context: Context, operation: Operation) -> None:
    """Raise Unsupported for such a function that changes what outlives it, or where what it reads may change later."""
    if operation.rule is None or operation.rule.given is None:
        return
    for operand in operation.given:
        for function in _functions(context, operand):
            shown = f"`{emit.expression(operand)}`" if context.unit.resolve(operand) is function else "a function"
            called = f"`{emit.expression(operation.node.func)}`"
            if mod_ref.of(function).outside:
                context.unit.refuse(operation.node, f"{shown}, which is handed to {called}, changes what lives outside of "
                                                    "it, so that it is another function when the derivative calls it: "
                                                    "return the value from it")  # fmt: skip
            if not context.forward and mod_ref.of(context.unit.primal.function).outside:
                context.unit.refuse(operation.node, f"{shown}, which is handed to {called}, may read what this function "
                                                    "changes: pass it as an argument")  # fmt: skip


def _functions(context: Context, operand: gast.AST) -> Iterator[types.FunctionType]:
    """The functions of the user's that an operand stands for."""
    values = [context.unit.resolve(operand)]
    if isinstance(operand, gast.Name) and operand.id in context.unit.locals:
        bound = [s.value for s in effects.walk(context.tree.body) if bound_name(s) == operand.id]
        values += [context.unit.resolve(v.args[0]) for v in bound if context.unit.called(v) is closure]
    for value in values:
        found: Any = its(value, "__func__", value)
        if isinstance(found, types.FunctionType):
            yield found
