"""Refuses the tape's classes and functions in a differentiated text: what they record is not followed.

    with GradientTape() as t: y = x ** 3          ->      Unsupported: use `grad` of an inner function, or two GradientTapes
    return t.gradient(y, x)

>>> from s2sgrad.driver.pipeline import shown
>>> shown('''
... from s2sgrad.tape import GradientTape
... def f(x):
...     with GradientTape() as tape:
...         y = x ** 3
...     return tape.gradient(y, x)
... ''', "with_statements")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
s2sgrad.errors.Unsupported: a GradientTape inside of a function that is differentiated from its source is not followed: ...
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.libraries import is_given
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue

_TAPE = "s2sgrad.tape."


def require_none(unit: Unit, tree: gast.AST) -> None:
    """Raise Unsupported at a use of a tape, or at a call that makes something for one."""
    for node in nodes(tree):
        if isinstance(node, gast.Call):
            target = unit.resolve(node.func)
            if _is_tapes(target):
                _refuse(unit, node, target)
            owner = unit.resolve(node.func.value) if isinstance(node.func, gast.Attribute) else None
        elif isinstance(node, gast.With):
            owner = next((tape for tape in map(unit.resolve, (i.context_expr for i in node.items)) if _records(tape)), None)
        else:
            continue
        if _records(owner):
            _refuse(unit, node, type(owner))


def _refuse(unit: Unit, node: gast.AST, what: Any) -> None:
    place = node.items[0].context_expr if isinstance(node, gast.With) else node
    if isinstance(what, type) and hasattr(what, "watch"):
        unit.refuse(place, f"a {what.__name__} inside of a function that is differentiated from its source is not followed: "
                           "take `grad` of the part that it records, or nest two tapes around the call")  # fmt: skip
    if getattr(what, "gives_rule", False):
        unit.refuse(place, f"`{what.__name__}` is not followed inside of a function that is differentiated from its source: "
                           "give functions their rules outside of it")  # fmt: skip
    unit.refuse(place, f"`{what.__name__}` is for programs that a tape records, and is not followed in a function that is "
                       "differentiated from its source: pass the value in, or use a GradientTape")  # fmt: skip


def _is_tapes(target: Any) -> bool:
    """Whether a callable belongs to the tape, or registers rules."""
    if isinstance(target, types.FunctionType):
        home = target.__globals__.get("__name__", "")
        if vars(target).get("gives_rule"):
            return True
        return home.startswith(_TAPE) and not is_given(target) and not catalogue.of(target).pure
    return isinstance(target, type) and target.__module__.startswith(_TAPE)


def _records(owner: Any) -> bool:
    """Whether an object is a tape or an optimizer; Arrays and Variables are ordinary values."""
    return type(owner).__module__.startswith(_TAPE) and not hasattr(type(owner), "__array_ufunc__")
