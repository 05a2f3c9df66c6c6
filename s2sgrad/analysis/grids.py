"""The kinds of grids of numbers that an index describes: `np.mgrid[:n, 0:1:5j]` and `np.ogrid[:n, :m]`.

>>> from s2sgrad.analysis.kinds import Known
>>> from s2sgrad.analysis.value_kinds import constant_kind
>>> kind(np.mgrid, Container(tuple, tuple(Slice((Known(None), constant_kind(n), Known(None))) for n in (4, 3))))
Array('int64', (2, 4, 3))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.analysis import sampled_shapes
from s2sgrad.analysis.container_items import Slice
from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind, argument

_FULL, _OPEN = type(np.mgrid), type(np.ogrid)


def is_grid(value: Any) -> bool:
    """Whether a value makes grids of what it is indexed with."""
    return isinstance(value, (_FULL, _OPEN))


def kind(maker: Any, index: Kind) -> Kind:
    """The kind of `maker[index]`; unknown where a part of the index is no slice of numbers."""
    several = isinstance(index, Container) and index.type is tuple
    parts = list(index.items or ()) if isinstance(index, Container) and several else [index]
    bounds = [argument(b) for p in parts if isinstance(p, Slice) for b in p.parts]
    shape = tuple(len(p.parts) if isinstance(p, Slice) else 0 for p in parts)
    if not shape or 0 in shape:
        return UNKNOWN
    axes = sampled_shapes.section(shape, not several)
    full = isinstance(maker, _FULL)
    return sampled_shapes.by_example(
        lambda *values: _full(axes(np.ogrid, *values)) if full else axes(maker, *values), bounds
    )


def _full(axes: Any) -> np.ndarray:
    """A grid like the full one of these axes, in no memory of its own."""
    if isinstance(axes, np.ndarray):
        return axes
    shape = (len(axes), *np.broadcast_shapes(*(a.shape for a in axes)))
    return np.broadcast_to(np.zeros((), np.result_type(*axes)), shape)
