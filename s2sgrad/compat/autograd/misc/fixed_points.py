"""The fixed point of `f(a)`, differentiated by the implicit function theorem: the iterations are not recorded.

    x = f(a)(x)      ->      x_bar -> w = x_bar + (d f(a)(x)/dx)^T w,  a_bar = (d f(a)(x)/da)^T w

What `f` closes over counts as `a` does.
The adjoint equation is solved by iteration as well (Griewank and Walther, *Evaluating Derivatives*, 2008, chapter 15).

>>> fixed_point(lambda a: lambda x: 0.5 * (x + a / x), 2.0, 1.0, lambda x, y: abs(x - y), 1e-12)
1.414213562373095
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad import api, runtime, tape


@tape.primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """The `x` with `f(a)(x) = x`, iterated from `x0` until two successive values are within `tol`."""
    step, x = f(a), x0
    while True:
        before, x = x, step(x)
        if not distance(before, x) > tol:
            return x


def _in(place: int) -> Callable[..., Any]:
    """The pullback in the function, that is in what it closes over, or in its argument."""

    def pullback(
        g: Any, x: Any, f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any],
        tol: float,
    ) -> Any:  # fmt: skip
        _, pull_x = api.vjp(f(a), x)
        _, pull = api.vjp(lambda f, a: f(a)(x), f, a)
        w, before = g, None
        while before is None or distance(before, w) > tol:
            before, w = w, runtime.add(g, pull_x(w)[0])
        return pull(w)[place]

    return pullback


tape.defvjp(fixed_point, _in(0), _in(1), None, None, None)
