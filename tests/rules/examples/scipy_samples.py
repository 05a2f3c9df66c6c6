"""Statistics of samples in scipy.stats."""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.scipy import samples

from .base import example

_random = np.random.default_rng(41)
A, B, C = _random.normal(size=(4, 5)), _random.normal(size=(4, 5)), _random.uniform(0.4, 2.0, (4, 5))

for _f in (stats.zscore, stats.sem):
    example(_f, A)
    example(_f, A, axis=1, ddof=2)
    example(_f, A, None)
for _f in (stats.gmean, stats.hmean):
    example(_f, C)
    example(_f, C, axis=1)
    example(_f, C, axis=None, keepdims=True)
for _f in (stats.skew, stats.kurtosis):
    example(_f, A)
    example(_f, A, axis=1, bias=False)
    example(_f, A, axis=None, keepdims=True)
example(stats.kurtosis, A, 0, False)
for _k in (1, 2, 3, 4):
    example(stats.moment, A, _k)
    example(stats.moment, A, order=_k, axis=1, center=0.3, keepdims=True)
for _axis in (0, 1, None):
    example(stats.trim_mean, A, 0.25, _axis)
example(stats.entropy, C)
example(stats.entropy, C, base=2.0, axis=1, keepdims=True)
example(stats.entropy, C, C[::-1] + 0.1)
example(stats.entropy, C, qk=C[::-1] + 0.1, base=2.0, axis=1)
example(stats.pearsonr, A[0], B[0])
example(samples.broadcast, A[0], B, 0)
example(stats.pearsonr, A, B, axis=1)
