"""The arguments of a call, as abstract locations, for `callees` and `library_calls`.

f(y, *rest, key=k)      locations of y; of the items of rest; of k by name
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import gast

from s2sgrad.analysis.trust import Trust
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.places import Contents, Place, Places


class Points(Protocol):
    """The state of the analysis of one function, as it is seen by the modules that evaluate its calls (see `points_to`)."""

    unit: Unit
    tree: gast.FunctionDef
    names: dict[str, Places]
    objects: dict[str, Any]
    named: dict[str, gast.AST]
    closures: Any
    written: Places
    kept: Contents
    tangled: Places

    def block(self, body: list[gast.AST]) -> None:
        """Evaluate the statements of a block."""

    def value(self, node: gast.AST | None) -> Places:
        """The locations that an expression may be."""

    def items(self, places: Iterable[Place]) -> Places:
        """What an item of these locations may be; an item of an array is a view of it."""

    def reached(self, places: Iterable[Place]) -> Places:
        """These locations and all that is reachable from them."""

    def is_container(self, place: Place) -> bool:
        """Whether what is at a location is known to be a list, tuple or dict."""

    def trust(self, place: Place) -> Trust:
        """What is known about the class of the objects at a location."""

    def are_data(self, places: Iterable[Place]) -> bool:
        """Whether these are arrays and built-in containers."""

    def keep(self, owners: Iterable[Place], values: Iterable[Place]) -> None:
        """Store values into locations."""

    def write(self, places: Iterable[Place]) -> None:
        """Note that these locations are written."""

    def meet(self, places: Iterable[Place]) -> None:
        """Apply operators, indexing or truth tests to these."""

    def anything(self) -> Places:
        """Note an unknown effect; its result may be any location."""

    def shell(self, node: Any, held: Iterable[Place], part: Any = None) -> Places:
        """Allocate a container that holds these."""

    def of_object(self, found: Any) -> Places:
        """The location of an existing object."""

    def summary_of(self, function: Any, trusts: Any) -> Any:
        """The summary of a call of a user's function, for arguments of this trust."""

    def apply(self, function: gast.AST | None, *places: Places) -> Places:
        """The result of a function argument that a library calls with these locations."""


def meet_all(points: Points, places: Iterable[Place]) -> None:
    """Apply operators to these and to all that is reachable from them."""
    points.meet(points.reached(places) if points.kept.objects else places)


class Arguments:
    """The arguments of a call: the locations that each of them may be."""

    def __init__(self, points: Points, call: gast.Call | None = None, calls: bool = False) -> None:
        self.nodes: list[gast.AST | None] = []
        self.places: list[Places] = []
        self.named: dict[str, Places] = {}
        self.named_nodes: dict[str, gast.AST] = {}
        self.unpacked: Places | None = None  # the items of `*` and `**` arguments
        self.optional: Places = set()  # those of `**` arguments alone
        for node in call.args if call is not None else ():
            if isinstance(node, gast.Starred):
                self.unpacked = (self.unpacked or set()) | points.value(node)
            else:
                self.nodes.append(node)
                self.places.append(set() if calls and isinstance(node, gast.Lambda) else points.value(node))
        for keyword in call.keywords if call is not None else ():
            if keyword.arg is None:
                self.optional |= points.items(points.value(keyword.value))
                self.unpacked = (self.unpacked or set()) | self.optional
            else:
                self.named_nodes[keyword.arg] = keyword.value
                waits = calls and isinstance(keyword.value, gast.Lambda)
                self.named[keyword.arg] = set() if waits else points.value(keyword.value)

    @classmethod
    def of(cls, points: Points, *places: Places) -> Arguments:
        """Positional arguments only."""
        arguments = cls(points)
        arguments.places, arguments.nodes = [set(p) for p in places], [None] * len(places)
        return arguments

    def before(self, *places: Places) -> Arguments:
        """Prepend positional arguments."""
        self.places[:0], self.nodes[:0] = [set(p) for p in places], [None] * len(places)
        return self

    def all(self) -> Places:
        """The locations of all arguments."""
        return set().union(*self.places, *self.named.values(), self.unpacked or ())

    def aliased(self, k: int | None) -> Places:
        """The locations of the argument at this position, which may be passed by name; of all of them for None."""
        return self.all() if k is None else self[k].union(self.unpacked or (), *self.named.values())

    def __getitem__(self, k: int) -> Places:
        return self.places[k] if k < len(self.places) else set(self.unpacked or ())


def objects_of(points: Points, places: Places) -> Places:
    """What objects of unknown class among these may return: everything reachable from them."""
    return points.reached({p for p in places if points.trust(p) == Trust.ANY})
