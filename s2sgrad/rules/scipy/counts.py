"""More distributions of counts of scipy.stats, each from the formula of the logarithm of its probabilities.

    count_family("planck", "log_rest(lambda_) - lambda_ * k", "-special.expm1(-lambda_ * (k + 1.0))")

    y = planck.logpmf(k, b, loc)   ->   b_bar = y_bar * (1 / expm1(b) - (k - loc))
    y = planck.cdf(k, b, loc)      ->   b_bar = y_bar * (slope of the sum in b at floor(k - loc))

`formulas` differentiates the texts.  Constants may be left out.  The second formula is that of the sum up to k; without
it sums have no rule.
Counts, `loc` and quantiles are as in `discrete`.  (Johnson, Kemp and Kotz (2005), "Univariate Discrete Distributions".)
"""

from __future__ import annotations

from typing import Any

from scipy import stats

from s2sgrad.rules.made import made
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy import formulas
from s2sgrad.rules.scipy.discrete import enter_quantiles, possible
from s2sgrad.rules.table import elementwise
from s2sgrad.runtime import product

SPACE = formulas.SPACE | {
    "stats": stats, "possible": possible, "product": product
}  # fmt: skip
METHODS = {
    "logpmf": "possible(y, g * ({fact}))",
    "pmf": "product(g * y, {fact})",
    "cdf": "g * {fact}",
    "sf": "-g * {fact}",
    "logcdf": "over(g * {fact}, exp(y))",
    "logsf": "-over(g * {fact}, exp(y))",
}


def count_family(name: str, chance: str, total: str = "", totals: tuple[str, ...] = ()) -> None:
    """Enter the rules of a distribution, if SciPy has it.  `totals`: the slopes of the sum where it is no formula."""
    distribution = getattr(stats, name, None)
    if distribution is None:
        return
    shapes = tuple(distribution.shapes.replace(",", " ").split())
    facts = {f"chance_in_{shape}": formulas.known_slope(chance, shape, ("k", *shapes)) for shape in shapes}
    for place, shape in enumerate(shapes):
        slope = totals[place] if totals else formulas.known_slope(total, shape, ("k", *shapes))
        facts[f"total_in_{shape}"] = slope
    written = [f"def {fact}({', '.join(('k', *shapes))}):\n    return {text}\n" for fact, text in facts.items() if text]
    known: dict[str, dict[str, Any]] = {method: {} for method in METHODS}
    for method, pattern in METHODS.items():
        kind, at = ("chance", "k - loc") if "pmf" in method else ("total", "np.floor(k - loc)")
        for shape in shapes:
            fact = f"{kind}_in_{shape}"
            call = f"{fact}({', '.join((at, *shapes))})"
            known[method][shape] = pattern.format(fact=call) if facts[fact] else "None"
        together = ", ".join(("None", *known[method].values()))
        written.append(f"def {method}(g, y, k, {', '.join(shapes)}, loc=0):\n    return {together}\n")
    space = made("\n\n".join(written), f"{__name__}.{name}", dict(SPACE))
    for method, found in ((method, found) for method, found in known.items() if {*found.values()} != {"None"}):
        rule = elementwise(getattr(distribution, method))(space[method])
        for argument, text in {"k": "None", **found}.items():
            if text == "None":
                rule.constant(argument)
        rule.refuse(lambda operand: is_container(operand), "a probability of a list has no derivative rule: pass an array")
    enter_quantiles(distribution)


count_family("planck", "log_rest(lambda_) - lambda_ * k", "where(k < 0.0, 0.0, -special.expm1(-lambda_ * (k + 1.0)))")
count_family(
    "dlaplace", "log_rest(a) + special.log_expit(a) - a * np.abs(k)",
    "where(k < 0.0, exp(a * (k + 1.0) + special.log_expit(-a)), -exp(special.log_expit(-a) - a * k))",
)  # fmt: skip
count_family("logser", "k * log(p) - log(-special.log1p(-p))")
count_family("zipf", "-a * log(k) - log_zeta(a)")
count_family(
    "yulesimon", "log(alpha) + special.betaln(k, alpha + 1.0)",
    "where(k < 1.0, 0.0, -exp(log(k) + special.betaln(k, alpha + 1.0)))",
)  # fmt: skip
count_family(
    "skellam", "-mu1 - mu2 + 0.5 * k * (log(mu1) - log(mu2)) + log_iv(np.abs(k), 2.0 * np.sqrt(mu1 * mu2))",
    totals=("-stats.skellam.pmf(k, mu1, mu2)", "stats.skellam.pmf(k + 1.0, mu1, mu2)"),
)  # fmt: skip
