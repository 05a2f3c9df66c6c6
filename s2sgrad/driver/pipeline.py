"""The pipeline: every stage from the text of a function to the text of its gradient, in order.

    read -> normal form -> kinds, alias elimination -> legality -> forward and reverse sweep -> clean up -> emit

The user's function, its callees and our own output, differentiated again, all pass through it; `Purpose` says what each is
compiled for.  The tree after each stage can be printed and run.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.analysis import divided, type_tests
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.primitive_calls import own_methods
from s2sgrad.analysis.value_kinds import module_of, opened
from s2sgrad.cleanup import (
    accumulation,
    algebra,
    attribute_writeback,
    closed_slopes,
    coalesce,
    contractions,
    copy_propagation,
    cse,
    deadcode,
    forward_substitution,
    item_loops,
    joint_records,
    kept_states,
    late_zeros,
    one_name,
    peephole,
    recorded_results,
    records_as_read,
    restored_once,
    round_trips,
    seeds,
    shared_inverses,
    shared_values,
    store_forwarding,
    summed_once,
    taken_apart,
    temporaries,
    try_statements,
    twin_stacks,
    uniform,
    unread_copies,
    unread_terms,
    unwritten_copies,
    vectorize,
    whole_restores,
    whole_sums,
    with_statements,
    written_again,
    zeros_alike,
)
from s2sgrad.cleanup import global_names as globals_
from s2sgrad.driver.compilation import Compilation, Kept, Repeated, Stage
from s2sgrad.driver.emitted import LATER
from s2sgrad.inplace import nested_lists, rebind_markers, result_checks
from s2sgrad.inplace.called_once import CalledOnce
from s2sgrad.ir import checkpoints
from s2sgrad.ir.quote import clone, spread_names
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.legality import checks, complex_values
from s2sgrad.legality.context import Context
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.one_object import OneObject
from s2sgrad.memory.outside_kinds import OutsideKinds
from s2sgrad.normalize import check, deletes, item_variables, stop_gradient, temporary_copies, webs
from s2sgrad.normalize._calls import note_receivers
from s2sgrad.normalize.definitions import DEFINITION, STATEMENTS, Pass
from s2sgrad.source import Primal, read
from s2sgrad.specialize import flatten, outlining
from s2sgrad.specialize.unsettled import Unsettled
from s2sgrad.transform import (
    attribute_reads,
    cancelling,
    compounds,
    levels,
    parts,
    shape_obligations,
    shape_refinement,
    sinking,
    value_numbering,
    watches,
)
from s2sgrad.transform.paths import Paths
from s2sgrad.typed import (
    array_likes,
    branch_pruning,
    counted_arguments,
    grown_sequences,
    known_checks,
    list_sections,
    operator_methods,
    row_sums,
    taken_results,
)


def _stages(*passes: tuple[str, Pass], notes: bool = False) -> tuple[Stage, ...]:
    """Stages from passes over a tree; `notes`: they say which statements they change."""

    def stage(name: str, pass_: Pass) -> Stage:
        def run(c: Compilation) -> None:
            c.tree = pass_(c.unit, c.tree)

        return Stage(name, run, notes)

    return tuple(stage(name, pass_) for name, pass_ in passes)


# --- the normal form: a subset of Python, one operation per statement ---


def _read(c: Compilation) -> None:
    """Read the tree, and classify the arguments that are objects or have methods, by their kinds."""
    c.unit, c.tree = Unit.of(c.primal)
    note_receivers(c.unit, c.tree)
    c.unit.names.taken |= {*c.purpose.words}
    check.no_generator(c.unit, c.tree)
    stop_gradient.run(c.unit, c.tree, c.purpose.stops)
    c.unit.arguments.opened, c.unit.arguments.opaque, c.unit.arguments.kinds = _told(c)


def _told(c: Compilation) -> tuple[dict[str, Any], set[str], dict[str, Kind]]:
    """What the kinds say before the text is read: the arguments that are objects, those that have methods, and what
    tests of their types may ask, and calls that spread them."""
    kinds = c.given or {}
    opened_by_name = {p: module_of(kind) or opened(kind) for p, kind in kinds.items()}
    opened_by_name = {p: module for p, module in opened_by_name.items() if module}
    spread = spread_names(c.primal.tree)
    of_types = {p: coarse for p, kind in kinds.items() if (coarse := type_tests.coarse(kind, p in spread)) is not None}
    return opened_by_name, set(own_methods(kinds)) - opened_by_name.keys(), of_types


def _follows_from(c: Compilation) -> Any:
    """What the normal form of a function follows from; None where objects are among it."""
    objects, others, of_types = _told(c)
    what = frozenset(others), frozenset(of_types.items()), frozenset(c.purpose.words), c.purpose.stops
    return None if objects else (id(c.primal), *what)


def _note(c: Compilation) -> None:
    c.callees.note(c.unit)
    c.tree = clone(c.tree)  # a shared node would be changed in both places


def _flatten(c: Compilation) -> None:
    """Partial evaluation, started over whenever the text turns out to mean what must be known before it is read."""
    while True:
        try:
            c.tree = flatten.run(c.unit, c.tree)
            return
        except Unsettled as found:
            drawn = c.unit.definitions.drawn_at | found.drawn
        _read(c)
        c.unit.definitions.drawn_at = drawn
        for stage in SYNTAX:
            stage.run(c)


SYNTAX: tuple[Stage, ...] = _stages(*DEFINITION, *STATEMENTS)

NORMALIZE: tuple[Stage, ...] = (
    *SYNTAX,
    Stage("flatten", _flatten),
    *_stages(("deletes", deletes.run), ("webs", webs.run), ("temporary_copies", temporary_copies.run)),
    *_stages(("item_variables", item_variables.run)),
)

READ: tuple[Kept | Stage, ...] = (Kept((Stage("reading", _read), *NORMALIZE), _follows_from), Stage("dependencies", _note))


# --- kinds, and one name for each location that is written: each of the two may give the other more to do ---


def _infer(c: Compilation) -> None:
    given = c.given or {}
    kinds = {p.id: given.get(p.id, UNKNOWN) for p in parameters(c.tree)}
    c.inference = Inference(
        c.unit,
        kinds,
        c.callees.kind,
        OneObject,
        OutsideKinds(c.unit, c.tree, c.callees.entry),
    )
    c.inference.run(c.tree)


def _outline(c: Compilation) -> None:
    if outlining.repeated(c.unit):
        _infer(c)
        outlining.run(c.unit, c.tree, c.kinds)


def _typed(pass_: Callable[[Unit, gast.FunctionDef, Inference], bool | None]) -> Callable[[Compilation], bool | None]:
    return lambda c: pass_(c.unit, c.tree, c.inference)


def _prune(c: Compilation) -> bool:
    """Without its other branch, a test for None may separate what is passed for a parameter from what takes its place."""
    changed = branch_pruning.run(c.unit, c.tree, c.inference)
    if changed:
        webs.run(c.unit, c.tree)
    return changed


def _write_out(c: Compilation) -> bool:
    """Write out what is called once, where each function does not check its own values."""
    if not c.purpose.differentiates or c.callees.options.debug:
        return False
    return CalledOnce(c.aliases.writers(c.unit, c.kinds), c.purpose.wrt(c), c.callees.entry).run(c.tree)


SETTLE: tuple[Stage | Repeated, ...] = (
    Stage("ending", lambda c: c.purpose.end(c)),
    Repeated((
        Stage("kinds", _infer),
        Stage("branch_pruning", _prune),
        Stage("operator_methods", _typed(operator_methods.run)),
        Stage("counted_arguments", _typed(counted_arguments.run)),
        Stage("array_likes", _typed(array_likes.run)),
        Stage("list_sections", _typed(list_sections.run)),
        Stage("grown_sequences", _typed(grown_sequences.run)),
        Stage("known_checks", _typed(known_checks.run)),
        Stage("taken_results", _typed(taken_results.run)),
        Stage("row_sums", _typed(row_sums.run)),
        Stage("item_updates", lambda c: nested_lists.check_updates(c.unit, c.tree, c.kinds)),
        Stage("nested_lists", lambda c: nested_lists.merge_names(c.unit, c.tree, c.kinds)),
        Stage("inline_writers", lambda c: c.aliases.writers(c.unit, c.kinds).run(c.tree)),
        Stage("called_once", _write_out),
        Stage("alias_elimination", lambda c: c.aliases.run(c.unit, c.tree, c.inference)),
    )),
    Stage("stretched_stores", _typed(array_likes.check_stores)),
    Stage("result_checks", lambda c: result_checks.run(c.unit, c.tree, c.kinds, c.aliases.knots)),
    Stage("rebind_markers", lambda c: rebind_markers.drop(c.unit, c.tree, c.kinds)),
)  # fmt: skip


# --- the adjoint ---


def _require(c: Compilation) -> None:
    c.purpose.require(c)
    c.unit.kinds = c.kinds
    if c.purpose.forward or c.callees.options.records_all:
        checkpoints.remove_checkpoints(c.unit, c.tree)
    elif checkpoints.checkpointed_loops(c.unit, c.tree):
        c.callees.keeps_states = True
    c.unit.derivative.complex = c.callees.options.complex
    complex_values.require_real(c.unit, [c.kinds.get(parameter) for parameter in c.purpose.wrt(c)])
    c.callees.choose_backend(c.unit, c.tree, c.kinds)


def _name_attributes(c: Compilation) -> None:
    if c.purpose.kept_apart:
        attribute_reads.run(c.unit, c.tree, c.inference)


def _sink(c: Compilation) -> None:
    sinking.run(c.unit, c.tree, c.inference, c.purpose.wrt(c))


def _number(c: Compilation) -> None:
    value_numbering.run(c.unit, c.tree, c.inference, c.purpose.wrt(c))


def _shapes(c: Compilation) -> None:
    """Mark operations that may raise because of their shapes; narrow shapes by what stores imply."""
    c.paths = Paths(c.unit, c.tree, c.inference, c.purpose.wrt(c))
    c.unit.derivative.nonzero = divided.divisors(c.tree.body, c.inference.kind)
    shape_obligations.mark(c.tree, c.inference, c.paths.operations)
    shape_refinement.narrow(c.tree, c.inference, c.paths.operations)


def _legality(c: Compilation) -> None:
    """Refuse what would give a wrong number, or check it when the function runs."""
    context = Context(c.unit, c.tree, c.kinds, c.callees, c.paths, c.purpose.forward, c.purpose.again)
    complex_values.require_one_name(context)
    if checks.run(context, c.inference):
        _shapes(c)


def _parts(c: Compilation) -> None:
    """Give the items of containers adjoints of their own."""
    if not c.purpose.forward and parts.run(c.unit, c.tree, c.inference, c.paths, not c.purpose.inner):
        each = c.paths.each
        c.paths = Paths(c.unit, c.tree, c.inference, c.purpose.wrt(c))
        c.paths.each |= each


def _reverse(c: Compilation) -> None:
    c.tree = clone(c.purpose.reverse(c))  # a shared node would be renamed twice
    parts.written_again(c.tree, c.kinds)


def _compounds(c: Compilation) -> None:
    """Differentiate what cancels, powers of roots, and what levels off, as what they are."""
    if c.unit.derivative.complex:
        compounds.run_of_complex(c.paths)
        return
    cancelling.run(c.paths)
    compounds.run(c.paths)
    levels.run(c.paths)


TRANSFORM: tuple[Stage, ...] = (
    Stage("arguments", _require),
    Stage("attribute_reads", _name_attributes),
    Stage("sinking", _sink),
    Stage("value_numbering", _number),
    Stage("shapes", _shapes),
    Stage("legality", _legality),
    Stage("parts", _parts),
    Stage("compounds", _compounds),
    Stage("reverse", _reverse),
)


# --- optimizations ---


def _memory(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Compute the aliasing that passes which move or remove statements ask about."""
    unit.memory = Memory(unit, tree, unit.kinds)
    return tree


