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


def double(k: int) -> tuple[Any, Any]:
    """The pullback and the tangent of `dblquad` in its argument number `k`, those of its text."""

    def pullback(g, y, func, a, b, gfun, hfun, args, epsabs, epsrel):
        require_only(g, (0,), "dblquad")
        return vjp(between, func, a, b, gfun, hfun, args)[1](g[0])[k]

    def tangent(t, y, func, a, b, gfun, hfun, args, epsabs, epsrel):
        dots = tuple([t if place == k else None for place in range(6)])
        return beside(y, jvp(between, (func, a, b, gfun, hfun, args), dots)[1])

    return pullback, tangent


def triple(k: int) -> tuple[Any, Any]:
    """The same of `tplquad`."""

    def pullback(g, y, func, a, b, gfun, hfun, qfun, rfun, args, epsabs, epsrel):
        require_only(g, (0,), "tplquad")
        return vjp(in_a_body, func, a, b, gfun, hfun, qfun, rfun, args)[1](g[0])[k]

    def tangent(t, y, func, a, b, gfun, hfun, qfun, rfun, args, epsabs, epsrel):
        dots = tuple([t if place == k else None for place in range(8)])
        return beside(y, jvp(in_a_body, (func, a, b, gfun, hfun, qfun, rfun, args), dots)[1])

    return pullback, tangent


def boxed(k: int) -> tuple[Any, Any]:
    """The same of `nquad`."""

    def pullback(g, y, func, ranges, args, opts, full_output):
        require_box(ranges, opts)
        require_only(g, (0,), "nquad")
        return vjp(nested, func, ranges, args)[1](g[0])[k]

    def tangent(t, y, func, ranges, args, opts, full_output):
        require_box(ranges, opts)
        dots = tuple([t if place == k else None for place in range(3)])
        return beside(y, jvp(nested, (func, ranges, args), dots)[1])

    return pullback, tangent


for _solver, _told, _names in (
    (integrate.tplquad, triple, ("func", "a", "b", "gfun", "hfun", "qfun", "rfun", "args")),
    (integrate.dblquad, double, ("func", "a", "b", "gfun", "hfun", "args")),
    (integrate.nquad, boxed, ("func", "ranges", "args")),
):
    _rules = {name: _told(k) for k, name in enumerate(_names)}
    enter(_solver, {n: rule[0] for n, rule in _rules.items()}, {n: rule[1] for n, rule in _rules.items()}, ())
