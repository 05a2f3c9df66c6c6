"""A run that also notes where each entry stands, and what memory held before it: what a text of the run needs.

total += t * x[0]   line 7   ->   entry (pull_product, ..), told: line 7, to be bound to `total`; the content of `x`
"""

from __future__ import annotations

import dis
import linecache
import types
from typing import Any

import numpy as np

from s2sgrad.recorded.memory import pull_store, pull_stored_item
from s2sgrad.recorded.patterns import Kept
from s2sgrad.recorded.places import user_frame
from s2sgrad.recorded.runs import Root, Run
from s2sgrad.recorded.values import Array, bottom

MOST = 300  # entries that are told of
_BINDING = frozenset(n for n in dis.opname if n.startswith(("STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL")))


class Told(list):
    """The entries of a run.  `lines`: (number, text) by place. `names`: the variable that a value is bound to at once.
    `before`: what a memory held when it was first mentioned. `held`: constant arrays, by place and operand.
    `variables`: names of memories that no entry made. `stored`: constants that were stored."""

    def __init__(self) -> None:
        self.lines: dict[int, tuple[int, str]] = {}
        self.names: dict[int, str] = {}
        self.before: dict[Root, np.ndarray] = {}
        self.held: dict[tuple[int, int], np.ndarray] = {}
        self.variables: dict[Root, str] = {}
        self.made: set[Root] = set()
        self.stored: dict[int, Any] = {}

    def append(self, entry: Any) -> None:
        """Add an entry; None keeps a place."""
        super().append(entry)
        if entry is not None:
            self._note(len(self) - 1, entry)

    def __setitem__(self, place: Any, entry: Any) -> None:
        super().__setitem__(place, entry)
        self._note(place, entry)

    def _note(self, place: int, entry: tuple) -> None:
        if len(self) > MOST:
            return
        frame = user_frame()
        if frame is not None:
            code = frame.f_code
            line = frame.f_lineno
            self.lines[place] = line, linecache.getline(code.co_filename, line).strip()
            if (name := _bound_next(code, frame.f_lasti)) is not None:
                self.names[place] = name
        for part in entry[1:]:
            self._mentioned(place, part, frame)
        if entry[0] is pull_store:
            self._overwritten(entry[1].root, bottom(entry[1].where), entry[2])
            if entry[3] is None:
                stored = np.array(bottom(entry[1].where)[entry[2]])
                self.stored[place] = stored.flat[0] if stored.size and np.all(stored == stored.flat[0]) else stored
        elif entry[0] is pull_stored_item:
            flat = np.ndarray(entry[1].owner.size, entry[1].owner.dtype, entry[1].owner)
            self._overwritten(entry[1], flat, entry[2])
            self.stored[place] = flat[entry[2]]

    def _mentioned(self, place: int, part: Any, frame: types.FrameType | None) -> None:
        if isinstance(part, (list, tuple, dict)):
            for item in part.values() if isinstance(part, dict) else part:
                self._mentioned(place, item, frame)
            return
        root = part if type(part) is Root else part.root if type(part) is Kept else None
        if root is None:
            return
        if type(part) is Kept and not part.followed:
            self.held[place, id(part)] = np.array(bottom(part.value))
        if root not in self.before:
            self.before[root] = np.array(root.owner, order="K")
            if frame is not None:
                self.variables[root] = _variable(frame, root)

    def _overwritten(self, root: Root, where: np.ndarray, index: Any) -> None:
        """Take what is stored here out of the content before, if this is its first mention."""
        if root in self.made:
            return
        self.made.add(root)
        there = np.zeros(root.owner.shape, bool)
        if where.base is root.owner or where is root.owner or np.shares_memory(where, root.owner):
            marks = np.zeros(root.owner.size, root.owner.dtype)
            view = np.ndarray(where.shape, where.dtype, marks, root.offset(where) * where.itemsize, where.strides)
            view[index] = 1.0
            there = np.ndarray(root.owner.shape, where.dtype, marks, 0, root.owner.strides) == 1.0
        self.before[root][there] = 0.0


def run_that_tells() -> Run:
    """A run whose entries are told of."""
    run = Run()
    run.entries = Told()
    return run


def _bound_next(code: types.CodeType, instruction: int) -> str | None:
    """The variable that the result of an instruction is bound to, without anything in between."""
    after = next((s for s in dis.get_instructions(code) if s.offset > instruction), None)
    if after is None or after.opname not in _BINDING:
        return None
    name: str = after.argval[0] if isinstance(after.argval, tuple) else after.argval
    return name


def _variable(frame: types.FrameType, root: Root) -> str:
    """The user's name for a memory; empty if no variable of the frame holds it."""
    for name, value in frame.f_locals.items():
        if type(value) is Array and value.root is root and bottom(value) is root.owner:
            return name
    return ""
