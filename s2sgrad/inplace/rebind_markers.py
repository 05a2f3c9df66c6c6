"""Statements that only say that a list is bound anew where the user changes it; they are left out in the end.

    resizes(xs); xs_2 = [v] + xs      said by `normalize.containers` of      xs.insert(0, v)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import nested
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.unbroadcasting import relation


def is_said(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement is one of these."""
    return unit.called(alone(statement)) is runtime.resizes


def lasting(unit: Unit, tree: gast.FunctionDef, copied: set[str]) -> set[str]:
    """Those of `copied`, names that stand for another one, of which no such statement says that its list is changed: after
    that the two are not the same."""
    statements = list(effects.walk(tree.body))
    anew = {s.value.args[0].id for s in statements if is_said(unit, s)}
    of_them = [s for s in statements if isinstance(s, gast.Assign) and getattr(s.value, "id", None) in anew]
    return copied - {target for s in of_them for target in effects.targets(s)}


def drop(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
    """Leave out these statements, and the checks that the kinds make needless."""
    for body in nested(tree.body):
        body[:] = [s for s in body if not is_said(unit, s) and not is_checked(unit, s, kinds)]


def is_checked(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a statement checks what the kinds say: that a list or a dict has Python's own methods, that a tangent has the
    shape of its primal."""
    call = alone(statement)
    if unit.called(call) is runtime.tangent_fits:
        primal, tangent = (kinds.get(getattr(a, "id", ""), constant_kind(getattr(a, "value", None))) for a in call.args[:2])
        return relation(tangent, primal) == "same"
    if unit.called(call) is not runtime.replaces:
        return False
    return unit.primal.is_generated or isinstance(kinds.get(call.args[0].id), Container)
