"""scipy.stats."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.lib import NumpyVersion
from scipy import stats

from s2sgrad.rules.scipy import stats as rules
from s2sgrad.rules.table import lookup

from .base import between, example, normal, positive_definite

# --- with location and scale -----------------------------------------------------------------------------------------


def _located(f, x, *shapes):
    """The ways to pass location and scale, each of them broadcast."""
    example(f, x, *shapes)
    example(f, x, *shapes, loc=-0.3, scale=1.7)
    example(f, x, *shapes, between(-0.4, 0.0, 2, 1), between(1.2, 1.9, 3))
    example(f, x[0], *shapes, scale=between(1.2, 1.9, 2, 3))
    example(f, 0.7, *shapes, -0.3, 1.4)
    example(f, 0.7, *shapes, loc=between(-0.1, 0.0, 3))


for _f in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
    _located(getattr(stats.norm, _f), normal(2, 3))
_located(stats.norm.ppf, between(0.2, 0.8, 2, 3))
_located(stats.norm.isf, between(0.2, 0.8, 2, 3))
example(rules.normal_density, normal(3), normal(2, 1), 0.7)
example(rules.hazard, normal(3), normal(3), normal(2, 1), 0.7)

# --- counts ----------------------------------------------------------------------------------------------------------

_counts, _more = np.array([0, 1, 3]), np.array([1, 3])
for _f in ("logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"):
    example(getattr(stats.poisson, _f), _counts, between(0.7, 4.0, 2, 1))
    example(getattr(stats.poisson, _f), 2, 1.6)
    example(getattr(stats.poisson, _f), np.array([1, 5]), 1.6, loc=1)
    example(getattr(stats.binom, _f), _counts, 4, between(0.2, 0.8, 2, 1))
    example(getattr(stats.binom, _f), 2, 3, 0.4)
    example(getattr(stats.binom, _f), _more, 4, 0.4, loc=1)
    example(getattr(stats.geom, _f), _more, between(0.2, 0.8, 2, 1))
    example(getattr(stats.geom, _f), _more + 1, 0.4, loc=1)
    example(getattr(stats.nbinom, _f), _counts, between(1.7, 4.0, 2, 1), 0.4)
    example(getattr(stats.nbinom, _f), _more, 2.7, 0.4, loc=1)
for _f in ("logpmf", "pmf"):
    example(getattr(stats.bernoulli, _f), np.array([0, 1, 0]), between(0.2, 0.8, 2, 1))
    example(getattr(stats.bernoulli, _f), 1, 0.3)
    example(getattr(stats.betabinom, _f), _counts, 5, between(0.7, 4.0, 2, 1), 1.3)
    example(getattr(stats.betabinom, _f), _more, 5, 0.7, 1.3, loc=1)
for _f in ("cdf", "sf", "logcdf"):
    example(getattr(stats.bernoulli, _f), np.array([0, 0]), between(0.2, 0.8, 2, 1))
example(stats.bernoulli.logsf, np.array([0, 0]), between(0.2, 0.8, 2, 1))

_families = ((stats.planck, 0.7), (stats.dlaplace, 0.8), (stats.logser, 0.6), (stats.zipf, 2.6), (stats.yulesimon, 1.7),
             (stats.skellam, 1.4, 2.2))  # fmt: skip
for _law, *_shapes in _families:
    for _f in ("logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"):
        if lookup(getattr(_law, _f)) is not None:
            example(getattr(_law, _f), np.array([1, 2, 4]), *(np.array([[s], [s + 0.1]]) for s in _shapes))
            example(getattr(_law, _f), 3, *_shapes, loc=1)
_laws = (*_families, (stats.poisson, 2.7), (stats.geom, 0.3), (stats.bernoulli, 0.3), (stats.binom, 4, 0.4),
         (stats.nbinom, 2.7, 0.4), (stats.betabinom, 5, 0.7, 1.3), (stats.hypergeom, 9, 4, 3))  # fmt: skip
for _law, *_shapes in _laws:
    for _f, *_first in (("ppf", 0.37), ("isf", np.array([0.37, 0.81])), ("median",), ("interval", 0.37), ("support",)):
        example(getattr(_law, _f), *_first, *_shapes, loc=0.4)

# --- of several variables --------------------------------------------------------------------------------------------

for _f in (stats.multivariate_normal.logpdf, stats.multivariate_normal.pdf):
    example(_f, normal(3), normal(3), positive_definite(3, 3))
    example(_f, normal(4, 3), normal(3), cov=positive_definite(3, 3))
    example(_f, normal(2, 4, 3), cov=positive_definite(3, 3))
    example(_f, normal(4, 3), normal(3), between(0.7, 1.4, 3))
    example(_f, normal(1, 3), mean=normal(3), cov=0.7)
    example(_f, normal(4))
    example(_f, normal(4), 0.3, 1.4)
    example(_f, normal(3), normal(3), positive_definite(3, 3), allow_singular=False)
example(stats.multivariate_normal.entropy, normal(3), positive_definite(3, 3))
example(stats.multivariate_normal.entropy, normal(3), cov=between(0.7, 1.4, 3))
example(stats.multivariate_normal.entropy, 0.3, 1.4)
example(stats.dirichlet.pdf, between(0.1, 0.3, 2, 4), between(0.7, 4.0, 3))
example(stats.dirichlet.logpdf, between(0.1, 0.3, 2), between(0.7, 4.0, 3))
example(stats.dirichlet.logpdf, between(0.1, 0.3, 2, 4), between(0.7, 4.0, 3))

for _f in (stats.multivariate_t.logpdf, stats.multivariate_t.pdf):
    example(_f, normal(3), normal(3), positive_definite(3, 3), 2.7)
    example(_f, normal(4, 3), loc=normal(3), shape=positive_definite(3, 3), df=2.7)
    example(_f, normal(4, 3), normal(3), between(0.7, 1.4, 3))
    example(_f, normal(4), 0.3, 1.4, 3.3)
for _f in (stats.wishart.logpdf, stats.wishart.pdf, stats.invwishart.logpdf, stats.invwishart.pdf):
    example(_f, positive_definite(2, 2), 4.3, positive_definite(2, 2))
for _f in (stats.multinomial.logpmf, stats.multinomial.pmf):
    if NumpyVersion(scipy.__version__) >= "1.18.0":
        continue  # which gives nan beside such probabilities, so that there are no differences
    example(_f, np.array([1, 2, 1]), 4, np.array([0.2, 0.3, 0.5]))
    example(_f, np.array([[1, 2, 1], [0, 3, 1]]), 4, np.array([0.2, 0.3, 0.5]))
for _f in (stats.dirichlet.mean, stats.dirichlet.var, stats.dirichlet.entropy):
    example(_f, between(0.7, 4.0, 3))
