"""Which part of a result is differentiated: all of it, which must contain floats, or the first of a pair (`has_aux`).

return loss, {"steps": n}      ->      value = loss; aux = {"steps": n}; return value
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NoReturn

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.floating import is_floating_kind
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, Unknown
from s2sgrad.analysis.type_text import known_type, without_derivative
from s2sgrad.errors import Refused
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import alone, bound_name
from s2sgrad.ir.quote import assign, at, constant, name, rewritten
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import results
from s2sgrad.runtime.checks import Refusal
from s2sgrad.transform import escape_copies
from s2sgrad.transform.records import Records
from s2sgrad.transform.reverse import Swept


class Split:
    """Makes a function return the first of the pair that it returns; `aux` is the name of the second."""

    def __init__(self) -> None:
        self.result = self.aux = self.value = ""

    def run(self, unit: Unit, tree: gast.FunctionDef) -> None:
        """Split the pair where a function in normal form builds it, otherwise at the end."""
        last = tree.body[-1]
        self.result = last.value.id
        self.value, self.aux = unit.local("value"), unit.local("aux")
        made = [s for s in effects.walk(tree.body) if self.result in binds(s)]
        read = [n for s in effects.walk(tree.body) for n in effects.loads(effects.header(s)) if n.id == self.result]
        if len(read) == 1 and made and all(map(_is_pair, made)):
            tree.body = rewritten(tree.body, self.each)
            tree.body[-1:] = at(last, gast.Return(name(self.value)))
            return
        check = gast.Expr(call(unit, "pair", results.pair, name(self.result), constant(unit.primal.function.__name__)))
        parts = [gast.Subscript(name(self.result), constant(k), gast.Load()) for k in range(2)]
        tree.body[-1:] = at(last, check, *self.parts(*parts), gast.Return(name(self.value)))

    def each(self, statement: gast.AST) -> list[gast.AST]:
        """A statement; for the display of the pair, value and aux are bound instead."""
        return at(statement, *self.parts(*statement.value.elts)) if self.result in binds(statement) else [statement]

    def parts(self, first: gast.AST, second: gast.AST) -> tuple[gast.AST, gast.AST]:
        """The assignments to value and aux."""
        return assign(self.value, first), assign(self.aux, second)

    def check(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        """Remove the check of a result that is known to be a pair; raise TypeError for one that is known not to be."""
        checks = [s for s in tree.body if _is_check(unit, s)]
        kind = kinds.get(self.result) or UNKNOWN
        if not checks or isinstance(kind, Unknown) or (isinstance(kind, Container) and kind.items is None):
            return
        if not isinstance(kind, Container) or kind.type not in (tuple, list):
            _refuse(unit, tree, results.NoPair(known_type(kind), unit.primal.function.__name__))
        if len(kind.items or ()) != 2:
            held = f"{known_type(kind)} of {len(kind.items or ())}"
            _refuse(unit, tree, results.NoPair(held, unit.primal.function.__name__))
        tree.body.remove(checks[0])


def _is_pair(statement: gast.AST) -> bool:
    value: Any = getattr(statement, "value", None)
    display = bound_name(statement) is not None and isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == 2
    return display and not any(isinstance(e, gast.Starred) for e in value.elts)


def _refuse(unit: Unit, tree: gast.FunctionDef, refusal: Refusal) -> NoReturn:
    error = Refused(refusal.message, unit.place(tree.body[-1]))
    error.is_of_run = False
    raise error


def _is_check(unit: Unit, statement: gast.AST) -> bool:
    return unit.called(alone(statement)) is results.pair


def require_untouched(unit: Unit, tree: gast.FunctionDef, written: dict[str, gast.AST]) -> None:
    """Refuse a called function that writes its arguments (`written`) or attributes of objects."""
    for parameter, statement in written.items():
        if unit.primal.is_generated:  # names of ours
            unit.refuse(statement, "the second derivative of what writes memory that it is given, and calls itself, is not "
                                   "followed here: return new values from it")  # fmt: skip
        own = unit.primal.function.__name__
        what = f"this writes the argument `{parameter}` of `{own}`, which its pullback cannot take back"
        unit.refuse(statement, f"{what}: write a copy, `{parameter} = {parameter}.copy()`, and return what is wanted")
    if any(value is runtime.set_attribute for value in unit.helpers.values()):
        unit.refuse(tree, "attributes of the caller's objects are written by a function that is not written out where it is "
                          "called, which is not differentiated yet: return the values")  # fmt: skip


def require(
    unit: Unit,
    tree: gast.FunctionDef,
    kinds: dict[str, Kind],
    split: Split | None,
    written: Collection[str],
    outputs: str | tuple[str, ...] | None,
) -> None:
    """Raise TypeError where nothing in a result of its kind can be differentiated, where it is no pair to be `split`, and
    where `outputs` names an argument that is not written.
    """
    if split is not None:
        split.check(unit, tree, kinds)
    for p in (outputs,) if isinstance(outputs, str) else outputs or ():
        if p not in written and isinstance(kinds.get(p), (Number, Array)):
            _refuse(unit, tree, results.NotWritten(p, known_type(kinds[p]), unit.primal.function.__name__))
    if what := without_derivative(kinds.get(tree.body[-1].value.id)):
        _refuse_stores(unit, tree, kinds)
        _refuse(unit, tree, results.NoResult(what, unit.primal.function.__name__, written))


def _refuse_stores(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
    """Refuse the first store of floats into an array of integers, by which a result may have lost its derivative."""
    for statement in effects.walk(tree.body):
        target = getattr(statement, "targets", [None])[0]
        if isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name):
            kind = kinds.get(target.value.id)
            stores_floats = any(is_floating_kind(kinds.get(n.id)) for n in effects.loads(statement.value))
            if isinstance(kind, Array) and kind.dtype is not None and np.dtype(kind.dtype).kind in "iub" and stores_floats:
                what = f"`{target.value.id}` is an array of {kind.dtype}, which keeps no derivative of floats stored in it"
                raise Refused(f"{what}: make it an array of floats, `dtype=float`", unit.place(statement))


def beside(
    unit: Unit, records: Records, swept: Swept, value: bool, split: Split | None, gradients: gast.AST
) -> tuple[list[gast.AST], gast.AST]:
    """(the end of the forward sweep, the returned expression): the gradients, with value and aux if they are wanted."""
    out: list[gast.AST] = []
    given: list[gast.AST] = []
    wanted = {"value": swept.result} if value else {}
    for base, local in (wanted if split is None else {**wanted, "aux": split.aux}).items():
        kept = escape_copies.value(unit, records, name(local), swept.kinds.get(local, UNKNOWN))
        given.append(name(unit.local(base)))
        out.append(assign(given[-1].id, kept))
    if value:
        return out, gast.Tuple([gast.Tuple(given, gast.Load()) if split else given[0], gradients], gast.Load())
    return out, gast.Tuple([gradients, *given], gast.Load()) if split else gradients


def checks(unit: Unit, result: str, kind: Kind | None, active: bool) -> list[gast.AST]:
    """A run-time check that a result which depends on no differentiated argument is a float, unless its kind says so."""
    if not is_flat(kind, active):
        return []
    name_ = constant(unit.primal.function.__name__)
    return [gast.Expr(call(unit, "require_floats", results.require_floats, name(result), name_))]


def is_flat(kind: Kind | None, active: bool) -> bool:
    """Whether a result of this kind may be without floats, so that it must be checked or refused."""
    return bool(without_derivative(kind)) or (not active and not isinstance(kind, (Number, Array)))
