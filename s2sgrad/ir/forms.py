"""The forms that statements and expressions of the normal form come in, each told in one place.

    stack.pop()   ->   the method `pop` of `stack`        -e   ->   `e`        x[i, j]   ->   the parts `i` and `j`

>>> import gast
>>> whole_number(gast.parse("-2").body[0].value), bound_name(gast.parse("y = x + 1").body[0])
(-2, 'y')
>>> popped(gast.parse("stack.pop()").body[0].value), popped(gast.parse("stack.pop(0)").body[0].value)
('stack', None)
"""

from __future__ import annotations

from collections.abc import Callable

import gast


def parts_of(node: gast.AST) -> list[gast.AST]:
    """The parts of an index, one or more axes each; the classes of `isinstance`; whatever is one or a tuple of several."""
    return list(node.elts) if isinstance(node, gast.Tuple) else [node]


def index_of(parts: list[gast.AST]) -> gast.AST:
    """The index that has these parts."""
    return parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load())


def everything() -> gast.Slice:
    """`:`"""
    return gast.Slice(None, None, None)


def arguments_of(call: gast.Call) -> list[gast.AST]:
    """All that a call is given, by place and by keyword."""
    return [*call.args, *(k.value for k in call.keywords)]


def negated(node: gast.AST) -> gast.AST | None:
    """`e` of `-e`; None for anything else."""
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
    """`not test`; of `not e` it is `e`."""
    twice = isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
    return test.operand if twice else gast.UnaryOp(gast.Not(), test)


def truth(test: gast.AST, decided: Callable[[gast.AST], bool | None]) -> bool | None:
    """The truth of a test by that of what it is made of; None where it depends on what is not known."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, decided)
        return None if inner is None else not inner
    if not isinstance(test, gast.BoolOp):
        return decided(test)
    decisive = isinstance(test.op, gast.Or)
    for operand in test.values:
        part = truth(operand, decided)
        if part is None or part is decisive:  # those behind may raise
            return part
    return not decisive


def is_none(node: gast.AST | None) -> bool:
    """Whether an expression is `None`."""
    return isinstance(node, gast.Constant) and node.value is None


def number(node: gast.AST | None) -> float | int | None:
    """The number that stands in the text, and no truth value; None for anything else."""
    return node.value if isinstance(node, gast.Constant) and type(node.value) in (int, float) else None


def is_natural(node: gast.AST | None) -> bool:
    """Whether an expression is a whole number of the text, from 0 on."""
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value >= 0


def whole_number(node: gast.AST | None) -> int | None:
    """The whole number that stands in the text, perhaps with a sign; None for anything else."""
    if isinstance(node, gast.UnaryOp):
        inner = negated(node)
        found = None if inner is None else whole_number(inner)
        return None if found is None else -found
    return node.value if isinstance(node, gast.Constant) and type(node.value) is int else None


def bound_name(statement: gast.AST) -> str | None:
    """The name that `x = e` binds; None for any other statement."""
    target = statement.targets[0] if type(statement) is gast.Assign and len(statement.targets) == 1 else None
    return target.id if type(target) is gast.Name else None


def alone(statement: gast.AST) -> gast.AST | None:
    """The expression that is a statement by itself; None for any other statement."""
    return statement.value if isinstance(statement, gast.Expr) else None


def receiver(node: gast.AST, method: str) -> gast.AST | None:
    """`x` of `x.method()`, called without arguments; None for anything else."""
    plain = isinstance(node, gast.Call) and not node.args and not node.keywords
    return node.func.value if plain and isinstance(node.func, gast.Attribute) and node.func.attr == method else None


def popped(node: gast.AST) -> str | None:
    """The name of the list from whose end `x.pop()` takes an item; None for anything else."""
    owner = receiver(node, "pop")
    return owner.id if isinstance(owner, gast.Name) else None


def appended_to(node: gast.AST | None) -> gast.AST | None:
    """`x` of `x.append(e)`; None for anything else."""
    plain = isinstance(node, gast.Call) and len(node.args) == 1 and not node.keywords
    return node.func.value if plain and isinstance(node.func, gast.Attribute) and node.func.attr == "append" else None
