"""Numbers as the user wrote them: a literal keeps its spelling, which `emit` writes wherever the number still stands.

    1e-3, 0x1F, 1_000      ->      1e-3, 0x1F, 1_000, and not 0.001, 31, 1000

>>> tree = gast.parse("y = 1e-3 * x + 2.5")
>>> keep_spelling(tree, ["y = 1e-3 * x + 2.5"])
>>> [n.written for n in gast.walk(tree) if hasattr(n, "written")]
[('1e-3', 0.001)]
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import gast


def keep_spelling(tree: gast.AST, lines: Sequence[str]) -> None:
    """Note how the numbers of a tree are written, where that is not how Python shows them."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Constant) and type(node.value) in (int, float, complex):
            text = _text(node, lines)
            if text != repr(node.value) and _is(text, node.value):
                node.written = text, node.value


def _text(node: gast.Constant, lines: Sequence[str]) -> str:
    """The text at the position of a number."""
    line = lines[node.lineno - 1] if 0 < node.lineno <= len(lines) else ""
    return line.encode()[node.col_offset : node.end_col_offset].decode(errors="replace")


def _is(text: str, value: object) -> bool:
    """Whether a text stands for a number: the position of a node in an f-string may be another one (Python 3.11)."""
    if not text[:1].isdigit() and not (text[:1] == "." and text[1:2].isdigit()):
        return False
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return type(read) is type(value) and bool(read == value)
