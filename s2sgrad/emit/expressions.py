"""Writes expressions, and the parameters of functions."""

from __future__ import annotations

from typing import Any

from s2sgrad.emit.fstrings import FStringWriter
from s2sgrad.emit.literals import is_plain, literal
from s2sgrad.emit.precedence import ATOM, BITOR, NAMED, OR, TEST, TUPLE, kind, level_of, sides


class ExpressionWriter(FStringWriter):
    """Writes every expression of Python; the base class has those without precedence (`Name`, `List`, `Slice`, ...)."""

    # ---- operators

    def _BinOp(self, node: Any) -> None:
        """Loops down the left spine: a sum may have more terms than Python has stack frames."""
        spine = [(node, False)]
        while kind(node.left) == "BinOp":
            spine.append((node.left, level_of(node.left) < sides(node.op)[0]))
            node = node.left
        for _, inside in spine:
            if inside:
                self.write("(")
        self.operand(node.left, sides(node.op)[0])
        for node, inside in reversed(spine):
            self.write(f" {self.binop[kind(node.op)]} ")
            self.operand(node.right, sides(node.op)[1])
            if inside:
                self.write(")")

    def _UnaryOp(self, node: Any) -> None:
        self.write(self.unop[kind(node.op)] + " " * (kind(node.op) == "Not"))
        self.operand(node.operand, level_of(node))

    def _BoolOp(self, node: Any) -> None:
        for i, value in enumerate(node.values):
            if i:
                self.write(f" {kind(node.op).lower()} ")
            self.operand(value, level_of(node) + 1)

    def _Compare(self, node: Any) -> None:
        self.operand(node.left, BITOR)
        for op, value in zip(node.ops, node.comparators, strict=True):
            self.write(f" {self.cmpops[kind(op)]} ")
            self.operand(value, BITOR)

    def _IfExp(self, node: Any) -> None:
        while True:
            self.operand(node.body, OR)
            self.write(" if ")
            self.operand(node.test, OR)
            self.write(" else ")
            if kind(node.orelse) != "IfExp":
                break
            node = node.orelse
        self.operand(node.orelse, TEST)

    def _Lambda(self, node: Any) -> None:
        self.write("lambda")
        start = len(self.pieces)
        self.dispatch(node.args)
        if len(self.pieces) > start:
            self.pieces.insert(start, " ")
        self.write(": ")
        self.dispatch(node.body)

    def _NamedExpr(self, node: Any) -> None:
        self.dispatch(node.target)
        self.write(" := ")
        self.dispatch(node.value)

    def _Await(self, node: Any) -> None:
        self.write("await ")
        self.operand(node.value, ATOM)

    def _Yield(self, node: Any) -> None:
        self.write("yield")
        if getattr(node, "value", None) is not None:
            self.write(" ")
            self.operand(node.value, TUPLE)

    def _YieldFrom(self, node: Any) -> None:
        self.write("yield from ")
        self.dispatch(node.value)

    def _Starred(self, node: Any) -> None:
        self.write("*")
        self.operand(node.value, BITOR)

    # ---- atoms

    def _Constant(self, node: Any) -> None:
        self.write(literal(node.value) if is_plain(node) else f"u{literal(node.value)}")

    def _Attribute(self, node: Any) -> None:
        value = getattr(node.value, "value", None) if kind(node.value) == "Constant" else None
        number = isinstance(value, int) and not isinstance(value, bool)
        self.operand(node.value, ATOM + number)  # `2.real` does not parse; `2.0.real` does
        self.write(f".{node.attr}")

    def _Subscript(self, node: Any) -> None:
        self.operand(node.value, ATOM)
        self.write("[")
        index = node.slice
        if kind(index) == "Tuple" and len(index.elts) == 1 and kind(index.elts[0]) == "Starred":
            index = index.elts[0]  # x[*a] means x[*a,]
        self.operand(index, NAMED if kind(index) == "NamedExpr" else TUPLE)
        self.write("]")

    def _Call(self, node: Any) -> None:
        self.operand(node.func, ATOM)
        arguments = [*node.args, *(getattr(node, "keywords", None) or ())]
        if len(arguments) == 1 and kind(arguments[0]) == "GeneratorExp":
            self.dispatch(arguments[0])  # which writes its own parentheses
        else:
            self.write("(")
            self.listed(arguments)
            self.write(")")

    def _Tuple(self, node: Any) -> None:
        if not node.elts:
            self.write("()")
        for i, element in enumerate(node.elts):
            if i:
                self.write(", ")
            self.dispatch(element)
        if len(node.elts) == 1:
            self.write(",")

    def _Dict(self, node: Any) -> None:
        self.write("{")
        for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if i:
                self.write(", ")
            if key is None:
                self.write("**")
                self.operand(value, BITOR)
            else:
                self.dispatch(key)
                self.write(": ")
                self.dispatch(value)
        self.write("}")

    def _comprehension(self, node: Any) -> None:
        self.write(" async for " if getattr(node, "is_async", 0) else " for ")
        self.operand(node.target, TUPLE)
        self.write(" in ")
        self.operand(node.iter, OR)
        for condition in getattr(node, "ifs", None) or ():
            self.write(" if ")
            self.operand(condition, OR)

    # ---- parameters

    def _arguments(self, node: Any) -> None:
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
                self.write(", ")
            annotation = getattr(name, "annotation", None)
            self.write(sign + ("" if name is None else getattr(name, "id", None) or name.arg))
            if annotation is not None:
                self.write(": ")
                self.dispatch(annotation)
            if default is not None:
                self.write("=" if annotation is None else " = ")
                self.dispatch(default)
