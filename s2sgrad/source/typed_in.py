"""The texts of functions that no file holds, of `python -c` or of a program that came by standard input.  And those typed
at a prompt, where Python 3.11 and 3.12 keep the lines in the history alone.

    python -c "def f(x): return x * x; .."      ->      the argument behind -c, in sys.orig_argv
    python < program.py                         ->      the file that standard input still is
    def f(x): return x * x, at a prompt         ->      the lines of readline's history

A text counts only if it compiles to the function at hand: where another one stands there, the function has no text.

>>> blocks(["import numpy", "def f(x):", "    return x", "", "f(2.0)"])
['f(2.0)', 'def f(x):\\n    return x\\n', 'import numpy']
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import textwrap
import types
from collections.abc import Iterator

from s2sgrad.source.files import file_of
from s2sgrad.source.finding import find
from s2sgrad.source.refusing import Refusal

_MOST = 1000  # lines of the history that are looked at


def text_of(function: types.FunctionType) -> str:
    """The text of the statement, or of the program, that a function was defined in; empty if there is none."""
    code = function.__code__
    texts = {"<string>": _of_command_line, "<stdin>": _of_standard_input}.get(code.co_filename)
    for text in texts() if texts is not None else ():
        if code.co_name != "<lambda>" and code.co_name not in text:
            continue
        with contextlib.suppress(Refusal):
            find(file_of(code.co_filename, text), code)
            return text
    return ""


def _of_command_line() -> Iterator[str]:
    """What stands behind `-c`, as it is, and as Python 3.14 takes it."""
    for k, argument in enumerate(sys.orig_argv[1:], 1):
        given = argument.startswith("-") and not argument.startswith("--") and "c" in argument
        text = argument.partition("c")[2] if given else ""
        text = text or (sys.orig_argv[k + 1] if given and k + 1 < len(sys.orig_argv) else "")
        if text:
            yield text
            yield textwrap.dedent(text)
            return


def _of_standard_input() -> Iterator[str]:
    """The statements typed at a prompt, the latest first; without one the program, if a file stands behind it."""
    if hasattr(sys, "ps1"):
        yield from blocks(_history())
        return
    if sys.platform != "win32":  # which cannot read a file that is being read from its start
        with contextlib.suppress(OSError, ValueError):
            status = os.fstat(0)
            if stat.S_ISREG(status.st_mode):
                yield os.pread(0, status.st_size, 0).decode(errors="replace")


def _history() -> list[str]:
    """The last lines that were typed, where readline keeps them."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    last = readline.get_current_history_length()
    return [readline.get_history_item(k) or "" for k in range(max(1, last - _MOST), last + 1)]


def blocks(lines: list[str]) -> list[str]:
    """The statements that lines make up, the last first: each begins at a line that is not indented."""
    starts = [k for k, line in enumerate(lines) if line and not line[0].isspace() and not _continues(lines, k)]
    return ["\n".join(lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)][::-1]


def _continues(lines: list[str], k: int) -> bool:
    """Whether a line that is not indented belongs to the statement before it."""
    return lines[k].startswith(("else", "elif", "except", "finally", ")", "]", "}")) or (
        k > 0 and lines[k - 1].startswith("@")
    )
