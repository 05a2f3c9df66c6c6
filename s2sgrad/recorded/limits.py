"""A program that does not end is not recorded until memory is out.

    while x > 0.0: x = x * 0.9 + 0.1     ->     MemoryError: 40,000,000 operations were recorded, the latest in line 7

The collector of garbage, which runs now and then while a record grows, looks at how long the records are: so no operation is
slower for it.  A record that is too long takes no more entries.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Any

from s2sgrad.recorded.places import user_place

_OF_ENTRY = 400  # bytes, of a number's; those of arrays hold arrays
_FEWEST = 10_000_000


def _affordable() -> int:
    """As many operations as the memory of the machine holds, of numbers."""
    held = 0
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):  # not on this system
            held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_FEWEST, held // _OF_ENTRY)


class Limit:
    """How many operations one recording may have: `Limit.operations = 10**9` raises it."""

    operations = _affordable()


class Full(list):
    """The entries of a run that is too long."""

    def __init__(self, run: Any, count: int) -> None:
        super().__init__()
        self.run, self.most = run, count

    def append(self, entry: Any) -> None:
        """MemoryError, which names the user's line."""
        place = user_place().place()
        where = "" if place is None else f", the latest in line {place.line} of {place.file}"
        self.run.refusal = MemoryError(
            f"{self.most:,} operations were recorded{where}: does the program end? "
            "If so, raise `s2sgrad.recorded.limits.Limit.operations`"
        )
        raise self.run.refusal


class Watch:
    """Looks at the records of open runs whenever garbage is collected."""

    def __init__(self, runs: list[Any]) -> None:
        self.runs = runs

    def begin(self) -> None:
        """The first run opens."""
        gc.callbacks.append(self._looked)

    def end(self) -> None:
        """The last run has ended."""
        gc.callbacks.remove(self._looked)

    def _looked(self, phase: str, info: dict[str, Any]) -> None:
        for run in [*self.runs]:
            if len(run.entries) > Limit.operations:
                run.entries = Full(run, len(run.entries))
