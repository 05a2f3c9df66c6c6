"""The errors of s2sgrad.  Each names the user's file, line and column, shows a caret, and offers a way out."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

GENERATED = "<s2sgrad "  # prefix of the file names of generated texts
MADE = "<made for "  # prefix for functions that we put beside the user's


def is_written(filename: str) -> bool:
    """Whether we wrote the text of this file name."""
    return filename.startswith((GENERATED, MADE))


def named(file: str) -> str:
    """A file as messages name it: a cell of a notebook by its number."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = None if shell is None else getattr(shell.compile, "format_code_name", lambda file: None)(file)
    return file if cell is None else " ".join(cell)


class Place(NamedTuple):
    """A stretch of source text: lines count from 1, columns (in characters) from 0.

    >>> print(Place("model.py", 7, 11, 7, 16, "    return foo(x)").shown())
      File "model.py", line 7
        return foo(x)
               ^^^^^
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str

    def shown(self, caret: bool = True) -> str:
        """The place as a traceback shows it, with carets; without `caret` only if the construct is not the whole line.

        Of a line whose text is not known, the number alone."""
        text = self.text.strip()
        start = self.column - (len(self.text) - len(self.text.lstrip()))
        end = self.end_column - self.column if self.end_line == self.line else len(self.text.rstrip()) - self.column
        name = named(self.file)
        name = name if name != self.file else f'File "{name}"'
        if not text:
            return f"  {name}, line {self.line}"
        shown = f"  {name}, line {self.line}\n    {text}"
        return f"{shown}\n    {' ' * max(start, 0)}{'^' * max(end, 1)}" if caret or end < len(text) else shown


class S2SGradError(Exception):
    """Base of all errors that s2sgrad raises about the user's program.

    `place` is the `Place` of the construct, or None where there is no source.  `origins` are the places, in the texts that
    were read, where it was found and of the calls that lead there, innermost first.  `reason` is the message at the former.
    `guards` are the conditions under which the compiler says the same of functions of this code, if it keeps any.
    """

    guards: Any = None

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.message = self.reason = message
        self.place = place
        self.origins = [] if place is None else [place]
        super().__init__(message if place is None else f"{message}\n{place.shown()}")

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.place)


class Unsupported(S2SGradError, SyntaxError):
    """A construct that s2sgrad does not differentiate.  The message says what to write instead."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        S2SGradError.__init__(self, message, place)
        self.msg = message
        if place is not None:  # SyntaxError's own fields: editors and traceback read them
            self.filename, self.lineno, self.text = place.file, place.line, place.text
            self.offset, self.end_offset, self.end_lineno = place.column + 1, place.end_column + 1, place.end_line


class NoRule(S2SGradError, LookupError):
    """A library function on the differentiated path that has no derivative rule, or a keyword that its rule lacks."""


class NoSource(S2SGradError, OSError):
    """A function whose source text cannot be found, or no longer matches the running code."""


class Refused(S2SGradError, TypeError):
    """A value that cannot be differentiated as the function uses it, which is known only when the gradient runs.

    `is_of_run`: whether another run, which is recorded, may know better.
    """

    is_of_run: bool = True


class Captured(Refused):
    """What a function or an object holds that is handed to one with a gradient of its own, and has no gradient there."""


class NotFinite(S2SGradError, FloatingPointError):
    """A derivative with `debug=True` that is not finite: `place` is the statement where the first nan or infinity arose."""


class Defect(S2SGradError, RuntimeError):
    """A failure of s2sgrad itself, to be reported.  The original exception is its cause."""
