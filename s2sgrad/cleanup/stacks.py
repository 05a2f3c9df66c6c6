"""The lists of records: what a statement puts on one or takes off.

    x_stack.append(x); x = x_stack.pop()      ->      both are operations on `x_stack`, and nothing else may be
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.quote import nodes


def embedded_pops(statement: gast.AST) -> list[str]:
    """The stacks that are popped inside the expressions of a statement (or of its header)."""
    if stack_operation(statement) is not None:
        return []
    return [
        n.func.value.id
        for n in nodes(effects.header(statement))
        if isinstance(n, gast.Call)
        and isinstance(n.func, gast.Attribute)
        and n.func.attr == "pop"
        and isinstance(n.func.value, gast.Name)
        and not n.args
    ]


def stack_operation(statement: gast.AST) -> str | None:
    """The list of `s.append(x)`, `push(s, x)`, `x = s.pop()` and `x = pop(s)`."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, (gast.Expr, gast.Assign)) or not isinstance(value, gast.Call):
        return None
    wanted = ("append", "push") if isinstance(statement, gast.Expr) else ("pop",)
    if isinstance(value.func, gast.Attribute) and isinstance(value.func.value, gast.Name):
        return value.func.value.id if value.func.attr in wanted else None
    if isinstance(value.func, gast.Name) and value.func.id in wanted and value.args:
        return value.args[0].id if isinstance(value.args[0], gast.Name) else None
    return None


def of_copies(body: list[gast.AST]) -> set[str]:
    """The stacks on which only copies of arrays are put."""
    kept: dict[str, bool] = {}
    for statement in effects.walk(body):
        stack = stack_operation(statement) if isinstance(statement, gast.Expr) else None
        if stack is not None:
            value = statement.value.args[-1]
            method = value.func if isinstance(value, gast.Call) else None
            copied = isinstance(method, gast.Attribute) and method.attr == "copy"
            kept[stack] = kept.get(stack, True) and copied
    return {stack for stack, copied in kept.items() if copied}
