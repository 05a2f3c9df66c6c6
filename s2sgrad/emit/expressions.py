"""Writes expressions, and the parameters of functions."""

from __future__ import annotations

from typing import Any

from s2sgrad.emit.literals import is_plain, literal
from s2sgrad.emit.precedence import ATOM, BITOR, NAMED, OR, TEST, TUPLE, kind, level_of, sides
from s2sgrad.emit.writer import Writer, form

# --- operators


@form("BinOp")
def _bin_op(w: Writer, node: Any) -> None:
    """Loops down the left spine: a sum may have more terms than Python has stack frames."""
    spine = [(node, False)]
    while kind(node.left) == "BinOp":
        spine.append((node.left, level_of(node.left) < sides(node.op)[0]))
        node = node.left
    for _, inside in spine:
        if inside:
            w.write("(")
    w.operand(node.left, sides(node.op)[0])
    for node, inside in reversed(spine):
        w.write(f" {w.binop[kind(node.op)]} ")
        w.operand(node.right, sides(node.op)[1])
        if inside:
            w.write(")")


@form("UnaryOp")
def _unary_op(w: Writer, node: Any) -> None:
    w.write(w.unop[kind(node.op)] + " " * (kind(node.op) == "Not"))
    w.operand(node.operand, level_of(node))


@form("BoolOp")
def _bool_op(w: Writer, node: Any) -> None:
    for i, value in enumerate(node.values):
        if i:
            w.write(f" {kind(node.op).lower()} ")
        w.operand(value, level_of(node) + 1)


@form("Compare")
def _compare(w: Writer, node: Any) -> None:
    w.operand(node.left, BITOR)
    for op, value in zip(node.ops, node.comparators, strict=True):
        w.write(f" {w.cmpops[kind(op)]} ")
        w.operand(value, BITOR)


@form("IfExp")
def _if_exp(w: Writer, node: Any) -> None:
    while True:
        w.operand(node.body, OR)
        w.write(" if ")
        w.operand(node.test, OR)
        w.write(" else ")
        if kind(node.orelse) != "IfExp":
            break
        node = node.orelse
    w.operand(node.orelse, TEST)


@form("Lambda")
def _lambda(w: Writer, node: Any) -> None:
    w.write("lambda")
    start = len(w.pieces)
    w.dispatch(node.args)
    if len(w.pieces) > start:
        w.pieces.insert(start, " ")
    w.write(": ")
    w.dispatch(node.body)


@form("NamedExpr")
def _named_expr(w: Writer, node: Any) -> None:
    w.dispatch(node.target)
    w.write(" := ")
    w.dispatch(node.value)


@form("Await")
def _await(w: Writer, node: Any) -> None:
    w.write("await ")
    w.operand(node.value, ATOM)


@form("Yield")
def _yield(w: Writer, node: Any) -> None:
    w.write("yield")
    if getattr(node, "value", None) is not None:
        w.write(" ")
        w.operand(node.value, TUPLE)


@form("YieldFrom")
def _yield_from(w: Writer, node: Any) -> None:
    w.write("yield from ")
    w.dispatch(node.value)


@form("Starred")
def _starred(w: Writer, node: Any) -> None:
    w.write("*")
    w.operand(node.value, BITOR)


# --- atoms


@form("Constant")
def _constant(w: Writer, node: Any) -> None:
    text, value = getattr(node, "written", None) or (None, None)
    if text is not None and value is node.value:
        w.write(text)
    else:
        w.write(literal(node.value) if is_plain(node) else f"u{literal(node.value)}")


@form("Attribute")
def _attribute(w: Writer, node: Any) -> None:
    value = getattr(node.value, "value", None) if kind(node.value) == "Constant" else None
    number = isinstance(value, int) and not isinstance(value, bool)
    w.operand(node.value, ATOM + number)  # `2.real` does not parse; `2.0.real` does
    w.write(f".{node.attr}")


@form("Subscript")
def _subscript(w: Writer, node: Any) -> None:
    w.operand(node.value, ATOM)
    w.write("[")
    index = node.slice
    if kind(index) == "Tuple" and len(index.elts) == 1 and kind(index.elts[0]) == "Starred":
        index = index.elts[0]  # x[*a] means x[*a,]
    w.operand(index, NAMED if kind(index) == "NamedExpr" else TUPLE)
    w.write("]")


@form("Call")
def _call(w: Writer, node: Any) -> None:
    w.operand(node.func, ATOM)
    arguments = [*node.args, *(getattr(node, "keywords", None) or ())]
    if len(arguments) == 1 and kind(arguments[0]) == "GeneratorExp":
        w.dispatch(arguments[0])  # which writes its own parentheses
    else:
        w.write("(")
        w.listed(arguments)
        w.write(")")


@form("Tuple")
def _tuple(w: Writer, node: Any) -> None:
    if not node.elts:
        w.write("()")
    for i, element in enumerate(node.elts):
        if i:
            w.write(", ")
        w.dispatch(element)
    if len(node.elts) == 1:
        w.write(",")


@form("Dict")
def _dict(w: Writer, node: Any) -> None:
    w.write("{")
    for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        if i:
            w.write(", ")
        if key is None:
            w.write("**")
            w.operand(value, BITOR)
        else:
            w.dispatch(key)
            w.write(": ")
            w.dispatch(value)
    w.write("}")


@form("comprehension")
def _comprehension(w: Writer, node: Any) -> None:
    w.write(" async for " if getattr(node, "is_async", 0) else " for ")
    w.operand(node.target, TUPLE)
    w.write(" in ")
    w.operand(node.iter, OR)
    for condition in getattr(node, "ifs", None) or ():
        w.write(" if ")
        w.operand(condition, OR)


# --- parameters


@form("arguments")
def _arguments(w: Writer, node: Any) -> None:
    """Parameters, which are names with annotations in gast."""
    only = list(getattr(node, "posonlyargs", None) or ())
    plain = [*only, *node.args]
    keywords = list(getattr(node, "kwonlyargs", None) or ())
    given = list(getattr(node, "defaults", None) or ())
    defaults = [None] * (len(plain) - len(given)) + given
    starred = getattr(node, "vararg", None)
    items = [("", name, default) for name, default in zip(plain, defaults, strict=True)]
    if only:
        items.insert(len(only), ("/", None, None))
    if starred is not None or keywords:
        items.append(("*", starred, None))
    named = getattr(node, "kw_defaults", None) or [None] * len(keywords)
    items += [("", name, default) for name, default in zip(keywords, named, strict=True)]
    if getattr(node, "kwarg", None) is not None:
        items.append(("**", node.kwarg, None))
    for i, (sign, name, default) in enumerate(items):
        if i:
            w.write(", ")
        annotation = getattr(name, "annotation", None)
        w.write(sign + ("" if name is None else getattr(name, "id", None) or name.arg))
        if annotation is not None:
            w.write(": ")
            w.dispatch(annotation)
        if default is not None:
            w.write("=" if annotation is None else " = ")
            w.dispatch(default)
