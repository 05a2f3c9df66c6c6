"""Places of memory, as a function that is called sees them: its arguments, what is inside of them, what it makes itself.

    def f(y, ys): z = [y]; z[0][0] = ys[1][0]      writes ("own", "y"), reads ("in", "ys"), makes a ("shell", ..)
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from s2sgrad.analysis.trust import Trust


class Place(NamedTuple):
    """`kind` is "own" or "in" (an argument, by name), "new" (an array), "shell" (a container), "drawing" or "object" (`part`
    is its class), by the node that makes it; "outside", by its trust; "none" (None, which has no memory); or "any"."""

    kind: str
    key: Any = None
    part: Any = None


Places = set[Place]
ANY = Place("any")
NONE = Place("none")
OUTSIDE = Place("outside", Trust.ANY)


class Summary(NamedTuple):
    """What a call may do: the places that it writes, of arguments and outside; those which the result may be, and may hold;
    the kinds of places that it makes; what it puts where; whether it puts one thing into two places of what it returns, as
    far as is seen."""

    written: frozenset[Place] = frozenset()
    returns: frozenset[Place] = frozenset()
    holds: frozenset[Place] = frozenset()
    makes: frozenset[str] = frozenset()
    puts: frozenset[tuple[Place, Place]] = frozenset()
    tangles: bool = False


Told = Trust | types.ModuleType  # of an argument: a module is known itself
NOTHING = Summary()
ANYTHING = Summary(frozenset((ANY,)), frozenset((ANY,)))


def lasts(place: Place) -> bool:
    """Whether a place is there after the call."""
    return place.kind in ("own", "in", "outside", "any")
