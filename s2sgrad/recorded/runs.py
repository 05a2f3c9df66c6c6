"""A run: what a function does while it is recorded, and the memory that its arrays live in.

    y = x * x      x a handle of a run   ->   one entry (slopes of the product, x, x); y is a handle of the same run

An entry is a tuple `(pull, ..)`: the sweep calls `pull(sweep, place, entry)`.  The cotangent of a number stands at the place
of the entry that made it.  That of an array is part of the flat cotangent of its root: the memory that it is a view of.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any, NoReturn

import numpy as np

from s2sgrad.recorded.depths import DEPTH
from s2sgrad.recorded.garbage import Garbage
from s2sgrad.recorded.limits import Watch

_MANY = 256  # roots, before those are dropped that nobody holds


class Lasting:
    """What a record consists of: a copy of a record shares it, and it stays in its process."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a function that is recorded as it runs leaves a record that cannot be pickled")


class Root(Lasting):
    """The memory of an array and of all its views.  `active`: it may carry a derivative; `foreign`: others hold it, too."""

    __slots__ = ("_start", "active", "foreign", "owner", "version", "written")

    def __init__(self, owner: np.ndarray, active: bool = False, foreign: bool = False) -> None:
        self.owner, self.active, self.foreign = owner, active, foreign
        self.written = 0  # how often it was written
        self.version = 0  # how often its content was copied before a store
        self._start: int | None = None

    def offset(self, view: np.ndarray) -> int:
        """The number of items between the start of the memory and the first item of a view."""
        if self._start is None:
            self._start = self.owner.__array_interface__["data"][0]
        behind: int = view.__array_interface__["data"][0] - self._start
        return behind // view.itemsize


_LOCK = threading.RLock()
EVERYWHERE: list[Any] = []  # runs that are open, of all threads
_WATCH = Watch(EVERYWHERE)
_GARBAGE = Garbage()
AFTERWARDS: list[Callable[[], None]] = []
"""What is done, the latest first, when no run is open in any thread."""


class Run(Lasting):
    """The record of one call.  `level`: how many runs were open when it began; `open`: whether it goes on; `arrays`: how
    many memories it has met; `complex`: whether complex numbers have occurred."""

    __slots__ = ("_most", "arrays", "borrowed", "caches", "complex", "entries", "given", "level", "open", "printed",
                 "refusal", "roots", "states")  # fmt: skip

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.roots: dict[int, Root] = {}
        self.borrowed: dict[Root, list[Any]] = {}  # by the memory, snapshots that still refer to it
        self.caches: dict[Any, Any] = {}  # of memoized functions: what they remember of this run
        self.given: dict[int, tuple[Any, Any]] = {}  # by the identity of a copy here: what was given, and the copy
        self.states: list[Any] = []  # what functions read that are called again when the record is swept
        self.level = len(OPEN.runs)
        self.open = False
        self.printed = False  # whether a value that is followed was made a text
        self.refusal: Exception | None = None  # what was refused: a handler of the user's may not pass over it
        self._most = _MANY
        self.arrays = 0
        self.complex = False

    def __enter__(self) -> Run:
        self.level, self.open = len(OPEN.runs), True
        if not self.level:
            DEPTH.deepen()
        OPEN.runs.append(self)
        with _LOCK:
            if not EVERYWHERE:
                _WATCH.begin()
                _GARBAGE.begin()
            EVERYWHERE.append(self)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        OPEN.runs.remove(self)
        self.open = False
        if not OPEN.runs:
            OPEN.copies.clear()
            OPEN.texts.clear()
            DEPTH.restore()
        with _LOCK:
            EVERYWHERE.remove(self)
            if not EVERYWHERE:
                _WATCH.end()
                _GARBAGE.end()
            while AFTERWARDS and not EVERYWHERE:
                AFTERWARDS.pop()()
        if self.refusal is not None and error is not self.refusal:
            raise self.refusal from error

    def stands_for(self, copy: Any, given: Any) -> None:
        """Note that a copy in the run is to the program what was given."""
        if copy is not given:
            self.given[id(copy)] = given, copy

    def root_of(self, owner: np.ndarray) -> Root | None:
        """The root of memory that is known to the run."""
        return self.roots.get(id(owner))

    def enter(self, owner: np.ndarray, active: bool, foreign: bool = False) -> Root:
        """The root of memory that is new to the run.  Those that nobody else holds any more are dropped now and then."""
        if len(self.roots) > self._most:
            self.roots = {k: self.roots[k] for k, count in _references(self.roots) if count > _UNHELD}
            self._most = max(_MANY, 2 * len(self.roots))
        self.arrays += 1
        root = self.roots[id(owner)] = Root(owner, active, foreign)
        return root


class _Open(threading.local):
    """What is open in this thread; until no run is open, `copies`: what its hook made of functions, by these; `texts`:
    their pairs.  `within`: whether a library computes with handles."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.copies: dict[Any, Any] = {}
        self.texts: dict[Any, Any] = {}
        self.within = False


OPEN = _Open()


def _references(roots: dict[int, Root]) -> list[tuple[int, int]]:
    """By key, how many references there are to a root, those of this question among them."""
    return [(k, getrefcount(root)) for k, root in zip(roots, roots.values(), strict=True)]


_UNHELD = _references({0: Root(np.empty(0))})[0][1]  # where only the dict holds a root


@contextlib.contextmanager
def below(run: Run) -> Iterator[None]:
    """What is called here is the business of the runs around this one alone."""
    around = OPEN.runs
    OPEN.runs = [other for other in around if other.level < run.level]
    try:
        yield
    finally:
        OPEN.runs = around


def refuse(error: Exception) -> NoReturn:
    """Raise an error that ends every open run, whoever catches it."""
    for run in OPEN.runs:
        run.refusal = run.refusal or error
    raise error


def printed() -> bool:
    """Whether a text may show a number that an open run of this thread follows."""
    return any(run.printed for run in OPEN.runs)
