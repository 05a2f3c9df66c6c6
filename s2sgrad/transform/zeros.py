"""Cotangents that are 0 because the path taken, or a mask, excludes a value: they stay 0 whatever the slope is there.

    t_bar = np.where(x > 0.0, seed, 0.0); x_bar = t_bar / x      ->      x_bar = over(t_bar, x), which is 0 where t_bar is

A product with an infinite or nan slope would be nan.  Which rules have such slopes is found by evaluating their pullbacks.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.forms import minus, negated
from s2sgrad.ir.quote import clone
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import simplified
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import spellings
from s2sgrad.rules.table import SLOPES, VALUES

_TRIED = {SLOPES: (-2.0, -0.5, 0.0, 0.5, 1.0, 1e3), VALUES: (-2.0, 0.0, 0.5, 1e3, math.inf, -math.inf, math.nan)}
_SHARED = (0.5,)  # one number for all elements: if it spoils an unused element, it spoils the used ones too


def both(levels: list[int]) -> int:
    """The level of a sum: it is 0 only where all of its terms are."""
    return max(levels) if levels and all(levels) else 0


def spoiled(operation: Operation, pullback: Callable[..., Any], inference: Inference, level: int) -> frozenset[int]:
    """The operands whose cotangents may be nan where that of the result is 0, by position."""
    node = operation.node
    run = operation.target
    kinds = [inference.kind(operand) for operand in operation.operands]
    plain = [isinstance(k, Number) and k.type in (float, int) for k in kinds]
    several = not all(isinstance(k, Number) for k in kinds)
    if isinstance(node, (gast.BinOp, gast.UnaryOp)) and all(plain):
        run = spellings.OPERATORS[type(node.op).__name__][1]
    given = tuple(
        (operand.value,) if _is_number(operand) else _SHARED if several and isinstance(kind, Number) else _TRIED[level]
        for operand, kind in zip(operation.operands, kinds, strict=True)
    )
    words = tuple((k, v.value) for k, v in operation.keywords.items() if isinstance(v, gast.Constant))
    return _tried(run, pullback, given, words, all(plain))


def _is_number(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (int, float))


@functools.lru_cache(maxsize=1024)
def multiplies(run: Callable[..., Any], pullback: Callable[..., Any], count: int) -> bool:
    """Whether a pullback multiplies a complex cotangent with slopes; that of `conj` or of a sign does not."""
    points = (0.3 + 0.7j, 1.1 - 0.4j, 0.6 + 0.2j, 0.9 + 0.5j)[:count]
    try:
        y = run(*points)
        one, turned = (pullback(g, y, *points) for g in (1.0, 1j))
        pairs = zip(one, turned, strict=True) if isinstance(one, tuple) else [(one, turned)]
        return all(a is None or bool(np.isclose(1j * a, b)) for a, b in pairs)
    except Exception:  # it takes no complex numbers
        return True


@functools.lru_cache(maxsize=4096)
def _tried(run: Callable[..., Any], pullback: Callable[..., Any], given: tuple, words: tuple, plain: bool) -> frozenset[int]:
    out: set[int] = set()
    with np.errstate(all="ignore"):
        for point in itertools.product(*given):
            x = point if plain else tuple(map(np.float64, point))
            try:
                y = run(*x, **dict(words))
            except (ArithmeticError, ValueError, TypeError):
                continue  # the program raised there too
            try:
                bars = pullback(0.0 if plain else np.float64(0.0), y, *x, **dict(words))
            except (ArithmeticError, ValueError, TypeError):
                return frozenset(range(len(given)))
            bars = bars if isinstance(bars, tuple) else (bars,)
            out |= {k for k, bar in enumerate(bars) if bar is not None and bar != 0.0}
    return frozenset(out)


def product(unit: Unit, slope: gast.AST, g: gast.AST) -> gast.AST:
    """`slope * g`, but 0 where either factor is 0."""
    slope = simplified(clone(slope))
    if (opposite := negated(slope)) is not None:
        return minus(product(unit, opposite, g))
    return call(unit, "product", runtime.product, slope, clone(g))


def kept(unit: Unit, g: gast.AST, slope: gast.AST) -> gast.AST:
    """`g * slope`, but 0 where `g` is 0."""
    slope = simplified(clone(slope))
    if (opposite := negated(slope)) is not None:
        return minus(kept(unit, g, opposite))
    if isinstance(slope, gast.Constant) and slope.value == 1.0:
        return clone(g)
    parts = None
    if isinstance(slope, gast.BinOp) and isinstance(slope.op, gast.Div):
        parts = slope.left, slope.right
    elif unit.called(slope) is np.divide:
        parts = tuple(slope.args)
    if parts is not None and isinstance(parts[0], gast.Constant) and parts[0].value == 1.0:
        return call(unit, "over", runtime.over, clone(g), parts[1])
    return call(unit, "times", runtime.times, clone(g), slope)
