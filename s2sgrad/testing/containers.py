"""Nested tuples, lists, dicts and objects: their leaves, and arithmetic on them.

Layer(w=[1.0, 2.0])      ->      leaves p.w[0], p.w[1]; an object that refers to itself is a leaf
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.errors.cycles import cycle
from s2sgrad.primitives import libraries
from s2sgrad.runtime.guests import is_array_of_others
from s2sgrad.runtime.structure import attributes_of, reachable

_LEAVES = (float, complex, int, str, np.ndarray, np.generic, type(None))
_DRAWING = (np.random.Generator, np.random.RandomState, random.Random)  # objects with state


def is_float(x: Any) -> bool:
    """Whether a leaf is a float or an array of floats; complex numbers are two floats."""
    return isinstance(x, (float, complex, np.inexact)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def _is_complex(x: Any) -> bool:
    return np.iscomplexobj(x)


def _count(x: Any) -> int:
    """The number of floats in a leaf."""
    return np.size(x) * (2 if _is_complex(x) else 1)


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of nested tuples, lists, dicts and objects, in order.

    >>> list(leaves({"a": 1.0, "b": (2.0, [3.0, None])}))
    [1.0, 2.0, 3.0, None]
    """
    return (leaf for _, leaf in paths(value))


def paths(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves with their paths: (path, leaf).

    >>> list(paths({"w": [1.0, (2.0,)]}, "p"))
    [("p['w'][0]", 1.0), ("p['w'][1][0]", 2.0)]
    """
    if isinstance(value, (tuple, list, dict)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(item, f"{path}[{key!r}]")
    elif (held := attributes(value)) is not None:
        for name, item in held.items():
            yield from paths(item, f"{path}.{name}")
    else:
        yield path, value


def attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, in which a derivative has parts; None for anything else."""
    held = None if isinstance(value, _LEAVES) else attributes_of(value)
    return held if held is None or cycle(value, "") is None else None


def unfollowed(value: Any, path: str) -> Iterator[str]:
    """The leaves that hold floats in which nothing is differentiated, such as arrays of other libraries."""
    for where, leaf in paths(value, path):
        if not isinstance(leaf, _LEAVES) and _holds_floats(leaf):
            yield f"`{where}`, a {type(leaf).__name__}"


def _holds_floats(x: Any, depth: int = 4) -> bool:
    if is_float(x) or is_array_of_others(type(x)):
        return True
    if depth == 0 or (libraries.is_installed(type(x)) and not isinstance(x, (list, tuple, dict))):
        return False
    return any(_holds_floats(part, depth - 1) for part in (reachable(x) or {}).values())


def fresh(x: Any) -> Any:
    """A copy of a leaf that a call may change."""
    return x.copy() if isinstance(x, np.ndarray) else copy.deepcopy(x) if isinstance(x, _DRAWING) else x


def mapped(value: Any, change: Callable[[Any], Any] = fresh) -> Any:
    """The same structure with `change` applied to every leaf; by default a deep copy.

    >>> mapped({"a": (1.0, 2.0)}, lambda x: -x)
    {'a': (-1.0, -2.0)}
    """
    if isinstance(value, dict):
        return type(value)((k, mapped(v, change)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(v, change) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)([mapped(v, change) for v in value])
    if (held := attributes(value)) is not None:
        made = object.__new__(type(value))
        for name, item in held.items():
            object.__setattr__(made, name, mapped(item, change))
        return made
    return change(value)


def shifted(value: Any, direction: Any, step: float) -> Any:
    """`value + step * direction`, leaf by leaf; other leaves than floats are kept."""
    ahead = leaves(direction)

    def moved(x: Any) -> Any:
        d = next(ahead)
        if not is_float(x):
            return x
        return x + step * d if isinstance(x, np.ndarray) else (complex if _is_complex(x) else float)(x + step * d)

    return mapped(value, moved)


def inner(left: Any, right: Any) -> float:
    """The inner product of two values with the same structure; of complex numbers the real part of the product.

    >>> inner((1.0, [2.0]), (3.0, [4.0]))
    11.0
    """
    pairs = zip(leaves(left), leaves(right), strict=True)
    return float(sum(np.sum(_products(a, b)) for a, b in pairs if is_float(a) or is_float(b)))


def _products(a: Any, b: Any) -> Any:
    if _is_complex(a) or _is_complex(b):
        return np.real(np.multiply(a, b, dtype=complex))
    return np.multiply(a, b, dtype=float)


def flat(value: Any) -> np.ndarray:
    """All floats of a value in one vector of shape (n,)."""
    rows = [np.ravel(np.array(x, complex)).view(float) if _is_complex(x) else np.ravel(np.asarray(x, float))
            for x in leaves(value) if is_float(x)]  # fmt: skip
    return np.concatenate(rows) if rows else np.zeros(0)


def like_flat(value: Any, row: np.ndarray) -> Any:
    """A value with this structure and the floats of a vector of shape (n,).

    >>> like_flat({"a": 1.0, "n": 3, "w": np.zeros(2)}, np.array([5.0, 6.0, 7.0]))
    {'a': array(5.), 'n': 3, 'w': array([6., 7.])}
    """
    at = 0

    def taken(x: Any) -> Any:
        nonlocal at
        if not is_float(x):
            return x
        at += _count(x)
        part = row[at - _count(x) : at]
        return (part.copy().view(complex) if _is_complex(x) else part).reshape(np.shape(x))

    return mapped(value, taken)


def element(value: Any, name: str, number: int) -> tuple[str, str]:
    """The path to the leaf with float number `number` of a value, and the index in it; empty for a scalar.

    >>> element({"w": [1.0, np.ones((2, 2))]}, "p", 3)
    ("p['w'][1]", '[1, 0]')
    """
    for path, x in paths(value, name):
        if is_float(x):
            if number < _count(x):
                place, part = divmod(number, 2) if _is_complex(x) else (number, None)
                index = [int(k) for k in np.unravel_index(place, np.shape(x))]
                shown = str(index) if index else ""
                return path, shown if part is None else f"{shown} ({'imaginary' if part else 'real'} part)".strip()
            number -= _count(x)
    raise IndexError(number)
