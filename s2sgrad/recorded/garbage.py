"""While a function is recorded, garbage is collected more seldom: a record grows by many small objects that all stay.

particles in a list, 1 million operations      ->      a third less time
"""

from __future__ import annotations

import gc

_MANY = 20_000  # new objects before the youngest are looked through


class Garbage:
    """The thresholds of the user's program, while runs are open.

    >>> before, garbage = gc.get_threshold(), Garbage()
    >>> garbage.begin()
    >>> gc.get_threshold()[0] >= 20_000
    True
    >>> garbage.end()
    >>> gc.get_threshold() == before
    True
    """

    def __init__(self) -> None:
        self.own = self.raised = gc.get_threshold()

    def begin(self) -> None:
        """The first run begins; a threshold of 0, which collects nothing, stays."""
        self.own = gc.get_threshold()
        self.raised = (max(self.own[0], _MANY) if self.own[0] else 0, *self.own[1:])
        gc.set_threshold(*self.raised)

    def end(self) -> None:
        """The last run has ended; what the program has set meanwhile stays."""
        if gc.get_threshold() == self.raised:
            gc.set_threshold(*self.own)
