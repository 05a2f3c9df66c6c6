"""Notes of values that are not finite, taken where they arise: `debug=True` adds these calls after each statement.

    y = np.log(x); watch(y, "`y`")      ->      a note that `y` is -inf at [0], and after which statement

Nothing is raised at that point: an infinity may be masked out later, or be intended.  The caller looks at the notes only if
the result is not finite.  A saved module, which has no such caller, raises at once.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

_MOST = 8  # notes to report, besides the first nan
_DEEPEST = 20  # nesting of containers


class Note(NamedTuple):
    """A value that was not finite: its name, the index and value of the element, and the code object and line."""

    name: str
    place: str
    value: str
    derivative: bool
    code: types.CodeType
    line: int

    def __str__(self) -> str:
        return f"{self.name} is {self.value}{self.place and f' at {self.place}'}"


class Notes:
    """The notes of one run, in order; `result`: whether the result of the function was not finite."""

    def __init__(self) -> None:
        self.all: list[Note] = []
        self.result = False


_running: contextvars.ContextVar[Notes | None] = contextvars.ContextVar("s2sgrad_watching", default=None)


@contextlib.contextmanager
def noting() -> Iterator[Notes]:
    """Collect the notes that are taken inside of the `with` block."""
    notes = Notes()
    token = _running.set(notes)
    try:
        yield notes
    finally:
        _running.reset(token)


def is_noting() -> bool:
    """Whether notes are being collected."""
    return _running.get() is not None


def watch(value: Any, name: str) -> None:
    """Note it if a value of the primal is not finite."""
    _note(value, name, False)


def watch_derivative(value: Any, name: str) -> None:
    """Note it if a cotangent or tangent is not finite."""
    _note(value, name, True)


def watch_result(value: Any) -> None:
    """Note it if the result of the function is not finite."""
    if _note(value, "the result", False) and (notes := _running.get()) is not None:
        notes.result = True


def _note(value: Any, name: str, derivative: bool) -> bool:
    """Take a note if `value` is not finite, and return whether it is; FloatingPointError if nobody collects notes."""
    found = not_finite(value)
    if found is None:
        return False
    notes, frame = _running.get(), sys._getframe(2)
    note = Note(name, *found, derivative, frame.f_code, frame.f_lineno)
    if notes is None:
        raise FloatingPointError(f"{note}, in line {note.line} of {note.code.co_name}")
    more = len(notes.all) < _MOST or (note.value == "nan" and all(n.value != "nan" for n in notes.all))
    if more and all((n.code, n.line) != (note.code, note.line) for n in notes.all):
        notes.all.append(note)
    return True


def not_finite(value: Any, depth: int = 0) -> tuple[str, str] | None:
    """The index of the first element of a value that is nan or infinite, and that element; None if all are finite.

    >>> not_finite({"w": [1.0, np.array([[1.0, np.inf]])]})
    ("['w'][1][0, 1]", 'inf')
    >>> not_finite(float("nan")), not_finite((1, 2.0, "nan", None))
    (('', 'nan'), None)
    """
    if isinstance(value, (float, np.inexact)):
        return None if np.isfinite(value) else ("", repr(float(value)))
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fc" or np.isfinite(value).all():
            return None
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(value))[0])
        return (str(list(place)) if place else ""), str(value[place])
    if depth < _DEEPEST and isinstance(value, (list, tuple, dict)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found = not_finite(item, depth + 1)
            if found is not None:
                return f"[{key!r}]{found[0]}", found[1]
    return None
