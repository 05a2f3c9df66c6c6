"""The rules' own text over Arrays: what it calls that has a rule is applied, and so recorded.

    def exp2(g, y, x): return over(g, y) * special.psi(x)       `over` and `special.psi` go through `apply`

A pullback that an outer tape records computes with Arrays.  NumPy hands its functions over by itself; the helpers beside
the rules, `math` and SciPy do not, and are looked up in namespaces in which each function is replaced by its application.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.rules import table
from s2sgrad.tape.array import apply
from s2sgrad.tape.formulas import over
from s2sgrad.tape.values import Operand

_spaces: dict[int, dict[str, Any]] = {}


class _Applied:
    """A function of the rule table, applied to Arrays."""

    def __init__(self, primitive: Any) -> None:
        self.primitive = primitive

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return apply(self.primitive, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return _ready(getattr(self.primitive, name))


class _Module:
    """A module whose functions are applied."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        value = _ready(getattr(self.module, name))
        setattr(self, name, value)
        return value


def _ready(value: Any) -> Any:
    if isinstance(value, types.ModuleType):
        return _Module(value)
    if isinstance(value, (type, Operand, table.Rule)) or not callable(value):
        return value
    if table.lookup(value) is not None or table.is_flat(value) or isinstance(value, np.ufunc):
        return _Applied(value)
    if isinstance(value, types.FunctionType) and (value.__module__ or "").startswith(("s2sgrad.rules.", "s2sgrad.runtime")):
        return over(value, _space(value.__globals__))
    return value


def _isinstance(value: Any, kinds: Any) -> bool:
    """An Array is what it holds: a rule asks whether it has an ndarray or a list."""
    return isinstance(value._value if isinstance(value, Operand) else value, kinds)


def _space(globals_: dict[str, Any]) -> dict[str, Any]:
    """The globals of a module of rules, with every function that has a rule replaced by its application."""
    known = _spaces.get(id(globals_))
    if known is None:
        known = _spaces[id(globals_)] = dict(globals_)
        for name, value in globals_.items():
            if value is not math:
                known[name] = _ready(value)
        known["math"], known["isinstance"] = _Module(math), _isinstance
    return known


@functools.lru_cache(maxsize=4096)
def on_arrays(pullback: Callable[..., Any]) -> Callable[..., Any]:
    """A pullback of the rule table, to be called with Arrays."""
    return over(pullback, _space(pullback.__globals__)) if isinstance(pullback, types.FunctionType) else pullback
