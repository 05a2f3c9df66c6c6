"""An expression that nests deeply is cut: what it begins with, and is evaluated first, gets a name.

    return x0 + x1 + ... + x499     ->     part = x0 + ... + x19; part_ = part + x20 + ..; ..; return part_12 + ..

A sum of n terms is a tree of n levels, and a pass that goes down it takes a few calls of Python for each of them; calls
around calls are cut alike.  Nothing is evaluated earlier than it was.

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
# What a node evaluates before anything else of it; a call its first argument, if it calls a global name.
_FIRST = {
    **{kind: field for kind, field in HEADER.items() if kind is not gast.While},  # whose test is evaluated again
    gast.Assign: "value", gast.AugAssign: "value", gast.Return: "value", gast.Expr: "value",
    gast.BinOp: "left", gast.UnaryOp: "operand", gast.Compare: "left", gast.BoolOp: "values", gast.Attribute: "value",
    gast.Subscript: "value", gast.Tuple: "elts", gast.List: "elts",
}  # fmt: skip


def cut_all(tree: gast.FunctionDef, fresh: Callable[[str], str]) -> list[str]:
    """Cut the deep expressions of a function and of those in it; the names that are bound to what is cut off."""
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
    """What is cut off a statement, as assignments in order."""
    holders: list[tuple[Any, Any]] = []  # of an operand: in which dict or list, and under which key
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
    if isinstance(node, gast.Call):
        root = node.func
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(node.func, gast.Attribute) and not isinstance(root, gast.Name):
            return node.func.__dict__, "value"  # a method is called where it is found
        called = isinstance(root, gast.Name) and root.id not in local and node.args
        return (node.args, 0) if called else None
    field = _FIRST.get(type(node))
    if field is None or getattr(node, field) is None:
        return None
    inner = getattr(node, field)
    return (inner, 0) if isinstance(inner, list) and inner else None if isinstance(inner, list) else (node.__dict__, field)
