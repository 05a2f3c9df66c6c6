"""Indices derived from a mask: which elements they select depends on values, as with the mask itself.

    bad = np.isnan(r)
    k = np.nonzero(bad)        ->    {bad, k, first}: the elements they leave out may be infinite or nan
    first = np.sort(k[0])

Lists that grow under a condition are such indices as well: `if ok[i]: kept.append(i)`.  The analysis is flow-insensitive,
and the result of a user's function counts as derived from a mask.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Text
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.ir.quote import arms, nodes
from s2sgrad.ir.unit import Unit

_OF_MASKS = (np.nonzero, np.flatnonzero, np.argwhere, np.where)


def names(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> frozenset[str]:
    """The variables of a function in normal form that hold such indices, masks or parts of them."""
    out = {n for n, kind in kinds.items() if isinstance(kind, Array) and kind.dtype == "bool"}
    inside = [s for branch in effects.walk(tree.body) for arm in arms(branch) for s in effects.walk(arm)]
    for statement in inside:
        grown = effects.changed_by_call(getattr(statement, "value", None))
        bound = set(effects.targets(statement)) if isinstance(statement, gast.Assign) else set()
        out |= grown | {n for n in bound if isinstance(kinds.get(n), Container)}
    while True:
        before = len(out)
        for statement in effects.walk(tree.body):
            if isinstance(statement, gast.Assign) and _depends(unit, statement.value, out):
                out |= {n for n in effects.targets(statement) if _may_be_index(kinds.get(n))}
        if len(out) == before:
            return frozenset(n for n in out if _may_be_index(kinds.get(n)))


def is_outside(unit: Unit, index: gast.AST) -> bool:
    """Whether an index is a global array or list, whose origin is unknown."""
    outside = isinstance(index, gast.Name) and index.id not in unit.locals
    return outside and isinstance(unit.resolve(index), (np.ndarray, list))


def _depends(unit: Unit, value: gast.AST, known: set[str]) -> bool:
    """Whether a value may be derived from these names or from a mask."""
    for node in nodes(value):
        if isinstance(node, gast.Name) and node.id in known:
            return True
        if isinstance(node, gast.Call):
            target = unit.resolve(node.func)
            if effects.is_one_of(target, _OF_MASKS) or is_user_function(target):
                return True
    return False


def _may_be_index(kind: Kind | None) -> bool:
    if isinstance(kind, Array):
        return kind.dtype is None or not np.issubdtype(kind.dtype, np.inexact)
    if isinstance(kind, Number):
        return kind.type is None or not issubclass(kind.type, (float, np.inexact))
    if isinstance(kind, Container):
        parts = kind.items if kind.items is not None else (kind.item,)
        return all(map(_may_be_index, parts))
    return not isinstance(kind, Text)
