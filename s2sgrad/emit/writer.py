"""The writer: lines made of pieces, parentheses by precedence, blocks, and the comments above statements.

How a node is written is a function in the table `FORMS`, by the name of its class (`@form("BinOp")`).  The simplest nodes
(`Name`, `List`, `Pass`, `Import`, ...) and the texts of the operators are those of astunparse's writer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import astunparse

from s2sgrad.emit.literals import docstring, is_plain
from s2sgrad.emit.long_lines import wrapped
from s2sgrad.emit.precedence import NAMED, TEST, kind, level_of

_BREAKABLE = {"BinOp", "BoolOp", "Compare", "IfExp", "Tuple"}


_Place = tuple[int, int] | None  # line and column in the user's source
FORMS: dict[str, Callable[[Writer, Any], None]] = {}


def form(*kinds: str) -> Callable[[Callable[[Writer, Any], None]], Callable[[Writer, Any], None]]:
    """Decorate the function that writes nodes of these classes."""

    def noted(write: Callable[[Writer, Any], None]) -> Callable[[Writer, Any], None]:
        FORMS.update(dict.fromkeys(kinds, write))
        return write

    return noted


class Writer(astunparse.Unparser):  # type: ignore[misc]  # astunparse has no types
    """Astunparse's writer with a precedence table, line breaks and comments."""

    def __init__(self, comments: bool) -> None:  # the base class would start to write here
        self._indent = 0  # of the next line, in steps
        self.lines: list[str] = []
        self.pieces: list[str] = []  # of the current line
        self.margin = 0  # the indentation of the current line
        self.span: tuple[int, int] | None = None  # the pieces of it that may be put in parentheses

        self.comments = comments
        self.sweep: str | None = None  # the last one that has its heading
        self.headed = False  # whether this function has both sweeps

    _AsyncWith = None  # the base class has it; here it has no text

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
        inside = level_of(node) < level
        if inside:
            self.write("(")
        if (write := FORMS.get(kind(node))) is not None:
            write(self, node)
        elif (method := getattr(self, "_" + kind(node), None)) is not None:
            method(node)
        else:
            raise TypeError(f"no text is known for a node of type {kind(node)}")
        if inside:
            self.write(")")

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

    # ---- blocks and comments

    def remarks(self, text: str) -> None:
        """Write comment lines."""
        for line in text.splitlines():
            self.fill(f"# {line}".rstrip())

    def annotate(self, statement: Any, place: _Place, before: Any = None) -> _Place:
        """Write the comments above a statement; `place` is the origin of the one `before` it, if any is in this block.

        Comments that begin a new part come after a blank line: the heading of the second sweep, and after a block.
        """
        origin = getattr(statement, "origin", None)
        if origin is None or not self.comments:
            return place
        here, parted = (origin.line, origin.column), hasattr(before, "body")
        if self.headed and origin.sweep not in (None, self.sweep):
            parted = parted or self.sweep is not None
            self.sweep = origin.sweep
            self.part(parted)
            self.fill(f"# {origin.sweep} sweep")
            place, parted = None, False  # repeat the comment at the start of a sweep
        if origin.comment is not None and here != place:
            self.part(parted)
            self.remarks(origin.comment)
        return here

    def part(self, wanted: bool) -> None:
        """Write a blank line, if that is wanted."""
        if wanted:
            self.fill()
            self.lines.append("")

    def block(self, body: Any, place: _Place, documented: bool = False) -> None:
        """Write an indented block; `documented`: its first string is a docstring."""
        self.enter()
        for i, statement in enumerate(body):
            place = self.annotate(statement, place, body[i - 1] if i else None)
            value: Any = getattr(statement, "value", None) if i == 0 and documented else None
            if kind(statement) == "Expr" and isinstance(getattr(value, "value", None), str) and is_plain(value):
                self.fill()
                self.lines.append("    " * self._indent + docstring(value.value))
            else:
                self.dispatch(statement)
        if not body:
            self.fill("pass")
        self.leave()

    def tail(self, keyword: str, body: Any, place: _Place) -> None:
        """Write a block under a keyword, unless it is empty."""
        if body:
            self.fill(keyword)
            self.block(body, place)
