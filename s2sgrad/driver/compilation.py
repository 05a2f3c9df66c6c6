"""One function between two stages of the pipeline: what a stage finds, and what it leaves to the next.

    Compilation(read(f), program, {"x": Array("float64", ("n",))}, Purpose())      ->      `.tree`, `.inference`, `.written`
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import gast

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Kind
from s2sgrad.backends import Backend
from s2sgrad.driver.emitted import Emitted
from s2sgrad.inplace.alias_elimination import AliasElimination
from s2sgrad.ir.unit import Unit
from s2sgrad.source import Primal
from s2sgrad.transform.calls import Pairs
from s2sgrad.transform.paths import Paths


class Callees(Pairs, Protocol):
    """What is known of the functions that are called, and may be done to them: `driver.program` answers."""

    observer: Observer | None
    backend: Backend
    debug: bool
    records_all: bool

    def note(self, unit: Unit) -> None:
        """The text is specialised on what the names of this function stand for."""

    def choose_backend(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        """Let the backend say whether it takes this function."""


class Purpose:
    """What a function is compiled for; this one: to know the kinds of its values, and which arguments it writes.

    `owns_arguments`: they may be written, for they are copied first.  No gradient flows through `stops`.  `words` are kept
    for arguments of ours.  `forward`: it is for tangents; `again`: its forward sweep will be run again.
    """

    owns_arguments = True
    forward = False
    again = False
    words: Collection[str] = ()
    stops: tuple[str, ...] = ()

    def end(self, c: Compilation) -> None:
        """Change what a function in normal form returns."""

    def require(self, c: Compilation) -> None:
        """Refuse what cannot be differentiated for this purpose, once the kinds are known."""

    def wrt(self, c: Compilation) -> set[str]:
        """The variables in which it is differentiated."""
        raise NotImplementedError

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """The function and its adjoint in one tree."""
        raise NotImplementedError

    def cut(self, c: Compilation) -> list[Compilation]:
        """The functions that are written of it, when it is clean."""
        raise NotImplementedError

    def finish(self, c: Compilation) -> None:
        """What a written function has beside its statements."""
        raise NotImplementedError


@dataclass(eq=False)
class Compilation:
    """One function on its way.  `given` are the kinds of its arguments, None where only the normal form is wanted."""

    primal: Primal
    callees: Callees
    given: dict[str, Kind] | None
    purpose: Purpose = field(default_factory=Purpose)
    unit: Unit | None = None
    tree: gast.FunctionDef | None = None
    inference: Inference | None = None
    aliases: AliasElimination | None = None
    paths: Paths | None = None
    emitted: Emitted | None = None

    def __post_init__(self) -> None:
        self.aliases = self.aliases or AliasElimination(self.callees, self.purpose.owns_arguments)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the variables."""
        return self.inference.env

    def part(self, emitted: Emitted, tree: gast.FunctionDef) -> Compilation:
        """A function that is written of this one."""
        return replace(self, emitted=emitted, tree=tree)

    def observed(self, stage: str) -> None:
        """Show the tree to whoever looks."""
        if self.callees.observer is not None:
            self.callees.observer(stage, self)


Observer = Callable[[str, Compilation], None]  # is shown what there is after each stage, which goes on being changed


class Stage(NamedTuple):
    """One stage: it changes the compilation.  Within `Repeated` it says whether it has changed the tree; the stage that
    makes several functions of one returns these."""

    name: str
    run: Callable[[Compilation], bool | list[Compilation] | None]

    def __call__(self, c: Compilation) -> bool | list[Compilation] | None:
        out = self.run(c)
        if not isinstance(out, list):
            c.observed(self.name)
        return out


class Repeated(NamedTuple):
    """Stages that are begun anew as soon as one of them has changed what those before it had found."""

    stages: tuple[Stage, ...]

    def __call__(self, c: Compilation) -> None:
        while any(stage(c) for stage in self.stages):
            pass


def run(stages: tuple[Stage | Repeated, ...], c: Compilation) -> list[Compilation]:
    """Take a function through stages; the functions that were made of it, each in the state of the last stage."""
    for k, stage in enumerate(stages):
        parts = stage(c)
        if isinstance(parts, list):
            return [done for part in parts for done in run(stages[k + 1 :], part)]
    return [c]
