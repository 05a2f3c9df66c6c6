"""Through which operands of an operation a derivative passes: not through one that only gives a shape.

y = unbroadcast(g, x)      ->      from `g`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import sources
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.rules.table import Rule
from s2sgrad.source import read


def carriers(operation: Operation) -> list[str]:
    """The variables from which a derivative may reach the result of an operation."""
    if operation.form != "rule" or operation.why:
        return sources(operation)
    shapes = _idle(operation.rule)
    passing = [o for k, o in enumerate(operation.operands) if k not in shapes]
    return [n.id for o in (*passing, *operation.keywords.values()) for n in effects.loads(o)]


@functools.lru_cache(maxsize=1024)
def _idle(rule: Rule) -> frozenset[int]:
    """The places of the operands whose cotangent is None in every formula of a rule."""
    if rule.given is not None or rule.variadic:
        return frozenset()
    pullbacks = [rule.pullback, *(pullback for _, pullback in rule.refinements)]
    return frozenset.intersection(*(_nones(p, len(rule.differentiable)) for p in pullbacks))


def _nones(pullback: Callable[..., Any], count: int) -> frozenset[int]:
    last = read(pullback).tree.body[-1]
    value = getattr(last, "value", None)
    if not isinstance(value, gast.Tuple) or len(value.elts) != count:
        return frozenset()
    return frozenset(k for k, e in enumerate(value.elts) if isinstance(e, gast.Constant) and e.value is None)
