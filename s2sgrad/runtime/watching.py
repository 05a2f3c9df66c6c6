"""Values that are not finite, noted where they arise: what a derivative with `debug=True` calls behind its statements.

    y = np.log(x); watch(y, "`y`")      ->      the note that `y` is -inf at [0], and which statement made it

Nothing is raised meanwhile: an infinity may be selected away again, or be meant.  Whoever runs the text looks at the notes
when the result is not finite.  A text that runs by itself, as it was saved, raises at once.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

_MOST = 8  # places to be told; the first nan besides
_DEEPEST = 20  # containers within containers


class Note(NamedTuple):
    """That a value was not finite: its name, in which of its places it was what, and behind which statement."""

    name: str
    place: str
    value: str
    derivative: bool
    code: types.CodeType
    line: int

    def __str__(self) -> str:
        return f"{self.name} is {self.value}{self.place and f' at {self.place}'}"


class Notes:
    """What was noted in one run, in order; `result` says that the value of the function was among it."""

    def __init__(self) -> None:
        self.all: list[Note] = []
        self.result = False


_running: contextvars.ContextVar[Notes | None] = contextvars.ContextVar("s2sgrad_watching", default=None)


@contextlib.contextmanager
def noting() -> Iterator[Notes]:
    """Collect what is noted inside."""
    notes = Notes()
    token = _running.set(notes)
    try:
        yield notes
    finally:
        _running.reset(token)


def is_noting() -> bool:
    """Whether somebody collects notes."""
    return _running.get() is not None


def watch(value: Any, name: str) -> None:
    """Note a value of the function that is not finite."""
    _note(value, name, False)


def watch_derivative(value: Any, name: str) -> None:
    """Note a value of the derivative that is not finite."""
    _note(value, name, True)


def watch_result(value: Any) -> None:
    """Note that the value of the function is not finite."""
    if _note(value, "the result", False) and (notes := _running.get()) is not None:
        notes.result = True


def _note(value: Any, name: str, derivative: bool) -> bool:
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
    """Where in a value something is nan or infinite, and what; None where nothing is.

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
