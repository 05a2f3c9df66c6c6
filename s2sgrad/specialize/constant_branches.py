"""Folds tests of parameters whose values are known where a function is inlined: dead arms are dropped.

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
    result_ = x * x
    t1 = result_
    result = t1
    return result
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.ir.forms import truth
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit
from s2sgrad.specialize.static_values import Adapted, Choice, Derivative, Display, Function, Known, Object, Partial, Value

_TRUE = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)  # types of callables that are always true


def folded(unit: Unit, body: list[gast.AST], known: dict[str, Any]) -> tuple[list[gast.AST], bool]:
    """The statements without arms that are dead for these parameter values, and whether any arm was dropped."""
    out: list[gast.AST] = []
    changed = False
    for statement in body:
        if isinstance(statement, gast.If):

            def looked_up(node: gast.AST, known: dict[str, Any] = known) -> Any:
                return known.get(getattr(node, "id", ""))

            truth_value = decided(unit, statement.test, looked_up)
            if truth_value is not None:
                arm, _ = folded(unit, statement.body if truth_value else statement.orelse, known)
                out += arm
                changed = True
                known = {p: v for p, v in known.items() if not bindings(arm)[p]}
                if arm and isinstance(arm[-1], gast.Return):  # the rest is unreachable
                    return out, True
                continue
            statement.body, first = folded(unit, statement.body, known)
            statement.orelse, second = folded(unit, statement.orelse, known)
            changed = changed or first or second
        out.append(statement)
        known = {p: v for p, v in known.items() if not bindings([statement])[p]}
    return out, changed


def decided(unit: Unit, test: gast.AST, look: Callable[[gast.AST], Any]) -> bool | None:
    """The truth of a test, None if unknown; `look` gives the value of a name or a path."""

    def known(part: gast.AST) -> bool | None:
        decide = _BY_TYPE.get(type(part))
        return None if decide is None else decide(unit, part, look)

    return truth(test, known)


def _compared(unit: Unit, test: gast.Compare, look: Callable[[gast.AST], Any]) -> bool | None:
    """`p is None`, `p is not None`."""
    if len(test.ops) > 1 or not isinstance(test.ops[0], (gast.Is, gast.IsNot)):
        return None
    value = _constant(test.left, look)
    if getattr(test.comparators[0], "value", 0) is not None or not isinstance(value, (Value, gast.Constant)):
        return None
    if isinstance(value, Choice) and any(isinstance(o, Known) and o.target is None for o in value.options):
        return None  # one option is the value of a variable
    nothing = isinstance(value, gast.Constant) and value.value is None
    return nothing == isinstance(test.ops[0], gast.Is)


def _asked(unit: Unit, test: gast.Call, look: Callable[[gast.AST], Any]) -> bool | None:
    """`isinstance(p, C)`, `callable(p)`."""
    if unit.resolve(test.func) is callable and len(test.args) == 1:
        return _is_callable(_constant(test.args[0], look))
    return _is_instance(unit, test, look)


def _is_callable(value: Any) -> bool | None:
    if isinstance(value, Object):
        return any("__call__" in vars(c) for c in value.cls.__mro__)
    if isinstance(value, gast.Constant) or (isinstance(value, Known) and value.target is not None):
        return callable(getattr(value, "target", None))
    return True if isinstance(value, (Function, Partial, Adapted, Derivative)) else None


def _is_instance(unit: Unit, test: gast.Call, look: Callable[[gast.AST], Any]) -> bool | None:
    if unit.resolve(test.func) is not isinstance or len(test.args) != 2:
        return None
    value, classes = _constant(test.args[0], look), test.args[1]
    asked = [unit.resolve(c) for c in (classes.elts if isinstance(classes, gast.Tuple) else [classes])]
    if value is None or not all(isinstance(c, type) for c in asked):
        return None
    if isinstance(value, Object):
        return any(issubclass(value.cls, c) for c in asked)
    if isinstance(value, gast.Constant):
        return bool(isinstance(value.value, tuple(asked)))
    return False if all(map(is_plain_class, asked)) else None


def _itself(unit: Unit, test: gast.AST, look: Callable[[gast.AST], Any]) -> bool | None:
    """The truth of a value: functions are true, objects too unless their class defines it, displays if not empty."""
    value = look(test)
    if isinstance(value, gast.Constant):
        return bool(value.value)
    if isinstance(value, Display):
        return bool(value.items)
    if isinstance(value, Object):
        return None if hasattr(value.cls, "__bool__") or hasattr(value.cls, "__len__") else True
    plain = isinstance(value, Known) and type(value.target) in _TRUE
    return True if plain or isinstance(value, (Function, Partial, Adapted, Derivative)) else None


def _constant(node: gast.AST, look: Callable[[gast.AST], Any]) -> Any:
    return node if isinstance(node, gast.Constant) else look(node)


_BY_TYPE = {gast.Compare: _compared, gast.Call: _asked, gast.Name: _itself, gast.Attribute: _itself,
            gast.Subscript: _itself}  # fmt: skip
