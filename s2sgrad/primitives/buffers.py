"""Which functions take `out=` and leave it alone.

NumPy 2 forgets it in some of its transforms: they return their result, and nothing is written.  Whether the version at
hand does is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _is_left(transform: Callable[..., Any]) -> bool:
    """Whether a transform forgets its buffer; those of NumPy 1, and what is no transform, take none."""
    try:
        buffer = transform(np.eye(2))
        return transform(np.eye(2), out=buffer) is not buffer
    except (TypeError, ValueError):
        return False


_FORGETFUL = tuple(f for f in (vars(np.fft)[n] for n in np.fft.__all__) if _is_left(f))


def leaves_out(primitive: Any) -> bool:
    """Whether a function takes `out=` and leaves it alone.

    >>> leaves_out(np.fft.fft)
    False
    """
    return any(primitive is transform for transform in _FORGETFUL)


def sums_rows(primitive: Any) -> bool:
    """Whether a function of NumPy's gives a number for each row, which it writes into `out=` before it reads the next row.

    >>> sums_rows(np.matmul), sums_rows(np.add)
    (False, False)
    """
    return isinstance(primitive, np.ufunc) and (primitive.signature or "").endswith("->()")
