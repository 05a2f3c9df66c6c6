"""Whether a function may depend on how its arguments lie in memory: a copy is contiguous, an argument may not be.

    def clear(u): u.ravel()[0] = 0.0      writes `u` where it is contiguous, else a copy that nobody reads
    def scale(u): u[0] *= 2.0             writes `u` however it is laid out

>>> from s2sgrad.driver.pipeline import defined
>>> asks_layout(defined("def clear(u): u.ravel()[0] = 0.0")), asks_layout(defined("def scale(u): u[0] *= np.sin(2.0)"))
(True, False)
"""

from __future__ import annotations

import types

import gast
import numpy as np

from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, spellings
from s2sgrad.primitives.catalogue import Gives, Primitive
from s2sgrad.runtime.asking import has
from s2sgrad.source import read

_OPEN = (Gives.UNKNOWN, Gives.CONTIGUOUS, Gives.MAYBE)
_KNOWN: dict[types.FunctionType, tuple[bool, set[types.FunctionType]]] = {}
forgotten_after(_KNOWN.clear)


def asks_layout(function: types.FunctionType) -> bool:
    """Whether a user's function, or one that it refers to, calls what may or may not give a view, or reads the layout."""
    met: set[types.FunctionType] = set()
    waiting = [function]
    while waiting:
        found = waiting.pop()
        if found in met:
            continue
        met.add(found)
        asks, others = _read(found)
        if asks:
            return True
        waiting += others
    return False


def _read(function: types.FunctionType) -> tuple[bool, set[types.FunctionType]]:
    """Whether the text of a function asks, and the functions that it refers to."""
    if function not in _KNOWN:
        try:
            unit, tree = Unit.of(read(function))
        except S2SGradError:
            return True, set()
        found = [unit.resolve(n) for n in nodes(*tree.body) if isinstance(n, (gast.Name, gast.Attribute))]
        others = {f for f in found if isinstance(f, types.FunctionType) and is_plain(f)}
        _KNOWN[function] = any(_asks(unit, n) for n in nodes(*tree.body)), others
    return _KNOWN[function]


def _asks(unit: Unit, node: gast.AST) -> bool:
    if isinstance(node, gast.Attribute) and unit.resolve(node) is MISSING:
        return has(np.ndarray, node.attr) and not callable(getattr(np.ndarray, node.attr)) and not _is_shape(node.attr)
    if not isinstance(node, gast.Call):
        return False
    target = unit.resolve(node.func)
    if target is MISSING:
        records = catalogue.methods_named(node.func.attr) if isinstance(node.func, gast.Attribute) else []
        return not records or any(map(_may_view, records))
    return not is_plain(target) and _may_view(catalogue.of(target))


def _may_view(record: Primitive) -> bool:
    """Whether a library function gives a view for some layouts; what writes its argument writes it in every layout."""
    return record.gives in _OPEN and not record.writes


def _is_shape(attribute: str) -> bool:
    """Whether an attribute of arrays is the same for every layout."""
    return attribute in spellings.ATTRIBUTES or attribute in spellings.FLAT_ATTRIBUTES - spellings.OF_LAYOUT
