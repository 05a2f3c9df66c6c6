"""A compiled gradient: the recipe, shared by all functions of one code, and the instance for one of them.

    grad(f)      ->      a recipe: text and guards; over `f` itself: `f_grad`, right while `holds()`

Nothing here imports the compiler: a text that was kept runs without it.
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sgrad.backends import Backend
from s2sgrad.driver import plan
from s2sgrad.driver.conditions import Bind
from s2sgrad.driver.guards import Functions, Guards
from s2sgrad.errors import Unsupported, raised
from s2sgrad.ir.lookups import Lookups
from s2sgrad.runtime.results import NoResult
from s2sgrad.source import GENERATED, look_up


@dataclass
class Sources:
    """What a compilation followed from, for who keeps its text: the lookups, those among them that must be the same object
    (`strict`), and whether it stands `alone`: it calls no gradient."""

    lookups: Lookups | None = None
    strict: set[tuple[int, str]] = field(default_factory=set)
    alone: bool = True


class _Noting(threading.local):
    sources: Sources | None = None


_now = _Noting()


@contextlib.contextmanager
def noted() -> Iterator[Sources]:
    """Note what the compilation within follows from."""
    before, _now.sources = _now.sources, Sources()
    try:
        yield _now.sources
    finally:
        _now.sources = before


def note(lookups: Lookups, strict: set[tuple[int, str]], alone: bool) -> None:
    """Note what a compilation followed from, if anybody asks."""
    if _now.sources is not None:
        _now.sources.lookups, _now.sources.strict, _now.sources.alone = lookups, strict, alone


class Recipe:
    """A text with the guards under which it is right.  It keeps no function of the user alive.

    `entries` are the indices of the requested functions in the plan, `facts` their properties. `inside` are the gradients
    that the text calls, `outside` the arrays and objects that it reads by name, by the place of the function. `lifted` are
    functions that are kept alive here alone.
    """

    def __init__(
        self,
        guards: Guards,
        plan: plan.Plan,
        entries: list[int],
        facts: Facts | None,
        outside: list[tuple[int, str]],
        of_complex: bool,
    ) -> None:
        self.guards, self.plan, self.entries, self.facts = guards, plan, entries, facts
        self.outside, self.complex = outside, of_complex
        self.inside: list[Compiled] = []
        self.until: int | None = None  # how many refusals users had seen, if a branch is refused
        self.shareable = True
        self.lifted: list[Any] = []
        self.bound = False

    @property
    def is_whole(self) -> bool:
        """Whether no branch was refused."""
        return self.until is None

    @property
    def is_current(self) -> bool:
        """Whether no branch was refused, or nobody has seen why: by now, what was missing may be there."""
        return self.until is None or self.until == raised.Reported.count

    def sealed(self, generated: list[Compiled]) -> Compiled:
        """Instantiate the recipe for the functions that it was compiled from, and drop the references to them; `generated`
        are the gradients that the text calls."""
        functions = self.guards.sealed()
        self.shareable = self.guards.shareable and not self.bound
        return self.over(functions, generated)

    def fitted(self, entry: types.FunctionType) -> Compiled | None:
        """The recipe, instantiated for another function of the same code; None if the guards fail."""
        match = self.guards.fitting(entry) if self.is_current else None
        if match is None:
            return None
        functions, inside = match
        return self.over(functions, [*self.inside, *inside])

    def over(self, functions: Functions, inside: list[Compiled]) -> Compiled:
        """The functions of the text, instantiated over these functions of the user."""
        compiled = self.plan.made(functions)
        return Compiled(self, functions, [compiled[k] for k in self.entries], inside)


@dataclass(frozen=True)
class Facts:
    """Properties of a gradient: its seed, whether the result is a real number, the parameters whose arrays it writes.
    Then whether a differentiated parameter is of unknown kind (each argument is then searched for floats), and the backend
    that rewrote it."""

    seed: str
    scalar: bool
    written: tuple[str, ...]
    unsure: bool
    backend: Backend
    dots: dict[str, str] = field(default_factory=dict)  # of a tangent: the keywords for tangents, by parameter
    divides_again: bool = False  # where a Python number divided by zero raises, run it again with a NumPy seed
    again: bool = False  # the text is the one that is made to be differentiated again
    outside: Unsupported | None = None  # why no text may call it at run time: what it writes may be read there
    repeats: bool = False  # of a tangent: a second run does the same, and leaves nothing behind
    along: str = ""  # of a tangent: along what
    own_rules: bool = False  # a derivative in it may be what the user says that it is


class Compiled:
    """A gradient: `function(*args, seed=...)` over the user's `functions`; valid while `holds()`."""

    __slots__ = (
        "backend", "below", "defaults", "function", "functions", "gives_up_on", "inside", "key", "made", "named", "recipe",
        "scalar", "seed", "unsure", "written",
    )  # fmt: skip

    def __init__(
        self, recipe: Recipe, functions: Functions, compiled: list[types.FunctionType], inside: list[Compiled]
    ) -> None:
        self.recipe = recipe
        self.inside = inside  # the gradients that the text calls, compiled
        self.functions = functions
        self.made = compiled
        self.function = compiled[0]
        self.defaults, self.named = functions[0].__defaults__, dict(functions[0].__kwdefaults__ or {})
        self.key: Any = None  # the kinds that it was requested for
        self.below: Compiled | None = None  # the gradient that this one differentiates
        if recipe.facts is not None:
            self.seed, self.scalar = recipe.facts.seed, recipe.facts.scalar
            self.written, self.unsure = recipe.facts.written, recipe.facts.unsure
            self.backend, self.gives_up_on = recipe.facts.backend, recipe.facts.backend.gives_up_on
            if not self.gives_up_on and recipe.facts.divides_again:
                self.gives_up_on = (ZeroDivisionError,)

    @property
    def facts(self) -> Facts:
        """The properties of a gradient; a pair has none."""
        assert self.recipe.facts is not None
        return self.recipe.facts

    def shown(self) -> types.FunctionType:
        """The function, with its text restored in linecache, for tools that show it."""
        plan.shown(self.function.__code__.co_filename)
        return self.function

    @property
    def text(self) -> str:
        """The text of the function and of those that it calls."""
        return self.recipe.plan.text

    def holds(self) -> bool:
        """Whether every name that the text was specialised on still stands for what it stood for."""
        entry = self.functions[0]
        if self.recipe.until is not None and not self.recipe.is_current:
            return False
        if entry.__defaults__ is not self.defaults or (self.named and not self._same_named(entry.__kwdefaults__ or {})):
            return False
        if not self.recipe.guards.hold(self.functions) or (self.below is not None and not self.below.holds()):
            return False
        return not self.inside or all(compiled.holds() for compiled in self.inside)

    def tests(self, bind: Bind) -> list[str]:
        """Expressions that all hold where `holds()` does."""
        entry = self.functions[0]
        if self.recipe.until is not None or self.named:
            return [f"{bind(self.holds)}()"]
        own = [f"{bind(entry)}.__defaults__ is {bind(self.defaults)}", *self.recipe.guards.tests(self.functions, bind)]
        below = [] if self.below is None else self.below.tests(bind)
        return own + below + [test for compiled in self.inside for test in compiled.tests(bind)]

    def naming(self, error: Exception) -> Exception:
        """The error; if a result has no derivative, with the name of the function that returned it, where that is known."""
        if not isinstance(error, NoResult) or error.named:
            return error
        names = {c.function.__code__: c.functions[0].__name__ for c in (self, *self.inside)}
        named, trace = "", error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith(GENERATED):
                named = names.get(trace.tb_frame.f_code, "")
            trace = trace.tb_next
        return NoResult(error.what, named).with_traceback(error.__traceback__)

    def _same_named(self, named: dict[str, Any]) -> bool:
        return named.keys() == self.named.keys() and all(named[k] is v for k, v in self.named.items())

    def seed_again(self, seed: Any) -> Any:
        """The seed for the second run, after `gives_up_on` was raised: the same seed, or, where division by a Python number
        raised, the seed as a NumPy number; re-raises if it was one already."""
        if not self.backend.gives_up_on:
            if isinstance(seed, np.generic):
                raise
            seed = np.float64(1.0 if seed is None else seed)
        return seed

    def outside(self) -> dict[str, Any]:
        """The arrays, containers, partials, methods, objects and classes that the text reads under free names."""
        bindings = [(name, look_up(self.functions[place], name)) for place, name in self.recipe.outside]
        return {name: binding.value for name, binding in bindings if binding is not None}
