"""Robust lines, levels and densities of several variables of scipy.stats, which are stated again."""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.table import existing

from .base import between, example, normal

_x, _y = np.array([0.3, 0.9, 1.4, 2.2, 2.9, 3.1]), np.array([0.2, 0.7, 1.9, 1.6, 3.3, 2.4])
example(stats.theilslopes, _y, _x)
example(stats.theilslopes, _y, _x, 0.8, "joint")
example(stats.siegelslopes, _y, _x)
example(stats.siegelslopes, _y, _x, "separate")
example(stats.expectile, normal(7))
example(stats.expectile, normal(7), 0.3, weights=np.array([1, 2, 1, 3, 1, 1, 2]))
for _quantile in existing(stats, "quantile"):
    example(_quantile, normal(7), 0.37)
    example(_quantile, normal(7, 2), 0.37, axis=0, method="hazen")
example(stats.false_discovery_control, np.array([0.02, 0.31, 0.12, 0.055, 0.9, 0.03]))
example(stats.false_discovery_control, np.array([[0.02, 0.31, 0.12], [0.003, 0.05, 0.01]]), axis=1, method="by")
example(stats.yeojohnson_llf, 0.6, normal(7))
for _law in existing(stats, "vonmises_fisher"):
    for _f in (_law.logpdf, _law.pdf):
        example(_f, np.array([0, 1, 0]), np.array([0, 0, 1]), 1.3)
for _law in existing(stats, "normal_inverse_gamma"):
    for _f in (_law.logpdf, _law.pdf):
        example(_f, normal(3), between(0.7, 1.4, 3), 0.2, 1.3, 2.2, 0.9)
for _law in existing(stats, "dirichlet_multinomial"):
    for _f in (_law.logpmf, _law.pmf):
        example(_f, np.array([1, 2, 3]), between(0.7, 4.0, 3), 6)
for _law in (stats.norm, stats.expon, stats.uniform, stats.laplace):
    example(_law.fit, normal(7))
