"""What is recorded, and on which tapes: a list of operations per tape, and which values each tape follows.

    with GradientTape() as t:      the tapes of this thread: [t]
        t.watch(x)                 t follows x
        y = x * x                  one record on t; t follows y

A value is known by a number that is never used again (`uid`).  An operation goes to every tape that follows one of its
operands at that moment.  Nesting needs no levels: an inner gradient is computed with operations like any others.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Protocol

numbers = itertools.count(1)  # a new value takes the next


class Pulled(Protocol):
    """An operation that was recorded: from cotangents of its results (`outputs`) to those of its operands."""

    outputs: tuple[int, ...]
    where: Any  # in the user's program (`places`)

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Any) -> list[tuple[int, Any]]:
        """(number of an operand, its cotangent) for the operands in `live`, computed with what `on` says."""
        ...


class Tape:
    """Operations in their order, and the numbers of the values that are followed."""

    def __init__(self, accessed: bool = True, everything: bool = False) -> None:
        self.entries: list[tuple[Pulled, frozenset[int]]] = []
        self.live: set[int] = set()
        self.watched: dict[int, Any] = {}  # variables, by their numbers
        self.reads: dict[int, int] = {}  # the number of a value that was read from a variable -> the variable's
        self.accessed = accessed  # whether trainable variables that are read are watched
        self.everything = everything  # a graph: all operations are recorded

    def follows(self, uid: int) -> bool:
        """Whether a value is followed."""
        return self.everything or uid in self.live

    def read(self, variable: Any, value: Any) -> None:
        """A variable was read; ints are constants."""
        if value._value.dtype.kind not in "fc":
            return
        if variable.uid not in self.watched:
            if not (self.everything or (self.accessed and variable.trainable)):
                return
            self.watched[variable.uid] = variable
        self.live.add(value.uid)
        self.reads[value.uid] = variable.uid

    def add(self, record: Pulled, operands: list[int]) -> None:
        """Record an operation where it has an operand that is followed."""
        live = frozenset(operands) if self.everything else self.live.intersection(operands)
        if live or self.everything:
            self.entries.append((record, frozenset(live)))
            self.live.update(record.outputs)

    def clear(self) -> None:
        """Forget everything."""
        self.entries, self.live, self.watched, self.reads = [], set(), {}, {}


class _State(threading.local):
    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self.inside: list[Any] | None = None  # inside a compiled node: the followed values that it meets unawares
        self.journal: dict[int, tuple[Any, Any]] | None = None  # variables that are met, with their first values
        self.instead: dict[int, Any] | None = None  # values in the place of those that variables have now


STATE = _State()


def tracked(uid: int) -> bool:
    """Whether a tape that is recording in this thread follows a value."""
    return any(tape.follows(uid) for tape in STATE.tapes)
