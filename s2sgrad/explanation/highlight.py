"""Python text in colours, for a page.

x = 2.0  # start      ->      x = <b class="number">2.0</b>  <b class="comment"># start</b>
"""

from __future__ import annotations

import contextlib
import html
import io
import keyword
import token
import tokenize
from collections.abc import Iterator

CLASSES = {token.COMMENT: "comment", token.STRING: "string", token.NUMBER: "number"}
CLASSES |= {k: "string" for k, name in token.tok_name.items() if name.startswith("FSTRING")}


def parts(text: str) -> list[list[tuple[str, str]]]:
    """The lines of a text, each as pairs (class, text); the class of what is plain is empty.

    >>> parts("x = 2  # start")
    [[('', 'x = '), ('number', '2'), ('', '  '), ('comment', '# start')]]
    """
    lines = text.splitlines()
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    before = ""
    with contextlib.suppress(tokenize.TokenError, SyntaxError):  # a lambda may stand within an open bracket
        for part in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            word = "keyword" if keyword.iskeyword(part.string) else "name" if before in ("def", "class") else ""
            found = word if part.type == token.NAME else CLASSES.get(part.type, "")
            (first, start), (last, end) = part.start, part.end
            for row in range(first, min(last, len(lines)) + 1) if found else ():
                marks[row - 1].append((start if row == first else 0, end if row == last else len(lines[row - 1]), found))
            before = part.string
    return [[*_filled(line, marked)] for line, marked in zip(lines, marks, strict=True)]


def _filled(line: str, marked: list[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    """The marked parts of a line, and the plain ones between them."""
    done = 0
    for start, end, found in [*marked, (len(line), len(line), "")]:
        yield from (pair for pair in (("", line[done:start]), (found, line[start:end])) if pair[1])
        done = end


def for_page(text: str) -> list[str]:
    """The lines of a text as HTML."""
    rows = [[(c, html.escape(part, quote=False)) for c, part in line] for line in parts(text)]
    return ["".join(f'<b class="{c}">{part}</b>' if c else part for c, part in row) for row in rows]
