"""Statistics of samples and of tables of scipy.stats, which are stated again."""

from __future__ import annotations

import inspect

import numpy as np
from scipy import stats

from s2sgrad.rules.table import existing

from .base import example

_random = np.random.default_rng(41)  # of its own: the others draw what they drew


def normal(*shape: int) -> np.ndarray:
    return _random.normal(size=shape)


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return _random.uniform(low, high, size=shape)


_counts = between(3.0, 9.0, 4)
example(stats.power_divergence, _counts)
example(stats.power_divergence, between(3.0, 9.0, 4, 2), axis=None, lambda_="cressie-read")
example(stats.power_divergence, _counts, lambda_="log-likelihood", ddof=1)
example(stats.power_divergence, _counts, lambda_="mod-log-likelihood")
example(stats.chi2_contingency, np.array([[7.0, 3.2], [3.1, 8.3]]))
example(stats.chi2_contingency, np.array([[7.0, 3.2], [3.1, 1.4]]))  # all as expected, once corrected
example(stats.chi2_contingency, np.array([[7.0, 4.2, 5.5], [3.1, 8.3, 6.9]]), lambda_="neyman")
for _method in ("fisher", "pearson", "mudholkar_george", "tippett", "stouffer"):
    example(stats.combine_pvalues, np.array([0.12, 0.43, 0.61, 0.27]), _method)
example(stats.combine_pvalues, np.array([0.12, 0.43, 0.61]), method="stouffer", weights=np.array([0.7, 1.2, 0.4]))

example(stats.describe, normal(6))
example(stats.describe, normal(6, 2), ddof=0, bias=False)
for _n in (1, 2, 3, 4):
    example(stats.kstat, normal(7), _n)
example(stats.kstatvar, normal(7), 1)
example(stats.kstatvar, normal(7, 2), axis=0)
for _f in existing(stats, "lmoment"):
    example(_f, normal(7))
    example(_f, normal(7, 2), 2, axis=0, standardize=False)
for _f in existing(stats, "gzscore"):
    example(_f, between(0.5, 2.0, 5))
example(stats.pointbiserialr, np.array([True, False, True, True, False, False]), normal(6))

example(stats.trimboth, normal(9), 0.23)
example(stats.trimboth, normal(9, 2), 0.12, axis=0)
example(stats.trim1, normal(9), 0.25)
example(stats.trim1, normal(2, 9), 0.25, "left", axis=1)
example(stats.sigmaclip, np.array([0.3, 0.7, 0.55, 0.9, 6.0, 0.2]), 1.5, 1.5)
example(stats.tmax, normal(6), 0.4)
example(stats.tmin, normal(6, 2), -0.4, axis=0, inclusive=False)

for _method in ("vasicek", "van es", "ebrahimi", "correa"):
    example(stats.differential_entropy, normal(12), window_length=2, method=_method, base=2.0)
example(stats.differential_entropy, normal(12, 2))
example(stats.shapiro, normal(8))
example(stats.shapiro, normal(14))
example(stats.epps_singleton_2samp, normal(9), normal(7))
example(stats.probplot, normal(6))
example(stats.probplot, normal(6), dist="logistic", fit=False)
for _statistic in ("mean", "sum", "std"):
    example(stats.binned_statistic, np.array([0.3, 0.7, 0.61, 0.9, 0.2]), normal(5), _statistic, 2)
example(stats.binned_statistic, np.array([0.3, 0.7, 0.55, 0.9, 0.2]), normal(5), bins=[0.1, 0.5, 0.8])
example(stats.binned_statistic, np.array([0.3, 0.7, 0.2]), np.array([0.4, 1.3, 0.9]), "std", 2)  # one alone has no spread
if "method" in inspect.signature(stats.anderson).parameters:  # without it SciPy warns, since then
    example(stats.anderson, normal(7), method="interpolate")
    example(stats.anderson, between(0.2, 3.0, 7), "expon", method="interpolate")
example(stats.ks_1samp, normal(7), stats.norm.cdf)
example(stats.ks_1samp, normal(7), stats.norm.cdf, (0.1, 1.2), "greater")
for _center in ("median", "mean"):
    example(stats.levene, normal(5), normal(4), normal(6), center=_center)
example(stats.levene, normal(5, 2), normal(4, 2))
example(stats.obrientransform, normal(5), normal(5))

_share, _above = between(0.2, 0.8, 3), between(2.3, 4.0, 3)
for _name, _shapes in (
    ("bernoulli", (_share,)), ("binom", (5, _share)), ("poisson", (_above,)), ("geom", (_share,)),
    ("nbinom", (_above, _share)), ("betabinom", (5, _above, _share)), ("betanbinom", (4, _above, 0.7)),
    ("skellam", (_above, _share)), ("planck", (_above,)), ("dlaplace", (_share,)), ("logser", (_share,)),
    ("yulesimon", (_above,)),
):  # fmt: skip
    for _law in existing(stats, _name):
        for _f in (_law.mean, _law.var, _law.std):
            example(_f, *_shapes)
            example(_f, *_shapes, loc=2.0)
example(stats.norm.stats, normal(3), between(0.5, 2.0, 3))
example(stats.gamma.stats, _above, loc=0.3, scale=1.4)
