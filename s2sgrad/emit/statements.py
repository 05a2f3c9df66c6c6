"""Writes statements, their layout in blocks, and the comments above them.

Nodes that no pass makes and that a differentiated function may not contain are left out: `match`, type parameters.
Such a node raises TypeError.
"""

from __future__ import annotations

from typing import Any

from s2sgrad.emit.expressions import ExpressionWriter
from s2sgrad.emit.literals import docstring, is_plain
from s2sgrad.emit.precedence import ATOM, NAMED, TEST, TUPLE, YIELD, kind

_Place = tuple[int, int] | None  # line and column in the user's source


class StatementWriter(ExpressionWriter):
    """Writes the statements that passes make; the base class has single-keyword statements and names."""

    def __init__(self, comments: bool) -> None:
        super().__init__()
        self.comments = comments
        self.sweep: str | None = None  # the last one that has its heading
        self.headed = False  # whether this function has both sweeps

    # ---- blocks and comments

    def remarks(self, text: str) -> None:
        for line in text.splitlines():
            self.fill(f"# {line}".rstrip())

    def annotate(self, statement: Any, place: _Place) -> _Place:
        """Write the comments above a statement; `place` is the origin of the statement before it."""
        origin = getattr(statement, "origin", None)
        if origin is None or not self.comments:
            return place
        if self.headed and origin.sweep not in (None, self.sweep):
            self.sweep = origin.sweep
            self.fill(f"# {origin.sweep} sweep")
            place = None  # repeat the comment at the start of a sweep
        here = origin.line, origin.column
        if origin.comment is not None and here != place:
            self.remarks(origin.comment)
        return here

    def block(self, body: Any, place: _Place, documented: bool = False) -> None:
        """Write an indented block; `documented`: its first string is a docstring."""
        self.enter()
        for i, statement in enumerate(body):
            place = self.annotate(statement, place)
            value = getattr(statement, "value", None) if i == 0 and documented else None
            if kind(statement) == "Expr" and isinstance(getattr(value, "value", None), str) and is_plain(value):
                self.fill()
                self.lines.append("    " * self._indent + docstring(value.value))
            else:
                self.dispatch(statement)
        if not body:
            self.fill("pass")
        self.leave()

    def tail(self, keyword: str, body: Any, place: _Place) -> None:
        if body:
            self.fill(keyword)
            self.block(body, place)

    # ---- simple statements

    def _Expr(self, node: Any) -> None:
        self.fill()
        self.breakable(node.value, YIELD)

    def _Assign(self, node: Any) -> None:
        self.fill()
        for target in node.targets:
            self.operand(target, TUPLE)
            self.write(" = ")
        self.breakable(node.value, YIELD)

    def _AugAssign(self, node: Any) -> None:
        self.fill()
        self.operand(node.target, TEST)
        self.write(f" {self.binop[kind(node.op)]}= ")
        self.breakable(node.value, YIELD)

    def _AnnAssign(self, node: Any) -> None:
        self.fill()
        bare = kind(node.target) != "Name" or getattr(node, "simple", 1)
        self.operand(node.target, TEST if bare else ATOM + 1)
        self.write(": ")
        self.operand(node.annotation, TEST)
        if getattr(node, "value", None) is not None:
            self.write(" = ")
            self.breakable(node.value, YIELD)

    def _Return(self, node: Any) -> None:
        self.fill("return")
        if getattr(node, "value", None) is not None:
            self.write(" ")
            self.breakable(node.value, TUPLE)

    def _ImportFrom(self, node: Any) -> None:
        self.fill(f"from {'.' * (node.level or 0)}{node.module or ''} import ")
        self.listed(node.names)

    # ---- compound statements

    def _If(self, node: Any) -> None:
        self.fill("if ")
        while True:
            self.breakable(node.test, NAMED if kind(node.test) == "NamedExpr" else TEST)
            place = _place(node)
            self.block(node.body, place)
            orelse = getattr(node, "orelse", None)
            if not orelse or len(orelse) > 1 or kind(orelse[0]) != "If":
                break
            node = orelse[0]
            self.annotate(node, place)
            self.fill("elif ")
        self.tail("else", orelse, place)

    def _While(self, node: Any) -> None:
        self.fill("while ")
        self.breakable(node.test, NAMED if kind(node.test) == "NamedExpr" else TEST)
        self.block(node.body, _place(node))
        self.tail("else", getattr(node, "orelse", None), _place(node))

    def _For(self, node: Any) -> None:
        self.fill("for " if kind(node) == "For" else "async for ")
        self.operand(node.target, TUPLE)
        self.write(" in ")
        self.operand(node.iter, TUPLE)
        self.block(node.body, _place(node))
        self.tail("else", getattr(node, "orelse", None), _place(node))

    _AsyncFor = _For

    def _With(self, node: Any) -> None:
        self.fill("with ")
        for k, item in enumerate(node.items):
            self.write(", " if k else "")
            self.operand(item.context_expr, TEST)
            if getattr(item, "optional_vars", None) is not None:
                self.write(" as ")
                self.operand(item.optional_vars, TEST)
        self.block(node.body, _place(node))

    def _Try(self, node: Any) -> None:
        self.fill("try")
        self.block(node.body, _place(node))
        for handler in node.handlers:
            self.fill("except")
            if handler.type is not None:
                self.write(" ")
                self.clause(handler.type)
            if handler.name is not None:
                self.write(f" as {getattr(handler.name, 'id', handler.name)}")
            self.block(handler.body, _place(handler))
        for word, body in (("else", node.orelse), ("finally", node.finalbody)):
            if body:
                self.fill(word)
                self.block(body, _place(node))

    def _FunctionDef(self, node: Any) -> None:
        self._decorators(node)
        self.fill("def " if kind(node) == "FunctionDef" else "async def ")
        self.write(node.name)
        self.write("(")
        self.dispatch(node.args)
        self.write(")")
        if getattr(node, "returns", None) is not None:
            self.write(" -> ")
            self.dispatch(node.returns)
        outer = self.sweep, self.headed
        self.sweep, self.headed = None, self.comments and {"forward", "reverse"} <= _sweeps(node)
        self.block(node.body, _place(node), documented=True)
        self.sweep, self.headed = outer

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: Any) -> None:
        self._decorators(node)
        self.fill(f"class {node.name}")
        if node.bases or node.keywords:
            self.write("(")
            self.listed([*node.bases, *node.keywords])
            self.write(")")
        self.block(node.body, _place(node), documented=True)

    def _decorators(self, node: Any) -> None:
        if getattr(node, "type_params", None):
            raise TypeError(f"no text is known for the type parameters of {node.name}")
        for decorator in getattr(node, "decorator_list", None) or ():
            self.fill("@")
            self.clause(decorator)


def _place(statement: Any) -> _Place:
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
