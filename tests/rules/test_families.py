"""The continuous distributions whose densities are formulas: every slope of every method, by differences.

stats.burr.sf(x, c, d, loc, scale)     in x, c, d, loc and scale, at random numbers, on both sides and in the tails
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy import stats

from s2sgrad import grad, jvp
from s2sgrad.rules.scipy import laws
from s2sgrad.rules.table import lookup
from s2sgrad.testing import check_grads

# The shapes about which numbers are drawn.  SciPy integrates the probabilities of the last ones.
SHAPES = {
    "anglit": (), "arcsine": (), "cosine": (), "gibrat": (), "hypsecant": (), "levy": (), "levy_l": (), "moyal": (),
    "semicircular": (), "wald": (), "bradford": (1.3,), "burr": (2.1, 1.4), "burr12": (2.1, 1.4), "dweibull": (1.7,),
    "exponpow": (1.6,), "exponweib": (1.3, 1.8), "fisk": (2.2,), "genlogistic": (1.4,), "gompertz": (0.9,),
    "genexpon": (0.9, 1.6, 1.2), "invweibull": (2.4,), "kappa3": (1.7,), "mielke": (2.1, 1.5), "loglaplace": (2.3,),
    "loguniform": (0.4, 2.5), "reciprocal": (0.4, 2.5), "truncexpon": (2.3,), "truncpareto": (1.4, 3.2),
    "truncweibull_min": (1.6, 0.4, 2.1), "laplace_asymmetric": (1.4,), "trapezoid": (0.3, 0.7), "genextreme": (0.3,),
    "genpareto": (0.3,), "genhalflogistic": (0.4,), "kappa4": (0.4, 0.3), "alpha": (1.8,), "crystalball": (1.2, 2.4),
    "exponnorm": (1.4,), "fatiguelife": (0.8,), "foldnorm": (1.1,), "foldcauchy": (1.1,), "johnsonsb": (0.6, 1.3),
    "johnsonsu": (0.6, 1.3), "powerlognorm": (1.4, 0.7), "powernorm": (1.6,), "recipinvgauss": (0.9,), "rice": (1.2,),
    "skewcauchy": (0.4,), "argus": (1.6,), "betaprime": (2.1, 3.3), "dgamma": (1.7,), "gengamma": (1.7, 1.4),
    "gennorm": (1.6,), "halfgennorm": (1.6,), "jf_skew_t": (2.3, 1.6), "nakagami": (1.4,), "pearson3": (0.6,),
    "rdist": (2.8,), "vonmises_line": (1.7,), "wrapcauchy": (0.4,), "dpareto_lognorm": (0.2, 0.6, 2.1, 1.4),
    "rel_breitwigner": (1.7,), "ncx2": (2.4, 1.3), "ncf": (3.3, 7.2, 1.2), "nct": (4.2, 0.7), "tukeylambda": (0.6,),
    "irwinhall": (3,), "ksone": (7,), "kstwo": (7,), "kstwobign": (), "landau": (), "genhyperbolic": (0.7, 1.8, 0.6),
    "geninvgauss": (0.7, 1.4), "norminvgauss": (1.7, 0.6), "gausshyper": (1.7, 2.2, 0.8, 0.9), "studentized_range": (3, 12),
}  # fmt: skip
SHAPES = {name: shapes for name, shapes in SHAPES.items() if hasattr(stats, name)}
UNKNOWN = {  # shapes in which no formula is known for some method; that of `pearson3` cancels near 0
    "pearson3": {"skew"}, "dpareto_lognorm": {"u", "s", "a", "b"}, "rel_breitwigner": {"rho"}, "ncx2": {"df"},
    "ncf": {"dfn", "dfd"}, "nct": {"df"}, "irwinhall": {"n"}, "ksone": {"n"}, "kstwo": {"n"},
    "studentized_range": {"k", "df"}, "genhyperbolic": {"p", "a", "b"}, "geninvgauss": {"p", "b"},
    "norminvgauss": {"a", "b"}, "gausshyper": {"a", "b", "c", "z"},
}  # fmt: skip
WITHOUT_SLOPE = {"ksone", "kstwo", "kstwobign", "landau", "studentized_range"}  # of their densities
SLOW = {"genhyperbolic", "geninvgauss", "norminvgauss", "gausshyper", "studentized_range"}  # SciPy integrates


def slopes_of(rule, g, y, arguments):
    """The cotangents of a call, by the names of its arguments, of those that are known."""
    names = list(inspect.signature(rule.pullback).parameters)[2:]
    found = rule.pullback(g, y, *arguments)
    found = dict(zip(rule.differentiable, found if isinstance(found, tuple) else (found,), strict=True))
    found |= {name: own.pullback(g, y, *arguments) for name, own in rule.keyword_rules.items()}
    return [(k, name, found[name]) for k, name in enumerate(names) if name not in rule.constants]


def by_difference(f, arguments, place):
    """The slope in one argument, by a difference of fourth order."""

    def at(h):
        return f(*(a + h if k == place else a for k, a in enumerate(arguments)))

    h = 2e-5
    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", SHAPES)
def test_slopes(name):
    law, rng = getattr(stats, name), np.random.default_rng([40, *name.encode()])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(1 if name in SLOW else 3):
            shapes = [shape * rng.uniform(0.9, 1.1) if isinstance(shape, float) else shape for shape in SHAPES[name]]
            loc, scale = rng.uniform(-0.5, 0.5), rng.uniform(0.7, 1.5)
            q = np.array([0.55] if name in SLOW else [0.04, 0.13, 0.3, 0.55, 0.86, 0.97])
            x = law.ppf(q, *shapes, loc, scale)
            for method in laws.METHODS if name != "studentized_range" else ("cdf",):
                rule, f = lookup(getattr(law, method)), getattr(law, method)
                if "x" in rule.constants:
                    assert name in WITHOUT_SLOPE and not rule.keyword_rules
                    continue
                arguments = (q if method in ("ppf", "isf") else x, *shapes, loc, scale)
                y = f(*arguments)
                known = slopes_of(rule, np.ones_like(y), y, arguments)
                assert rule.constants.keys() <= UNKNOWN.get(name, set()), (method, rule.constants)
                for place, argument, slope in known:
                    if method in ("ppf", "isf") and place == 0:
                        continue  # by the density, which the others compare
                    wanted = by_difference(f, arguments, place)
                    far = np.abs(slope - wanted) > 1e-5 * (np.abs(wanted) + np.abs(y)) + 1e-7
                    assert not far.any(), (method, argument, shapes, loc, scale, slope, wanted)


@pytest.mark.sampled(one_in=120)
@pytest.mark.parametrize("method", laws.METHODS)
@pytest.mark.parametrize("name", SHAPES)
def test_two_orders_in_both_modes(name, method):
    law, shapes = getattr(stats, name), SHAPES[name]
    f, q = getattr(law, method), np.array([0.2, 0.4, 0.9])
    x = q if method in ("ppf", "isf") else law.ppf(q, *shapes, 0.1, 1.3)
    if name in WITHOUT_SLOPE:
        if "pdf" not in method:
            check_grads(lambda x, loc, scale: np.sum(f(x, *shapes, loc, scale)), (x, 0.1, 1.3), order=1, rtol=1e-4)
        return
    if lookup(f).constants:
        check_grads(lambda x, loc, scale: np.sum(f(x, *shapes, loc, scale)), (x, 0.1, 1.3), order=2, rtol=1e-4)
    else:
        check_grads(lambda x, *rest: np.sum(f(x, *rest)), (x, *shapes, 0.1, 1.3), order=2, rtol=1e-4)


@pytest.mark.sampled(one_in=40)
@pytest.mark.parametrize("method", ("pdf", "logpdf", "cdf"))
@pytest.mark.parametrize("name", [name for name in SHAPES if name not in SLOW | WITHOUT_SLOPE])
def test_float32(name, method):
    """Cotangents have the dtype of the value, which SciPy widens; a gradient has that of the argument."""
    law, shapes = getattr(stats, name), SHAPES[name]
    f = getattr(law, method)
    wide = law.ppf(np.array([0.2, 0.4, 0.9]), *shapes, 0.1, 1.3).astype(np.float32).astype(float)
    x = wide.astype(np.float32)
    y = f(x, *shapes, 0.1, 1.3)
    for _, argument, slope in slopes_of(lookup(f), np.ones_like(y), y, (x, *shapes, 0.1, 1.3)):
        assert np.asarray(slope).dtype == y.dtype, argument

    def total(x):
        return np.sum(f(x, *shapes, 0.1, 1.3))

    found, wanted = grad(total)(x), grad(total)(wide)
    assert found.dtype == np.float32 and wanted.dtype == float
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    along = jvp(total, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(along, np.sum(wanted), rtol=1e-3, atol=1e-3)
