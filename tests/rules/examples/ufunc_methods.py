"""The methods of ufuncs."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import ufunc_methods

from .base import between, example, normal

_OUTER = (np.add, np.subtract, np.multiply, np.divide, np.hypot, np.maximum, np.minimum)
for _f in _OUTER:
    example(_f.outer, normal(3), normal(4))
    example(_f.outer, normal(2, 3), normal(4))
    example(_f.outer, normal(3), normal(2, 2))
    example(_f.outer, 0.7, normal(2))
    example(_f.outer, normal(2), 0.7)
example(np.power.outer, between(0.4, 2.0, 3), normal(4))
example(np.power.outer, normal(2, 3), np.array([0, 1, 2, 3]))
for _f in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp):
    example(_f.reduce, normal(4))
    example(_f.reduce, normal(3, 4))
    example(_f.reduce, normal(3, 4), axis=1)
    example(_f.reduce, normal(3, 4), axis=-1, keepdims=True)
    if _f is not np.logaddexp:
        example(_f.reduce, normal(2, 3, 4), axis=(0, 2))
        example(_f.reduce, normal(3, 4), axis=None)
example(np.add.reduce, [normal(3), normal(3)])
example(np.maximum.reduce, [normal(3), normal(3), normal(3)])
example(np.multiply.reduce, np.array([0.0, 2.0, 3.0]))
for _f in (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp):
    example(_f.accumulate, normal(5))
    example(_f.accumulate, normal(3, 4))
    example(_f.accumulate, normal(3, 4), axis=1)
example(np.multiply.accumulate, np.array([1.5, 0.0, 2.0]))
example(np.logaddexp.accumulate, np.array([900.0, -800.0, 901.0, 300.0]))
example(np.add.reduceat, normal(6), [0, 2, 5])
example(np.add.reduceat, normal(6), [3, 1, 4])
example(np.add.reduceat, normal(2, 6), np.array([1, 4]), axis=1)
example(ufunc_methods.unreduceat, normal(3), normal(6), [0, 2, 5])
