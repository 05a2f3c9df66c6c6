"""Rules of scipy.stats: the normal distribution, with `loc` and `scale`.  `laws` makes those of the others.

    y = norm.logpdf(x, m, s)     ->  x_bar = -y_bar * (x - m) / (s * s); m_bar = y_bar * (x - m) / (s * s)

With z = (x - loc) / scale, a logarithmic density is f(z) - log(scale).  Its slope in x is f'(z) / scale, in loc the negative
of that, in scale -(f'(z) * z + 1) / scale.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from s2sgrad.rules import instances
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, elementwise
from s2sgrad.runtime import over

# --- normal ----------------------------------------------------------------------------------------------------------


@elementwise(stats.norm.logpdf)
def norm_logpdf(g, y, x, loc=0, scale=1):
    return -g * (x - loc) / (scale * scale)


@norm_logpdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * (x - loc) / (scale * scale)


@norm_logpdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    z = (x - loc) / scale
    return g * (z * z - 1.0) / scale


@elementwise(stats.norm.pdf)
def norm_pdf(g, y, x, loc=0, scale=1):
    return -g * y * (x - loc) / (scale * scale)


@norm_pdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * y * (x - loc) / (scale * scale)


@norm_pdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    z = (x - loc) / scale
    return g * y * (z * z - 1.0) / scale


def normal_density(x, loc, scale):
    """The density of the normal distribution, without the checks of `stats.norm.pdf`.

    >>> float(normal_density(0.0, 0.0, 1.0))
    0.3989422804014327
    """
    z = np.divide(x - loc, scale)
    return np.exp(-0.5 * z * z) / (scale * math.sqrt(2.0 * math.pi))


@elementwise(normal_density)
def _(g, y, x, loc, scale):
    z = (x - loc) / scale
    return -g * y * z / scale, g * y * z / scale, g * y * (z * z - 1.0) / scale


@elementwise(stats.norm.cdf)
def norm_cdf(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale)


@norm_cdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale)


@norm_cdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.sf)
def norm_sf(g, y, x, loc=0, scale=1):
    return -g * normal_density(x, loc, scale)


@norm_sf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale)


@norm_sf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * normal_density(x, loc, scale) * (x - loc) / scale


def hazard(x, y, loc, scale):
    """The density divided by the probability with the logarithm `y`: the slope of that logarithm, but for the sign."""
    z = np.divide(x - loc, scale)
    return np.exp(-0.5 * z * z - y) / (scale * math.sqrt(2.0 * math.pi))


@elementwise(hazard)
def _(g, h, x, y, loc, scale):
    z = (x - loc) / scale
    return -g * h * z / scale, -g * h, g * h * z / scale, g * h * (z * z - 1.0) / scale


@elementwise(stats.norm.logcdf)
def norm_logcdf(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale)


@norm_logcdf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale)


@norm_logcdf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.logsf)
def norm_logsf(g, y, x, loc=0, scale=1):
    return -g * hazard(x, y, loc, scale)


@norm_logsf.keyword("loc")
def _(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale)


@norm_logsf.keyword("scale")
def _(g, y, x, loc=0, scale=1):
    return g * hazard(x, y, loc, scale) * (x - loc) / scale


@elementwise(stats.norm.ppf)
def norm_ppf(g, x, q, loc=0, scale=1):
    return over(g, normal_density(x, loc, scale))


@norm_ppf.keyword("loc")
def _(g, x, q, loc=0, scale=1):
    return g


@norm_ppf.keyword("scale")
def _(g, x, q, loc=0, scale=1):
    return g * (x - loc) / scale


@elementwise(stats.norm.isf)
def norm_isf(g, x, q, loc=0, scale=1):
    return -over(g, normal_density(x, loc, scale))


@norm_isf.keyword("loc")
def _(g, x, q, loc=0, scale=1):
    return g


@norm_isf.keyword("scale")
def _(g, x, q, loc=0, scale=1):
    return g * (x - loc) / scale


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule)]:
    _rule.refuse(lambda operand: is_container(operand), "a density of a list has no derivative rule: pass an array")

# --- frozen ones, which are made in the function ---------------------------------------------------------------------

_OF_POINTS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_OF_NOTHING = ("mean", "var", "std", "median", "entropy")
_FROZEN = dict.fromkeys((*_OF_POINTS, "interval"), instances.Method(1)) | dict.fromkeys(_OF_NOTHING, instances.Method(0))


def as_keywords(law: Any, held: list[Any], words: dict[str, Any]) -> dict[str, Any] | None:
    """What a distribution was frozen with, as `law.expect` takes it.

    >>> as_keywords(stats.gamma, [2.0], {"scale": 3.0})
    {'args': [2.0], 'scale': 3.0}
    """
    shapes = [shape.strip() for shape in law.shapes.split(",")] if law.shapes else []
    rest = ["loc"] if isinstance(law, stats.rv_discrete) else ["loc", "scale"]
    given = dict(zip([*shapes, *rest], held, strict=False)) | words
    if not {*shapes} <= {*given} <= {*shapes, *rest}:
        return None
    return {"args": [given.pop(shape) for shape in shapes]} | given


_FROZEN["expect"] = instances.Method(0, options=1, arranged=as_keywords)
instances.write_methods(stats.rv_continuous, _FROZEN)
instances.write_methods(stats.rv_discrete, _FROZEN)
