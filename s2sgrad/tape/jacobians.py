"""Jacobians by one sweep for each element of the target.

    y of shape (2,), x of shape (3,)     ->     rows gradient(y, x, weights=[1, 0]), gradient(y, x, weights=[0, 1])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.structure import float_type
from s2sgrad.tape.array import Array, apply
from s2sgrad.tape.recording import Tape
from s2sgrad.tape.targets import gradients_of
from s2sgrad.tape.unconnected import UnconnectedGradients
from s2sgrad.tape.values import Operand, leaves


def jacobian(tape: Tape, target: Any, sources: Any, unconnected: UnconnectedGradients) -> list[Any]:
    """One for every leaf of `sources`."""
    if not isinstance(target, Operand):
        raise TypeError("the target of a jacobian must be one Array")
    shape = target._value.shape
    rows = []
    for place in np.ndindex(*shape):
        weights = np.zeros(shape, target._value.dtype)
        weights[place] = 1.0
        rows.append(gradients_of(tape, target, sources, weights[()], UnconnectedGradients.NONE))
    if not target._value.size:  # no row says what is connected
        rows.append(gradients_of(tape, target, sources, None, UnconnectedGradients.NONE))
    return [
        _stacked([row[k] for row in rows], source, shape + source._value.shape, unconnected)
        for k, source in enumerate(leaves(sources))
    ]


def batch_jacobian(tape: Tape, target: Any, source: Any, unconnected: UnconnectedGradients) -> Any:
    """Of each row of the target in the same row of the source."""
    if not isinstance(target, Operand) or not isinstance(source, Operand):
        raise TypeError("the target and the source of a batch_jacobian must be one Array each")
    if target._value.ndim == 0 or source._value.ndim == 0 or len(target._value) != len(source._value):
        raise ValueError(
            f"the first axes of target and source must be the same batch, not of shapes {target._value.shape} and "
            f"{source._value.shape}"
        )
    shape = target._value.shape[1:]
    rows = []
    for place in np.ndindex(*shape):
        weights = np.zeros(target._value.shape, target._value.dtype)
        weights[(slice(None), *place)] = 1.0
        rows += gradients_of(tape, target, source, weights, UnconnectedGradients.NONE)
    if not rows:
        rows += gradients_of(tape, target, source, None, UnconnectedGradients.NONE)
    stacked = _stacked(rows, source, (*shape, *source._value.shape), unconnected)
    return stacked if stacked is None or not shape else apply(np.moveaxis, (stacked, len(shape), 0))


def _stacked(rows: list[Any], source: Any, shape: tuple, unconnected: UnconnectedGradients) -> Any:
    if all(row is None for row in rows):
        if unconnected is UnconnectedGradients.NONE:
            return None
        return Array.of(np.zeros(shape, float_type(source._value.dtype)))
    if 0 in shape:
        return Array.of(np.zeros(shape, source._value.dtype))
    zeros = np.zeros(source._value.shape, source._value.dtype)
    return apply(np.reshape, (apply(np.stack, ([zeros if row is None else row for row in rows],)), shape))
