"""Sizes of axes as far as known: an int, the k-th size among the arguments plus an offset, or None.

>>> same_size(Size(0), Size(1)), same_size(Size(0), 1), same_size(None, None)
(True, False, False)
>>> broadcast_dim(1, Size(0)), broadcast_dim(Size(0), None)
(Size(0, 0), Size(0, 0))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The k-th size among the arguments, plus an offset."""

    k: int
    offset: int = 0

    def __repr__(self) -> str:
        return f"Size({self.k}, {self.offset})"


Dim = int | Size | None  # a negative number k is a length of its own: see `symbolic_shapes`


def surely_not_one(dim: Dim) -> bool:
    """Whether the size is known to differ from 1."""
    return (isinstance(dim, int) and dim != 1) or (isinstance(dim, Size) and dim.offset == 0 and dim.k >= 0)


def may_be_squeezed(dims: tuple[Dim, ...] | None) -> bool:
    """Whether an axis that is not written as 1 may turn out to be one, which `np.squeeze` then drops."""
    return dims is None or any(d != 1 and not surely_not_one(d) for d in dims)


def same_size(m: Dim, n: Dim) -> bool:
    """Whether two sizes that NumPy accepts side by side are known to be equal."""
    if m is None or n is None:
        return False
    return m == n or (surely_not_one(m) and surely_not_one(n))


def fitted_dims(section: tuple[Dim, ...], value: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The sizes of a section into which a value was stored: only an axis of 1 is stretched.

    >>> fitted_dims((None, Size(-1)), (Size(0),))
    (None, Size(0, 0))
    """
    lead = len(section) - len(value)
    return section if lead < 0 else section[:lead] + tuple(map(_fitted_dim, section[lead:], value))


def _fitted_dim(section: Dim, value: Dim) -> Dim:
    return value if surely_not_one(value) and not isinstance(section, int) and not surely_not_one(section) else section


def broadcast_dim(m: Dim, n: Dim) -> Dim:
    """The size of the axis that results from broadcasting axes of these sizes."""
    if m == 1 or n == 1:
        return n if m == 1 else m
    if m == n:
        return m
    if surely_not_one(m) or surely_not_one(n):
        return m if surely_not_one(m) else n
    return None
