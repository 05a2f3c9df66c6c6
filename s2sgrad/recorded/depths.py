"""How deep calls may go while a run is open: a call of the user's takes frames of the hook, too.

recursion of 700 calls, the limit is 1000     ->     2100 frames in a recording, which raises the limit to 4000 for that long

The limit is that of all threads.  It stays below what the stack of a thread holds, so that endless recursion raises and does
not end the program.
"""

from __future__ import annotations

import sys
import threading

_FRAMES = 4  # at most, of one call
_SAFE = 12_000


class _Depth:
    """The limit of the user's program, and how many threads record."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.own = self.raised = 0

    def deepen(self) -> None:
        """Raise the limit: a run begins, and none is open in this thread."""
        with self.lock:
            self.count += 1
            if self.count == 1:
                self.own = sys.getrecursionlimit()
                self.raised = _set(min(_FRAMES * self.own, _SAFE))

    def restore(self) -> None:
        """Put the user's limit back, unless the function has set another one."""
        with self.lock:
            self.count -= 1
            if self.count == 0 and sys.getrecursionlimit() == self.raised:
                _set(self.own)


def _set(limit: int) -> int:
    """The limit, which is set unless calls are deeper already."""
    try:
        sys.setrecursionlimit(limit)
    except RecursionError:
        return sys.getrecursionlimit()
    return limit


DEPTH = _Depth()
