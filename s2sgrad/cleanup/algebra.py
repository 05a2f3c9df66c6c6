"""Arithmetic that a person would not write: `1.0 * e`, `e + 0.0`, `a + -b`, `u.copy() * e`; in the reverse sweep only.

    x_bar = y_bar * 1.0 * (2 * x ** (2 - 1)) + -z_bar     ->     x_bar = y_bar * (2 * x) - z_bar
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.quote import nodes
from s2sgrad.simplify import simplified
from s2sgrad.unit import Unit


def _wraps(unit: Unit, value: gast.AST) -> bool:
    """Whether whole numbers or booleans are computed with: `-u` and `u + u` of a byte are something else."""
    kinds = [unit.kinds.get(n.id) for n in effects.loads(value)]
    whole = any(isinstance(k, Array) and k.dtype and np.dtype(k.dtype).kind in "iub" for k in kinds)
    return whole or any(isinstance(n, gast.BinOp) and isinstance(n.left, gast.Compare) for n in nodes(value))


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with simpler arithmetic in the reverse sweep."""
    for statement in effects.walk(tree.body):
        origin = getattr(statement, "origin", None)
        ours = origin is not None and origin.sweep == "reverse"
        if ours and isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)) and not _wraps(unit, statement.value):
            statement.value = simplified(statement.value, isinstance(statement, gast.AugAssign))
        if ours and isinstance(statement, (gast.Assign, gast.AugAssign)):
            _read_at_once(unit, statement.value)
    return tree


def _read_at_once(unit: Unit, value: gast.AST) -> None:
    """`u[k].copy() * e`, left where nothing changes `u` any more before that is read, as `u[k] * e`."""
    for node in nodes(value):
        for side in ("left", "right") if isinstance(node, gast.BinOp) else ():
            operand = getattr(node, side)
            method = operand.func if isinstance(operand, gast.Call) and not operand.args else None
            if isinstance(method, gast.Attribute) and method.attr == "copy" and not operand.keywords:
                owner = method.value.value if isinstance(method.value, gast.Subscript) else method.value
                if isinstance(owner, gast.Name) and isinstance(unit.kinds.get(owner.id), Array):
                    setattr(node, side, method.value)
