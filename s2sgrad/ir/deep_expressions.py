"""Deeply nested expressions are split: subexpressions that are evaluated first get names.

    return x0 + x1 + ... + x499     ->     part = x0 + ... + x19; part_ = part + x20 + ..; ..; return part_12 + ..

A sum of n terms is a tree of depth n, and a recursive pass takes a few Python calls per level; nested calls are split
alike.  The order of evaluation does not change.

>>> from s2sgrad import emit
>>> from s2sgrad.ir.quote import statements
>>> (statement,) = statements("y[0] = " + " + ".join("abcdef"))
>>> print("\\n".join(map(emit.statement, [*cut(statement, lambda: "part", set(), depth=3), statement])))
part = a + b + c
y[0] = part + d + e + f
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import gast

from s2sgrad.ir.quote import HEADER, NAMES, assign, at, name, nested, nodes_of

_DEPTH = 40
# The operand that a node evaluates first; for a call of a global name, its first argument.
_FIRST = {
    **{kind: field for kind, field in HEADER.items() if kind is not gast.While},  # its test is evaluated repeatedly
    gast.Assign: "value", gast.AugAssign: "value", gast.Return: "value", gast.Expr: "value",
    gast.BinOp: "left", gast.UnaryOp: "operand", gast.Compare: "left", gast.BoolOp: "values", gast.Attribute: "value",
    gast.Subscript: "value", gast.Tuple: "elts", gast.List: "elts",
}  # fmt: skip


def cut_all(tree: gast.FunctionDef, fresh: Callable[[str], str]) -> list[str]:
    """Split the deep expressions of a function and of nested ones; the new names."""
    bound = {n.id for n in nodes_of(tree, NAMES) if not isinstance(n.ctx, gast.Load)}
    made: list[str] = []

    def part() -> str:
        made.append(fresh("part"))
        return made[-1]

    for function in nodes_of(tree, {gast.FunctionDef}):
        for body in nested(function.body):
            body[:] = [kept for statement in body for kept in (*cut(statement, part, bound), statement)]
    return made


def cut(statement: gast.AST, part: Callable[[], str], local: Container[str], depth: int = _DEPTH) -> list[gast.AST]:
    """The assignments of the subexpressions that are split off a statement, in order."""
    holders: list[tuple[Any, Any]] = []  # for an operand: the dict or list that contains it, and its key
    node: Any = statement
    while isinstance(node, gast.AST) and (holder := _first(node, local)) is not None:
        holders.append(holder)
        node = holder[0][holder[1]]
    if len(holders) <= depth + 1 or nodes_of(statement, {gast.NamedExpr}) or _loads_more(statement):
        return []
    parts = []
    for fields, key in reversed(holders[depth:-1:depth]):
        new = part()
        parts += at(statement, assign(new, fields[key]))
        fields[key] = name(new)
    return parts


def _loads_more(statement: gast.AST) -> bool:
    """Whether something is loaded before the value is evaluated: `a[i] += f(a)`."""
    return isinstance(statement, gast.AugAssign) and not isinstance(statement.target, gast.Name)


def _first(node: gast.AST, local: Container[str]) -> tuple[Any, Any] | None:
    """Where a node stores the operand that it evaluates first; None where it must not be split off."""
    if isinstance(node, gast.Call):
        root = node.func
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(node.func, gast.Attribute) and not isinstance(root, gast.Name):
            return node.func.__dict__, "value"  # a method is looked up on its object
        called = isinstance(root, gast.Name) and root.id not in local and node.args
        return (node.args, 0) if called else None
    field = _FIRST.get(type(node))
    if field is None or getattr(node, field) is None:
        return None
    inner = getattr(node, field)
    return (inner, 0) if isinstance(inner, list) and inner else None if isinstance(inner, list) else (node.__dict__, field)
