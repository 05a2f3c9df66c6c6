"""A line that says how far long work is: after a second, on a terminal, where tqdm is installed.

hessian(f)(x), of 5,000 columns      ->      columns:  31%|###1      | 1550/5000 [00:04<00:09, 372.1it/s]
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
AFTER = 1.0  # seconds


class Line:
    """The line of one piece of work: `step` when a part of it is done, `close` at the end.  `total`: how many parts."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total = what, total
        self.done, self.begun = 0, time.monotonic()
        self._bar: Any = None

    def step(self) -> None:
        """Count one part."""
        self.done += 1
        if self._bar is not None:
            self._bar.update()
        elif time.monotonic() - self.begun > AFTER:
            self.begun = float("inf")  # asked once
            self._bar = _shown(self.what, self.total, self.done)

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __reduce__(self) -> tuple:
        return Line, (self.what, self.total)


def _shown(what: str, total: int | None, done: int) -> Any:
    """What draws the line; None in a pipe, and without tqdm."""
    try:
        if not (sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")):
            return None
        from tqdm import tqdm
    except (AttributeError, ImportError, ValueError):  # no stream, or a closed one
        return None
    return tqdm(desc=what, total=total, initial=done, leave=False, file=sys.stderr)


def over(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a line.

    >>> list(over(range(3), "columns", 3))
    [0, 1, 2]
    """
    line = Line(what, total)
    try:
        for item in items:
            yield item
            line.step()
    finally:
        line.close()


class _Now(threading.local):
    line: Line | None = None


_now = _Now()


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Steps of this thread belong to a line of this name."""
    before, _now.line = _now.line, Line(what)
    try:
        yield
    finally:
        _now.line.close()
        _now.line = before


def step() -> None:
    """Count one part of what this thread is doing, if that has a line."""
    if _now.line is not None:
        _now.line.step()
