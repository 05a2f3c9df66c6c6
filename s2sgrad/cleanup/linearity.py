"""Calls that are linear in one of their arguments alone: a sign moves out of them, exactly.

    np.roll(-x, 1)      ->      -np.roll(x, 1)

>>> from s2sgrad.ir.unit import Unit
>>> unit = Unit(None, None, {"x", "y"})
>>> unit.helpers |= {"roll": np.roll, "outer": np.outer, "add": np.add}
>>> [is_linear(unit, gast.parse(text).body[0].value, 0) for text in ("roll(x, 1)", "outer(x, y)", "add(x, y)")]
[True, True, False]
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.ir.unit import Unit
from s2sgrad.rules import table

_BILINEAR = (np.outer, np.dot, np.vdot, np.matmul, np.multiply, np.divide)
_PLACES = {"axis", "keepdims"}


def is_linear(unit: Unit, node: gast.Call, place: int) -> bool:
    """Whether the result of a call is linear in the argument at a place alone: no `initial`, no `where`."""
    target = unit.called(node)
    if not callable(target) or not {k.arg for k in node.keywords} <= _PLACES:
        return False
    if effects.is_one_of(target, _BILINEAR):
        return len(node.args) == 2
    rule = table.lookup(target)
    return rule is not None and rule.tag == "linear" and len(rule.differentiable) == 1 and place == 0
