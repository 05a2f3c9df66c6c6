"""Bins, levels and distances of samples of scipy.stats."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.lib import NumpyVersion
from scipy import stats

from s2sgrad.rules.table import existing

from .base import example, example_if_taken

_random = np.random.default_rng(44)  # of its own: the others draw what they drew


def normal(*shape: int) -> np.ndarray:
    return _random.normal(size=shape)


for _f in (stats.cumfreq, stats.relfreq):
    example(_f, normal(7), 4)
    if _f is stats.cumfreq or NumpyVersion(scipy.__version__) < "1.18.0":  # from then on of other weights
        example(_f, normal(7), 3, weights=_random.uniform(0.5, 2.0, size=7))
    example(_f, np.array([0.3, 0.7, 0.55, 2.9, 0.2]), 3, (0.0, 1.0))

example(stats.scoreatpercentile, normal(6), 37.0)
example(stats.scoreatpercentile, normal(6, 2), np.array([20.0, 81.0]), axis=0)
example(stats.scoreatpercentile, normal(6), 37.0, interpolation_method="higher")
example(stats.scoreatpercentile, np.array([0.3, 0.7, 0.55, 2.9, 0.2]), 37.0, (0.25, 1.0))
example(stats.bayes_mvs, normal(7))
example(stats.bayes_mvs, normal(9), 0.8)

_x, _y = np.array([0.3, 0.7, 0.61, 0.9, 0.2, 0.4, 0.8]), np.array([0.1, 0.8, 0.15, 0.6, 0.9, 0.2, 0.75])
for _statistic in ("mean", "sum", "std"):
    example(stats.binned_statistic_2d, _x, _y, normal(7), _statistic, [[0.1, 0.5, 1.0], [0.0, 0.5, 1.0]])
example(stats.binned_statistic_2d, _x, _y, normal(7), statistic="sum", bins=3)
example(stats.binned_statistic_dd, np.stack((_x, _y), 1), normal(7), "sum", 2)

for _f in existing(stats, "wasserstein_distance_nd"):
    example(_f, normal(4, 2), normal(3, 2))
    example(_f, normal(3, 3), normal(2, 3), np.array([0.2, 0.5, 0.3]))
    example(_f, normal(4), normal(5))
example(stats.ks_2samp, normal(5), normal(4))
example(stats.kstest, normal(7), stats.norm.cdf)
example_if_taken(stats.kstest, normal(7), "norm", (0.1, 1.2), alternative="less")
example(stats.kstest, normal(5), normal(6))
