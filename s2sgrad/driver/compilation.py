"""The state of one function between two stages of the pipeline: what a stage reads, and what it leaves to the next.

Compilation(read(f), program, {"x": Array("float64", ("n",))}, Purpose())      ->      `.tree`, `.inference`, `.written`
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol

import gast

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Kind
from s2sgrad.backends import Backend
from s2sgrad.driver.emitted import LATER, Emitted
from s2sgrad.driver.options import Options
from s2sgrad.forward import calls
from s2sgrad.inplace.alias_elimination import AliasElimination
from s2sgrad.ir.kept_facts import KeptFacts
from s2sgrad.ir.quote import clone
from s2sgrad.ir.unit import Unit
from s2sgrad.ir.unit_records import Record
from s2sgrad.runtime import progress
from s2sgrad.source import Primal
from s2sgrad.transform.paths import Paths

_ROUNDS = 100  # all that one stage can resolve is resolved in one round


class Callees(calls.Callees, Protocol):
    """What a stage may ask about the callees, and ask to be done with them; `driver.program` implements it."""

    observer: Observer | None
    backend: Backend
    options: Options
    keeps_states: bool

    forms: dict[Any, Any]  # by what they follow from: normal forms (`Kept`)

    @property
    def entry(self) -> Any:
        """The function that is compiled, which calls all others."""

    def note(self, unit: Unit) -> None:
        """Record that the text is specialised on what the names of this function stand for."""

    def choose_backend(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        """Let the backend decide whether it takes this function."""


class Purpose:
    """What a function is compiled for.  This base class: to infer the kinds of its values, and which arguments it writes.

    `owns_arguments`: the function may write its arguments, for the caller copies them.  No gradient flows through `stops`.
    `words` are reserved for parameters that we add.  `differentiates`: in the variables `wrt`.  `forward`: compiled for
    tangents; `inner`: the function is called by a differentiated one; `again`: its forward sweep is run a second time.
    `kept_apart`: the adjoint may run after names and attributes were bound anew.
    """

    owns_arguments = True
    differentiates = False
    forward = False
    inner = False
    again = False
    kept_apart = False
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
        """One tree with the function and its adjoint."""
        raise NotImplementedError

    def cut(self, c: Compilation) -> list[Compilation]:
        """Split the optimized tree into the functions that are emitted."""
        raise NotImplementedError

    def finish(self, c: Compilation) -> None:
        """Complete a written function: name, docstring, defaults."""
        raise NotImplementedError


@dataclass(eq=False)
class Compilation:
    """One function on its way through the pipeline.  `given`: the kinds of its arguments, None for the normal form alone."""

    primal: Primal
    callees: Callees
    given: dict[str, Kind] | None
    purpose: Purpose = field(default_factory=Purpose)
    unit: Unit = LATER
    tree: gast.FunctionDef = LATER
    inference: Inference = LATER
    aliases: AliasElimination = LATER
    paths: Paths = LATER
    emitted: Emitted = LATER

    def __post_init__(self) -> None:
        self.aliases = self.aliases or AliasElimination(self.callees, self.purpose.owns_arguments)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the variables."""
        return self.inference.env

    def part(self, emitted: Emitted, tree: gast.FunctionDef) -> Compilation:
        """One of the functions that this one is split into."""
        return replace(self, emitted=emitted, tree=tree)

    def observed(self, stage: str) -> None:
        """Call the observer, if there is one."""
        if self.callees.observer is not None:
            self.callees.observer(stage, self)


Observer = Callable[[str, Compilation], None]  # called after each stage; the compilation is changed further afterwards


class Stage(NamedTuple):
    """One stage, which changes the compilation.  Within `Repeated` it returns whether it changed the tree; the stage that
    splits one function into several returns these.

    A stage that `notes` reports each statement that it changes, so that facts about the others are kept.
    """

    name: str
    run: Callable[[Compilation], bool | list[Compilation] | None]
    notes: bool = False

    def __call__(self, c: Compilation) -> bool | list[Compilation] | None:
        if c.unit is not None:
            c.unit.kept = (c.unit.kept or KeptFacts()) if self.notes else None
        out = self.run(c)
        if not isinstance(out, list):
            c.observed(self.name)
        return out


class Repeated(NamedTuple):
    """Stages that start over as soon as one of them has changed what those before it had inferred. Each change resolves
    something, so that more than a few rounds mean that one undoes what another does."""

    stages: tuple[Stage, ...]

    def __call__(self, c: Compilation) -> None:
        for _ in range(_ROUNDS):
            if not any(stage(c) for stage in self.stages):
                return
        c.unit.refuse(c.primal.tree, "which of the names here share memory cannot be decided in so many steps: split the "
                                     "function, or copy what it writes")  # fmt: skip


class Kept(NamedTuple):
    """Stages whose outcome follows from the function, and from what `key` says of a compilation (None: from more than that):
    it is kept, and each compilation gets a copy of it.  Observers are to see each stage."""

    stages: tuple[Stage, ...]
    key: Callable[[Compilation], Any]

    def __call__(self, c: Compilation) -> None:
        key = self.key(c) if c.callees.observer is None else None
        if key is None or key not in c.callees.forms:
            for stage in self.stages:
                stage(c)
        if key is not None:
            unit, tree = c.callees.forms.setdefault(key, (c.unit, c.tree))
            c.unit, c.tree = _copied(unit), clone(tree)


def _copied(unit: Unit) -> Unit:
    """A copy of the side tables, to be changed beside them."""
    held = {f.name: getattr(unit, f.name) for f in fields(unit)}
    held = {n: v.copy() if isinstance(v, (set, dict, list)) else v for n, v in held.items()}
    held |= {n: v.copied() for n, v in held.items() if isinstance(v, Record)}
    return Unit(**held | {"names": unit.names.copied()})


def run(stages: tuple[Stage | Repeated | Kept, ...], c: Compilation) -> list[Compilation]:
    """Run the stages on a function; the functions that it was split into, each in its state after the last stage."""
    for k, stage in enumerate(stages):
        parts = stage(c)
        progress.step()
        if isinstance(parts, list):
            return [done for part in parts for done in run(stages[k + 1 :], part)]
    return [c]
