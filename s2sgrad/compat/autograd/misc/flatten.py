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

from s2sgrad.compat.autograd.misc.parts import filled, parts, shape


def flatten(value: Any) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """The vector of all numbers of a value, dict entries in the order of their keys, and the inverse function.  A
    None has none and stays."""
    vectors = parts(value)
    structure, _ = shape(value, 0)

    def unflatten(vector: Any) -> Any:
        return filled(structure, vector)

    return np.concatenate(vectors) if vectors else np.zeros(0), unflatten


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], np.ndarray]:
    """The function from vectors to vectors, the function from a vector to nested parameters, and the example's vector."""
    vector, unflatten = flatten(example)

    def flat(vector: Any, *args: Any) -> Any:
        return flatten(func(unflatten(vector), *args))[0]

    return flat, unflatten, vector
