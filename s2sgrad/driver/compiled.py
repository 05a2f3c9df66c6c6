"""Compiles a gradient, or a pair: all passes, the text, and the recipe that keeps it.

grad(f), for these kinds      ->      Compiled, with `f_grad`
"""

from __future__ import annotations

import types
from dataclasses import replace

import gast

from s2sgrad.analysis.kinds import Kind, Unknown
from s2sgrad.analysis.reached_codes import may_hold
from s2sgrad.backends import NUMPY
from s2sgrad.driver import load, lowering
from s2sgrad.driver.attempts import with_branches
from s2sgrad.driver.compilation import Observer
from s2sgrad.driver.emitted import Emitted, reached
from s2sgrad.driver.folding import folded
from s2sgrad.driver.guards import Guards
from s2sgrad.driver.options import Options
from s2sgrad.driver.program import Program
from s2sgrad.driver.recipe import Compiled, Facts, Recipe, note
from s2sgrad.errors import raised
from s2sgrad.ir.lookups import Lookups
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.signatures import defaults_of
from s2sgrad.legality.complex_values import first_of_real_numbers
from s2sgrad.runtime.traits import declare
from s2sgrad.source import branches, read
from s2sgrad.transform import global_conflicts


def _kept(
    program: Program,
    lookups: Lookups,
    entry: types.FunctionType,
    entries: list[Emitted],
    name: str,
    facts: Facts | None,
    by_default: bool = False,
) -> Compiled:
    """The text of a program as a recipe, over the functions that it was compiled from; `by_default`: it knows the defaults
    of the first of these."""
    strict = {(id(unit.primal.function), n) for unit in program.units for n in unit.made.captured}
    generated = program.generated
    derived = [d for unit in program.units for d in unit.made.derived]
    guards = Guards(entry, lookups, strict, derived, generated, by_default)
    inside = [compiled for _, _, compiled in generated if guards.known(compiled.function) is None]
    outside = [
        (guards.place(function), name)
        for function, name, binding in lookups.names.values()
        if binding is not None and may_hold(binding.value)
    ]
    program.functions = folded(reached(program.functions, entries), entries)
    plan = load.plan_of(program, name, guards)
    order = {id(emitted): k for k, emitted in enumerate(program.functions)}
    recipe = Recipe(guards, plan, [order[id(e)] for e in entries], facts, outside, program.options.complex)
    recipe.inside = inside
    recipe.until = raised.Reported.count if branches.codes() else None
    recipe.lifted = [f for unit in program.units for f in unit.made.lifted]
    recipe.bound = any(unit.made.bound for unit in program.units)
    note(lookups, strict, not (generated or derived))
    return recipe.sealed([compiled for _, _, compiled in generated])


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
        return _kept(program, lookups, function, [entry], entry.name, facts)

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
        left = {p: v for p, v in defaults_of(function).items() if p not in kinds}
        numbers = all(isinstance(v, (float, int)) for v in left.values()) and not read(function).is_generated
        return _kept(program, lookups, function, [pair.fwd, pair.bwd], pair.bwd.name, None, bool(left) and not numbers)

    return with_branches(function, compiled, lambda made: made.made)
