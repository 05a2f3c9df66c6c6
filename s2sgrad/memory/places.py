"""Abstract locations, as the body of a callee sees them: its arguments, what they contain, and what it allocates.

def f(y, ys): z = [y]; z[0][0] = ys[1][0]      writes ("own", "y"), reads ("in", "ys"), allocates a ("shell", ..)
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from s2sgrad.analysis.trust import Trust


class Place(NamedTuple):
    """An abstract location.  Its `kind` says what `key` is.  "own" (an argument) or "in" (its contents): the parameter's
    name.  The allocating node for "new" (an array), "shell" (a container), "drawing" (a random generator), "closure" (a
    nested function) or "object" (`part` is its class).  Its trust for "outside".  None, which has no memory, is "none".
    "any" may be every location."""

    kind: str
    key: Any = None
    part: Any = None


Places = set[Place]
ANY = Place("any")
NONE = Place("none")
OUTSIDE = Place("outside", Trust.ANY)


class Contents(dict[Place, Places]):
    """What each location holds; whether any holds an object of a user's class; and, while nothing is added, what a location
    reaches (`closures`)."""

    def __init__(self) -> None:
        self.objects = False
        self.closures: dict[Place, Places] = {}

    def put(self, place: Place, *values: Iterable[Place]) -> None:
        """Store values into a location that holds more than numbers."""
        held = self.setdefault(place, set())
        before = len(held)
        held.update(*values)
        if len(held) > before:
            for outer in [p for p, reached in self.closures.items() if place in reached]:
                del self.closures[outer]
            self.objects = self.objects or any(p.kind == "object" for p in held)


class Summary(NamedTuple):
    """What a call may do: the locations of its arguments and outside that it writes, and those that the result may be, and
    may hold.  The kinds of locations that it allocates, and (owner, value) pairs that it stores.  Whether it visibly puts
    one object into two places of its result.  Of a function that returns tuples it writes out, the locations that each part
    may be, and may hold."""

    written: frozenset[Place] = frozenset()
    returns: frozenset[Place] = frozenset()
    holds: frozenset[Place] = frozenset()
    makes: frozenset[str] = frozenset()
    puts: frozenset[tuple[Place, Place]] = frozenset()
    tangles: bool = False
    parts: tuple[tuple[frozenset[Place], frozenset[Place]], ...] = ()


TOLD = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
CONTAINERS = (list, tuple, dict)
NUMBERS = np.ndarray
Told = Any
"""Of an argument: its trust, the module or function (`TOLD`) that it is, the type of container (`CONTAINERS`), or `NUMBERS`,
of what is a number, an array, a text or None, and cannot be called."""
NOTHING = Summary()
ANYTHING = Summary(frozenset((ANY,)), frozenset((ANY,)))


def lasts(place: Place) -> bool:
    """Whether a location outlives the call."""
    return place.kind in ("own", "in", "outside", "any")


def told_of(value: Any) -> Told:
    """What is told of an argument that is this object; None of one that has memory of its own."""
    if isinstance(value, TOLD):
        return value
    return NUMBERS if value is None or isinstance(value, (int, float, complex, str, np.generic)) else None
