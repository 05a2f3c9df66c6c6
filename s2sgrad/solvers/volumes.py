"""Integrals over several variables, which are integrals of integrals: `quadrature` differentiates each of them.

y = integrate.dblquad(f, a, b, low, high)[0]    ->    quad(lambda x: quad(lambda t: f(t, x), low(x), high(x))[0], a, b)[0]

That text is differentiated, in what the functions close over, in `args=` and in the limits.
"""

from __future__ import annotations

from typing import Any

from scipy import integrate

from s2sgrad.api import jvp, vjp
from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, require_only
from s2sgrad.solvers.quadrature import beside


def between(f, a, b, low, high, args):
    """The text of `dblquad`, between numbers or functions."""

    def over_lines(x):
        first, last = low(x) if callable(low) else low, high(x) if callable(high) else high
        return integrate.quad(lambda y: f(y, x, *args), first, last)[0]

    return integrate.quad(over_lines, a, b)[0]


def in_a_body(f, a, b, low, high, bottom, top, args):
    """The text of `tplquad`, between numbers or functions."""

    def over_planes(x):
        def over_lines(y):
            under, over = bottom(x, y) if callable(bottom) else bottom, top(x, y) if callable(top) else top
            return integrate.quad(lambda z: f(z, y, x, *args), under, over)[0]

        first, last = low(x) if callable(low) else low, high(x) if callable(high) else high
        return integrate.quad(over_lines, first, last)[0]

    return integrate.quad(over_planes, a, b)[0]


def nested(f, ranges, args):
    """The text of `nquad`, of which the first range is that of the innermost integral."""
    known, count = () if args is None else args, len(ranges)

    def over_planes(x):
        def over_lines(y):
            return integrate.quad(lambda z: f(z, y, x, *known), ranges[0][0], ranges[0][1])[0]

        if count == 2:
            return integrate.quad(lambda y: f(y, x, *known), ranges[0][0], ranges[0][1])[0]
        return integrate.quad(over_lines, ranges[1][0], ranges[1][1])[0]

    if count == 1:
        return integrate.quad(lambda x: f(x, *known), ranges[0][0], ranges[0][1])[0]
    return integrate.quad(over_planes, ranges[-1][0], ranges[-1][1])[0]


def require_box(ranges: Any, opts: Any) -> None:
    """Refuse integrals over more than three variables, those with options, and limits that are functions."""
    if opts is not None or len(ranges) > 3 or any(callable(r) for r in ranges):
        raise Refusal(None, "nquad has a derivative over three variables at most, between numbers, without opts=: write "
                            "integrals of integrals with quad")  # fmt: skip


flat(require_box)


def of_text(told: Any, k: int, said: str) -> tuple[Any, Any]:
    """The pullback and the tangent in the argument number `k` of what has a text: `told(*arguments)` gives this, and what it
    takes."""

    def pullback(g: Any, y: Any, *arguments: Any) -> Any:
        require_only(g, (0,), said)
        text, *taken = told(*arguments)
        return vjp(text, *taken)[1](g[0])[k]

    def tangent(t: Any, y: Any, *arguments: Any) -> Any:
        text, *taken = told(*arguments)
        dots = [None] * len(taken)
        dots[k] = t
        return beside(y, jvp(text, tuple(taken), tuple(dots))[1])

    return pullback, tangent


def boxed(f: Any, ranges: Any, args: Any, opts: Any, full_output: Any) -> tuple[Any, ...]:
    """The same of `nquad`."""
    require_box(ranges, opts)
    return nested, f, ranges, args


def double(f: Any, a: Any, b: Any, low: Any, high: Any, args: Any, *rest: Any) -> tuple[Any, ...]:
    """The text of a call of `dblquad`, and what it takes."""
    return between, f, a, b, low, high, args


def triple(
    f: Any, a: Any, b: Any, low: Any, high: Any, bottom: Any, top: Any, args: Any, *rest: Any
) -> tuple[Any, ...]:  # fmt: skip
    """The same of `tplquad`."""
    return in_a_body, f, a, b, low, high, bottom, top, args


for _solver, _told, _names in (
    (integrate.tplquad, triple, ("func", "a", "b", "gfun", "hfun", "qfun", "rfun", "args")),
    (integrate.dblquad, double, ("func", "a", "b", "gfun", "hfun", "args")),
    (integrate.nquad, boxed, ("func", "ranges", "args")),
):
    _rules = {name: of_text(_told, k, _solver.__name__) for k, name in enumerate(_names)}
    enter(_solver, {n: rule[0] for n, rule in _rules.items()}, {n: rule[1] for n, rule in _rules.items()}, ())
