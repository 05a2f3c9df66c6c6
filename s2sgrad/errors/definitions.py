"""Where the definition of a function stands: at its `def`, below its decorators.

@cached                 line 1, the first line of the code
def f(x): ..            line 2, where its definition stands
"""

from __future__ import annotations

import itertools
import linecache
import re
import types
from collections.abc import Sequence

from s2sgrad.errors import Place


def of_definition(code: types.CodeType, lines: Sequence[str], decorators: bool = False) -> Place | None:
    """The line of a function's `def`, or with `decorators` the first of these; None where the text is shorter.

    >>> text = ["@cached", "@timed(", "    'd')", "def f(x):", "    return x"]
    >>> of_definition(compile("def f(x): pass", "model.py", "exec").co_consts[0].replace(co_firstlineno=1), text).line
    4
    """
    first = code.co_firstlineno
    opening = re.compile(rf"\s*(async\s+)?def\s+{re.escape(code.co_name)}\b")
    if not 0 < first <= len(lines):
        return None
    line = first
    if not decorators and lines[first - 1].lstrip().startswith("@"):
        line = next((k for k in range(first, len(lines) + 1) if opening.match(lines[k - 1])), first)
    text = lines[line - 1].rstrip()
    return Place(code.co_filename, line, len(text) - len(text.lstrip()), line, len(text), text)


def of_instruction(code: types.CodeType, instruction: int) -> Place | None:
    """The source location of an instruction; None if it has none."""
    line, end_line, start, end = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    if line is None:
        return None
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    if start is None or end is None:
        end_line, start, end = line, len(text) - len(text.lstrip()), len(text)
    encoded = text.encode()
    column, end_column = (len(encoded[:k].decode(errors="ignore")) for k in (start, end))
    return Place(code.co_filename, line, column, end_line or line, end_column, text)