def _share(c: Compilation) -> None:
    """Share values between the sweeps, where no record would have to hold them."""
    if not (c.purpose.inner or c.purpose.again or c.purpose.forward):
        c.tree = shared_values.run(c.unit, c.tree)


def _share_inverses(c: Compilation) -> None:
    """Multiply by inverses that are computed anyway."""
    if not (c.purpose.inner or c.purpose.again or c.purpose.forward):
        c.tree = shared_inverses.run(c.unit, c.tree)


CLEANUP: tuple[Stage, ...] = (
    *_stages(
        ("webs", webs.run),
        ("taken_apart", taken_apart.run),
        ("unread_terms", unread_terms.run),
        ("aliasing", _memory),
        ("zeros_alike", zeros_alike.run),
        ("deadcode", deadcode.run),
        ("round_trips", round_trips.run),
        ("store_forwarding", store_forwarding.run),
        ("cse", cse.run),
        ("uniform", uniform.run),
        ("copy_propagation", copy_propagation.run),
        ("deadcode", deadcode.run),
        ("summed_once", summed_once.run),
        ("recorded_results", recorded_results.run),
        notes=True,
    ),
    Stage("shared_values", _share, True),
    Stage("shared_inverses", _share_inverses, True),
    *_stages(
        ("conditionals", peephole.conditionals),
        ("unpackings", peephole.unpackings),
        ("forward_substitution", forward_substitution.run),
        ("augmented", peephole.augmented),
        ("closed_slopes", closed_slopes.run),
        ("recorded_results", recorded_results.run_again),
        ("algebra", algebra.run),
        ("contractions", contractions.run),
        ("written_again", written_again.run),
        ("deadcode", deadcode.run),
        ("unwritten_copies", unwritten_copies.run),
        notes=True,
    ),
)


