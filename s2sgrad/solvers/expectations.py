"""Expectations under a distribution of scipy.stats, in what the function closes over, in the shapes, `loc` and `scale`.

    stats.norm.expect(f, loc=m, scale=k)      ->     quad(lambda x: f(x) * stats.norm.pdf(x, m, k), -np.inf, np.inf)[0]
    stats.gamma.expect(f, (a,), m, k)         ->     quad(lambda z: f(m + k * z) * stats.gamma.pdf(z, a), 0.0, np.inf)[0]
    stats.poisson.expect(f, (mu,))            ->     np.sum(f(n) * stats.poisson.pmf(n, mu)),  all n that count

These texts are differentiated.  On the whole line that is the gradient of the score (Williams 1992, "Simple statistical
gradient-following algorithms"), for which `f` may have jumps.  Where the support has an end, the density may have a jump
there or an infinite slope: then what moves is `f` (the pathwise gradient: Mohamed et al. 2020, "Monte Carlo gradient
estimation in machine learning"), whose jumps are not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, stats

from s2sgrad.api import jvp, vjp
from s2sgrad.rules.scipy import continuous, densities, discrete, families  # noqa: F401  (the densities' rules)
from s2sgrad.rules.scipy import stats as of_stats  # noqa: F401
from s2sgrad.rules.table import flat, rules
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter

_LEFT_OUT, _MOST = 1e-12, 1_000_000  # of the probability, on either side; terms of a sum


def identity(x):
    """What the expectation is of, where no function is given."""
    return x


def with_shapes(density: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A density that takes so many shapes in a tuple."""
    return (
        lambda x, args, loc, *scale: density(x, loc, *scale),
        lambda x, args, loc, *scale: density(x, args[0], loc, *scale),
        lambda x, args, loc, *scale: density(x, args[0], args[1], loc, *scale),
        lambda x, args, loc, *scale: density(x, args[0], args[1], args[2], loc, *scale),
    )[count]


def over_the_line(law: Any) -> Callable[..., Any]:
    """The text of `law.expect` of a distribution that is positive everywhere."""
    density = with_shapes(law.pdf, law.numargs)

    def expectation(f, args, loc, scale, lb, ub):
        lower, upper = -np.inf if lb is None else lb, np.inf if ub is None else ub
        return integrate.quad(lambda x: f(x) * density(x, args, loc, scale), lower, upper)[0]

    return expectation


def over_its_support(law: Any) -> Callable[..., Any]:
    """The text of `law.expect` of a distribution whose support has an end."""
    density, first, last = with_shapes(law.pdf, law.numargs), law.a, law.b

    def expectation(f, args, loc, scale, lb, ub):
        lower = first if lb is None else (lb - loc) / scale
        upper = last if ub is None else (ub - loc) / scale
        return integrate.quad(lambda z: f(loc + scale * z) * density(z, args, 0.0, 1.0), lower, upper)[0]

    return expectation


def counted(law: Any, args: Any, loc: Any, lb: Any, ub: Any) -> np.ndarray:
    """The whole numbers that count in an expectation: far beyond the quantile of `_LEFT_OUT`."""
    first, last = law.support(*args, loc=loc)
    least, most = law.ppf(_LEFT_OUT, *args, loc=loc), law.isf(_LEFT_OUT, *args, loc=loc)
    beyond = most - least + 20.0
    lower = max(least - beyond, first) if lb is None else lb
    upper = min(most + beyond, last) if ub is None else ub
    if not upper - lower < _MOST:
        raise Refusal(None, f"{law.name}.expect has no derivative over more than {_MOST} whole numbers: give lb= and ub=")
    return np.arange(np.ceil(lower), np.floor(upper) + 1.0)


flat(counted)


def over_counts(law: Any) -> Callable[..., Any]:
    """The text of `law.expect` of a distribution of whole numbers."""
    probability = with_shapes(law.pmf, law.numargs)

    def expectation(f, args, loc, lb, ub):
        n = counted(law, args, loc, lb, ub)
        return np.sum(f(n) * probability(n, args, loc))

    return expectation


def is_of_line(law: Any) -> bool:
    """Whether a density is positive everywhere.

    >>> is_of_line(stats.norm), is_of_line(stats.gamma)
    (True, False)
    """
    return bool(np.isneginf(law.a) and np.isposinf(law.b))


def require_plain(law: Any, conditional: Any) -> None:
    """Refuse expectations under a condition."""
    if conditional:
        raise Refusal(None, f"{law.name}.expect has no derivative with conditional=: divide by the probability of the "
                            "condition")  # fmt: skip


flat(require_plain)


def of_floats(law: Any, k: int) -> tuple[Any, Any]:
    """The pullback and the tangent of `law.expect` in its argument number `k`, of a distribution of floats."""
    text = over_the_line(law) if is_of_line(law) else over_its_support(law)

    def pullback(g, y, func, args, loc, scale, lb, ub, conditional):
        require_plain(law, conditional)
        return vjp(text, identity if func is None else func, args, loc, scale, lb, ub)[1](g)[k]

    def tangent(t, y, func, args, loc, scale, lb, ub, conditional):
        require_plain(law, conditional)
        given = (identity if func is None else func, args, loc, scale, lb, ub)
        return jvp(text, given, tuple([t if place == k else None for place in range(6)]))[1]

    return pullback, tangent


def of_whole_numbers(law: Any, k: int) -> tuple[Any, Any]:
    """The same of a distribution of whole numbers."""
    text = over_counts(law)

    def pullback(g, y, func, args, loc, lb, ub, conditional, *rest):
        require_plain(law, conditional)
        return vjp(text, identity if func is None else func, args, loc, lb, ub)[1](g)[k]

    def tangent(t, y, func, args, loc, lb, ub, conditional, *rest):
        require_plain(law, conditional)
        given = (identity if func is None else func, args, loc, lb, ub)
        return jvp(text, given, tuple([t if place == k else None for place in range(5)]))[1]

    return pullback, tangent


def enter_expectation(law: Any, told: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Give `law.expect` its derivatives in these arguments, its first ones."""
    each = {name: told(law, k) for k, name in enumerate(names)}
    enter(law.expect, {n: rule[0] for n, rule in each.items()}, {n: rule[1] for n, rule in each.items()}, ())


for _law in vars(stats).values():
    if isinstance(_law, stats.rv_continuous) and _law.pdf in rules() and _law.numargs < 4:
        if type(_law)._get_support is stats.rv_continuous._get_support:  # it does not move with the shapes
            enter_expectation(_law, of_floats, ("func", "args", "loc", "scale", "lb", "ub"))
    elif isinstance(_law, stats.rv_discrete) and _law.pmf in rules() and _law.numargs < 4:
        enter_expectation(_law, of_whole_numbers, ("func", "args"))
