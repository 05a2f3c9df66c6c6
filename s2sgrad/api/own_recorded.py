"""Functions with a gradient of their own in recorded code: one entry, whose adjoint is the user's pullback.

    y = f(x), f by `custom_gradient`   ->   y, pullback = f.custom_gradient(x); the sweep: x_bar += pullback(y_bar)

Function and pullback run one level below, where a run around this one follows them.
"""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any

from s2sgrad.api import brought
from s2sgrad.errors import Unsupported
from s2sgrad.ir.signatures import signature
from s2sgrad.recorded.applying import innermost, kept, lifted, placed
from s2sgrad.recorded.captures import require_no_captures
from s2sgrad.recorded.honest import bottoms
from s2sgrad.recorded.hooks import OWN_GRADIENTS, OWN_PULLS, call
from s2sgrad.recorded.operations import share, taken
from s2sgrad.recorded.runs import Run, below
from s2sgrad.recorded.values import handles_in, lost, mapped
from s2sgrad.source import is_method_of


def own_gradient(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """The value, with an entry for the pullback."""
    if handles_in(keywords, []):
        bound = signature(f.custom_gradient).bind(*args, **keywords)
        bound.apply_defaults()
        args, keywords = bound.args, bound.kwargs
    if handles_in(keywords, []):
        lost(f"a keyword of `{f.__name__}`, which has a gradient of its own,", "pass it by position")
    _require_no_captures(f, args)
    run = innermost(handles_in(args, []))
    lower = tuple(args) if run is None else mapped(tuple(args), lambda h: h.value if h.run is run else h)
    with contextlib.nullcontext() if run is None else below(run):
        y, pullback = brought.pair_of(_Followed(f), lower, keywords, lends=True)
        if run is not None:
            y = _noted_around(f, lower, y, pullback)
    if "variables" in signature(pullback).parameters:
        raise Unsupported(f"the pullback of `{f.__name__}` takes `variables`, whose gradients are known on a GradientTape "
                          "alone: pass what it reads as arguments")  # fmt: skip
    if run is None:
        if handles_in(y, []):
            lost(f"`{f.__name__}`, which has a gradient of its own and reads what is no argument,", "pass it as one")
        return y
    return _noted(run, f, args, y, pullback)


def _require_no_captures(f: Any, args: tuple) -> None:
    """Refuse what carries a derivative within functions and objects among the arguments: no pullback is asked for it."""
    names = [*signature(f.custom_gradient).parameters]
    for place, arg in enumerate(args):
        of = f"its argument `{names[place]}`" if place < len(names) else "an argument"
        require_no_captures(f"`{f.__name__}` gives no gradient", of, arg)


def _noted(run: Run, f: Any, args: tuple, y: Any, pullback: Any) -> Any:
    """The value as handles of a run, with its entry."""
    made: list[Any] = []
    value = lifted(run, y, True, made, f)
    if made:
        place = placed(run, made)
        operands = tuple([kept(run, a, False) for a in args])
        run.entries[place] = _pull, f, pullback, operands, kept(run, value, False)
    return value


def _noted_around(f: Any, args: tuple, y: Any, pullback: Any) -> Any:
    """The value in the runs around: its derivative is the pullback there, too, and not that of the body."""
    run = innermost(handles_in(args, []))
    if run is None or not handles_in(y, []):
        return y
    memo: dict[int, Any] = {}

    def lower(value: Any) -> Any:
        return mapped(value, lambda h: h.value if h.run is run else h)

    below_, own = lower(args), _function_below(pullback, lower, memo)
    return _noted(run, f, args, _noted_around(f, below_, brought.new(lower(y)), own), own)


def _function_below(f: Any, lower: Any, memo: dict[int, Any]) -> Any:
    """A function over what it closes over, one level below."""
    if type(f) is not types.FunctionType or not f.__closure__:
        return f
    if id(f) in memo:
        return memo[id(f)]
    cells = [types.CellType() for _ in f.__closure__]
    copy = types.FunctionType(f.__code__, f.__globals__, f.__name__, lower(f.__defaults__), tuple(cells))
    copy.__kwdefaults__ = lower(f.__kwdefaults__)
    memo[id(f)] = copy
    for cell, old in zip(cells, f.__closure__, strict=True):
        with contextlib.suppress(ValueError):  # an empty one
            cell.cell_contents = _function_below(lower(old.cell_contents), lower, memo)
    return copy


class _Followed:
    """The user's function of value and pullback, with its calls followed."""

    def __init__(self, f: Any) -> None:
        self.__name__, self.of = f.__name__, f.custom_gradient

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return call(self.of, *args, **keywords)


def _pull(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint: what the pullback returns."""
    _, f, pullback, operands, result = entry
    arrived, _ = taken(sweep, result)
    if arrived is None:
        return
    own = 1 if operands and is_method_of(f, operands[0]) else 0
    zeros = brought.zeros_of(f, tuple(bottoms(sweep.forms.value(operands))), own)
    given = functools.partial(call, pullback) if sweep.nested else pullback
    arrived = tuple(arrived) if isinstance(arrived, (list, tuple)) else arrived
    bars = (None,) * own + tuple(brought.cotangents(f, given, arrived, zeros, own))
    for operand, bar in zip(operands, bars, strict=True):
        if bar is not None:
            share(sweep, operand, bar, "", None)


OWN_GRADIENTS.append(own_gradient)
OWN_PULLS.append(_pull)