def _lower(c: Compilation) -> None:
    if c.unit.mirror.names:  # another name may read the array that a list would copy
        return
    if c.callees.backend.lower(c.unit, c.tree):
        c.emitted.backend = c.callees.backend


def _watch(c: Compilation) -> None:
    """Check each intermediate value, under `debug`."""
    if c.callees.options.debug:
        watches.run(c.unit, c.tree)


FINISH: tuple[Stage, ...] = (
    *_stages(("vectorize", vectorize.run), ("accumulation", accumulation.run)),
    *_stages(("whole_restores", whole_restores.run), ("restored_once", restored_once.run)),
    Stage("backend", _lower),
    *_stages(
        ("late_zeros", late_zeros.run),
        ("written_again", written_again.elements),
        ("whole_sums", whole_sums.run),
        ("item_reads", item_loops.advance),
        ("records_as_read", records_as_read.run),
        ("coalesce", coalesce.run),
        ("branches", peephole.branches),
        ("directly", peephole.directly),
        ("joint_records", joint_records.run),
        ("twin_stacks", twin_stacks.run),
        ("scattered", peephole.scattered),
        ("seeds", seeds.run),
        ("one_name", one_name.run),
        ("unread_copies", unread_copies.run),
        ("temporaries", temporaries.run),
        ("kept_states", kept_states.run),
        ("try_statements", try_statements.run),
        ("with_statements", with_statements.run),
        ("global_names", globals_.run),
        ("attribute_writeback", attribute_writeback.run),
    ),
    Stage("watches", _watch),
)

