"""The reverse sweep over the records of a tape.

records [y = x * x, z = y * y], seed z_bar = 1     ->     y_bar = 2 y z_bar; x_bar = 2 x y_bar
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.tape.algebra import PLAIN, Algebra, settled
from s2sgrad.tape.array import Array, apply
from s2sgrad.tape.dispatch import on_arrays
from s2sgrad.tape.places import pulled
from s2sgrad.tape.recording import STATE


class OnArrays:
    """Arithmetic on Arrays: the sweep itself is recorded."""

    recorded = True

    def value(self, v: Any) -> Any:
        """The argument as it was recorded."""
        return v

    def formula(self, pullback: Any) -> Any:
        """The pullback, wrapped so that it can be called with Arrays."""
        return on_arrays(pullback)

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        """As for plain values."""
        x = x._value if isinstance(x, Array) else x
        if np.shape(bar) == x.shape:
            return bar
        return apply(runtime.unbroadcast, (bar, x)) if elementwise else apply(np.broadcast_to, (bar,), {"shape": x.shape})

    def cast(self, bar: Any, x: Any) -> Any:
        """Converted and broadcast to the dtype and shape of `x`."""
        if not isinstance(bar, Array):
            return PLAIN.cast(bar, x)
        if bar._value.dtype != x.dtype:
            bar = apply(np.ndarray.astype, (bar if bar._value.ndim else bar.reshape(()), x.dtype))
        return bar if bar._value.shape == x.shape else apply(np.broadcast_to, (bar,), {"shape": x.shape})

    def selected(self, mask: Any, bar: Any) -> Any:
        """As for plain values."""
        return apply(np.where, (mask, bar, 0.0))


ON_ARRAYS = OnArrays()


def algebra() -> Algebra:
    """The arithmetic for a sweep that starts now."""
    return ON_ARRAYS if STATE.tapes else PLAIN


def sweep(
    entries: Iterable[Any], bars: dict[int, Any], kept: set[int], on: Algebra, stopped: frozenset[int] = frozenset()
) -> dict[int, Any]:
    """Propagate the cotangents `bars` (uid -> cotangent) backwards through the entries (the latest first).

    The cotangents of values in `kept` remain in the result (some masked); nothing flows through values in `stopped`.
    """
    for record, live in entries:
        if not any(uid in bars for uid in record.outputs):
            continue
        arrived = {uid: bars[uid] if uid in kept else bars.pop(uid) for uid in record.outputs if uid in bars}
        if stopped:
            arrived = {uid: bar for uid, bar in arrived.items() if uid not in stopped}
        if arrived:
            for uid, bar in pulled(record, arrived, live, on):
                bars[uid] = settled(bars[uid]) + settled(bar) if uid in bars else bar
    return bars
