"""The axes of what NumPy broadcasts.

>>> from s2sgrad.analysis.sizes import Size
>>> x, b = Array("float64", (Size(0), Size(1))), Array("float64", (Size(1),))
>>> broadcast([x, b]) == x.dims
True
"""

from __future__ import annotations

from collections.abc import Iterable

from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.analysis.sizes import Dim, broadcast_dim


def broadcast(kinds: Iterable[Kind]) -> tuple[Dim, ...] | None:
    """The axes of the broadcast of numbers and arrays; None where a rank is unknown."""
    dims: tuple[Dim, ...] = ()
    for kind in kinds:
        if kind.rank is None:
            return None
        other = kind.dims if isinstance(kind, Array) and kind.dims is not None else ()
        longer, shorter = (dims, other) if len(dims) >= len(other) else (other, dims)
        lead = len(longer) - len(shorter)
        dims = longer[:lead] + tuple(map(broadcast_dim, longer[lead:], shorter))
    return dims
