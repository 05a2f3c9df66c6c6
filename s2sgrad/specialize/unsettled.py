"""What the text of a function turned out to mean, which must be known before it is read.

for v in o: ..      ->      `o` is an object whose `__iter__` is a generator: read again, as a loop that draws from it
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class Unsettled(Exception):
    """Places where an object or a method turned out to be a generator (`Unit.draws`)."""

    def __init__(self, drawn: Collection[Any]) -> None:
        super().__init__(drawn)
        self.drawn = frozenset(drawn)
