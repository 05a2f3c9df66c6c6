"""Jacobians: one sweep for each element of the target.

y of shape (2,), x of shape (3,)     ->     rows gradient(y, x, weights=[1, 0]), gradient(y, x, weights=[0, 1])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.structure import float_type, leaves
from s2sgrad.tape.array import Array, apply
from s2sgrad.tape.recording import Tape
from s2sgrad.tape.targets import gradients_of
from s2sgrad.tape.unconnected import Unconnected, UnconnectedGradients
from s2sgrad.tape.values import Operand


def jacobian(tape: Tape, target: Any, sources: Any, unconnected: Unconnected) -> list[Any]:
    """The Jacobian for each leaf of `sources`: of the shape of the target followed by that of the source."""
    if not isinstance(target, Operand):
        raise TypeError(f"the target of a jacobian must be one Array, not a value of type {type(target).__name__}")
    shape = target._value.shape
    rows = []
    for place in np.ndindex(*shape):
        weights = np.zeros(shape, target._value.dtype)
        weights[place] = 1.0
        rows.append(gradients_of(tape, target, sources, weights[()], UnconnectedGradients.NONE))
    if not target._value.size:  # no row shows which sources are connected
        rows.append(gradients_of(tape, target, sources, None, UnconnectedGradients.NONE))
    return [
        _stacked([row[k] for row in rows], source, shape + source._value.shape, unconnected)
        for k, source in enumerate(leaves(sources))
    ]


def batch_jacobian(tape: Tape, target: Any, source: Any) -> Any:
    """The Jacobian of each row with respect to the same row of the source: shape (n, ..target, ..source)."""
    if not isinstance(target, Operand) or not isinstance(source, Operand):
        raise TypeError("the target and the source of a batch_jacobian must be one Array each")
    rows_shape, source_shape = target._value.shape, source._value.shape
    if min(len(rows_shape), len(source_shape)) < 2:
        raise ValueError(
            f"the target and the source of a batch_jacobian must have a rank of 2 at least, batch first, not the shapes "
            f"{rows_shape} and {source_shape}: use `jacobian`, or add an axis"
        )
    if rows_shape[0] != source_shape[0]:
        raise ValueError(
            f"the first axes of target and source must be the same batch, not of shapes {rows_shape} and {source_shape}"
        )
    rows = []
    for place in np.ndindex(*rows_shape[1:]):
        weights = np.zeros(rows_shape, target._value.dtype)
        weights[(slice(None), *place)] = 1.0
        rows += gradients_of(tape, target, source, weights, UnconnectedGradients.ZERO)
    if not rows:  # for its errors only
        gradients_of(tape, target, source, None, UnconnectedGradients.ZERO)
    stacked = _stacked(rows, source, (*rows_shape[1:], *source_shape), UnconnectedGradients.ZERO)
    return apply(np.moveaxis, (stacked, len(rows_shape) - 1, 0))


def _stacked(rows: list[Any], source: Any, shape: tuple, unconnected: Unconnected) -> Any:
    """The rows as one Array; None or zeros if no row depends on the source."""
    if all(row is None for row in rows):
        if unconnected == UnconnectedGradients.NONE:
            return None
        return Array.of(np.zeros(shape, float_type(source._value.dtype)))
    if 0 in shape:
        return Array.of(np.zeros(shape, source._value.dtype))
    zeros = np.zeros(source._value.shape, source._value.dtype)
    return apply(np.reshape, (apply(np.stack, ([zeros if row is None else row for row in rows],)), shape))
