"""The kinds of random draws: by example, from separate generators, so that no other stream changes.

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


_MOST = 200_000  # elements drawn for one example


def of_method(method: str, kinds: list[Kind], names: list[str]) -> Kind:
    """The kind of the result of a generator's method; unknown where generator classes differ."""
    found = {_by_example(cls, method, kinds, names) for cls in libraries.DRAWING if hasattr(cls, method)} - {UNKNOWN}
    return found.pop() if len(found) == 1 else UNKNOWN


def of_function(target: Any, kinds: list[Kind], names: list[str]) -> Kind | None:
    """The same for a bound method, such as `np.random.normal`; None for anything else."""
    bound = isinstance(target, (types.MethodType, types.BuiltinMethodType))
    cls = type(target.__self__) if bound else None
    return _by_example(cls, target.__name__, kinds, names) if cls in libraries.DRAWING else None


def _by_example(cls: type, method: str, kinds: list[Kind], names: list[str]) -> Kind:
    """Run the method on a new generator of the class; unknown for choices of items and for large draws."""
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
