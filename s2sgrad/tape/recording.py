"""The data of tapes: each has a list of entries, and the set of values that it follows.

    with GradientTape() as t:      the tapes of this thread: [t]
        t.watch(x)                 t follows x
        y = x * x                  one entry on t; t follows y

A value is identified by a number that is never reused (`uid`).  An operation is recorded by each tape that follows one of
its operands at that moment.  Nesting needs no levels: an inner gradient consists of operations like any others.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

numbers = itertools.count(1)  # of uids


class Tape:
    """The entries in order, as a run has them, and the values that are followed."""

    def __init__(self, accessed: bool = True, everything: bool = False) -> None:
        self.entries: list[tuple] = []
        self.live: dict[int, tuple[int, Any]] = {}  # by uid: the place of the entry that made a value (-1: none), the value
        self.watched: dict[int, Any] = {}  # Variables, by uid
        self.reads: dict[int, int] = {}  # the uid of a value -> that of the Variable it was read from
        self.accessed = accessed  # whether trainable Variables are watched when they are read
        self.everything = everything  # a graph: it records all operations

    def follows(self, uid: int) -> bool:
        """Whether a value is followed."""
        return self.everything or uid in self.live

    def watch(self, array: Any) -> None:
        """Follow a value."""
        self.live.setdefault(array.uid, (-1, array))

    def read(self, variable: Any, value: Any) -> None:
        """Note that a Variable was read; ints are constants."""
        if value._value.dtype.kind not in "fc":
            return
        if variable.uid not in self.watched:
            if not (self.everything or (self.accessed and variable.trainable)):
                return
            self.watched[variable.uid] = variable
        self.watch(value)
        self.reads[value.uid] = variable.uid

    def add(self, operands: list[Any], made: list[Any], entry: Callable[[Any], tuple]) -> None:
        """Record what made these values if one of its operands is followed; then they are followed, too.  `entry`: the entry
        for the uids of the operands that are followed."""
        live = self.live
        if self.everything:
            followed = {a.uid for a in operands if a._value.dtype.kind in "fc"}
        else:
            followed = {a.uid for a in operands if a.uid in live}
        if followed or self.everything:
            place = len(self.entries)
            self.entries.append(entry(followed))
            for array in made:
                live[array.uid] = place, array

    def clear(self) -> None:
        """Drop all entries, watches and followed values."""
        self.entries, self.live, self.watched, self.reads = [], {}, {}, {}


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
