"""Refusals: errors with the place where the user can act, and with the places where the construct was read.

    def f(x): return g(x)      ->      the origins of `rare(x)`, where `g(x)` is written out: its place in `g`, then that of
    def g(x): return rare(x)           `g(x)` in `f`

Whether a refusal holds for a branch alone depends on the branches around all of these places (`source.branches`).
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.errors import NoRule, Place, S2SGradError, raised
from s2sgrad.ir import advice, notes, relatives
from s2sgrad.ir.quote import at, call_around, constant, name, nodes, placed
from s2sgrad.ir.unit_records import MISSING
from s2sgrad.rules import table
from s2sgrad.runtime.checks import Refusal
from s2sgrad.source import Primal


def refusal(unit: Any, of_class: type[S2SGradError], node: gast.AST, message: str) -> S2SGradError:
    """The error for a construct of a unit; for one without a rule, and for a lambda that is an argument, with advice."""
    error, primal = of_class(unit.said(message, node), unit.place(node)), getattr(node, "primal", unit.primal)
    error.reason, error.origins = unit.worded(message), _origins(unit, node)
    call = node if of_class is NoRule else call_around(primal.tree, node) if isinstance(node, gast.Lambda) else None
    if isinstance(call, gast.Call) and hasattr(call, "lineno"):
        _advise(error, primal, call, _makes_an_object(unit.called(call)))
    if of_class is NoRule and isinstance(node, gast.Call):
        _name_a_relative(error, unit.called(node))
    return error


def _name_a_relative(error: Exception, target: Any) -> None:
    """Add the nearest function that has a rule to the error for one without."""
    if target is not MISSING and table.lookup(target) is None and (line := relatives.told(target)):
        error.add_note(line)


def through(unit: Any, error: S2SGradError, node: gast.AST) -> S2SGradError:
    """An error in what `node` calls: if that is a library, which the user cannot change, it is one of the call."""
    error.origins += _origins(unit, node)
    place = unit.place(node)
    if error.place is None or not raised.is_installed(error.place.file) or raised.is_installed(place.file):
        return error
    message = raised.in_library(error.message, error.place.file, error.place.line)
    found, primal = type(error)(message, place), getattr(node, "primal", unit.primal)
    found.origins, found.reason = error.origins, error.reason
    for call in [n for n in nodes(node) if isinstance(n, gast.Call) and hasattr(n, "lineno")][:1]:
        _advise(found, primal, call)
    return found


def _makes_an_object(target: Any) -> bool:
    """Whether a class is called, of whose instances there are no cotangents."""
    return isinstance(target, type) and not issubclass(target, (np.ndarray, np.generic, int, float, complex, list, tuple))


def _advise(error: Exception, primal: Primal, call: gast.Call, makes: bool = False) -> None:
    """Add the lines that give the callee a gradient to an error."""
    asked = call if makes else _with_what_is_read(primal, call)
    lines = "" if primal.is_generated else advice.for_call(primal.text(asked), primal.function, makes)
    if lines:
        error.add_note(lines)


def _with_what_is_read(primal: Primal, call: gast.AST) -> gast.AST:
    """A call with the items and attributes that the text reads of its result at once: `qz(a, b)[0]`."""
    read = [n for n in nodes(primal.tree) if isinstance(n, (gast.Attribute, gast.Subscript)) and hasattr(n, "lineno")]
    while True:
        around = [n for n in read if _ends(n.value) == _ends(call) and not _is_computed(n)]
        if not around or around[0] is call:
            return call
        call = around[0]


def _ends(node: gast.AST) -> tuple[Any, ...]:
    return tuple(getattr(node, where, None) for where in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _is_computed(node: gast.Attribute | gast.Subscript) -> bool:
    """Whether an index is none of the text."""
    return isinstance(node, gast.Subscript) and any(isinstance(n, (gast.Name, gast.Call)) for n in nodes(node.slice))


def first_placed(primal: Primal, node: gast.AST) -> tuple[gast.AST, Primal]:
    """The first part of `node` that has a position, and the function that it was read in, by default `primal`."""
    part = node if hasattr(node, "lineno") else next((n for n in nodes(node) if hasattr(n, "lineno")), primal.tree)
    return part, getattr(part, "primal", primal)


def _origins(unit: Any, node: gast.AST) -> list[Place]:
    """The places of a construct and of the calls that were written out around it, innermost first."""
    out: list[Place] = []
    first, _ = first_placed(unit.primal, node)
    for found in (first, *unit.inlining.callers.get(getattr(first, "written_out", 0), ())):
        part, home = first_placed(unit.primal, found)
        place = home.place(part)
        if (read := notes.READ_AT.of(part)) is not None:
            home, line, column = read
            place = place._replace(file=home.file, line=line, column=column)
        out.append(place)
    return out


def move(primal: Primal, tree: gast.AST, call: gast.AST, number: Any) -> None:
    """Give all of a library's text the position and the number of the user's call; where it was read is kept."""
    for node in [part for part in nodes(tree) if hasattr(part, "lineno")]:
        notes.READ_AT.put(node, notes.READ_AT.of(node) or (primal, node.lineno, node.col_offset))
        at(call, node)[0].written_out = number


def written(unit: Any, tree: gast.FunctionDef) -> None:
    """Let the statements in place of refused branches raise the refusals, and the calls in place of refused arms be them."""
    refused = unit.primal.refusals
    for node in [n for n in nodes(tree) if isinstance(n, (gast.Raise, gast.Call))] if refused else ():
        where = (node.lineno, node.col_offset)
        where += () if isinstance(node, gast.Raise) else (node.end_lineno, node.end_col_offset)
        reason, line = refused.get(where, ("", 0))
        if not line:
            continue
        arguments = [constant(line), constant(reason)]
        if isinstance(node, gast.Raise):
            node.exc = placed(node, gast.Call(name(unit.helper("Refusal", Refusal)), arguments, []))
        else:
            node.func, node.args = placed(node, name(unit.helper("Refusal", Refusal))), [placed(node, a) for a in arguments]


def refused(unit: Any, node: gast.AST) -> gast.Raise | None:
    """The statement that raises the refusal in place of an arm of a conditional expression; None for any other value."""
    is_one = isinstance(node, gast.Call) and unit.resolve(node.func) is Refusal
    return gast.Raise(node, None) if is_one else None
