"""Writes f-strings, with quotes that their contents allow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from s2sgrad.emit.literals import escaped
from s2sgrad.emit.precedence import OR, TEST, kind
from s2sgrad.emit.writer import Writer, form


@form("JoinedStr", "FormattedValue")
def _joined(w: Writer, node: Any) -> None:
    """An f-string in syntax that Python 3.11 accepts, if possible.

    Before 3.12 a replacement field must not contain a backslash or the enclosing quote.  A tree that needs one there
    (no source of 3.11 gives such a tree, but constants may have been folded into it) is written with `str.format`.
    """
    pieces = list(_fragments(w, [node]))
    holes = "\n".join(text for text, role in pieces if role == "hole")
    quotes = [quote for quote in ("'", '"', "'''", '"""') if quote not in holes]
    if sys.version_info < (3, 12) and (not quotes or "\\" in holes):
        kept = (_unbraced(text) if role == "text" else text for text, role in pieces if role != "hole")
        filled = ", ".join(text for text, role in pieces if role == "hole")
        w.write(f"{''.join(kept)!r}.format({filled})")
        return
    said = "".join(text for text, role in pieces if role != "hole")
    quote = next((quote for quote in quotes if quote[0] not in said), quotes[0] if quotes else "'")
    w.write(f"f{quote}{''.join(_piece(text, role, quote) for text, role in pieces)}{quote}")


def _fragments(w: Writer, nodes: Any, role: str = "text") -> Iterator[tuple[str, str]]:
    """An f-string in pieces: (text, role), the role one of text, spec, hole and mark."""
    for node in nodes:
        if kind(node) == "JoinedStr":
            yield from _fragments(w, node.values, role)
        elif kind(node) == "Constant":
            yield node.value, role
        else:
            yield "{", "mark"
            yield _aside(w, node.value), "hole"
            conversion = getattr(node, "conversion", -1)
            if conversion not in (-1, None):
                yield f"!{chr(conversion)}", "mark"
            if getattr(node, "format_spec", None) is not None:
                yield ":", "mark"
                yield from _fragments(w, [node.format_spec], "spec")
            yield "}", "mark"


def _aside(w: Writer, node: Any) -> str:
    """The text of an expression inside an f-string, where the colon of a lambda would start the format spec."""
    last = node
    while kind(last) == "IfExp":
        last = last.orelse
    outer, w.pieces = w.pieces, []
    w.operand(node, OR if kind(last) == "Lambda" else TEST)
    inner, w.pieces = w.pieces, outer
    return "".join(inner)


def _piece(text: str, role: str, quote: str) -> str:
    """A piece of an f-string as it is written between these quotes."""
    if role == "text":
        return _unbraced(escaped(text, quote[0]))
    if role == "spec":
        return escaped(text, quote[0]).replace("{", r"\x7b").replace("}", r"\x7d")
    return f" {text}" if role == "hole" and text.startswith("{") else text


def _unbraced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
