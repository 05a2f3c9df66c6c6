"""Which functions give positions that occur once: as an index, the result selects no element twice.

    np.flatnonzero(m)                   integers >= 0, all different             `Picks.EACH`
    np.arange(n), rng.permutation(n)    such integers, where n is a number       `Picks.COUNT`
    np.argsort(x)                       such integers, where there is one axis   `Picks.ORDER`
    np.flip(k), np.setdiff1d(k, l)      items of k, none of them more often      `Picks.PART`
    np.triu_indices(n), np.nonzero(m)   arrays that occur once together          `Picks.TOGETHER`

>>> from s2sgrad.primitives.record import of
>>> of(np.nonzero).picks, of(np.argsort).picks, of(np.unique).picks
(<Picks.TOGETHER: 5>, <Picks.ORDER: 3>, <Picks.UNKNOWN: 0>)
"""

from __future__ import annotations

import numpy as np

from s2sgrad.primitives.libraries import DRAWING
from s2sgrad.primitives.record import Picks, know, know_methods

know(np.flatnonzero, picks=Picks.EACH)
know(np.arange, picks=Picks.COUNT)
know(np.argsort, np.argpartition, np.lexsort, picks=Picks.ORDER)
know(np.sort, np.flip, np.roll, np.copy, np.ravel, np.setdiff1d, np.delete, picks=Picks.PART)
know(np.nonzero, np.where, np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from, np.diag_indices,
     np.diag_indices_from, picks=Picks.TOGETHER)  # fmt: skip
for _drawing in DRAWING:
    know_methods(_drawing, "permutation", picks=Picks.COUNT)
