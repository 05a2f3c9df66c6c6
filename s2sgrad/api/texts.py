"""The texts that were compiled for one request, by the kinds of the arguments.

grad(f)(2.0); grad(f)(3.0)      ->      one text; grad(f)(np.ones(3)): another one
"""

from __future__ import annotations

import types
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2sgrad import stored
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.api.request import Request
from s2sgrad.api.whole import Whole
from s2sgrad.driver import cache

if TYPE_CHECKING:  # imported at the first compilation, to keep `import s2sgrad` fast
    from s2sgrad.driver.front import Front
    from s2sgrad.driver.recipe import Compiled

MOST = 512  # cache of exact shapes; there are few texts, one per pattern of shapes


def unwritten(args: tuple) -> None:
    """In the place of a function that says what to run, until it is written."""


@dataclass
class Kept:
    """Texts by the types of numbers, by shapes, and those that refer to the user's objects and are not shared, by kinds; and
    what says whether one of the former is right for a call."""

    by_types: dict[tuple[type, ...], Compiled] = field(default_factory=dict)
    by_shape: dict[Hashable, Compiled] = field(default_factory=dict)
    own: dict[Kinds, Compiled] = field(default_factory=dict)
    fronts: dict[Hashable, tuple[Compiled, Front]] = field(default_factory=dict)
    front: Front = unwritten  # of the latest call


class Texts:
    """What was compiled for a request; `recorded`: what stands for texts that there are none of."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.kept, self.of_methods = Kept(), Kept()
        self.recorded: dict[Kinds, Whole] = {}

    def own(self, key: Kinds) -> Compiled | None:
        """A text for arguments of these kinds that is not shared."""
        found = self.kept.own.get(key) if self.kept.own else None
        return found if found is not None and found.holds() else None

    def made(self, function: types.FunctionType, key: Kinds) -> Compiled:
        """The text of the derivative of a function for arguments of these kinds."""
        family, options = self.request.family(function), self.request.options
        if options.lanes:
            return self._with_lanes(family, function, key)
        compiled = cache.compiled(family, key, function, lambda: self._compile(function, dict(key.items)))
        if compiled.facts.again:
            self.request.family(function, options.to_be_differentiated).add(key, compiled.recipe)
        return compiled

    def _with_lanes(self, family: cache.Family, function: types.FunctionType, key: Kinds) -> Compiled:
        """The same; raises NoLanes at once if that failed before."""
        from s2sgrad.forward.lane_forms import NoLanes

        if key in family.refused:
            raise NoLanes("tangents that are computed one after the other")
        try:
            return cache.compiled(family, key, function, lambda: self._compile(function, dict(key.items)))
        except NoLanes:
            family.refused.add(key.kept())
            raise

    def _compile(self, function: types.FunctionType, kinds: dict[str, Kind]) -> Compiled:
        wrt, options = self.request.wrt(), self.request.options

        def compile_() -> Compiled:
            from s2sgrad.driver import compiled

            return compiled.compile_gradient(function, kinds, wrt, options)

        return stored.kept(function, tuple(kinds.items()), ("gradient", wrt, options), compile_)
