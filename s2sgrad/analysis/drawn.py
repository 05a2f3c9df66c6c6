"""The kinds of what is drawn at random: by example, from generators of its own, so that nobody else's draws change.

    rng.normal(size=len(x))      ->      Array('float64', (Size(0),))

>>> from s2sgrad.analysis.kinds import Number
>>> from s2sgrad.analysis.sizes import Size
>>> of_method("permutation", [Number(int, size=Size(0))], [])
Array('int64', (Size(0, 0),))
"""

from __future__ import annotations

import math
import random
import types
from typing import Any

import numpy as np

from s2sgrad.analysis import sampled_shapes
from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind
from s2sgrad.analysis.results import memo, sizes_known
from s2sgrad.primitives import libraries, methods

_ANEW = {
    np.random.Generator: np.random.default_rng, np.random.RandomState: np.random.RandomState, random.Random: random.Random,
}  # fmt: skip


_MOST = 200_000  # numbers that are drawn for an example


def of_method(method: str, kinds: list[Kind], names: list[str]) -> Kind:
    """What a method of a generator draws: unknown where those of several classes differ."""
    found = {_by_example(cls, method, kinds, names) for cls in libraries.DRAWING if hasattr(cls, method)} - {UNKNOWN}
    return found.pop() if len(found) == 1 else UNKNOWN


def of_function(target: Any, kinds: list[Kind], names: list[str]) -> Kind | None:
    """What a method bound to a generator draws, as `np.random.normal` is; None for anything else."""
    bound = isinstance(target, (types.MethodType, types.BuiltinMethodType))
    cls = type(target.__self__) if bound else None
    return _by_example(cls, target.__name__, kinds, names) if cls in libraries.DRAWING else None


def _by_example(cls: type, method: str, kinds: list[Kind], names: list[str]) -> Kind:
    if methods.draws_items(method) or math.prod(map(_largest, kinds)) > _MOST:
        return UNKNOWN

    def run(*values: Any) -> Any:
        cut = len(values) - len(names)
        draw = getattr(_ANEW[cls](0), method)
        return draw(*values[:cut], **dict(zip(names, values[cut:], strict=True)))

    known = sizes_known(kinds)
    return memo((cls, method, tuple(names)), kinds, lambda: sampled_shapes.by_example(run, kinds, known))


def _largest(kind: Kind) -> int:
    """How many numbers an argument may ask for."""
    if isinstance(kind, Container):
        return math.prod(map(_largest, kind.items or ()))
    return max(kind.value, 1) if kind.known and type(kind.value) is int else 1
