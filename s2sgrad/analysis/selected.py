"""Values that are exactly 0 where a mask excludes something: the slopes at the other operands count as 0 there.

    y_bar = np.where(m, 0.0, seed)
    t_bar = y_bar / c                ->    {y_bar, t_bar}
    c_bar = np.sum(times(t_bar, t))

`t` may be nan where `m` holds, and so may the cotangent of `t_bar` at second order: the derivative in `c` is that nan times
a 0 that was selected.  The analysis is flow-insensitive.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.ir.unit import Unit
from s2sgrad.rules.table import lookup
from s2sgrad.source import read

_SELECTING = (runtime.times, runtime.over, runtime.product)
_EMPTY = (np.zeros, np.zeros_like, runtime.zeros)


def names(unit: Unit, tree: gast.FunctionDef) -> frozenset[str]:
    """The variables of a function in normal form that may hold such values."""
    out: set[str] = set()
    while True:
        before = len(out)
        for statement in effects.walk(tree.body):
            if not isinstance(statement, gast.Assign):
                continue
            section = effects.stored(statement)
            if _selects(unit, statement.value, out) or (section is not None and _is_zero(statement.value)):
                out |= set(effects.targets(statement)) if section is None else {effects.base(section)}
        if len(out) == before:
            return frozenset(out)


def _selects(unit: Unit, value: gast.AST, known: set[str]) -> bool:
    def is_known(node: gast.AST) -> bool:
        while isinstance(node, gast.Subscript):  # a section of it
            node = node.value
        return isinstance(node, gast.Name) and node.id in known

    if isinstance(value, gast.BinOp):
        return is_known(value.left) or (isinstance(value.op, gast.Mult) and is_known(value.right))
    if isinstance(value, gast.UnaryOp):
        return is_known(value.operand)
    if not isinstance(value, gast.Call):
        return is_known(value)
    target = unit.resolve(value.func)
    if effects.is_one_of(target, _SELECTING + _EMPTY) or _is_adjoint(target) or is_of_rules(target):
        return True
    if effects.is_one_of(target, (np.where,)):
        return any(map(_is_zero, value.args[1:]))
    rule = lookup(target)
    return rule is not None and rule.tag == "linear" and any(map(is_known, value.args[:1]))


def _is_zero(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value == 0.0


def is_of_rules(target: object) -> bool:
    """Whether a callable is a rule's transpose or gives a rule's weights, which are mostly 0."""
    return (getattr(target, "__module__", None) or "").startswith("s2sgrad.rules.")


def _is_adjoint(target: object) -> bool:
    return is_user_function(target) and read(target).is_generated
