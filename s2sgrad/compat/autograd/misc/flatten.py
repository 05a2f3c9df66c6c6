"""One vector for nested lists, tuples and dicts of numbers and arrays, and back.

>>> import numpy as np
>>> vector, unflatten = flatten({"w": np.ones((2, 2)), "b": [0.5, 2.0]})
>>> vector
array([0.5, 2. , 1. , 1. , 1. , 1. ])
>>> unflatten(2.0 * vector)["w"]
array([[2., 2.],
       [2., 2.]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.tape import nondifferentiable


def flatten(value: Any) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """The vector of all numbers of a value, dict entries in the order of their keys, and the inverse function.  A
    None has none and stays."""
    parts = _parts(value)
    shape, _ = _shape(value, 0)

    def unflatten(vector: Any) -> Any:
        return _filled(shape, vector)

    return np.concatenate(parts) if parts else np.zeros(0), unflatten


def _parts(value: Any) -> list[np.ndarray]:
    """A vector for each number or array, in order; appends to no list, so that it can be differentiated."""
    if isinstance(value, dict):
        return [part for k in sorted(value) for part in _parts(value[k])]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in _parts(item)]
    return [] if value is None else [np.ravel(np.asarray(value, float))]


@nondifferentiable
def _shape(value: Any, at: int) -> tuple[tuple[Any, ...], int]:
    """The structure of a value with the position of each part in the vector, starting at `at`; and the end position."""
    if isinstance(value, dict):
        held = {}
        for k in sorted(value):
            held[k], at = _shape(value[k], at)
        return ("dict", held), at
    if isinstance(value, (list, tuple)):
        items = []
        for item in value:
            shape, at = _shape(item, at)
            items.append(shape)
        return ("tuple" if isinstance(value, tuple) else "list", items), at
    if value is None:
        return ("nothing",), at
    end = at + np.size(value)
    return ("array" if isinstance(value, np.ndarray) else "number", at, end, np.shape(value)), end


def _filled(shape: tuple[Any, ...], vector: Any) -> Any:
    kind = shape[0]
    if kind == "dict":
        return {k: _filled(part, vector) for k, part in shape[1].items()}
    if kind == "list":
        return [_filled(part, vector) for part in shape[1]]
    if kind == "tuple":
        return tuple([_filled(part, vector) for part in shape[1]])
    if kind in ("number", "nothing"):
        return vector[shape[1]] if kind == "number" else None
    return np.reshape(vector[shape[1] : shape[2]], shape[3])


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], np.ndarray]:
    """The function from vectors to vectors, the function from a vector to nested parameters, and the example's vector."""
    vector, unflatten = flatten(example)

    def flat(vector: Any, *args: Any) -> Any:
        return flatten(func(unflatten(vector), *args))[0]

    return flat, unflatten, vector
