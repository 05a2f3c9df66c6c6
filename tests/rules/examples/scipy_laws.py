"""The continuous distributions of scipy.stats: each function in all its arguments, at quantiles between 0.05 and 0.95."""

from __future__ import annotations

import numpy as np
from scipy import stats

from s2sgrad.rules.scipy import laws, quantiles
from s2sgrad.rules.table import lookup

from .base import example

# with shapes of their own; all are broadcast
SHAPES = {
    stats.uniform: (), stats.expon: (), stats.laplace: (), stats.cauchy: (), stats.halfcauchy: (), stats.logistic: (),
    stats.halflogistic: (), stats.gumbel_r: (), stats.gumbel_l: (), stats.rayleigh: (), stats.maxwell: (),
    stats.halfnorm: (), stats.gamma: ([2.3],), stats.erlang: ([3],), stats.chi2: ([3.3],), stats.chi: ([2.4],),
    stats.invgamma: ([4.6],), stats.loggamma: ([1.7],), stats.beta: ([2.3], [1.4]), stats.f: ([5.3], [9.1]),
    stats.t: ([3.4],), stats.lognorm: ([0.7],), stats.weibull_min: ([1.6],), stats.weibull_max: ([1.6],),
    stats.powerlaw: ([1.7],), stats.pareto: ([3.6],), stats.lomax: ([3.6],), stats.skewnorm: ([1.4],),
    stats.truncnorm: ([-1.1], [1.7]), stats.invgauss: ([0.8],), stats.triang: ([0.3],), stats.vonmises: ([1.7],),
}  # fmt: skip

_random = np.random.default_rng(40)
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
for _law, _numbers in SHAPES.items():
    for _method in METHODS:
        _shapes = [np.array(shape) for shape in _numbers]
        _q, _loc, _scale = _random.uniform(0.05, 0.95, 3), np.array([[-0.3], [-0.31]]), np.array([1.3])
        _x = _q if _method in ("ppf", "isf") else _law.ppf(_q, *_shapes, -0.3, 1.3)
        example(getattr(_law, _method), _x, *_shapes, _loc, _scale)
        if _law in (stats.expon, stats.lognorm):
            example(getattr(_law, _method), float(_x[0]), *(shape[0] for shape in _numbers), loc=-0.3, scale=1.3)

for _law, _numbers in (SHAPES | {stats.norm: ()}).items():
    for _method in laws.MOMENTS:
        if lookup(getattr(_law, _method)) is None:  # SciPy integrates it
            continue
        example(getattr(_law, _method), *(np.array(shape) for shape in _numbers), np.array([[-0.3], [0.4]]), np.array([1.3]))
for _law in (stats.norm, stats.gamma, stats.beta, stats.t):
    _shapes = [np.array(shape) for shape in SHAPES.get(_law, ())]
    example(_law.interval, 0.8, *_shapes, np.array([[-0.3], [0.4]]), np.array([1.3]))
    example(_law.interval, np.array([0.8, 0.3]), *_shapes, loc=-0.3, scale=1.3)
example(laws.moment_slope, stats.gamma, "std", 0, np.array([2.3]))

# --- the functions in the formulas -------------------------------------------------------------------------------------

_z, _a, _b = np.array([-0.7, 0.6, 1.9]), np.array([[2.3], [0.6]]), np.array([1.4])
_whole = np.array([[2], [1]])  # constants: the shifts have two derivatives in their places, and one in a shape
for _f in (quantiles.gamma_shift, quantiles.gamma_shift_in_shape):
    example(_f, _z, _whole)
    example(_f, _z, _a)
for _f in (quantiles.beta_shift, quantiles.beta_shift_in_shape, quantiles.beta_shift_in_other):
    example(_f, _z, _whole, _whole)
    example(_f, _z, _a, _b)
for _f in (quantiles.vonmises_shift, quantiles.vonmises_shift_in_kappa):
    example(_f, _z, _whole)
    example(_f, _z, _a)
