"""The rules of a continuous distribution of scipy.stats, all of them, from three facts about its standard form.

    law(stats.lognorm, lognorm_score, shape_scores=(lognorm_score_in_s,), shifts=(lognorm_shift,))

    y = lognorm.logpdf(x, s, m, k)   ->   z = (x - m) / k;  x_bar = y_bar * lognorm_score(z, s) / k;  s_bar = ..
    y = lognorm.cdf(x, s, m, k)      ->   x_bar = y_bar * lognorm.pdf(x, s, m, k);  m_bar = -x_bar
    x = lognorm.ppf(q, s, m, k)      ->   q_bar = x_bar / lognorm.pdf(x, s, m, k);  s_bar = x_bar * k * lognorm_shift(z, s)
    v = lognorm.var(s, m, k)         ->   k_bar = 2 * v_bar * v / k
    a, b = lognorm.interval(p, s)    ->   p_bar = (b_bar / pdf(b) - a_bar / pdf(a)) / 2

The facts are the *score*, which is the slope of the logarithmic density in z, and its slope in each shape.  The *shift* is
the slope of z in a shape while the probability stays as it is.  The rest is the same for all: probabilities depend on x,
`loc`, `scale` and the shapes through z alone.  So with the slope p in x the others are -p, -p * z and -p * scale * shift
(the implicit function theorem).  Slopes of logarithms of probabilities are quotients of densities and probabilities, taken
from their logarithms, so that they hold in the tails.

Where a density is 0, it and its logarithm have the slope 0, at the ends of the support too.  In a shape without a shift,
calls of probabilities and quantiles are refused.  Moments that are not finite, as the mean of Cauchy's, have no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from s2sgrad.rules.made import made
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.differences import difference
from s2sgrad.rules.table import elementwise, general, hands_on
from s2sgrad.runtime import over, product, unbroadcast


def ratio(p, y):
    """A density divided by a probability, both given by their logarithms; 0 where the density is.

    >>> float(ratio(-np.inf, -np.inf)), float(ratio(-1.0, -1.0))
    (0.0, 1.0)
    """
    return np.where(np.isneginf(p), 0.0, np.exp(p - np.where(np.isneginf(p), 0.0, y)))[()]


def within(y, slope):
    """`slope` where the logarithm `y` of a density is finite, and 0 where the density is 0."""
    return np.where(np.isneginf(y), 0.0, slope)[()]


# --- the formulas ------------------------------------------------------------------------------------------------------

Z = "((x - loc) / scale)"
SLOPES = {  # in x
    "logpdf": "g * {score}({z}{shapes}) / scale",
    "pdf": "product(g * y, {score}({z}{shapes})) / scale",
    "cdf": "g * stats.{law}.pdf(x{shapes}, loc, scale)",
    "sf": "-g * stats.{law}.pdf(x{shapes}, loc, scale)",
    "logcdf": "g * ratio(stats.{law}.logpdf(x{shapes}, loc, scale), y)",
    "logsf": "-g * ratio(stats.{law}.logpdf(x{shapes}, loc, scale), y)",
}
IN_SCALE = {
    "logpdf": "-g * ({score}({z}{shapes}) * {z} + 1.0) / scale",
    "pdf": "-product(g * y, {score}({z}{shapes}) * {z} + 1.0) / scale",
}
IN_SHAPE = {
    "logpdf": "g * {in_shape}({z}{shapes})",
    "pdf": "product(g * y, {in_shape}({z}{shapes}))",
}
METHODS = (*SLOPES, "ppf", "isf")
BY_DENSITY = METHODS[2:]  # whose slopes are densities
MOMENTS = {  # in `loc`, in `scale`, and what a slope in a shape is multiplied by
    "mean": ("g", "g * (y - loc) / scale", "g * scale"),
    "var": ("np.zeros_like(y)", "2.0 * g * y / scale", "g * scale * scale"),
    "std": ("np.zeros_like(y)", "g * y / scale", "g * scale"),
    "entropy": ("np.zeros_like(y)", "g / scale", "g"),
    "median": ("g", "g * (y - loc) / scale", "g * scale"),
}


def moment_slope(law, method, number, a, b=None, c=None, d=None):
    """The slope of a moment of a distribution in standard form in one of its shapes, by a difference, right to 1e-8.

    >>> bool(np.isclose(moment_slope(stats.gamma, "std", 0, 4.0), 0.25))
    True
    """
    return difference(getattr(law, method), tuple(shape for shape in (a, b, c, d) if shape is not None), number)


@general(moment_slope)
def slope_of_moment(g, y, law, method, number, a, b=None, c=None, d=None):
    return None, None, None, None


for _name in slope_of_moment.differentiable:
    slope_of_moment.constant(
        _name, "no second derivative of a moment is known in the shape of a distribution: first ones alone"
    )


@dataclass(frozen=True)
class Law:
    """What is known of a distribution: the names of its shapes and of the functions that are its facts, "" for none."""

    name: str
    shapes: tuple[str, ...]
    score: str
    shape_scores: tuple[str, ...]
    shifts: tuple[str, ...]
    bounded: bool  # whether its density is 0 anywhere
    integrated: tuple[str, ...] = ()  # moments that SciPy computes by quadrature

    def formulas(self, method: str) -> dict[str, str]:
        """The cotangents of x, the shapes, `loc` and `scale` in a call, as texts; "None" where none is known.

        >>> Law("gumbel_r", (), "gumbel_r_score", (), (), False).formulas("sf")["x"]
        '-g * stats.gumbel_r.pdf(x, loc, scale)'
        """
        shapes = "".join(f", {name}" for name in self.shapes)
        if method in ("ppf", "isf"):  # `y` is the quantile
            z, sign = "((y - loc) / scale)", "-" * (method == "isf")
            found = {"q": f"{sign}over(g, stats.{self.name}.pdf(y{shapes}, loc, scale))", "loc": "g", "scale": f"g * {z}"}
            return found | self._known(self.shifts, f"g * scale * {{fact}}({z}{shapes})")
        if method not in BY_DENSITY and not self.score:
            return dict.fromkeys(("x", *self.shapes, "loc", "scale"), "None")
        filled = {"law": self.name, "shapes": shapes, "z": Z, "score": self.score}
        slope = SLOPES[method].format(**filled)
        found = {"x": slope, "loc": f"-({slope})", "scale": f"-({slope}) * {Z}"}
        if method not in IN_SHAPE:
            return found | self._known(self.shifts, f"-product(({slope}) * scale, {{fact}}({Z}{shapes}))")
        found["scale"] = IN_SCALE[method].format(**filled)
        found |= self._known(self.shape_scores, IN_SHAPE[method].format(in_shape="{fact}", **filled))
        if method == "logpdf" and self.bounded:
            found = {name: f"within(y, {formula})" if formula != "None" else formula for name, formula in found.items()}
        return found

    def _known(self, facts: tuple[str, ...], formula: str) -> dict[str, str]:
        return {s: formula.format(fact=fact) if fact else "None" for s, fact in zip(self.shapes, facts, strict=True)}

    def moment_formulas(self, method: str) -> dict[str, str]:
        """The cotangents of the shapes, `loc` and `scale` in a call of a moment."""
        in_loc, in_scale, factor = MOMENTS[method]
        shapes = ", ".join(self.shapes)
        if method == "median":
            in_shapes = self._known(self.shifts, f"{factor} * {{fact}}((y - loc) / scale, {shapes})")
        else:
            calls = [f'moment_slope(stats.{self.name}, "{method}", {k}, {shapes})' for k in range(len(self.shapes))]
            in_shapes = {name: f"{factor} * {call}" for name, call in zip(self.shapes, calls, strict=True)}
            in_shapes = dict.fromkeys(in_shapes, "None") if method in self.integrated else in_shapes
        return {"loc": in_loc, "scale": in_scale} | in_shapes

    def interval(self) -> dict[str, str]:
        """The cotangents of a call of `interval`, whose ends are quantiles."""
        shapes = "".join(f", {name}" for name in self.shapes)
        at = [f"over(g[{k}], stats.{self.name}.pdf(y[{k}]{shapes}, loc, scale))" for k in (0, 1)]
        z = [f"(y[{k}] - loc) / scale" for k in (0, 1)]
        found = {"confidence": f"unbroadcast(0.5 * ({at[1]} - {at[0]}), confidence)", "loc": "unbroadcast(g[0] + g[1], loc)"}
        found["scale"] = f"unbroadcast(g[0] * ({z[0]}) + g[1] * ({z[1]}), scale)"
        for name, shift in zip(self.shapes, self.shifts, strict=True):
            ends = " + ".join(f"product(g[{k}], {shift}({z[k]}{shapes}))" for k in (0, 1))
            found[name] = f"unbroadcast(scale * ({ends}), {name})" if shift else "None"
        return found

    def of(self, method: str) -> dict[str, str]:
        """The cotangents in a call of any method."""
        if method == "interval":
            return self.interval()
        return self.moment_formulas(method) if method in MOMENTS else self.formulas(method)

    def text(self) -> str:
        """The pullbacks as text: for each method one of its point and the shapes, one of `loc`, one of `scale`."""
        written = []
        for method in (*MOMENTS, *METHODS, "interval"):
            found = self.of(method)
            own = [name for name in found if name not in ("loc", "scale")]
            parameters = ", ".join(["g", "y", *own, "loc=0", "scale=1"])
            together = ", ".join(found[name] for name in own) or "None"
            for suffix, formula in (("", together), ("_loc", found["loc"]), ("_scale", found["scale"])):
                written.append(f"def {self.name}_{method}{suffix}({parameters}):\n    return {formula}\n")
        return "\n\n".join(written)


# --- the rules ---------------------------------------------------------------------------------------------------------


def infinite(distribution: Any) -> list[str]:
    """The moments that are no numbers, and have no slopes, of a distribution without shapes.

    >>> infinite(stats.cauchy), infinite(stats.expon)
    (['mean', 'var', 'std'], [])
    """
    moments = () if distribution.shapes else ("mean", "var", "std")
    return [moment for moment in moments if not np.isfinite(getattr(distribution, moment)())]


def by_quadrature(distribution: Any, in_shapes: bool) -> tuple[str, ...]:
    """The moments that SciPy integrates, and those that it may: of densities without a known slope in a shape."""
    law, generic = type(distribution), stats.rv_continuous
    told = law._stats is not generic._stats or law._munp is not generic._munp
    moments = () if told and in_shapes else ("mean", "var", "std")
    return (*moments, *(("entropy",) * (law._entropy is generic._entropy or not in_shapes)))


def is_bounded(distribution: Any) -> bool:
    """Whether the density is 0 anywhere."""
    own_support = type(distribution)._get_support is not stats.rv_continuous._get_support
    return own_support or bool(np.any(np.isfinite([distribution.a, distribution.b])))


def law(
    distribution: Any, score: Callable[..., Any] | None, shape_scores: tuple[Any, ...] = (), shifts: tuple[Any, ...] = (),
    methods: Iterable[str] = (*METHODS, *MOMENTS),
) -> None:  # fmt: skip
    """Enter the rules of a distribution.  `shape_scores` and `shifts`: one function for each shape, None where it is not
    known.  Without a score the density is a constant, by its name."""
    shapes = tuple((distribution.shapes or "").replace(",", " ").split())
    shape_scores, shifts = (facts or (None,) * len(shapes) for facts in (shape_scores, shifts))
    in_shapes, moving = (tuple(getattr(f, "__name__", "") for f in facts) for facts in (shape_scores, shifts))
    integrated = by_quadrature(distribution, any(shape_scores))
    left_out = (*infinite(distribution), *(integrated if any(shape_scores) else ()))
    named = getattr(score, "__name__", "")
    known = Law(distribution.name, shapes, named, in_shapes, moving, is_bounded(distribution), integrated)
    space = {
        f.__name__: f for f in (score, *shape_scores, *shifts, over, product, ratio, unbroadcast, within) if f is not None
    }
    space |= {"stats": stats, "np": np, "moment_slope": moment_slope}
    space = made(known.text(), f"{__name__}.{distribution.name}", space)
    for method in (*methods, "interval"):
        if method in left_out:
            continue
        pullback, formulas = f"{distribution.name}_{method}", known.of(method)
        tag = general if method == "interval" else elementwise
        rule = tag(getattr(distribution, method))(space[pullback])
        for keyword in ("loc", "scale"):
            if formulas[keyword] != "None":
                rule.keyword(keyword)(space[f"{pullback}_{keyword}"])
        rule.refuse(lambda operand: is_container(operand), "a density or a probability of a list has no derivative rule: "
                                                           "pass an array")  # fmt: skip
        for argument, formula in formulas.items():
            if formula == "None" and argument in rule.differentiable:
                rule.constant(argument)


# --- frozen ones ---------------------------------------------------------------------------------------------------------

PLAIN = (int, float, np.float64, np.float32, np.int64, np.ndarray)  # and not what carries a derivative


def frozen(owner: Any, name: str) -> tuple[Any, dict[Any, Any]] | None:
    """The method of the distribution that a frozen one calls, and the parameters, which it holds."""
    held = dict(enumerate(owner.args)) | owner.kwds
    law: Any = getattr(stats, owner.dist.name or "", None)  # a frozen one has a copy of it
    same = type(law) is type(owner.dist) and (law.a, law.b) == (owner.dist.a, owner.dist.b)
    plain = all(type(value) in PLAIN for value in held.values())
    return (getattr(law, name), held) if same and plain and hasattr(law, name) and name not in MOMENTS else None


def frozen_normal(owner: Any, name: str) -> tuple[Any, dict[Any, Any]] | None:
    """The same of a multivariate normal distribution, which factorizes its covariance once: None where that was written to
    since."""
    plain = type(owner.mean) is np.ndarray and type(owner.cov) is np.ndarray and not owner.allow_singular
    known = plain and name in ("pdf", "logpdf") and _is_factorized(owner.cov_object)
    return (getattr(stats.multivariate_normal, name), {0: owner.mean, 1: owner.cov}) if known else None


def _is_factorized(covariance: Any) -> bool:
    """Whether the factors of a covariance are those of its matrix."""
    matrix = np.atleast_2d(covariance.covariance)
    white = covariance.whiten(np.eye(len(matrix)))
    return bool(np.allclose(white.T @ matrix @ white, np.eye(len(matrix)), rtol=0.0, atol=1e-5))


hands_on(stats.distributions.rv_frozen, frozen)
hands_on(type(stats.multivariate_normal()), frozen_normal)
