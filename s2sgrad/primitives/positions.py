"""Which functions give positions that occur once: as an index, the result selects no element twice.

    np.flatnonzero(m)                   integers >= 0, all different             `Picks.EACH`
    np.arange(n), rng.permutation(n)    such integers, where n is a number       `Picks.COUNT`
    np.argsort(x)                       such integers, where there is one axis   `Picks.ORDER`
    np.flip(k), np.setdiff1d(k, l)      items of k, none of them more often      `Picks.PART`
    np.triu_indices(n), np.nonzero(m)   arrays that occur once together          `Picks.TOGETHER`
    np.ix_(k, l)                        such arrays, of those in the arguments   `Picks.CROSS`

>>> picks(np.nonzero), picks(np.argsort), picks(np.unique)
(<Picks.TOGETHER: 5>, <Picks.ORDER: 3>, <Picks.UNKNOWN: 0>)
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np


class Picks(Enum):
    """How often the result of a callable selects an element, as an index."""

    UNKNOWN = 0
    EACH = 1
    COUNT = 2
    ORDER = 3
    PART = 4
    TOGETHER = 5
    CROSS = 6


_PICKS = (
    dict.fromkeys([np.flatnonzero], Picks.EACH)
    | dict.fromkeys([np.arange, np.random.Generator.permutation, np.random.RandomState.permutation], Picks.COUNT)
    | dict.fromkeys([np.argsort, np.argpartition, np.lexsort], Picks.ORDER)
    | dict.fromkeys([np.sort, np.flip, np.roll, np.copy, np.ravel, np.setdiff1d, np.delete], Picks.PART)
    | dict.fromkeys([np.nonzero, np.where, np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from,
                     np.diag_indices, np.diag_indices_from], Picks.TOGETHER)
    | {np.ix_: Picks.CROSS}
)  # fmt: skip


def picks(target: Any) -> Picks:
    """How often the result of a callable selects an element, as an index."""
    try:
        return _PICKS.get(target, Picks.UNKNOWN)
    except TypeError:  # it has no hash
        return Picks.UNKNOWN
