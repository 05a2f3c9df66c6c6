"""A compiled gradient: the recipe, shared by all functions of one code, and the instance for one of them."""

from __future__ import annotations

import types
from dataclasses import dataclass, field, replace
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.kinds import Kind, Unknown
from s2sgrad.analysis.reached_codes import may_hold
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver import load, lowering
from s2sgrad.driver.attempts import with_branches
from s2sgrad.driver.compilation import Observer
from s2sgrad.driver.conditions import Bind
from s2sgrad.driver.emitted import Emitted, reached
from s2sgrad.driver.folding import folded
from s2sgrad.driver.guards import Functions, Guards
from s2sgrad.driver.options import Options
from s2sgrad.driver.program import Program
from s2sgrad.errors import Unsupported, raised
from s2sgrad.ir.lookups import Lookups
from s2sgrad.ir.quote import nodes
from s2sgrad.legality.complex_values import first_of_real_numbers
from s2sgrad.runtime.results import NoResult
from s2sgrad.runtime.traits import declare
from s2sgrad.source import GENERATED, branches, look_up
from s2sgrad.transform import global_conflicts


class Recipe:
    """A text with the guards under which it is right.  It keeps no function of the user alive.

    `entries` are the indices of the requested functions in the plan, `facts` their properties.
    """

    def __init__(
        self,
        program: Program,
        lookups: Lookups,
        entry: types.FunctionType,
        entries: list[Emitted],
        name: str,
        facts: Facts | None,
    ) -> None:
        strict = {(id(unit.primal.function), n) for unit in program.units for n in unit.made.captured}
        generated = program.generated
        derived = [d for unit in program.units for d in unit.made.derived]
        self.guards = Guards(entry, lookups, strict, derived, generated)
        self.inside = [compiled for _, _, compiled in generated if self.guards.known(compiled.function) is None]
        outside = [
            (function, name)
            for function, name, binding in lookups.names.values()
            if binding is not None and may_hold(binding.value)
        ]
        self.outside = [(self.guards.place(function), name) for function, name in outside]
        program.functions = folded(reached(program.functions, entries), entries)
        self.plan = load.Plan(program, name, self.guards)
        order = {id(emitted): k for k, emitted in enumerate(program.functions)}
        self.entries = [order[id(emitted)] for emitted in entries]
        self.facts = facts
        self.until = raised.Reported.count if branches.codes() else None
        self.shareable = True
        self.lifted = [f for unit in program.units for f in unit.made.lifted]  # kept alive here alone
        self.bound = any(unit.made.bound for unit in program.units)
        self.complex = program.options.complex

    @property
    def is_whole(self) -> bool:
        """Whether no branch was refused."""
        return self.until is None

    @property
    def is_current(self) -> bool:
        """Whether no branch was refused, or nobody has seen why: by now, what was missing may be there."""
        return self.until is None or self.until == raised.Reported.count

    def sealed(self, program: Program) -> Compiled:
        """Instantiate the recipe for the functions that it was compiled from, and drop the references to them."""
        functions = self.guards.sealed()
        self.shareable = self.guards.shareable and not self.bound
        return self.over(functions, [compiled for _, _, compiled in program.generated])

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
    """Properties of a gradient: its seed, whether the result is a real number, the parameters whose arrays it writes,
    whether a differentiated parameter is of unknown kind (each argument is then searched for floats), and the backend that
    rewrote it."""

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

    def shown(self) -> types.FunctionType:
        """The function, with its text restored in linecache, for tools that show it."""
        load.shown(self.function.__code__.co_filename)
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


def compile_gradient(
    function: types.FunctionType,
    kinds: dict[str, Kind],
    wrt: tuple[str, ...],
    options: Options,
    observer: Observer | None = None,
) -> Compiled:
    """Compile the gradient of `function` in the parameters `wrt` for arguments of these kinds.

    The observer is called after every pass, for the function and for those that it calls.
    """

    def compiled(lookups: Lookups) -> Compiled:
        return first_of_real_numbers(
            lambda of_complex: written(lookups, replace(options, complex=of_complex)), options.complex
        )

    def written(lookups: Lookups, options: Options) -> Compiled:
        program, entry, backend = lowering.lowered(function, kinds, wrt, options, observer)
        global_conflicts.check(program.units)
        seed = next(iter(entry.defaults), "")
        unsure = any(isinstance(kinds.get(p.partition("[")[0]), Unknown) for p in wrt)
        again = backend is NUMPY and not (program.keeps_states or options.debug or program.hands_buffers)
        outside = global_conflicts.at_run_time(program.units) if options.forward else None
        asked = options.forward or branches.codes()  # a matrix runs it several times, a refused branch begins again
        repeats = bool(asked) and all(emitted.repeats() for emitted in program.functions)
        own_rules = any(emitted.traits.own_rules for emitted in program.functions)
        facts = Facts(seed, entry.scalar, program.written, unsure, backend, entry.dots, _divides_again(program, entry),
                      again, outside, repeats, options.along, own_rules)  # fmt: skip
        return Recipe(program, lookups, function, [entry], entry.name, facts).sealed(program)

    return with_branches(function, compiled, lambda made: made.made, options.strict)


def _divides_again(program: Program, entry: Emitted) -> bool:
    """Whether a division by zero may give inf in the function, by NumPy's semantics, but raise in the gradient, whose
    default seed is a Python number; and whether the text may safely run twice."""
    parts = (n for emitted in program.functions if entry.numpy for n in nodes(emitted.tree))
    divides = any(isinstance(getattr(n, "op", None), gast.Div) for n in parts)
    return divides and all(emitted.is_repeatable() for emitted in program.functions)


def compile_pair(
    function: types.FunctionType,
    kinds: dict[str, Kind],
    active: set[str],
    debug: bool = False,
    records_all: bool = False,
    of_complex: bool = False,
) -> Compiled:
    """Compile `fwd` and `bwd` of a function in its `active` parameters; they are the two functions in `made`."""

    def compiled(lookups: Lookups) -> Compiled:
        return first_of_real_numbers(lambda found: written(lookups, found), of_complex)

    def written(lookups: Lookups, of_complex: bool) -> Compiled:
        program = Program()
        program.options = Options(debug=debug, records_all=records_all, complex=of_complex)
        pair = program.pair(function, kinds, active, split=True)
        global_conflicts.check(program.units, at_run_time=True)
        restores = any(emitted.traits.restores for emitted in program.functions)  # callees write in their records
        declare(pair.bwd, restores=restores)
        return Recipe(program, lookups, function, [pair.fwd, pair.bwd], pair.bwd.name, None).sealed(program)

    return with_branches(function, compiled, lambda made: made.made)
