"""Recognition and construction of the basic forms of statements and expressions in normal form.

    stack.pop()   ->   the method `pop` of `stack`        -e   ->   `e`        x[i, j]   ->   the parts `i` and `j`

>>> import gast

from s2sgrad.ir.quote import calls_in
>>> whole_number(gast.parse("-2").body[0].value), bound_name(gast.parse("y = x + 1").body[0])
(-2, 'y')
>>> popped(gast.parse("stack.pop()").body[0].value), popped(gast.parse("stack.pop(0)").body[0].value)
('stack', None)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast


def parts_of(node: gast.AST) -> list[gast.AST]:
    """The parts of an index, each for one or more axes; the classes in an `isinstance`; any node or tuple of nodes."""
    return list(node.elts) if isinstance(node, gast.Tuple) else [node]


def index_of(parts: list[gast.AST]) -> gast.AST:
    """The index with these parts."""
    return parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load())


def everything() -> gast.Slice:
    """`:`"""
    return gast.Slice(None, None, None)


def arguments_of(call: gast.Call) -> list[gast.AST]:
    """All arguments of a call, positional and keyword."""
    return [*call.args, *(k.value for k in call.keywords)]


def negated(node: gast.AST) -> gast.AST | None:
    """`e` for `-e`; None for any other expression."""
    return node.operand if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else None


def minus(node: gast.AST) -> gast.UnaryOp:
    """`-node`."""
    return gast.UnaryOp(gast.USub(), node)


def multiplied(factors: list[gast.AST]) -> gast.AST:
    """`a * b * c`, from the left."""
    out, *others = factors
    for factor in others:
        out = gast.BinOp(out, gast.Mult(), factor)
    return out


def opposite(test: gast.AST) -> gast.AST:
    """`not test`; `e` for `not e`."""
    twice = isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
    return test.operand if twice else gast.UnaryOp(gast.Not(), test)


def bound_to_constants(statement: gast.AST) -> str:
    """The name that a statement binds to a tuple of constants; "" for any other statement."""
    value = getattr(statement, "value", None)
    constant = isinstance(value, gast.Tuple) and all(isinstance(e, gast.Constant) for e in value.elts)
    return (bound_name(statement) if constant else None) or ""


def truth(test: gast.AST, decided: Callable[[gast.AST], bool | None]) -> bool | None:
    """The truth value of a test from those of its operands; None if that depends on unknown ones."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, decided)
        return None if inner is None else not inner
    if not isinstance(test, gast.BoolOp):
        return decided(test)
    decisive = isinstance(test.op, gast.Or)
    for operand in test.values:
        part = truth(operand, decided)
        if part is None or part is decisive:  # later operands may raise
            return part
    return not decisive


def is_none(node: gast.AST | None) -> bool:
    """Whether an expression is `None`."""
    return isinstance(node, gast.Constant) and node.value is None


def number(node: gast.AST | None) -> float | int | None:
    """The value of a number literal, not a truth value; None for any other expression."""
    return node.value if isinstance(node, gast.Constant) and type(node.value) in (int, float) else None


def is_natural(node: gast.AST | None) -> bool:
    """Whether an expression is a nonnegative integer literal."""
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value >= 0


def whole_number(node: gast.AST | None) -> int | None:
    """The value of an integer literal, possibly with a sign; None for any other expression."""
    if isinstance(node, gast.UnaryOp):
        inner = negated(node)
        found = None if inner is None else whole_number(inner)
        return None if found is None else -found
    return node.value if isinstance(node, gast.Constant) and type(node.value) is int else None


def bound_name(statement: gast.AST) -> str | None:
    """The name that `x = e` binds; None for any other statement."""
    target: Any = statement.targets[0] if type(statement) is gast.Assign and len(statement.targets) == 1 else None
    return target.id if type(target) is gast.Name else None


def target_name(statement: gast.Assign) -> str:
    """The name that a statement binds that is known to be `x = e`."""
    name: str = statement.targets[0].id
    return name


def alone(statement: gast.AST) -> gast.AST | None:
    """The expression of an expression statement; None for any other statement."""
    return statement.value if isinstance(statement, gast.Expr) else None


def receiver(node: gast.AST, method: str) -> gast.AST | None:
    """`x` for `x.method()` without arguments; None for any other expression."""
    plain = isinstance(node, gast.Call) and not node.args and not node.keywords
    return node.func.value if plain and isinstance(node.func, gast.Attribute) and node.func.attr == method else None


def popped(node: gast.AST) -> str | None:
    """The name of the list for `x.pop()`; None for any other expression."""
    owner = receiver(node, "pop")
    return owner.id if isinstance(owner, gast.Name) else None


def appended_to(node: gast.AST | None) -> gast.AST | None:
    """`x` for `x.append(e)`; None for any other expression."""
    if not isinstance(node, gast.Call) or len(node.args) != 1 or node.keywords:
        return None
    return node.func.value if isinstance(node.func, gast.Attribute) and node.func.attr == "append" else None
