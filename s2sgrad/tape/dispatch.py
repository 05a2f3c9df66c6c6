"""Rule pullbacks on Arrays: calls inside of them to functions with rules are recorded.

    def exp2(g, y, x): return over(g, y) * special.psi(x)       `over` and `special.psi` go through `apply`

If an outer tape records a sweep, its pullbacks compute on Arrays.  NumPy functions dispatch to Arrays by themselves; the
helpers of the rules, `math` and SciPy do not, so pullbacks run with globals in which these are wrapped by `apply`.

A pullback that itself asks for the derivative of a text is no sequence of such calls: it is `differentiable`, one record.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import pullbacks
from s2sgrad.recorded.formulas import over
from s2sgrad.recorded.honest import Honest
from s2sgrad.rules import table
from s2sgrad.tape.array import apply
from s2sgrad.tape.node import differentiable
from s2sgrad.tape.values import Operand, unwrapped

_spaces: dict[int, dict[str, Any]] = {}


class _Applied:
    """A function of the rule table, called through `apply`."""

    def __init__(self, primitive: Any) -> None:
        self.primitive = primitive

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return apply(self.primitive, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return _ready(getattr(self.primitive, name))


class _Owner:
    """A module, or an object such as `stats.norm`, whose functions are called through `apply`."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __getattr__(self, name: str) -> Any:
        value = _ready(getattr(self.owner, name))
        setattr(self, name, value)
        return value


def _ready(value: Any) -> Any:
    """A global of a rule module, wrapped where it has to be."""
    if isinstance(value, types.ModuleType) or table.owns(value):
        return _Owner(value)
    if isinstance(value, (type, Operand, table.Rule)) or not callable(value):
        return value
    if table.lookup(value) is not None or table.is_flat(value) or isinstance(value, np.ufunc):
        return _Applied(value)
    if isinstance(value, types.FunctionType) and (value.__module__ or "").startswith(("s2sgrad.rules.", "s2sgrad.runtime")):
        return over(value, _space(value.__globals__))
    return value


def _isinstance(value: Any, kinds: Any) -> bool:
    """`isinstance` in rules: an Array counts as its value, since rules ask for ndarrays or lists."""
    return isinstance(value._value if isinstance(value, Operand) else value, kinds)


def _space(globals_: dict[str, Any]) -> dict[str, Any]:
    """The globals of a rule module with the wrapped functions; one dict per module."""
    space = _spaces.get(id(globals_))
    if space is None:
        space = _spaces[id(globals_)] = dict(globals_)
        for name, value in globals_.items():
            if value is not math:
                space[name] = _ready(value)
        space["math"], space["isinstance"] = _Owner(math), _isinstance
    return space


@functools.lru_cache(maxsize=4096)
def on_arrays(pullback: Callable[..., Any]) -> Callable[..., Any]:
    """A pullback of the rule table that can be called with Arrays."""
    if type(pullback) is Honest:
        return pullback.on(on_arrays(pullback.pullback), unwrapped)
    if not isinstance(pullback, types.FunctionType):
        return pullback
    return differentiable(pullback) if _derives(pullback) else over(pullback, _space(pullback.__globals__))


def _derives(pullback: types.FunctionType) -> bool:
    """Whether it asks for the derivative of another function, which it calls by no name of its own."""
    return any(pullback.__globals__.get(name) is pullbacks.vjp for name in pullback.__code__.co_names)
