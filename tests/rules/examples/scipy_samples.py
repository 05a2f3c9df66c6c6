"""Statistics of samples in scipy.stats."""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.scipy import densities, samples, variances

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

# --- spreads, scores, angles, transformations, distances -----------------------------------------------------------------

for _f in (stats.tmean, stats.tvar, stats.tstd, stats.tsem):
    example(_f, A)
    example(_f, A, axis=1, keepdims=True)
    example(_f, A[0])
for _f in (stats.variation, stats.gstd):
    example(_f, C)
    example(_f, C, axis=1, ddof=1, keepdims=True)
example(stats.iqr, A)
example(stats.iqr, A, 1, (10, 70), 1.3)
example(stats.iqr, A, axis=0, scale="normal", interpolation="midpoint", keepdims=True)
example(stats.median_abs_deviation, A)
example(stats.median_abs_deviation, A, 1, scale="normal", keepdims=True)
example(stats.median_abs_deviation, A, axis=None, scale=1.3)
example(stats.pmean, C, 3.0)
example(stats.pmean, C, -1.5, axis=1, keepdims=True)
example(stats.zmap, A, B)
example(stats.zmap, A[:2], B, 0, 1)
example(stats.zmap, A, B[:, :3], axis=1)
for _f in (stats.circmean, stats.circvar, stats.circstd):
    example(_f, C)
    example(_f, C, 3.0, -1.0, 1)
    example(_f, C, axis=0, keepdims=True)
example(stats.circstd, C, high=3.0, normalize=True)
example(stats.boxcox, C[0], 0.7)
example(stats.boxcox, C[0], lmbda=0.0)
example(stats.yeojohnson, A[0], 0.7)
example(stats.yeojohnson, A[0], lmbda=1.9)
example(stats.boxcox_llf, 0.7, C[0])
example(stats.wasserstein_distance, A[0], B[0])
example(stats.wasserstein_distance, A[0], B[1, :3])
example(stats.energy_distance, A[0], B[1, :3])

# --- tests ---------------------------------------------------------------------------------------------------------------

example(stats.ttest_1samp, A, 0.3)
example(stats.ttest_1samp, A[0], 0.3)
example(stats.ttest_1samp, A, B[:, :1], axis=1, keepdims=True)
example(stats.ttest_rel, A, B)
example(stats.ttest_rel, A, B, 1)
example(stats.ttest_ind, A, B[:3])
example(stats.ttest_ind, A[0], B[1, :3])
example(stats.ttest_ind, A, B, axis=1, keepdims=True)
example(stats.chisquare, C)
example(stats.chisquare, C, C[::-1] + 0.1, 1, 1, sum_check=False)
example(stats.chisquare, C[0], f_exp=C[0, ::-1], sum_check=False)

example(variances.group_means, A, (2, 3))
example(variances.group_sums, A, (2, 3))
example(stats.f_oneway, A, B[:3])
example(stats.f_oneway, A[0], B[1, :3], B[0])
example(stats.f_oneway, A, B, axis=1, keepdims=True)
example(stats.bartlett, A, B[:3])
example(stats.bartlett, A[0], B[1, :3], B[0])
example(stats.bartlett, A, B, axis=1, keepdims=True)
_many = _random.normal(size=(9, 2))
for _f in (stats.skewtest, stats.kurtosistest, stats.normaltest):
    example(_f, _many[:, 0])
    example(_f, _many, axis=None)
    example(_f, _many.T, 1, keepdims=True)
example(stats.jarque_bera, A)
example(stats.jarque_bera, A, axis=1, keepdims=True)
example(stats.ttest_ind_from_stats, 0.3, 1.2, 5, 0.7, 0.9, 8)
example(stats.ttest_ind_from_stats, A[0], 1.2, 5, 0.7, C[0], 8)

# --- densities by kernels ------------------------------------------------------------------------------------------------

example(densities.density, A[0], B[0])
example(densities.density, A[:2], B[1:3], 0.7)
example(densities.log_density, A[0], B[0])
example(densities.log_density, A[:2], B[1:3])
_estimate = stats.gaussian_kde(B[:2], weights=C[0])
for _f in (stats.gaussian_kde.evaluate, stats.gaussian_kde.pdf, stats.gaussian_kde.logpdf):
    example(_f, _estimate, A[:2])
    example(_f, stats.gaussian_kde(B[0]), A[0])