KINDS: tuple[Kept | Stage, ...] = (*READ, Stage("kinds", _infer))
KNOWN: tuple[Kept | Stage | Repeated, ...] = (*READ, Stage("outlining", _outline), *SETTLE)
OPTIMIZE: tuple[Stage, ...] = (*CLEANUP, Stage("cut", lambda c: c.purpose.cut(c)), *FINISH)
PIPELINE: tuple[Kept | Stage | Repeated, ...] = (*KNOWN, *TRANSFORM, *OPTIMIZE)


# --- inspection ---


def normalizing(primal: Primal) -> Iterator[tuple[str, Unit, gast.FunctionDef]]:
    """Every stage of normalization: its name and the tree after it (which later stages change)."""
    c = Compilation(primal, LATER, None)
    _read(c)
    for stage in NORMALIZE:
        stage.run(c)
        yield stage.name, c.unit, c.tree


def shown(text: str, stage: str) -> str:
    """The text of a function after the named pass, for the doctests that open each pass."""
    function = defined(text)
    for name, _, tree in normalizing(read(function)):
        if name == stage:
            return emit.function(tree).rstrip()
    raise ValueError(f"no pass is called {stage!r}")


def defined(text: str) -> types.FunctionType:
    """The last function defined by a text, with NumPy as `np`."""
    import math

    import numpy as np

    filename = "<example>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"np": np, "math": math, "__name__": "example"}
    exec(compile(text, filename, "exec"), space)
    return [v for v in space.values() if isinstance(v, types.FunctionType)][-1]
