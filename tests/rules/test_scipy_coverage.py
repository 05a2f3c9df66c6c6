"""How much of SciPy has rules: of the distributions of scipy.stats, and of the ufuncs of scipy.special.

stats.gamma.cdf(x, a, loc, scale)      right in all its arguments, or refused in `a` by name
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sgrad.rules.scipy import laws
from s2sgrad.rules.table import Rule, is_flat, lookup

CONTINUOUS = (
    "norm uniform expon gamma beta chi2 t f lognorm logistic laplace cauchy weibull_min pareto gumbel_r gumbel_l rayleigh "
    "invgamma invgauss halfnorm halfcauchy truncnorm skewnorm vonmises triang maxwell powerlaw"
)
DISCRETE = "bernoulli binom poisson geom nbinom"
OF_POINTS = ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
OF_COUNTS = ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def is_whole(rule: Rule | None) -> bool:
    """Whether a rule knows the slopes in the point, the shapes, the location and the scale."""
    return rule is not None and not rule.constants and {"loc", "scale"} <= {*rule.keyword_rules}


def test_distributions():
    of_points = [getattr(getattr(stats, name), method) for name in CONTINUOUS.split() for method in OF_POINTS]
    assert [str(f) for f in of_points if not is_whole(lookup(f))] == []
    moments = [getattr(getattr(stats, name), method) for name in CONTINUOUS.split() for method in laws.MOMENTS]
    without = [f"{f.__self__.name}.{f.__name__}" for f in moments if not is_whole(lookup(f))]
    infinite = {f"{name}.{moment}" for name in ("cauchy", "halfcauchy") for moment in ("mean", "var", "std")}
    assert {*without} == infinite | {"skewnorm.entropy", "vonmises.mean", "vonmises.var", "vonmises.std"}  # integrals
    of_counts = [getattr(getattr(stats, name), method) for name in DISCRETE.split() for method in OF_COUNTS]
    assert [str(f) for f in of_counts if lookup(f) is None and not is_flat(f)] == []
    assert len(of_points) + len(of_counts) == 256


def test_ufuncs():
    ufuncs = {name: f for name, f in vars(special).items() if isinstance(f, np.ufunc)}
    without = [name for name, f in ufuncs.items() if lookup(f) is None and not is_flat(f)]
    assert without == ["itstruve0"]  # the example of a function without a rule, in the documents and in tests
