"""Ways of compiling what partial evaluation cannot resolve: it is refused, or becomes data.

    ps.append(Particle(v))      ->      refused (PLAIN), or a reference in a list (Ways(in_columns=True))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Ways:
    """Function values may become data (`closures`), and objects references (`columns`); the variables `late` are passed to
    function values at each call (`late_binding`); generators are run over at the places `drawn` (`Unit.draws`)."""

    as_data: bool = False
    in_columns: bool = False
    operators: bool = False  # of objects that are references
    late: tuple[str, ...] = ()
    drawn: frozenset[Any] = frozenset()


PLAIN = Ways()


class Unsettled(Exception):
    """What the text of a function turned out to mean, which must be known before it is read."""

    def __init__(self, late: Collection[str] = (), drawn: Collection[Any] = ()) -> None:
        super().__init__(late, drawn)
        self.late, self.drawn = late, drawn

    def settled(self, ways: Ways) -> Ways:
        """The ways that take it into account."""
        late = tuple(sorted({*ways.late, *self.late}))
        return replace(ways, late=late, drawn=ways.drawn | {*self.drawn})
