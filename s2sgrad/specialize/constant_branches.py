"""Tests of a parameter whose value is known where the function is written out: the other arm is not there.

    def add(self, o): if isinstance(o, Vec): return ..; return ..      ->      one of the two, by what `o` is in this call

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def act(x, by=None):
...     if by is None:
...         by = np.tanh
...     return by(x)
... def f(x):
...     return act(x, by=lambda t: t * t)
... ''', "flatten"))
def f(x):
    result_2 = x * x
    result_ = result_2
    result = result_
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.ir.unit import Unit
from s2sgrad.specialize.static_values import Object, Value, bindings


def folded(unit: Unit, body: list[gast.AST], known: dict[str, Any]) -> tuple[list[gast.AST], bool]:
    """The statements without arms that are not taken for these values of the parameters, and whether there were any."""
    out: list[gast.AST] = []
    changed = False
    for statement in body:
        if isinstance(statement, gast.If):
            taken = decided(unit, statement.test, known)
            if taken is not None:
                arm, _ = folded(unit, statement.body if taken else statement.orelse, known)
                out += arm
                changed = True
                known = {p: v for p, v in known.items() if not bindings(arm)[p]}
                if arm and isinstance(arm[-1], gast.Return):  # what follows is not reached
                    return out, True
                continue
            statement.body, first = folded(unit, statement.body, known)
            statement.orelse, second = folded(unit, statement.orelse, known)
            changed = changed or first or second
        out.append(statement)
        known = {p: v for p, v in known.items() if not bindings([statement])[p]}
    return out, changed


def decided(unit: Unit, test: gast.AST, known: dict[str, Any]) -> bool | None:
    """The truth of a test; None where it depends on what is not known."""
    decide = _BY_TYPE.get(type(test))
    return None if decide is None else decide(unit, test, known)


def _negated(unit: Unit, test: gast.UnaryOp, known: dict[str, Any]) -> bool | None:
    inner = decided(unit, test.operand, known) if isinstance(test.op, gast.Not) else None
    return None if inner is None else not inner


def _joined(unit: Unit, test: gast.BoolOp, known: dict[str, Any]) -> bool | None:
    decisive = isinstance(test.op, gast.Or)
    for operand in test.values:
        part = decided(unit, operand, known)
        if part is None or part is decisive:  # those behind may raise
            return part
    return not decisive


def _compared(unit: Unit, test: gast.Compare, known: dict[str, Any]) -> bool | None:
    """`p is None`, `p is not None`."""
    if len(test.ops) > 1 or not isinstance(test.ops[0], (gast.Is, gast.IsNot)) or not isinstance(test.left, gast.Name):
        return None
    value = known.get(test.left.id)
    if getattr(test.comparators[0], "value", 0) is not None or not isinstance(value, (Value, gast.Constant)):
        return None
    nothing = isinstance(value, gast.Constant) and value.value is None
    return nothing == isinstance(test.ops[0], gast.Is)


def _called(unit: Unit, test: gast.Call, known: dict[str, Any]) -> bool | None:
    asks = unit.resolve(test.func) is isinstance and len(test.args) == 2
    return _is_instance(unit, *test.args, known) if asks else None


_BY_TYPE = {gast.UnaryOp: _negated, gast.BoolOp: _joined, gast.Compare: _compared, gast.Call: _called}


def _is_instance(unit: Unit, owner: gast.AST, classes: gast.AST, known: dict[str, Any]) -> bool | None:
    if not isinstance(owner, gast.Name) or owner.id not in known:
        return None
    asked = [unit.resolve(c) for c in (classes.elts if isinstance(classes, gast.Tuple) else [classes])]
    if not all(isinstance(c, type) for c in asked):
        return None
    value = known[owner.id]
    if isinstance(value, Object):
        return any(issubclass(value.cls, c) for c in asked)
    if isinstance(value, gast.Constant):
        return isinstance(value.value, tuple(asked))
    return False if all(map(is_plain_class, asked)) else None
