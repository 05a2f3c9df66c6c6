"""The gradient of targets with respect to sources: seeds, the sweep, and gradients in the structure of the sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.runtime import float_type
from s2sgrad.tape.algebra import settled
from s2sgrad.tape.array import Array, numeric
from s2sgrad.tape.recording import Tape
from s2sgrad.tape.sweep import algebra, sweep
from s2sgrad.tape.unconnected import UnconnectedGradients
from s2sgrad.tape.values import Operand, beside, leaves, packed
from s2sgrad.tape.variable import Variable


def gradients_of(
    tape: Tape,
    target: Any,
    sources: Any,
    weights: Any,
    unconnected: UnconnectedGradients,
    stopped: Iterable[Any] = (),
    entries: Iterable[Any] | None = None,
) -> list[Any]:
    """The gradients of the weighted sum over all elements of all targets, one for each leaf of `sources`.

    `entries`: the records, the latest first; by default those of the tape.
    """
    asked = required(sources)
    seeds: dict[int, Any] = {}
    on = algebra()
    for leaf, weight in _weighted(target, weights):
        weight = on.value(weight)
        seeds[leaf.uid] = seeds[leaf.uid] + weight if leaf.uid in seeds else weight
    variables = {v.uid for v in asked if isinstance(v, Variable)}
    wanted = {v.uid for v in asked} | {uid for uid, variable in tape.reads.items() if variable in variables}
    constants = {v.uid for v in stopped if isinstance(v, Operand)}
    constants |= {uid for uid, variable in tape.reads.items() if variable in constants}
    if entries is None:
        entries = list(reversed(tape.entries))
    swept = sweep(entries, seeds, wanted, on, frozenset(constants))
    bars = {uid: settled(bar) for uid, bar in swept.items()}
    for uid, variable in tape.reads.items():
        if variable in variables and uid in bars:
            bar = bars.pop(uid)
            bars[variable] = bars[variable] + bar if variable in bars else bar
    return [_gradient_for(source, bars.get(source.uid), unconnected, on) for source in asked]


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


def _gradient_for(source: Any, bar: Any, unconnected: UnconnectedGradients, on: Any) -> Any:
    """The gradient for one source; None or zeros if there is none."""
    whole = source._value.dtype.kind not in "fc"  # ints are constants
    if bar is None or whole:
        if unconnected is UnconnectedGradients.NONE:
            return None
        return Array.of(np.zeros(source._value.shape, float_type(source._value.dtype)))
    bar = on.cast(bar, source._value)
    if isinstance(bar, Array):
        return bar
    return Array.of(bar.copy() if isinstance(bar, np.ndarray) and bar.flags.writeable else bar)


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
    return packed(sources, gradients)
