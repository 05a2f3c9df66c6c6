"""Other arguments for the examples of a rule: numbers, axes of size 1, other axes; those that the primitive takes.

np.prod(x, axis=1), x of shape (2, 3, 4)  ->  x a float, a NumPy number, an array without axes, (1, 1, 1), (2, 1, 4), ..
                                              axis None, 0, -1, (0,), (0, -1), keepdims, where
"""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.rules.table import lookup

from .examples import Example

SHAPES: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda a: float(a.flat[0]),
    lambda a: a.reshape(-1)[0],
    lambda a: a.reshape(-1)[0].reshape(()),
    lambda a: a.reshape(-1)[:1],
    lambda a: a[tuple(slice(1) for _ in a.shape)],
    lambda a: a[:1],
    lambda a: a[..., :1],
    lambda a: a[0],
    lambda a: a[..., 0],
    lambda a: a[None],
    lambda a: a[..., None],
    lambda a: np.stack([a, np.cos(a)]),
)
AXES = (None, 0, -1, (0,), (0, -1), (0, 1))
WHERE = (True, False, np.array(True), np.array([True]), np.array([[True], [False]]))


def is_array(value: Any) -> bool:
    return isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f" and np.size(value) > 0


def variants(e: Example) -> Iterator[Example]:
    """The calls like `e` that its primitive takes."""
    for args in operands(e.args):
        for keywords in settings(e):
            other = Example(e.primitive, args, keywords)
            if is_taken(other):
                yield other


def operands(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments with one array, or all of them, in other shapes."""
    yield args
    places = [k for k, a in enumerate(args) if is_array(a)]
    for shape in SHAPES:
        for some in {(k,) for k in places} | {tuple(places)}:
            yield tuple(shape(np.atleast_1d(a)) if k in some else a for k, a in enumerate(args))


def settings(e: Example) -> list[dict[str, Any]]:
    """The keywords with other axes, one at a time, and those of the example."""
    rule = lookup(e.primitive)
    given = {*rule.positional[: len(e.args)]}
    choices = {"axis": AXES, "keepdims": (False, True), "where": WHERE}
    free = [name for name in choices if name in rule.keywords and name not in given]
    found = [dict(e.keywords)]
    for values in itertools.product(*(choices[name] for name in free if name != "where")):
        found.append(e.keywords | dict(zip((n for n in free if n != "where"), values, strict=True)))
    if "where" in free:
        found += [e.keywords | {"where": where, "axis": axis} for where in WHERE for axis in (None, 0)]
    return found


def is_taken(e: Example) -> bool:
    """Whether the primitive takes these arguments, and gives numbers that are finite."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DeprecationWarning)
            y = e.primitive(*copy.deepcopy(e.args), **copy.deepcopy(e.keywords))
    except Exception:
        return False
    return all(is_array(a) and np.all(np.isfinite(a)) for a in (y if isinstance(y, (list, tuple)) else [y]))
