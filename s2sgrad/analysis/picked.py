"""Indices made from a mask: which elements they pick is told by values, as with the mask itself.

    bad = np.isnan(r)
    k = np.nonzero(bad)        ->    {k, first}: what they leave out of an array may be infinite or nan
    first = k[0]

Lists that grow under a condition are such indices as well: `if ok[i]: kept.append(i)`.  Whatever the order of the
statements.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.quote import nodes
from s2sgrad.unit import MISSING, Unit

_OF_MASKS = (np.nonzero, np.flatnonzero, np.argwhere)
_PASSED_ON = (np.unravel_index, np.asarray, np.array)


def names(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> frozenset[str]:
    """The variables of a function in normal form that hold such indices, or parts of them."""
    out: set[str] = set()
    for branch in effects.walk(tree.body):
        if isinstance(branch, gast.If):
            for statement in effects.walk([*branch.body, *branch.orelse]):
                out |= effects.changed_by_call(getattr(statement, "value", None)) if _grows(statement) else set()
    while True:
        before = len(out)
        for statement in effects.walk(tree.body):
            if isinstance(statement, gast.Assign) and _picks(unit, statement.value, kinds, out):
                out |= set(effects.targets(statement))
        if len(out) == before:
            return frozenset(out)


def _grows(statement: gast.AST) -> bool:
    call = statement.value if isinstance(statement, gast.Expr) else None
    return isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr == "append"


def _picks(unit: Unit, value: gast.AST, kinds: dict[str, Kind], known: set[str]) -> bool:
    if isinstance(value, (gast.Name, gast.Subscript, gast.Attribute, gast.Tuple)):
        return any(isinstance(n, gast.Name) and n.id in known for n in nodes(_base(value)))
    if not isinstance(value, gast.Call):
        return False
    target = unit.resolve(value.func)
    if target is MISSING and isinstance(value.func, gast.Attribute):
        owner = kinds.get(value.func.value.id) if isinstance(value.func.value, gast.Name) else None
        return isinstance(owner, Array) and value.func.attr == "nonzero"
    if effects.is_one_of(target, (np.where,)):
        return len(value.args) == 1
    if effects.is_one_of(target, _PASSED_ON):
        return any(isinstance(a, gast.Name) and a.id in known for a in value.args)
    return effects.is_one_of(target, _OF_MASKS)


def _base(value: gast.AST) -> gast.AST:
    """What a part is taken of."""
    while isinstance(value, (gast.Subscript, gast.Attribute)):
        value = value.value
    return value
