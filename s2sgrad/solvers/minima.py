"""Minima: the gradient is 0 there, whatever the function closes over and `args=` hold.

x = optimize.minimize(f, x0, args).x       ->      args_bar = -(d/dargs df/dx)^T (d2f/dx2)^-1 x_bar       at x
f(x) at the minimum                        ->      args_bar = fun_bar * df/dargs: x moves along a level (the envelope)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sgrad import runtime
from s2sgrad.api import vjp
from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import (
    enter,
    implicit,
    implicit_dot,
    in_f,
    in_given,
    require_only,
    solves,
    tupled,
    unknown_tangent,
)
from s2sgrad.solvers.roots import first_of

# --- of a number ------------------------------------------------------------------------------------------------------


def value_at(f, x, args):
    """The function at its minimum."""
    return np.sum(f(x, *tupled(args)))


def slope_at(f, x, args):
    """Its gradient there."""
    _, pull = vjp(value_at, f, x, args)
    return pull(1.0)[1]


def require_value(arguments: tuple, jac: int | None, said: str) -> None:
    """Refuse a function that returns its gradient, too; `jac`: the place of the argument that says so."""
    if jac is not None and arguments[jac] is True:
        raise Refusal(None, f"{said} has no derivative with jac=True: give the function and its gradient apart")


flat(require_value)


def minimizes(solver: Any, jac: int | None) -> None:
    """Give a minimizer with a result of named parts the derivatives of `x` and `fun`; `jac`: the place of this argument."""
    args, said = 2 if jac is not None else 3, solver.__name__

    def f_vjp(g: Any, y: Any, *arguments: Any) -> Any:
        return bars(g, y, arguments)[0]

    def args_vjp(g: Any, y: Any, *arguments: Any) -> Any:
        return bars(g, y, arguments)[1]

    def bars(g: Any, y: Any, arguments: tuple) -> Any:
        require_only(g, ("x", "fun"), said)
        require_value(arguments, jac, said)
        f_bar, args_bar = implicit(slope_at, g["x"], y["x"], arguments[0], arguments[args], said)
        _, pull = vjp(value_at, arguments[0], y["x"], arguments[args])
        more = pull(np.sum(g["fun"]))
        return runtime.add(f_bar, more[0]), runtime.add(args_bar, more[2])

    def f_jvp(t: Any, y: Any, *arguments: Any) -> Any:
        require_value(arguments, jac, said)
        x, f, given = y["x"], arguments[0], arguments[args]
        dot = implicit_dot(slope_at, x, in_f(slope_at, t, x, f, given), f, given, said)
        return {**unknown_tangent(y), "x": dot, "fun": in_f(value_at, t, x, f, given)}

    def args_jvp(t: Any, y: Any, *arguments: Any) -> Any:
        require_value(arguments, jac, said)
        x, f, given = y["x"], arguments[0], arguments[args]
        dot = implicit_dot(slope_at, x, in_given(slope_at, t, x, f, given), f, given, said)
        return {**unknown_tangent(y), "x": dot, "fun": in_given(value_at, t, x, f, given)}

    unmoved = ("x0", "jac", "hess", "hessp") if jac is not None else ("bracket", "bounds")
    enter(solver, {"fun": f_vjp, "args": args_vjp}, {"fun": f_jvp, "args": args_jvp}, unmoved, True)


minimizes(optimize.minimize, 4)
minimizes(optimize.minimize_scalar, None)

solves(optimize.fmin, "func", slope_at, *first_of(7, "fmin"), ("x0", "initial_simplex"))
solves(optimize.fmin_powell, "func", slope_at, *first_of(7, "fmin_powell"), ("x0", "direc"))
solves(optimize.fmin_bfgs, "f", slope_at, *first_of(8, "fmin_bfgs"), ("x0", "fprime", "hess_inv0"))
solves(optimize.fmin_cg, "f", slope_at, *first_of(8, "fmin_cg"), ("x0", "fprime"))
solves(optimize.fmin_ncg, "f", slope_at, *first_of(9, "fmin_ncg"), ("x0", "fprime", "fhess_p", "fhess"))
solves(optimize.fminbound, "func", slope_at, *first_of(6, "fminbound"), ("x1", "x2"))
solves(optimize.brent, "func", slope_at, *first_of(4, "brent"), ("brack",))
solves(optimize.golden, "func", slope_at, *first_of(4, "golden"), ("brack",))
