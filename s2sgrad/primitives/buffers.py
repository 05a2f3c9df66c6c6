"""Which functions take `out=` and leave it alone, or write it before they have read all of their operands.

NumPy 2 forgets it in some of its transforms: they return their result, and nothing is written.  `np.ptp` subtracts from the
maxima that it has written the minima of what is there then.  Whether the version at hand does is tried.
"""

from __future__ import annotations

import functools
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


@functools.lru_cache(maxsize=256)
def reads_later(reduction: Any) -> bool:
    """Whether a reduction of NumPy's reads its operand again when it has written `out=`.

    >>> reads_later(np.ptp), reads_later(np.sum), reads_later(np.take)
    (True, False, False)
    """
    m = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0], [6.0, 4.0, 8.0]])
    try:
        whole = reduction(m, axis=1)
        for place in range(3):
            read = m.copy()
            reduction(read, axis=1, out=read[place])
            if not np.array_equal(read[place], whole):
                return True
    except Exception:
        pass  # it is no reduction, or takes no `out=`
    return False


def sums_rows(primitive: Any) -> bool:
    """Whether a function of NumPy's gives a number for each row, which it writes into `out=` before it reads the next row.

    >>> sums_rows(np.matmul), sums_rows(np.add)
    (False, False)
    """
    return isinstance(primitive, np.ufunc) and (primitive.signature or "").endswith("->()")
