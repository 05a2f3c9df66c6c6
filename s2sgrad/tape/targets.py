"""The gradient of targets with respect to sources: seeds, the sweep, and gradients in the structure of the sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.recorded.careful import holds_nan
from s2sgrad.runtime import float_type
from s2sgrad.runtime.results import ComplexResult
from s2sgrad.runtime.structure import filled, leaves
from s2sgrad.tape.array import Array, apply, numeric
from s2sgrad.tape.recording import STATE, Tape
from s2sgrad.tape.sweep import ArrayMarks, OnTape, connected, is_large, may_mask
from s2sgrad.tape.unconnected import Unconnected, UnconnectedGradients
from s2sgrad.tape.values import Operand, beside, unwrapped


def gradients_of(
    tape: Tape,
    target: Any,
    sources: Any,
    weights: Any,
    unconnected: Unconnected,
    stopped: Iterable[Any] = (),
    last: bool = False,
) -> list[Any]:
    """The gradients of the weighted sum over all elements of all targets, one for each leaf of `sources`.

    `last`: the tape is not needed any more, and lets go of what it follows.
    """
    asked = required(sources)
    seeds = list(_weighted(target, weights))
    wanted = _Wanted(tape, asked, [v for v in stopped if isinstance(v, Operand)])
    if last:
        tape.live.clear()
    bars = wanted.bars(tape.entries, seeds, last)
    return [_gradient_for(source, bars.get(source.uid), unconnected) for source in asked]


class _Wanted:
    """What is asked of a sweep: the cotangents of these sources, some of which may be constants for what is before them."""

    def __init__(self, tape: Tape, sources: list[Any], stopped: list[Any]) -> None:
        asked, constant = {v.uid for v in sources}, {v.uid for v in stopped}
        self.as_asked = {uid: variable for uid, variable in tape.reads.items() if variable in asked}
        found = [*((v.uid, (-1, v)) for v in (*sources, *stopped) if isinstance(v, Array)),
                 *((uid, tape.live[uid]) for uid, v in tape.reads.items() if v in asked or v in constant),
                 *((uid, tape.live[uid]) for uid in asked | constant if uid in tape.live)]  # fmt: skip
        self.places = {uid: place for uid, (place, _) in found}
        self.kept = {uid: array.keep() for uid, (_, array) in found}
        self.constant = {uid for uid in self.kept if uid in constant or tape.reads.get(uid) in constant}

    def bars(self, entries: list[Any], seeds: list[tuple[Any, Any]], last: bool) -> dict[int, Any]:
        """The cotangents, by the uid of a source.  Those that are left out by masks are zeros, if a path leads there."""
        if not any(map(may_mask, entries)):
            bars = self._swept(OnTape(), entries, seeds, last)
        elif STATE.tapes:
            bars = self._swept(OnTape(ArrayMarks()), entries, seeds, last)
        elif any(map(is_large, entries)):
            reached = connected(entries, {leaf.uid for leaf, _ in seeds}, self.constant)
            bars = {uid: np.zeros_like(kept.value) for uid, kept in self.kept.items() if uid in reached}
            bars |= self._swept(OnTape(ArrayMarks()), entries, seeds, last)
        else:
            bars = self._swept(OnTape(), entries, seeds)
            if holds_nan(list(bars.values())):
                bars = {uid: np.zeros_like(bar) for uid, bar in bars.items()}
                bars |= self._swept(OnTape(ArrayMarks()), entries, seeds, last)
        out: dict[int, Any] = {}
        for uid, bar in (*bars.items(), *((leaf.uid, weight) for leaf, weight in seeds if not isinstance(leaf, Array))):
            source = self.as_asked.get(uid, uid)
            out[source] = out[source] + bar if source in out else bar
        return out

    def _swept(self, sweep: OnTape, entries: list[Any], seeds: list[tuple[Any, Any]], last: bool = False) -> dict[int, Any]:
        entries = entries if last else [*entries]
        for leaf, weight in seeds:
            if isinstance(leaf, Array):
                sweep.give(leaf.keep(), weight if sweep.nested else unwrapped(weight), None)
        bars: dict[int, Any] = {}
        end = len(entries)
        with np.errstate(all="ignore"):
            for place in sorted({*self.places.values(), -1}, reverse=True):
                sweep.over(entries, place + 1, end)
                for uid, kept in self.kept.items():
                    if self.places[uid] == place:
                        bars[uid] = sweep.arrived(kept)
                        if uid in self.constant:
                            sweep.stop(kept)
                end = place + 1
        return {uid: bar for uid, bar in bars.items() if bar is not None}


def required(sources: Any) -> list[Any]:
    """The sources as a flat list; ValueError for anything but Arrays and Variables."""
    asked = leaves(sources)
    for leaf in asked:
        if not isinstance(leaf, Operand):
            raise ValueError(
                f"a gradient was asked for in a value of type {type(leaf).__name__}, which no tape can follow: make it with "
                "`constant(..)` or `Variable(..)`"
            )
    return asked


def _gradient_for(source: Any, bar: Any, unconnected: Unconnected) -> Any:
    """The gradient for one source; None or zeros if there is none."""
    whole = source._value.dtype.kind not in "fc"  # ints are constants
    if bar is None or whole:
        if unconnected == UnconnectedGradients.NONE:
            return None
        return Array.of(np.zeros(source._value.shape, float_type(source._value.dtype)))
    bar = _cast(bar, source._value)
    if isinstance(bar, Array):
        return bar
    return Array.of(bar.copy() if isinstance(bar, np.ndarray) and bar.flags.writeable else bar)


def _cast(bar: Any, x: Any) -> Any:
    """A gradient with the shape and dtype of its source."""
    if not isinstance(bar, Array):
        bar = np.asarray(bar)
        bar = bar.astype(x.dtype) if bar.dtype != x.dtype else bar
        return (bar if bar.shape == x.shape else np.broadcast_to(bar, x.shape))[()]
    if bar._value.dtype != x.dtype:
        bar = apply(np.ndarray.astype, (bar if bar._value.ndim else bar.reshape(()), x.dtype))
    return bar if bar._value.shape == x.shape else apply(np.broadcast_to, (bar,), {"shape": x.shape})


def _weighted(target: Any, weights: Any) -> Iterator[tuple[Any, Any]]:
    """Each leaf of the target with its weight (by default ones)."""
    targets = leaves(target)
    for leaf, weight in zip(targets, _beside(target, len(targets), weights), strict=True):
        if not isinstance(leaf, Operand):
            what = "None" if leaf is None else f"a plain {type(leaf).__name__}, which no tape can follow"
            raise TypeError(f"the target is {what}: pass the Array that was computed from the sources")
        value, kind = leaf._value, float_type(leaf._value.dtype)
        if kind != value.dtype:
            raise TypeError(f"the target is of {value.dtype}, which has no gradient: make it of floats")
        if weight is None:
            if kind.kind == "c":
                raise ComplexResult
            yield leaf, np.ones(value.shape, kind)[()]
            continue
        weight = numeric(weight)
        if np.shape(weight) != value.shape:
            raise ValueError(f"the weights of a target must have its shape, {value.shape}, not {np.shape(weight)}")
        yield leaf, weight._read() if isinstance(weight, Operand) else np.array(weight, kind)[()]


def _beside(target: Any, count: int, weights: Any) -> list[Any]:
    """The weights as a flat list, in the order of the targets."""
    if isinstance(target, (list, tuple, dict)):
        try:
            return beside(target, weights)
        except ValueError as error:
            if count == 1 and not isinstance(weights, dict):
                return _beside(leaves(target)[0], 1, weights)
            number = 1 if isinstance(weights, Operand) else len(leaves(weights))
            raise ValueError(
                f"the {number} weights for {count} targets must lie as the targets do, with None for ones: {error}"
            ) from None
    if isinstance(weights, (list, tuple)):  # one array, written as a list
        weights = weights[0] if len(weights) == 1 and _shape(weights[0]) == _shape(target) else numeric(weights)
    return [weights]


def _shape(target: Any) -> tuple[int, ...]:
    target = numeric(target)
    return target._value.shape if isinstance(target, Operand) else np.shape(target)


def structured(sources: Any, gradients: list[Any]) -> Any:
    """The gradients in the structure of the sources."""
    return filled(sources, iter(gradients))
