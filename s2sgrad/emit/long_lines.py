"""Breaks lines that are too long inside a bracket.

A line is a list of the pieces that the writer wrote. Brackets, commas and operators are pieces of their own, and a string
literal is one piece, so that nothing has to be parsed again.

    >>> pieces = ["x = f", "(", "a" * 60, ", ", "b" * 60, ")"]
    >>> print("\\n".join(wrapped(pieces, indent=0)).replace("a" * 60, "a...").replace("b" * 60, "b..."))
    x = f(
        a...,
        b...
    )
"""

from __future__ import annotations

from collections.abc import Iterator

_WIDTH = 100
_BREAKS = (
    (", ",),
    (" for ", " async for "),
    (" if ", " else "),
    (" or ",),
    (" and ",),
    (" + ", " - "),
    (" * ", " / ", " @ ", " // ", " % "),
)


def wrapped(pieces: list[str], indent: int, span: tuple[int, int] | None = None) -> list[str]:
    """A line as one or more lines, broken inside its longest bracket, or inside new brackets around `span`."""
    line = " " * indent + "".join(pieces)
    if len(line) <= _WIDTH:
        return [line]
    if span is not None and len(_chunks(pieces[slice(*span)])) > 1:
        start, stop = span
        pieces = [*pieces[:start], "(", *pieces[start:stop], ")", *pieces[stop:]]
        stop += 1
    else:
        pairs, opened = [], 0
        for i, depth in enumerate(_depths(pieces)):
            if depth == 1 and pieces[i] in ("(", "[", "{"):
                opened = i
            elif depth == 1 and pieces[i] in (")", "]", "}") and i > opened + 1:
                pairs.append((sum(map(len, pieces[opened:i])), opened, i))
        if not pairs:
            return [line]
        _, start, stop = max(pairs)
    margin = " " * indent
    inside = _filled(pieces[start + 1 : stop], indent + 4)
    return [margin + "".join(pieces[: start + 1]), *inside, margin + "".join(pieces[stop:])]


def _filled(pieces: list[str], indent: int) -> list[str]:
    """The inside of a bracket, each line filled as far as it goes."""
    chunks = _chunks(pieces)
    if len(chunks) == 1:
        return wrapped(pieces, indent)
    lines, filled = [], ""
    for chunk in chunks:
        text = "".join(chunk)
        if filled and len(filled) + 1 + len(text) <= _WIDTH:
            filled += " " + text
            continue
        if filled:
            lines.append(filled)
        filled = " " * indent + text
        if len(filled) > _WIDTH:
            lines.extend(_filled(chunk, indent))
            filled = ""
    return [*lines, filled] if filled else lines


def _chunks(pieces: list[str]) -> list[list[str]]:
    """The pieces, cut after the commas or before the loosest operators outside all brackets."""
    loose = {piece for piece, depth in zip(pieces, _depths(pieces), strict=True) if depth == 0}
    cuts = next((names for names in _BREAKS if not loose.isdisjoint(names)), ())
    chunks: list[list[str]] = [[]]
    for piece, depth in zip(pieces, _depths(pieces), strict=True):
        if depth or piece not in cuts:
            chunks[-1].append(piece)
        elif piece == ", ":
            chunks[-1].append(",")
            chunks.append([])
        else:
            chunks.append([piece.lstrip()])
    return chunks


def _depths(pieces: list[str]) -> Iterator[int]:
    """The bracket depth of each piece; a bracket counts as inside itself."""
    depth = 0
    for piece in pieces:
        depth += piece in ("(", "[", "{")
        yield depth
        depth -= piece in (")", "]", "}")
