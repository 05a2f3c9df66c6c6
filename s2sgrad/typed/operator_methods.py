"""Special methods of lists, tuples and arrays, called by name, as the operators that call them.

    w = xs.__add__(ys)      ->      w = xs + ys, where both are lists

For two values of one type the operator tries no other method; a mixed call is left alone, since there it may.

>>> from s2sgrad import grad
>>> import numpy as np
>>> def f(x):
...     return np.sum([x].__add__([x * x])[1])
>>> grad(f)(np.ones(2))
array([2., 2.])
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container
from s2sgrad.ir.quote import at
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import spellings

_OPERATORS = {f"__{run.__name__.strip('_')}__": operator for operator, (_, run) in spellings.OPERATORS.items()}


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Replace such calls; whether there were any."""
    found = False
    for statement in effects.walk(tree.body):
        made = _operator(unit, getattr(statement, "value", None), inference)
        if made is not None:
            statement.value = at(statement.value, made)[0]
            found = True
    return found


def _operator(unit: Unit, call: gast.AST, inference: Inference) -> gast.AST | None:
    """The operator that a method call stands for; None for any other expression."""
    method = call.func if isinstance(call, gast.Call) and len(call.args) == 1 and not call.keywords else None
    if not isinstance(method, gast.Attribute) or method.attr not in _OPERATORS or unit.resolve(method) is not MISSING:
        return None
    left, right = inference.kind(method.value), inference.kind(call.args[0])
    lists = isinstance(left, Container) and isinstance(right, Container) and left.type is right.type in (list, tuple)
    if not lists and not (isinstance(left, Array) and isinstance(right, Array)):
        return None
    return gast.BinOp(method.value, getattr(gast, _OPERATORS[method.attr])(), call.args[0])
