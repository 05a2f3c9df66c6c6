"""Expressions that are known to be one element of an array, or one integer.

x[i + 1, j]      ->      one element, if `x` has two axes and `i` and `j` are integers
"""

from __future__ import annotations

import builtins

import gast
import numpy as np

from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.unit import Unit


def is_whole(node: gast.AST, unit: Unit) -> bool:
    """Whether an expression is known to be an integer, and not a truth value."""
    if isinstance(node, gast.Constant):
        return type(node.value) is int
    if isinstance(node, gast.Name):
        kind = unit.kinds.get(node.id)
        return isinstance(kind, Number) and kind.type in (int, np.int64)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and is_whole(node.operand, unit)
    if isinstance(node, gast.BinOp):
        plain = isinstance(node.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod))
        return plain and is_whole(node.left, unit) and is_whole(node.right, unit)
    if isinstance(node, gast.Call):
        return unit.resolve(node.func) is builtins.len
    found = element_of(node, unit)
    return found is not None and found.dtype == "int64"


def element_of(node: gast.AST, unit: Unit) -> Array | None:
    """The kind of the array in `x[i, j]` with one integer for each axis; None for any other expression."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name):
        return None
    kind = unit.kinds.get(node.value.id)
    parts = parts_of(node.slice)
    plain = isinstance(kind, Array) and kind.rank == len(parts) and all(is_whole(p, unit) for p in parts)
    return kind if plain else None
