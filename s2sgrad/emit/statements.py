"""Writes statements, and their layout in blocks.

Nodes that no pass makes and that a differentiated function may not contain are left out: `match`, type parameters.
Such a node raises TypeError.
"""

from __future__ import annotations

from typing import Any

from s2sgrad.emit.precedence import ATOM, NAMED, TEST, TUPLE, YIELD, kind
from s2sgrad.emit.writer import Writer, form

# --- simple statements


@form("Expr")
def _expr(w: Writer, node: Any) -> None:
    w.fill()
    w.breakable(node.value, YIELD)


@form("Assign")
def _assign(w: Writer, node: Any) -> None:
    w.fill()
    for target in node.targets:
        w.operand(target, TUPLE)
        w.write(" = ")
    w.breakable(node.value, YIELD)


@form("AugAssign")
def _aug_assign(w: Writer, node: Any) -> None:
    w.fill()
    w.operand(node.target, TEST)
    w.write(f" {w.binop[kind(node.op)]}= ")
    w.breakable(node.value, YIELD)


@form("AnnAssign")
def _ann_assign(w: Writer, node: Any) -> None:
    w.fill()
    bare = kind(node.target) != "Name" or bool(getattr(node, "simple", True))
    w.operand(node.target, TEST if bare else ATOM + 1)
    w.write(": ")
    w.operand(node.annotation, TEST)
    if getattr(node, "value", None) is not None:
        w.write(" = ")
        w.breakable(node.value, YIELD)


@form("Return")
def _return(w: Writer, node: Any) -> None:
    w.fill("return")
    if getattr(node, "value", None) is not None:
        w.write(" ")
        w.breakable(node.value, TUPLE)


@form("ImportFrom")
def _import_from(w: Writer, node: Any) -> None:
    w.fill(f"from {'.' * (node.level or 0)}{node.module or ''} import ")
    w.listed(node.names)


# --- compound statements


@form("If")
def _if(w: Writer, node: Any) -> None:
    w.fill("if ")
    while True:
        w.breakable(node.test, NAMED if kind(node.test) == "NamedExpr" else TEST)
        place = _place(node)
        w.block(node.body, place)
        orelse = getattr(node, "orelse", None)
        if not orelse or len(orelse) > 1 or kind(orelse[0]) != "If":
            break
        node = orelse[0]
        w.annotate(node, place)
        w.fill("elif ")
    w.tail("else", orelse, place)


@form("While")
def _while(w: Writer, node: Any) -> None:
    w.fill("while ")
    w.breakable(node.test, NAMED if kind(node.test) == "NamedExpr" else TEST)
    w.block(node.body, _place(node))
    w.tail("else", getattr(node, "orelse", None), _place(node))


@form("For", "AsyncFor")
def _for(w: Writer, node: Any) -> None:
    w.fill("for " if kind(node) == "For" else "async for ")
    w.operand(node.target, TUPLE)
    w.write(" in ")
    w.operand(node.iter, TEST)
    w.block(node.body, _place(node))
    w.tail("else", getattr(node, "orelse", None), _place(node))


@form("With")
def _with(w: Writer, node: Any) -> None:
    w.fill("with ")
    for k, item in enumerate(node.items):
        w.write(", " if k else "")
        w.operand(item.context_expr, TEST)
        if getattr(item, "optional_vars", None) is not None:
            w.write(" as ")
            w.operand(item.optional_vars, TEST)
    w.block(node.body, _place(node))


@form("Try")
def _try(w: Writer, node: Any) -> None:
    w.fill("try")
    w.block(node.body, _place(node))
    for handler in node.handlers:
        w.fill("except")
        if handler.type is not None:
            w.write(" ")
            w.clause(handler.type)
        if handler.name is not None:
            w.write(f" as {getattr(handler.name, 'id', handler.name)}")
        w.block(handler.body, _place(handler))
    for word, body in (("else", node.orelse), ("finally", node.finalbody)):
        if body:
            w.fill(word)
            w.block(body, _place(node))


@form("FunctionDef", "AsyncFunctionDef")
def _function_def(w: Writer, node: Any) -> None:
    _decorators(w, node)
    w.fill("def " if kind(node) == "FunctionDef" else "async def ")
    w.write(node.name)
    w.write("(")
    w.dispatch(node.args)
    w.write(")")
    if getattr(node, "returns", None) is not None:
        w.write(" -> ")
        w.dispatch(node.returns)
    outer = w.sweep, w.headed
    w.sweep, w.headed = None, w.comments and {"forward", "reverse"} <= _sweeps(node)
    w.block(node.body, _place(node), documented=True)
    w.sweep, w.headed = outer


@form("ClassDef")
def _class_def(w: Writer, node: Any) -> None:
    _decorators(w, node)
    w.fill(f"class {node.name}")
    if node.bases or node.keywords:
        w.write("(")
        w.listed([*node.bases, *node.keywords])
        w.write(")")
    w.block(node.body, _place(node), documented=True)


def _decorators(w: Writer, node: Any) -> None:
    if getattr(node, "type_params", None):
        raise TypeError(f"no text is known for the type parameters of {node.name}")
    for decorator in getattr(node, "decorator_list", None) or ():
        w.fill("@")
        w.clause(decorator)


def _place(statement: Any) -> tuple[int, int] | None:
    """The line and column of the user's source that a statement comes from."""
    origin = getattr(statement, "origin", None)
    return None if origin is None else (origin.line, origin.column)


def _sweeps(function: Any) -> set[str]:
    """The sweeps of a function's statements, inner functions excluded."""
    sweeps, todo = set(), list(function.body)
    while todo:
        node = todo.pop()
        origin = getattr(node, "origin", None)
        if origin is not None and origin.sweep is not None:
            sweeps.add(origin.sweep)
        if not kind(node).endswith("FunctionDef"):
            for field in ("body", "orelse"):
                todo.extend(getattr(node, field, None) or ())
    return sweeps
