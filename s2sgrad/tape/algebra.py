"""The two arithmetics of a reverse sweep: on ndarrays, or on Arrays where another tape records the sweep itself.

x_bar = y_bar * np.cos(x)     on ndarrays; or on Arrays, and then recorded like any other operation
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from s2sgrad import runtime
from s2sgrad.tape.values import Operand, unwrapped


class Masked:
    """A cotangent of one branch of `np.where`: it is zero outside of the mask, even where the branch's slope is infinite."""

    __slots__ = ("mask", "value")

    def __init__(self, value: Any, mask: Any) -> None:
        self.value, self.mask = value, mask


def settled(bar: Any) -> Any:
    """The cotangent without its mask."""
    return bar.value if isinstance(bar, Masked) else bar


class Algebra(Protocol):
    """How a sweep computes."""

    recorded: bool

    def value(self, v: Any) -> Any:
        """A recorded argument, as the pullbacks expect it."""
        ...

    def formula(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """A pullback of the rule table, ready to call."""
        ...

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """A cotangent with the shape of its operand `x`."""
        ...

    def cast(self, bar: Any, x: Any) -> Any:
        """A gradient with the shape and dtype of its source `x`."""
        ...

    def selected(self, mask: Any, bar: Any) -> Any:
        """The cotangent where the mask is true, 0 elsewhere."""
        ...


class Plain:
    """Arithmetic on ndarrays."""

    recorded = False

    def value(self, v: Any) -> Any:
        """The plain value of an Array or Variable."""
        return unwrapped(v)

    def formula(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """The pullback itself."""
        return pullback

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """Summed over broadcast axes if the operation is elementwise, else broadcast to the shape of `x`."""
        x = x._value if isinstance(x, Operand) else x
        if np.shape(bar) == x.shape:
            return bar
        return runtime.unbroadcast(bar, x) if elementwise else np.broadcast_to(bar, x.shape)

    def cast(self, bar: Any, x: Any) -> Any:
        """Converted and broadcast to the dtype and shape of `x`."""
        bar = np.asarray(bar)
        if bar.dtype != x.dtype:
            bar = bar.astype(x.dtype)
        return (bar if bar.shape == x.shape else np.broadcast_to(bar, x.shape))[()]

    def selected(self, mask: Any, bar: Any) -> Any:
        """With np.where, which removes nan outside of the mask."""
        return np.where(mask, bar, 0.0)


PLAIN = Plain()
