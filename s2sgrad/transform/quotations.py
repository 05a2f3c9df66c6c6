"""Quotations of the user's statements, one line each: what a statement begins with, and dots for the rest.

>>> print(in_one_line('''u[1:-1] = u[1:-1] + c * (  # the middle
...     u[2:] - 2.0 * u[1:-1] + u[:-2]
... )'''))
u[1:-1] = u[1:-1] + c * (..)
"""

from __future__ import annotations

import contextlib
import io
import tokenize

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def in_one_line(text: str) -> str:
    """The first line of a statement; where there are more, dots, and the brackets that are open are closed."""
    if len(text.splitlines()) < 2:
        return text
    first = text.splitlines()[0]
    closers: list[str] = []
    end = 0
    with contextlib.suppress(tokenize.TokenError, SyntaxError):  # the line ends inside of brackets, or of a string
        for token in tokenize.generate_tokens(io.StringIO(first).readline):
            if token.type == tokenize.COMMENT or token.end[0] > 1:
                break
            if token.string in _CLOSED_BY:
                closers.append(_CLOSED_BY[token.string])
            elif closers and token.string == closers[-1]:
                closers.pop()
            end = token.end[1]
    shown = first[:end].rstrip().removesuffix("\\").rstrip()
    return f"{shown}{'' if shown[-1:] in _CLOSED_BY else ' '}..{''.join(reversed(closers))}"
