"""Arithmetic that a person would not write: `1.0 * e`, `e + 0.0`, `a + -b`, `x ** 1`; in the reverse sweep only.

    x_bar = y_bar * 1.0 * (2 * x ** (2 - 1)) + -z_bar     ->     x_bar = y_bar * (2 * x) - z_bar
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.simplify import simplified
from s2sgrad.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with simpler arithmetic in the reverse sweep."""
    for statement in effects.walk(tree.body):
        origin = getattr(statement, "origin", None)
        ours = origin is not None and origin.sweep == "reverse"
        if ours and isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
            statement.value = simplified(statement.value, isinstance(statement, gast.AugAssign))
    return tree
