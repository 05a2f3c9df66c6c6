"""Whether an expression is floating-point arithmetic, so that `u + u` equals `2.0 * u` and `-u * v` equals `-(u * v)`.

    n = np.uint8(200)      ->      n + n is 144, -n is 56          `u` of unknown kind may be such a number

>>> from s2sgrad.analysis.kinds import Array, Number
>>> from s2sgrad.ir.quote import expression
>>> unit = Unit(None, None, {"x", "n", "k"})
>>> unit.kinds = {"x": Array("float64", (3,)), "n": Number(np.uint8), "k": Number(int)}
>>> is_floating(unit, expression("k * x[n]")), is_floating(unit, expression("x * (n + n)"))
(True, False)
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.kinds import Array, Container, Kind, Known, Number
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit

_SIZES = (len, np.size, np.ndim, np.shape)  # they return Python integers


def is_floating(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression uses only floats and Python numbers, which never wrap around."""
    masks = any(isinstance(n, gast.BinOp) and isinstance(n.left, gast.Compare) for n in nodes(value))
    return not masks and all(_floats(unit, n) for n in _operands(unit, value))


def _operands(unit: Unit, node: gast.AST) -> Iterator[gast.Name]:
    """The names in an expression, except in indices and in arguments of which only the size is used."""
    if isinstance(node, gast.Name):
        yield node
        return
    if isinstance(node, gast.Call) and is_one_of(unit.called(node), _SIZES):
        return
    for child in [node.value] if isinstance(node, gast.Subscript) else gast.iter_child_nodes(node):
        yield from _operands(unit, child)


def _floats(unit: Unit, node: gast.Name) -> bool:
    if node.id in unit.derivative.floating:
        return True
    if node.id in unit.locals:
        return is_floating_kind(unit.kinds.get(node.id))
    value = unit.resolve(node)
    return value is not MISSING and _is_floating_value(value)


def is_floating_kind(kind: Kind | None) -> bool:
    """Whether the numbers in values of a kind are floats of any precision, or Python numbers."""
    if isinstance(kind, Number):
        return isinstance(kind.type, type) and issubclass(kind.type, (float, int, np.floating)) and kind.type is not bool
    if isinstance(kind, Array):
        return kind.dtype is not None and np.dtype(kind.dtype).kind == "f"
    if isinstance(kind, Container):
        item = kind.element()
        return item is None or is_floating_kind(item)
    return isinstance(kind, Known) and _is_floating_value(kind.value)


def _is_floating_value(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind == "f"
    if isinstance(value, (list, tuple, dict)):
        return all(map(_is_floating_value, value.values() if isinstance(value, dict) else value))
    return value is None or callable(value) or isinstance(value, (types.ModuleType, str, int, float, slice))
