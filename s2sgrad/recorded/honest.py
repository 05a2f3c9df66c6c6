"""Pullbacks in which no computed zero hides an infinite slope: `0 * inf` is not known, and is nan.

    def sqrt(g, y, x): return over(g, 2.0 * y)      0 where `g` is 0: in a text that is what a mask left out

In a record, what is left out has no cotangent at all, so that a zero here was computed.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.recorded.runs import OPEN
from s2sgrad.recorded.values import FLOATS, bottom, is_handle
from s2sgrad.runtime.structure import rebuilt

_HIDING = (runtime.over, runtime.times)
CALLED: dict[str, Any] = {}
"""How a pullback is called where the sweep is recorded; filled by `hooks`."""


def honest(pullback: Any, tag: str, single: bool) -> Any:
    """The pullback; of an elementwise function, one that gives no 0 for a cotangent of 0 whatever the slope."""
    if tag != "elementwise" or not isinstance(pullback, types.FunctionType):
        return pullback
    called = [pullback.__globals__.get(name) for name in pullback.__code__.co_names]
    return Honest(pullback, single) if any(f is g for f in called for g in _HIDING) else pullback


class Honest:
    """A pullback of an elementwise function, with nan where a cotangent of 0 meets an infinite slope."""

    def __init__(self, pullback: Any, single: bool, called: Any = None, plain: Any = None) -> None:
        self.pullback, self.single = pullback, single
        self.called, self.plain = called, plain or bottoms

    def on(self, called: Any, plain: Any) -> Honest:
        """The same on other values: `called` is the pullback for them, `plain` tells what they stand for."""
        return Honest(self.pullback, self.single, called, plain)

    def __call__(self, g: Any, y: Any, *xs: Any, **keywords: Any) -> Any:
        if self.called is not None:
            parts = self.called(g, y, *xs, **keywords)
        else:
            parts = (CALLED["call"] if OPEN.runs else _called)(self.pullback, g, y, *xs, **keywords)
        bar = self.plain(g)
        if type(bar) in FLOATS and bar != 0.0:
            return parts
        zero = np.equal(bar, 0.0)
        if not np.any(zero):
            return parts
        slopes = self.pullback(np.ones(np.shape(bar))[()], *self.plain((y, *xs)), **self.plain(keywords))
        if self.single:
            return _shown(parts, slopes, zero)
        return tuple([_shown(part, slope, zero) for part, slope in zip(parts, slopes, strict=True)])


def _called(f: Any, *args: Any, **keywords: Any) -> Any:
    return f(*args, **keywords)


def _shown(part: Any, slope: Any, zero: Any) -> Any:
    if part is None or isinstance(part, (list, tuple, dict)):
        return part
    unknown = zero & np.isinf(slope)
    if not np.any(unknown):
        return part
    return part * np.where(unknown, np.nan, 1.0)[()]  # what depends on it is not known, either


def bottoms(value: Any) -> Any:
    """The plain values."""
    if is_handle(value) or not isinstance(value, (list, tuple, dict)):
        return bottom(value)
    return rebuilt(value, bottoms)
