"""The numbers of nested lists, tuples and dicts, and the values of the same structure.

>>> filled(shape({"a": 1.0, "b": [2.0]}, 0)[0], np.array([3.0, 4.0])) == {"a": 3.0, "b": [4.0]}
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.tape import nondifferentiable


def parts(value: Any) -> list[np.ndarray]:
    """A vector for each number or array, in order; appends to no list, so that it can be differentiated."""
    if isinstance(value, dict):
        return [part for k in sorted(value) for part in parts(value[k])]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in parts(item)]
    return [] if value is None else [np.ravel(np.asarray(value, float))]


@nondifferentiable
def shape(value: Any, at: int) -> tuple[tuple[Any, ...], int]:
    """The structure of a value with the position of each part in the vector, starting at `at`; and the end position."""
    if isinstance(value, dict):
        held = {}
        for k in sorted(value):
            held[k], at = shape(value[k], at)
        return ("dict", held), at
    if isinstance(value, (list, tuple)):
        items = []
        for item in value:
            inner, at = shape(item, at)
            items.append(inner)
        return ("tuple" if isinstance(value, tuple) else "list", items), at
    if value is None:
        return ("nothing",), at
    end = at + np.size(value)
    return ("array" if isinstance(value, np.ndarray) else "number", at, end, np.shape(value)), end


def filled(of: tuple[Any, ...], vector: Any) -> Any:
    """A value of this structure with the numbers of a vector."""
    kind = of[0]
    if kind == "dict":
        return {k: filled(part, vector) for k, part in of[1].items()}
    if kind == "list":
        return [filled(part, vector) for part in of[1]]
    if kind == "tuple":
        return tuple([filled(part, vector) for part in of[1]])
    if kind in ("number", "nothing"):
        return vector[of[1]] if kind == "number" else None
    return np.reshape(vector[of[1] : of[2]], of[3])
