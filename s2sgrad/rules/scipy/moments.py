"""Moments of distributions of scipy.stats: those of counts by their formulas, and mean and variance in one call.

    v = binom.var(n, p)          ->    p_bar = v_bar * n * (1 - 2 * p)
    m, v = norm.stats(l, s)      ->    l_bar = m_bar; s_bar = m_bar * (m - l) / s + 2 * v_bar * v / s

Whole numbers of trials are constants, as `loc` of counts is not.  (Johnson, Kemp and Kotz (2005), "Univariate Discrete
Distributions".)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from s2sgrad.rules.made import made
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy import formulas, laws
from s2sgrad.rules.table import elementwise, general, lookup
from s2sgrad.runtime import over, unbroadcast

COUNTS = {  # mean and variance
    "bernoulli": ("p", "p * (1.0 - p)"),
    "binom": ("n * p", "n * p * (1.0 - p)"),
    "poisson": ("mu", "mu"),
    "geom": ("1.0 / p", "(1.0 - p) / p ** 2"),
    "nbinom": ("n * (1.0 - p) / p", "n * (1.0 - p) / p ** 2"),
    "betabinom": ("n * a / (a + b)", "n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1.0))"),
    "betanbinom": ("n * b / (a - 1.0)", "n * b * (n + a - 1.0) * (b + a - 1.0) / ((a - 2.0) * (a - 1.0) ** 2)"),
    "planck": ("1.0 / special.expm1(lambda_)", "exp(lambda_) / special.expm1(lambda_) ** 2"),
    "dlaplace": ("0.0 * a", "2.0 * exp(a) / special.expm1(a) ** 2"),
    "skellam": ("mu1 - mu2", "mu1 + mu2"),
    "logser": (
        "p / ((p - 1.0) * special.log1p(-p))",
        "-p * (p + special.log1p(-p)) / ((1.0 - p) ** 2 * special.log1p(-p) ** 2)",
    ),
    "yulesimon": ("alpha / (alpha - 1.0)", "alpha ** 2 / ((alpha - 1.0) ** 2 * (alpha - 2.0))"),
}
WHOLE = {"binom": ("n",), "betabinom": ("n",), "betanbinom": ("n",)}


def of_counts(name: str, shapes: tuple[str, ...]) -> str:
    """The pullbacks of the moments of a distribution of counts, as text.

    >>> print(of_counts("poisson", ("mu",))[:50])
    def mean(g, y, mu, loc=0):
        return g * (1.0)
    """
    mean, variance = COUNTS[name]
    written = []
    for method, formula, factor in (("mean", mean, "g"), ("var", variance, "g"), ("std", variance, "over(0.5 * g, y)")):
        slopes = [formulas.known_slope(formula, shape, shapes) or "0.0" for shape in shapes]
        whole = WHOLE.get(name, ())
        given = ", ".join("None" if s in whole else f"{factor} * ({t})" for s, t in zip(shapes, slopes, strict=True))
        head = f"(g, y, {', '.join(shapes)}, loc=0):\n    return "
        written.append(f"def {method}{head}{given}\n")
        written.append(f"def {method}_loc{head}{'g' if method == 'mean' else 'np.zeros_like(y)'}\n")
    return "\n\n".join(written)


def enter_counts(law: Any) -> None:
    """Enter the rules of a distribution of counts."""
    shapes = tuple(law.shapes.replace(",", " ").split())
    space = made(of_counts(law.name, shapes), f"{__name__}.{law.name}", formulas.SPACE | {"np": np, "over": over})
    for method in ("mean", "var", "std"):
        rule = elementwise(getattr(law, method))(space[method])
        rule.keyword("loc")(space[f"{method}_loc"])
        rule.refuse(lambda operand: is_container(operand), "a moment of a list has no derivative rule: pass an array")
        for name in WHOLE.get(law.name, ()):
            rule.constant(name)


for _name in COUNTS:
    if hasattr(stats, _name):
        enter_counts(getattr(stats, _name))

# --- both in one call ----------------------------------------------------------------------------------------------------


def of_both(name: str, shapes: tuple[str, ...], known: bool) -> str:
    """The pullbacks of a call of `stats`, as text."""
    listed = "".join(f"{shape}, " for shape in shapes)
    given = [
        f"unbroadcast(g[0] * scale * moment_slope(stats.{name}, 'mean', {k}, {listed}) + g[1] * scale * scale * "
        f"moment_slope(stats.{name}, 'var', {k}, {listed}), {shape})"
        for k, shape in enumerate(shapes)
    ]
    head = f"(g, y, {listed}loc=0, scale=1, moments='mv'):\n    return "
    in_scale = "unbroadcast(g[0] * (y[0] - loc) / scale + 2.0 * g[1] * y[1] / scale, scale)"
    return (
        f"def both{head}{', '.join(given if known else ['None'] * len(shapes)) or 'None'}\n\n\n"
        f"def both_loc{head}unbroadcast(g[0], loc)\n\n\ndef both_scale{head}{in_scale}\n"
    )


def enter_both(law: Any) -> None:
    """Enter the rule of `stats` of a distribution whose mean and variance have rules."""
    shapes = tuple((law.shapes or "").replace(",", " ").split())
    mean, variance = lookup(law.mean), lookup(law.var)
    if mean is None or variance is None or len(shapes) > 4:
        return
    known = not mean.constants and not variance.constants
    space = {"unbroadcast": unbroadcast, "moment_slope": laws.moment_slope, "stats": stats}
    space = made(of_both(law.name, shapes, known), f"{__name__}.{law.name}_both", space)
    rule = general(law.stats)(space["both"])
    rule.keyword("loc")(space["both_loc"])
    rule.keyword("scale")(space["both_scale"])
    rule.refuse(
        lambda moments: not moments.known or moments.value != "mv",
        "`stats` has a derivative rule for the mean and the variance alone: leave out `moments`",
    )
    rule.refuse(lambda operand: is_container(operand), "moments of lists have no derivative rule: pass arrays")
    if not known:
        for name in shapes:
            rule.constant(name)


for _law in [law for law in vars(stats).values() if isinstance(law, stats.rv_continuous)]:
    enter_both(_law)
