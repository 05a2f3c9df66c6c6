"""The base of the writers: lines made of pieces, and parentheses by precedence.

It extends astunparse's writer, which has the simplest nodes (`Name`, `List`, `Pass`, `Import`, ...) and the texts of the
operators, and dispatches on the class name of a node.
"""

from __future__ import annotations

from typing import Any

import astunparse

from s2sgrad.emit.long_lines import wrapped
from s2sgrad.emit.precedence import NAMED, TEST, kind, level_of

_BREAKABLE = {"BinOp", "BoolOp", "Compare", "IfExp", "Tuple"}


class Writer(astunparse.Unparser):
    """Astunparse's writer with a precedence table and line breaks."""

    def __init__(self) -> None:  # the base class would start to write here
        self._indent = 0  # of the next line, in steps
        self.lines: list[str] = []
        self.pieces: list[str] = []  # of the current line
        self.margin = 0  # the indentation of the current line
        self.span: tuple[int, int] | None = None  # the pieces of it that may be put in parentheses

    _AsyncWith = _Try = _ClassDef = None  # the base class has these; here they have no text

    def text(self) -> str:
        """All that has been written, with long lines wrapped."""
        self.fill()
        return "\n".join(self.lines)

    def fill(self, text: str = "") -> None:
        """Finish the current line and begin a new one."""
        if self.pieces and self.pieces != [""]:
            self.lines.extend(wrapped(self.pieces, 4 * self.margin, self.span))
        self.pieces, self.margin, self.span = [text], self._indent, None

    def write(self, text: str) -> None:
        """Append text to the current line."""
        self.pieces.append(text)

    def dispatch(self, tree: Any) -> None:
        """Write a statement, or an expression where the grammar does not allow a bare comma."""
        if isinstance(tree, list):
            for node in tree:
                self.dispatch(node)
        else:
            self.operand(tree, TEST)

    def operand(self, node: Any, level: int) -> None:
        """Write a node, in parentheses if it binds more loosely than `level`."""
        method = getattr(self, "_" + kind(node), None)
        if method is None:
            raise TypeError(f"no text is known for a node of type {kind(node)}")
        if level_of(node) < level:
            self.write("(")
            method(node)
            self.write(")")
        else:
            method(node)

    def clause(self, node: Any) -> None:
        """Write an expression where a bare `:=` is allowed."""
        self.operand(node, NAMED if kind(node) == "NamedExpr" else TEST)

    def breakable(self, node: Any, level: int) -> None:
        """Write an expression that may get parentheses if the line becomes too long."""
        start = len(self.pieces)
        self.operand(node, level)
        if kind(node) in _BREAKABLE and level_of(node) >= level:
            self.span = start, len(self.pieces)

    def listed(self, nodes: Any) -> None:
        """Write nodes separated by commas."""
        for i, node in enumerate(nodes):
            if i:
                self.write(", ")
            self.clause(node)
