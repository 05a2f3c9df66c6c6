"""The passes, in order, and the way to look at any of them.

    source -> normalize -> (analyze) -> transform -> clean up -> record -> emit -> load
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.cleanup import (
    accumulation,
    algebra,
    attribute_writeback,
    coalesce,
    contractions,
    copy_propagation,
    cse,
    deadcode,
    forward_substitution,
    peephole,
    store_forwarding,
    vectorize,
    with_statements,
)
from s2sgrad.cleanup import global_names as globals_
from s2sgrad.ir.quote import clone
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.normalize import (
    alpha_renaming,
    check,
    default_dicts,
    deletes,
    drawing,
    flatten,
    global_names,
    imports,
    library_desugaring,
    loops,
    match_statements,
    module_values,
    single_exit,
    stop_gradient,
    targets,
    temporary_copies,
    try_except,
    webs,
)
from s2sgrad.normalize import with_statements as with_
from s2sgrad.source import Primal, read

Pass = Callable[[Unit, gast.FunctionDef], gast.FunctionDef]
Observer = Callable[[str, Unit, gast.FunctionDef], None]  # is shown the tree after each pass; the tree goes on being changed

NORMALIZE: tuple[tuple[str, Pass], ...] = (
    ("match_statements", match_statements.run),
    ("module_values", module_values.run),
    ("imports", imports.run),
    ("try_except", try_except.run),
    ("with_statements", with_.run),
    ("global_names", global_names.run),
    ("default_dicts", default_dicts.run),
    ("check", check.run),
    ("drawing", drawing.run),
    ("library_desugaring", library_desugaring.run),
    ("alpha_renaming", alpha_renaming.run),
    ("targets", targets.run),
    ("loops", loops.run),
    ("single_exit", single_exit.run),
    ("flatten", flatten.run),
    ("deletes", deletes.run),
    ("webs", webs.run),
    ("temporary_copies", temporary_copies.run),
)



def _memory(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Find out who shares whose memory; the passes that move and remove statements ask."""
    unit.memory = Memory(unit, tree, unit.kinds)
    return tree


CLEANUP: tuple[tuple[str, Pass], ...] = (
    ("webs", webs.run),
    ("aliasing", _memory),
    ("deadcode", deadcode.run),
    ("store_forwarding", store_forwarding.run),
    ("cse", cse.run),
    ("copy_propagation", copy_propagation.run),
    ("deadcode", deadcode.run),
    ("conditionals", peephole.conditionals),
    ("unpackings", peephole.unpackings),
    ("forward_substitution", forward_substitution.run),
    ("augmented", peephole.augmented),
    ("algebra", algebra.run),
    ("contractions", contractions.run),
    ("deadcode", deadcode.run),
)

IMPROVE: tuple[tuple[str, Pass], ...] = (
    ("vectorize", vectorize.run),
    ("accumulation", accumulation.run),
)

FINISH: tuple[tuple[str, Pass], ...] = (
    ("coalesce", coalesce.run),
    ("branches", peephole.branches),
    ("with_statements", with_statements.run),
    ("global_names", globals_.run),
    ("attribute_writeback", attribute_writeback.run),
)


def cleaned(unit: Unit, tree: gast.FunctionDef, observer: Observer | None = None) -> gast.FunctionDef:
    """A function and its adjoint without dead code, copies and needless temporaries."""
    return _after(CLEANUP, unit, clone(tree), observer)  # a node that stands in two places would be renamed twice


def finished(unit: Unit, tree: gast.FunctionDef, lower: Pass, observer: Observer | None = None) -> gast.FunctionDef:
    """The function as a backend has it, under its final names."""
    return _after((*IMPROVE, ("backend", lower), *FINISH), unit, tree, observer)


def _after(
    passes: tuple[tuple[str, Pass], ...], unit: Unit, tree: gast.FunctionDef, observer: Observer | None
) -> gast.FunctionDef:
    for name, run in passes:
        tree = run(unit, tree)
        if observer is not None:
            observer(name, unit, tree)
    return tree


def normalized(
    primal: Primal, opened: dict[str, Any] | None = None, stops: tuple[str, ...] = (), opaque: Iterable[str] = ()
) -> tuple[Unit, gast.FunctionDef]:
    """The normal form of a function and its side tables; `opened` says what those arguments hold that are objects, `stops`
    are variables through which no gradient flows, `opaque` those that may have methods of their own."""
    unit, tree = Unit.of(primal)
    stop_gradient.run(unit, tree, stops)
    unit.opened, unit.opaque = opened or {}, set(opaque) - (opened or {}).keys()
    for _, run in NORMALIZE:
        tree = run(unit, tree)
    return unit, tree


def normalizing(primal: Primal) -> Iterator[tuple[str, Unit, gast.FunctionDef]]:
    """Every stage of normalization: its name and the tree after it (the tree goes on being changed)."""
    unit, tree = Unit.of(primal)
    for name, run in NORMALIZE:
        tree = run(unit, tree)
        yield name, unit, tree


def shown(text: str, stage: str) -> str:
    """The text of a function after the named pass: for the examples that open each pass."""
    function = _defined(text)
    for name, _, tree in normalizing(read(function)):
        if name == stage:
            return emit.function(tree).rstrip()
    raise ValueError(f"no pass is called {stage!r}")


def _defined(text: str) -> types.FunctionType:
    """The last function that a piece of text defines, with NumPy as `np`."""
    import math

    import numpy as np

    filename = "<example>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"np": np, "math": math, "__name__": "example"}
    exec(compile(text, filename, "exec"), space)
    return [v for v in space.values() if isinstance(v, types.FunctionType)][-1]
