"""The user's comments, above the statements of the forward sweep that they stand beside.

    # the hidden layer                           # forward sweep
    h = np.tanh(W @ x)  # (m,)          ->       # the hidden layer
                                                 # (m,)
                                                 h = np.tanh(W @ x)

A comment goes with the statement below it, or on its lines.  Where the gradient does not need the statement, the comment
goes as well.  Instructions to linters and formatters stay where they are.

>>> of_lines(["# the hidden layer", "h = W @ x  # (m,)", "", "# the loss", "return h @ h"], 1)
{2: 'the hidden layer\\n(m,)', 5: 'the loss'}
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import replace

from s2sgrad.analysis import effects
from s2sgrad.driver.emitted import Emitted

_SILENT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_SWEEPS = ("forward", "tangent")
_TO_TOOLS = re.compile(r"noqa\b|[\w-]+: *(?:skip|off|on|ignore|disable|no cover|noqa)\b")


def keep(emitted: Emitted) -> None:
    """Let the statements that come from the user's text carry the comments beside these."""
    primal = emitted.unit.primal
    if primal.is_generated:  # its comments quote the text that it was made from
        return
    first, last = primal.tree.lineno, getattr(primal.tree, "end_lineno", None) or primal.tree.lineno
    lines = primal.lines[first - 1 : last]
    if not any("#" in line for line in lines):
        return
    remarks = of_lines(lines, first)
    for statement in effects.walk(emitted.tree.body):
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.sweep in _SWEEPS and origin.primal is None and origin.comment is None:
            statement.origin = replace(origin, comment=remarks.get(origin.line))


def of_lines(lines: Sequence[str], first: int) -> dict[int, str]:
    """The comments above and beside each statement, by the line where it begins; `first` is the number of the first line."""
    out: dict[int, list[str]] = {}
    above: list[str] = []
    begun: int | None = None  # where the statement begins that is read
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            if token.type == tokenize.COMMENT:
                text = token.string.lstrip("#").strip()
                if not _TO_TOOLS.match(text):
                    (above if begun is None else out.setdefault(begun, [])).append(text)
            elif token.type == tokenize.NEWLINE:
                begun = None
            elif token.type not in _SILENT and begun is None:
                begun = first + token.start[0] - 1
                out[begun], above = above, []
    except (tokenize.TokenError, SyntaxError):  # a lambda inside of other brackets
        return {}
    return {line: text for line, found in out.items() if (text := "\n".join(filter(None, found)))}
