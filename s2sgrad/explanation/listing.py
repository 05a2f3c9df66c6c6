"""Notes on the lines of a function as an object, to print and for programs.

>>> found = Found()
>>> found.add(3, "active", "y")
>>> found.add(3, "active", "z")
>>> found.add(3, "recorded", "y", "its old value, for the derivative of line 3")
>>> print(Explanation("f", "model.py", "in x", found.lines(["def f(x):", "    y, z = g(y)"], 2)))
f (model.py, line 2), in x
<BLANKLINE>
  2  def f(x):
  3      y, z = g(y)  derivative  y, z
                      recorded    y: its old value, for the derivative of line 3
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LABELS = {
    "active": "derivative",
    "constant": "no derivative",
    "written": "overwritten",
    "shares": "shares",
    "recorded": "recorded",
    "kept": "kept",
    "recomputed": "recomputed",
    "calls": "calls",
    "run": "as it runs",
    "refused": "REFUSED",
}
_NOTE = 90  # characters in a row of a note
_WIDEST = 56  # of the user's text: the notes of longer lines go below


@dataclass(frozen=True)
class Note:
    """One fact about a line.  `kind` is

    - `active`, `constant`: the variables `names` that it computes have a derivative, or none, and `why`.
    - `written`: their contents are written in place.  `shares`: they may share memory with others.
    - `recorded`: the forward sweep records values of theirs.  `kept`: the reverse sweep reads them unchanged.
      `recomputed`: the reverse sweep computes them again.
    - `calls`: a function, and how its derivative is found.  `run`: what has no text, for which the function is recorded as
      it runs.  `refused`: what cannot be differentiated.
    """

    kind: str
    names: tuple[str, ...]
    why: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (", ".join(self.names), self.why) if part)


@dataclass(frozen=True)
class Line:
    """A line of the user's function: its number in the file, its text, notes about it, and the kinds of its variables."""

    number: int
    text: str
    notes: tuple[Note, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()

    def of(self, kind: str) -> list[Note]:
        """The notes of one kind."""
        return [note for note in self.notes if note.kind == kind]


@dataclass(frozen=True)
class Explanation:
    """What s2sgrad knows of a function that it differentiates, and does with it, line by line: the result of `explain`.

    - `calls`: the explanations of the differentiated callees.
    - `refusal`: the error instead of a derivative.
    - `recorded`: the error that `strict=True` raises, where the function is recorded as it runs.
    - `source`: the generated text.  `path`: the whole name of the file.
    """

    name: str
    file: str
    purpose: str
    lines: tuple[Line, ...]
    calls: tuple[Explanation, ...] = ()
    refusal: Exception | None = None
    source: str = ""
    recorded: Exception | None = None
    path: str = ""

    def __getitem__(self, name: str) -> Explanation:
        """The explanation of a callee, by name."""
        for called in self.calls:
            if called.name == name:
                return called
        raise KeyError(name)

    def notes(self, kind: str) -> list[tuple[int, Note]]:
        """All notes of one kind, each with the number of its line."""
        return [(line.number, note) for line in self.lines for note in line.of(kind)]

    def __str__(self) -> str:
        first = self.lines[0].number if self.lines else 0
        return "\n".join([f"{self.name} ({self.file}, line {first}), {self.purpose}", "", *self._rows()])

    __repr__ = __str__

    def _rows(self) -> Iterator[str]:
        digits = len(str(self.lines[-1].number)) if self.lines else 0
        margin = min((len(line.text) - len(line.text.lstrip()) for line in self.lines if line.text), default=0)
        texts = [line.text[margin:] for line in self.lines]
        noted = [len(text) for text, line in zip(texts, self.lines, strict=True) if line.notes]
        width = max((n for n in noted if n <= _WIDEST), default=20)
        label = max((len(LABELS[note.kind]) for line in self.lines for note in line.notes), default=0)
        for text, line in zip(texts, self.lines, strict=True):
            head = f"  {line.number:>{digits}}  {text}"
            notes = [row for note in line.notes for row in _in_rows(LABELS[note.kind].ljust(label), str(note))]
            if notes and len(text) <= width:
                yield f"{head.ljust(digits + 4 + width)}  {notes.pop(0)}"
            else:
                yield head.rstrip()
            for note in notes:
                yield f"{' ' * (digits + width + 6)}{note}"


def _in_rows(label: str, text: str) -> Iterator[str]:
    """The rows of a note with its label; long notes are wrapped."""
    for row in text.splitlines():
        indent = len(row) - len(row.lstrip())
        for part in textwrap.wrap(row, _NOTE, subsequent_indent=" " * indent, break_long_words=False) or [""]:
            yield f"{label}  {part}".rstrip()
            label = " " * len(label)


@dataclass
class Found:
    """Notes about the lines of one function, collected during compilation."""

    known: dict[tuple[int, str], dict[str, list[str]]] = field(default_factory=dict)  # by line and kind: names, by why
    kinds: dict[int, dict[str, str]] = field(default_factory=dict)  # by line: in words, by name

    def add(self, line: int, kind: str, name: str, why: str = "") -> None:
        """Add a note on a line, unless it exists."""
        names = self.known.setdefault((line, kind), {}).setdefault(why, [])
        if name not in names:
            names.append(name)

    def lines(self, texts: Sequence[str], first: int) -> tuple[Line, ...]:
        """The lines of the function with their notes."""
        out = []
        for line in {line for line, _ in self.known}:  # an inlined line may occur several times in the text
            active = {n for names in self.known.get((line, "active"), {}).values() for n in names}
            for names in self.known.get((line, "constant"), {}).values():
                names[:] = [n for n in names if n not in active]
        for number, text in enumerate(texts, first):
            notes = [
                Note(kind, tuple(filter(None, names)), why)
                for kind in LABELS
                for why, names in self.known.get((number, kind), {}).items()
                if names
            ]
            out.append(Line(number, text, tuple(notes), tuple(self.kinds.get(number, {}).items())))
        return tuple(out)
