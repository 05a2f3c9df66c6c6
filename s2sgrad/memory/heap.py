"""The abstract heap of a callee: what its locations hold, and which of them it writes.

p = [y]; q = list(p); q[0][0] = 1.0      ->      the lists are new and hold y, which is written
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from s2sgrad.analysis.plain_classes import own_protocols
from s2sgrad.analysis.trust import Trust
from s2sgrad.memory.places import ANY, Contents, Place, Places

_OF_KIND = {"new": Trust.ARRAY, "none": Trust.ARRAY, "shell": Trust.DATA, "drawing": Trust.DRAWING}


class Heap:
    """The contents of each location (`kept`), and the `written` ones; `trusts` are those of the arguments, of which some are
    known to be `containers`."""

    def __init__(self, trusts: dict[str, Trust], containers: Collection[str] = ()) -> None:
        self.trusts, self.containers = trusts, containers
        self.kept = Contents()
        self.written: Places = set()

    def trust(self, place: Place) -> Trust:
        """What is known about the class of the objects at a location."""
        kind, key, _ = place
        known = _OF_KIND.get(kind)
        if known is not None:
            return known
        if kind in ("own", "in"):
            return self.trusts.get(key, Trust.DATA)
        outside: Trust = key if kind == "outside" else Trust.ANY
        return outside

    def items(self, places: Iterable[Place]) -> Places:
        """What an item of these locations may be; an item of an array is a view of it."""
        out: Places = set()
        kept = self.kept
        for place in places:
            if place in kept:
                out |= kept[place]
            kind, key, _ = place
            if kind in ("own", "in"):
                is_container = kind == "own" and key in self.containers
                if not is_container:
                    out.add(place)
                if is_container or self.trusts.get(key) is not Trust.ARRAY:
                    out.add(Place("in", key))
            elif kind not in ("shell", "object"):
                out.add(place)
        return out

    def is_container(self, place: Place) -> bool:
        """Whether what is at a location is known to be a list, tuple or dict."""
        return place.kind == "shell" or (place.kind == "own" and place.key in self.containers)

    def reached(self, places: Iterable[Place]) -> Places:
        """These locations and all that is reachable from them."""
        out: Places = set()
        for place in places:
            if place not in out:
                out |= _closure(self, place)
        return out

    def are_data(self, places: Iterable[Place]) -> bool:
        """Whether these are arrays and built-in containers, whose methods are known."""
        return all(self.trust(p) <= Trust.DATA for p in places)

    def keep(self, owners: Iterable[Place], values: Iterable[Place]) -> None:
        """Store values into locations; an array holds only numbers."""
        values = set(values)
        for place in owners:
            if self.trust(place) != Trust.ARRAY:
                self.kept.put(place, values)

    def write(self, places: Iterable[Place]) -> None:
        """Note that these locations are written."""
        self.written |= set(places)

    def meet(self, places: Iterable[Place]) -> None:
        """Apply operators, indexing or truth tests to these: on an object of a user's class they may do anything."""
        if any(p.kind == "object" and (p.part is None or own_protocols(p.part)) for p in places):
            self.anything()

    def anything(self) -> Places:
        """Note an unknown effect; its result may be any location."""
        self.written.add(ANY)
        return {ANY}

    def shell(self, node: Any, held: Iterable[Place], part: Any = None) -> Places:
        """Allocate a container that holds these."""
        place = Place("shell", node if isinstance(node, int) else id(node), part)
        self.keep((place,), held)
        return {place}


def _closure(heap: Heap, place: Place) -> Places:
    """A location and all that is reachable from it."""
    kept, closures = heap.kept, heap.kept.closures
    if place not in closures:
        found, done, waiting = {place}, set[Place](), [place]
        while waiting:
            reached = waiting.pop()
            if reached in closures:
                found |= closures[reached]
                done |= closures[reached]
            elif reached not in done:
                done.add(reached)
                more = kept[reached] - found if reached in kept else set[Place]()
                if reached.kind == "own":
                    more |= heap.items((reached,)) - found
                found |= more
                waiting += more
        closures[place] = found
    return closures[place]
