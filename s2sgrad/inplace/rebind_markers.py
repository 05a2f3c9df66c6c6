"""Markers for a list that is rebound where the user's text changes it in place; they are removed at the end.

resizes(xs); xs_2 = [v] + xs      written by `normalize.containers` for      xs.insert(0, v)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import nested
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.unbroadcasting import relation


def is_marker(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement is such a marker."""
    return unit.called(alone(statement)) is runtime.resizes


def lasting(unit: Unit, tree: gast.FunctionDef, copied: set[str]) -> set[str]:
    """Those of the names `copied`, each a copy of another name, that stay copies: no marker says that their list is
    changed."""
    statements = list(effects.walk(tree.body))
    anew = {s.value.args[0].id for s in statements if is_marker(unit, s)}
    of_them = [s for s in statements if isinstance(s, gast.Assign) and getattr(s.value, "id", None) in anew]
    return copied - {target for s in of_them for target in effects.targets(s)}


def drop(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
    """Remove the markers, and the checks that are redundant for these kinds."""
    for body in nested(tree.body):
        body[:] = [s for s in body if not is_marker(unit, s) and not is_redundant(unit, s, kinds)]


def is_redundant(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a run-time check always succeeds for these kinds: that a list or dict has Python's own methods, or that a
    tangent has the shape of its primal.
    """
    call: Any = alone(statement)
    if unit.called(call) is runtime.tangent_fits:
        primal, tangent = (kinds.get(getattr(a, "id", ""), constant_kind(getattr(a, "value", None))) for a in call.args[:2])
        return relation(tangent, primal) == "same"
    if unit.called(call) is not runtime.replaces:
        return False
    return unit.primal.is_generated or isinstance(kinds.get(call.args[0].id), Container)
