"""What functions cost: which are recomputed in the reverse sweep rather than recorded, and which read only a shape.

    t = np.expand_dims(x, 0)      recomputed: it costs no more than keeping `t`
    n = np.size(t)                reads the shape of `t`, and none of its elements

>>> import numpy as np
>>> from s2sgrad.primitives.record import of
>>> of(np.multiply).cheap, of(np.exp).cheap, of(np.size).asks_shape
(True, False, True)
"""

from __future__ import annotations

import numpy as np

from s2sgrad import runtime
from s2sgrad.primitives.record import know, know_methods

know(len, range, float, int, abs, min, max, np.min, np.max, runtime.zeros, runtime.add, cheap=True)
know(
    np.shape, np.size, np.ndim, np.reshape, np.ravel, np.transpose, np.swapaxes, np.expand_dims, np.zeros, np.ones,
    np.zeros_like, np.square, np.negative, np.absolute, np.add, np.subtract, np.multiply, np.divide, np.outer,
    cheap=True,
)  # fmt: skip
know_methods(np.ndarray, "reshape transpose ravel swapaxes", cheap=True)
know(np.shape, np.size, np.ndim, np.full_like, np.zeros_like, np.ones_like, len, asks_shape=True)
