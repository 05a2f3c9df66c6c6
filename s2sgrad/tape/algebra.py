"""What a sweep computes with: plain arrays, or Arrays where another tape records the sweep itself.

    x_bar = y_bar * np.cos(x)     of ndarrays, or of Arrays: then it is recorded like any operation
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from s2sgrad import runtime
from s2sgrad.tape.values import Operand, unwrapped


class Masked:
    """A cotangent of one branch of `np.where`: zero where the mask does not hold, however steep the branch is there."""

    __slots__ = ("mask", "value")

    def __init__(self, value: Any, mask: Any) -> None:
        self.value, self.mask = value, mask


def settled(bar: Any) -> Any:
    """A cotangent without its mask."""
    return bar.value if isinstance(bar, Masked) else bar


class Algebra(Protocol):
    """How a sweep computes."""

    recorded: bool

    def value(self, v: Any) -> Any:
        """An argument of a record as the pullbacks take it."""
        ...

    def formula(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """A pullback of the rule table, ready to be called."""
        ...

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """A cotangent in the shape of its operand."""
        ...

    def cast(self, bar: Any, x: Any) -> Any:
        """A gradient in the shape and dtype of the source `x`."""
        ...

    def selected(self, mask: Any, bar: Any) -> Any:
        """A cotangent where the mask holds, 0 elsewhere."""
        ...


class Plain:
    """Computes with ndarrays."""

    recorded = False

    def value(self, v: Any) -> Any:
        """The plain value."""
        return unwrapped(v)

    def formula(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """The rule's own function."""
        return pullback

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """Summed where an elementwise operation broadcast, else spread."""
        x = x._value if isinstance(x, Operand) else x
        if np.shape(bar) == x.shape:
            return bar
        return runtime.unbroadcast(bar, x) if elementwise else np.broadcast_to(bar, x.shape)

    def cast(self, bar: Any, x: Any) -> Any:
        """Of the shape and dtype of the source."""
        bar = np.asarray(bar)
        if bar.dtype != x.dtype:
            bar = bar.astype(x.dtype)
        return (bar if bar.shape == x.shape else np.broadcast_to(bar, x.shape))[()]


    def selected(self, mask: Any, bar: Any) -> Any:
        """By np.where, which leaves no nan behind."""
        return np.where(mask, bar, 0.0)


PLAIN = Plain()
