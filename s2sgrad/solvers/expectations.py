"""Expectations under a distribution of scipy.stats, in what the function closes over, in the shapes, `loc` and `scale`.

    stats.norm.expect(f, loc=m, scale=k)      ->     quad(lambda z: f(m + k * z) * stats.norm.pdf(z), -np.inf, np.inf)[0]
    stats.poisson.expect(f, (mu,))            ->     np.sum(f(n) * stats.poisson.pmf(n, mu)),  all n that count

These texts are differentiated: what moves is `f` (the pathwise gradient: Mohamed et al. 2020, "Monte Carlo gradient
estimation in machine learning").  Where `f` has jumps, what moves is the density (the score: Williams 1992, "Simple
statistical gradient-following algorithms"), if it is positive everywhere; otherwise that is refused.  The integral is
divided around the body of the distribution, as SciPy divides it, so that no narrow peak is missed.
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


def is_beyond(bound: Any, law: Any, loc: Any, scale: Any) -> bool:
    """Whether a bound is missing, or outside of the support."""
    return bound is None or not law.a < (bound - loc) / scale < law.b


def body(law: Any, args: Any, loc: Any, scale: Any, lb: Any, ub: Any) -> tuple[float, float]:
    """Between which numbers nine tenths of the probability between the bounds are, of `loc` 0 and `scale` 1."""
    lower = law.a if is_beyond(lb, law, loc, scale) else (lb - loc) / scale
    upper = law.b if is_beyond(ub, law, loc, scale) else (ub - loc) / scale
    least, most = law.cdf(lower, *args), law.cdf(upper, *args)
    found = law.ppf(least + (most - least) * np.array([0.05, 0.95]), *args)
    first, last = (float(np.clip(z if np.isfinite(z) else 0.0, lower, upper)) for z in found)
    return first, last


def jumps(law: Any, f: Any, args: Any, loc: Any, scale: Any) -> bool:
    """Whether a function has a jump where the distribution is, for one that is positive everywhere; Refusal for others.

    >>> jumps(stats.norm, np.sin, (), 0.0, 1.0), jumps(stats.norm, lambda x: x > 0.3, (), 0.0, 1.0)
    (False, True)
    """
    places = loc + scale * law.ppf(np.linspace(0.0, 1.0, 202)[1:-1], *args)
    values = np.array([float(f(x)) for x in places])
    rough = np.max(np.abs(np.diff(values)))
    for k in np.argsort(-np.abs(np.diff(values)))[:8]:
        (left, right), (low, high) = places[k : k + 2], values[k : k + 2]
        for _ in range(40):
            middle = 0.5 * (left + right)
            value = float(f(middle))
            if abs(value - low) > abs(high - value):
                right, high = middle, value
            else:
                left, low = middle, value
        if abs(high - low) > 1e-3 * rough:
            if not (np.isneginf(law.a) and np.isposinf(law.b)):
                raise Refusal(None, f"{law.name}.expect has no derivative of a function with a jump (near {left:.6g}): "
                                    "divide the expectation there by lb= and ub=")  # fmt: skip
            return True
    return False


def fixed(x: Any) -> Any:
    """The same, without a derivative."""
    return x


flat(is_beyond, body, jumps, fixed)


def moving_function(law: Any) -> Callable[..., Any]:
    """The text of `law.expect` of a distribution of floats, in which the function moves with `loc` and `scale`."""
    density = with_shapes(law.pdf, law.numargs)

    def expectation(f, args, loc, scale, lb, ub):
        def weighted(z):
            return f(loc + scale * z) * density(z, args, 0.0, 1.0)

        first, last = body(law, args, loc, scale, lb, ub)
        whole = integrate.quad(weighted, first, last)[0]
        if is_beyond(lb, law, loc, scale):
            whole = whole + integrate.quad(weighted, law.a, first)[0]
        else:
            whole = whole + integrate.quad(weighted, (lb - loc) / scale, first)[0]
        if is_beyond(ub, law, loc, scale):
            whole = whole + integrate.quad(weighted, last, law.b)[0]
        else:
            whole = whole + integrate.quad(weighted, last, (ub - loc) / scale)[0]
        return whole

    return expectation


def moving_density(law: Any) -> Callable[..., Any]:
    """The same, in which the density moves."""
    density = with_shapes(law.pdf, law.numargs)

    def expectation(f, args, loc, scale, lb, ub):
        start, unit = fixed(loc), fixed(scale)

        def weighted(z):
            x = start + unit * z
            return f(x) * density(x, args, loc, scale) * unit

        first, last = body(law, args, loc, scale, lb, ub)
        whole = integrate.quad(weighted, first, last)[0]
        if is_beyond(lb, law, loc, scale):
            whole = whole + integrate.quad(weighted, law.a, first)[0]
        else:
            whole = whole + integrate.quad(weighted, (lb - start) / unit, first)[0]
        if is_beyond(ub, law, loc, scale):
            whole = whole + integrate.quad(weighted, last, law.b)[0]
        else:
            whole = whole + integrate.quad(weighted, last, (ub - start) / unit)[0]
        return whole

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


def require_plain(law: Any, conditional: Any) -> None:
    """Refuse expectations under a condition."""
    if conditional:
        raise Refusal(None, f"{law.name}.expect has no derivative with conditional=: divide by the probability of the "
                            "condition")  # fmt: skip


flat(require_plain)


def of_floats(law: Any, k: int) -> tuple[Any, Any]:
    """The pullback and the tangent of `law.expect` in its argument number `k`, of a distribution of floats."""
    by_path, by_score = moving_function(law), moving_density(law)

    def pullback(g, y, func, args, loc, scale, lb, ub, conditional):
        require_plain(law, conditional)
        f = identity if func is None else func
        return vjp(by_score if jumps(law, f, args, loc, scale) else by_path, f, args, loc, scale, lb, ub)[1](g)[k]

    def tangent(t, y, func, args, loc, scale, lb, ub, conditional):
        require_plain(law, conditional)
        f = identity if func is None else func
        dots = tuple([t if place == k else None for place in range(6)])
        text = by_score if jumps(law, f, args, loc, scale) else by_path
        return jvp(text, (f, args, loc, scale, lb, ub), dots)[1]

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
        of_its_own = type(_law).expect is not stats.rv_continuous.expect
        if type(_law)._get_support is stats.rv_continuous._get_support and not of_its_own:  # it does not move with shapes
            enter_expectation(_law, of_floats, ("func", "args", "loc", "scale", "lb", "ub"))
    elif isinstance(_law, stats.rv_discrete) and _law.pmf in rules() and _law.numargs < 4:
        enter_expectation(_law, of_whole_numbers, ("func", "args"))
