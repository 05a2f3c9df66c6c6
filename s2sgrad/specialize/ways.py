"""Ways of compiling what partial evaluation cannot resolve: it is refused, or becomes data.

f = g if c else h; f(x)      ->      refused (PLAIN), or a call of what the variable holds (Ways(as_data=True))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Ways:
    """Function values may become data (`closures`); the variables `late` are passed to
    function values at each call (`late_binding`); generators are run over at the places `drawn` (`Unit.draws`)."""

    as_data: bool = False
    late: tuple[str, ...] = ()
    drawn: frozenset[Any] = frozenset()


PLAIN = Ways()


class Unsettled(Exception):
    """What the text of a function turned out to mean, which must be known before it is read."""

    def __init__(self, late: Collection[str] = (), **found: Collection[Any]) -> None:
        super().__init__(late, found)
        self.late, self.found = late, found

    def settled(self, ways: Ways) -> Ways:
        """The ways that take it into account."""
        found = {what: getattr(ways, what) | {*more} for what, more in self.found.items()}
        return replace(ways, late=tuple(sorted({*ways.late, *self.late})), **found)
