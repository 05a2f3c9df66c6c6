"""One function while it is lowered: the names of its normal form, and what stands for them.

A name that is bound once, and used where that binding is certain to have run, is a *local*: its value may be written where
it is used.  Any other name is a variable of the lowered function.

    x = a * b               x: local
    if c:
        y = x               y: variable, bound in two places
    else:
        y = -x
    return y
"""

from __future__ import annotations

import builtins
import collections
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.compiled import scalars
from s2sgrad.compiled.output import INDICES, TRIP
from s2sgrad.compiled.writer import Found
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.ir.unit import Unit

Path = tuple[int, ...]


def reserved() -> set[str]:
    """The names that lowered text uses itself."""
    return {*vars(scalars), *dir(builtins), *INDICES, TRIP, "np"}


@dataclass
class Uses:
    """Where names are bound and read: the blocks, as paths of numbers from the whole function."""

    bound: dict[str, list[Path]] = field(default_factory=lambda: collections.defaultdict(list))
    read: dict[str, list[Path]] = field(default_factory=lambda: collections.defaultdict(list))

    def block(self, body: list[gast.AST], path: Path) -> None:
        """Count in a block."""
        for k, s in enumerate(body):
            if isinstance(s, (gast.If, gast.For, gast.While)):
                head = s.iter if isinstance(s, gast.For) else s.test
                self._reads(head, path if not isinstance(s, gast.While) else (*path, k, 0))
                if isinstance(s, gast.For):
                    self._binds(s.target, (*path, k, 0))
                self.block(s.body, (*path, k, 0))
                self.block(s.orelse, (*path, k, 1))
            elif isinstance(s, gast.AugAssign):
                self._reads(s, path)
                if isinstance(s.target, gast.Name):
                    self.read[s.target.id] += [path, path]  # never read in one place alone
            else:
                for target in getattr(s, "targets", ()):
                    self._binds(target, path)
                self._reads(s, path)

    def _reads(self, node: gast.AST, path: Path) -> None:
        for n in nodes(node):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                self.read[n.id].append(path)

    def _binds(self, target: gast.AST, path: Path) -> None:
        for n in nodes(target):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
                self.bound[n.id].append(path)

    def variables(self) -> set[str]:
        """The names that are no locals."""
        return {n for n, places in self.bound.items() if len(places) > 1 or self._leave(n, places[0])}

    def _leave(self, name: str, place: Path) -> bool:
        return any(path[: len(place)] != place for path in self.read[name])

    def waits(self, name: str) -> bool:
        """Whether a value may be written where it is used: once, in the block that binds it."""
        return self.read[name] == self.bound[name]


class Frame:
    """A function, or one that is written out where it is called; `prefix` tells its names from those of others."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, found: Found, prefix: str = "") -> None:
        self.unit, self.tree, self.prefix = unit, tree, prefix
        self.file = unit.primal.function.__code__.co_filename
        self.own = mentioned(tree)
        self.env: dict[str, Any] = {}
        self.unknown: set[str] = set()  # what is bound to what has no loops
        self.uses = Uses()
        parameters = [n.id for n in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
        for parameter in parameters:
            self.uses.bound[parameter].append(())
        self.uses.block(tree.body, ())
        self.parameters = parameters
        self.variables = self.uses.variables()
        self.variables |= {n for n in self.uses.bound if self.name(n) in found.variables}

    def name(self, name: str) -> str:
        """The name of a variable in the lowered function."""
        return f"{self.prefix}{name}" if self.prefix or name not in reserved() else self.unlike(name + "_")

    def unlike(self, name: str) -> str:
        """A name that neither the function nor lowered text uses itself, which begins like this one."""
        while name in self.own or name in reserved():
            name += "_"
        return name
