"""The data of tapes: each has a list of operations, and the set of values that it follows.

    with GradientTape() as t:      the tapes of this thread: [t]
        t.watch(x)                 t follows x
        y = x * x                  one record on t; t follows y

A value is identified by a number that is never reused (`uid`).  An operation is recorded by each tape that follows one of
its operands at that moment.  Nesting needs no levels: an inner gradient consists of operations like any others.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Protocol

numbers = itertools.count(1)  # of uids


class Pulled(Protocol):
    """A recorded operation: maps cotangents of its results (`outputs`) to those of its operands."""

    outputs: tuple[int, ...]
    where: Any  # location in the user's program (see `places`)

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Any) -> list[tuple[int, Any]]:
        """Pairs (uid of an operand, its cotangent) for the operands in `live`, computed with the algebra `on`."""
        ...


class Tape:
    """The operations in order, and the uids of the values that are followed."""

    def __init__(self, accessed: bool = True, everything: bool = False) -> None:
        self.entries: list[tuple[Pulled, frozenset[int]]] = []
        self.live: set[int] = set()
        self.watched: dict[int, Any] = {}  # Variables, by uid
        self.reads: dict[int, int] = {}  # the uid of a value -> that of the Variable it was read from
        self.accessed = accessed  # whether trainable Variables are watched when they are read
        self.everything = everything  # a graph: it records all operations

    def follows(self, uid: int) -> bool:
        """Whether a value is followed."""
        return self.everything or uid in self.live

    def read(self, variable: Any, value: Any) -> None:
        """Note that a Variable was read; ints are constants."""
        if value._value.dtype.kind not in "fc":
            return
        if variable.uid not in self.watched:
            if not (self.everything or (self.accessed and variable.trainable)):
                return
            self.watched[variable.uid] = variable
        self.live.add(value.uid)
        self.reads[value.uid] = variable.uid

    def add(self, record: Pulled, operands: list[int]) -> None:
        """Record an operation if one of its operands is followed; then its results are followed too."""
        live = frozenset(operands) if self.everything else self.live.intersection(operands)
        if live or self.everything:
            self.entries.append((record, frozenset(live)))
            self.live.update(record.outputs)

    def clear(self) -> None:
        """Drop all records, watches and followed values."""
        self.entries, self.live, self.watched, self.reads = [], set(), {}, {}


class _State(threading.local):
    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self.inside: list[Any] | None = None  # in a compiled node: followed values that it reads but that are not arguments
        self.journal: dict[int, tuple[Any, Any]] | None = None  # used Variables, with their initial values
        self.instead: dict[int, Any] | None = None  # overrides of the current values of Variables, for recomputation


STATE = _State()


def tracked(uid: int) -> bool:
    """Whether a tape that is recording in this thread follows this value."""
    return any(tape.follows(uid) for tape in STATE.tapes)
