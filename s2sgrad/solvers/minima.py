"""Minima: the gradient is 0 there, whatever the function closes over and `args=` hold.

x = optimize.minimize(f, x0, args).x       ->      args_bar = -(d/dargs df/dx)^T (d2f/dx2)^-1 x_bar       at x
f(x) at the minimum                        ->      args_bar = fun_bar * df/dargs: x moves along a level (the envelope)
"""

from __future__ import annotations

import inspect
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
from s2sgrad.solvers.roots import first_of, whole, whole_dot

# --- of a number ------------------------------------------------------------------------------------------------------


def value_at(f, x, args):
    """The function at its minimum."""
    return np.sum(f(x, *tupled(args)))


def slope_at(f, x, args):
    """Its gradient there."""
    _, pull = vjp(value_at, f, x, args)
    return pull(1.0)[1]


def require_value(arguments: tuple, jac: int | None, said: str) -> None:
    """Refuse a function that returns its gradient, too; `jac`: the place of the argument that says so, or of the options."""
    told = None if jac is None else arguments[jac]
    if isinstance(told, dict) and told.get("args", ()):
        raise Refusal(None, f"{said} has no derivative with args=: let the function close over them")
    if (told.get("jac") if isinstance(told, dict) else told) is True:
        raise Refusal(None, f"{said} has no derivative with jac=True: give the function and its gradient apart")


flat(require_value)


def minimizes(solver: Any, jac: int | None, unmoved: tuple[str, ...], words: tuple[str, ...] = ()) -> None:
    """Give a minimizer with a result of named parts the derivatives of `x` and `fun`; `jac`: the place of this argument."""
    names, said = list(inspect.signature(solver).parameters), solver.__name__
    args = names.index("args") if "args" in names else None

    def given_of(arguments: Any) -> Any:
        return () if args is None else arguments[args]

    def f_vjp(g: Any, y: Any, *arguments: Any, seed: Any = None) -> Any:
        return bars(g, y, arguments, given_of(arguments))[0]

    def args_vjp(g: Any, y: Any, *arguments: Any, seed: Any = None) -> Any:
        return bars(g, y, arguments, given_of(arguments))[1]

    def bars(g: Any, y: Any, arguments: tuple, given: Any) -> Any:
        require_only(g, ("x", "fun"), said)
        require_value(arguments, jac, said)
        f_bar, args_bar = implicit(slope_at, g["x"], y["x"], arguments[0], given, said)
        _, pull = vjp(value_at, arguments[0], y["x"], given)
        more = pull(np.sum(g["fun"]))
        return runtime.add(f_bar, more[0]), runtime.add(args_bar, more[2])

    def f_jvp(t: Any, y: Any, *arguments: Any, seed: Any = None) -> Any:
        require_value(arguments, jac, said)
        x, f, given = y["x"], arguments[0], given_of(arguments)
        dot = implicit_dot(slope_at, x, in_f(slope_at, t, x, f, given), f, given, said)
        return {**unknown_tangent(y), "x": dot, "fun": in_f(value_at, t, x, f, given)}

    def args_jvp(t: Any, y: Any, *arguments: Any, seed: Any = None) -> Any:
        require_value(arguments, jac, said)
        x, f, given = y["x"], arguments[0], given_of(arguments)
        dot = implicit_dot(slope_at, x, in_given(slope_at, t, x, f, given), f, given, said)
        return {**unknown_tangent(y), "x": dot, "fun": in_given(value_at, t, x, f, given)}

    vjps, jvps = {names[0]: f_vjp}, {names[0]: f_jvp}
    if "args" in names:
        vjps["args"], jvps["args"] = args_vjp, args_jvp
    enter(solver, vjps, jvps, unmoved, True, words, once=True)


minimizes(optimize.minimize, 4, ("x0", "jac", "hess", "hessp"))
minimizes(optimize.minimize_scalar, None, ("bracket", "bounds"))
minimizes(optimize.differential_evolution, None, ("bounds", "x0"), ("seed",))
minimizes(optimize.dual_annealing, None, ("bounds", "x0"), ("seed",))
minimizes(optimize.shgo, None, ("bounds",))
minimizes(optimize.basinhopping, 5, ("x0",), ("seed",))

solves(optimize.fmin, "func", slope_at, *first_of(7, "fmin"), ("x0", "initial_simplex"))
solves(optimize.fmin_powell, "func", slope_at, *first_of(7, "fmin_powell"), ("x0", "direc"))
solves(optimize.fmin_bfgs, "f", slope_at, *first_of(8, "fmin_bfgs"), ("x0", "fprime", "hess_inv0"))
solves(optimize.fmin_cg, "f", slope_at, *first_of(8, "fmin_cg"), ("x0", "fprime"))
solves(optimize.fmin_ncg, "f", slope_at, *first_of(9, "fmin_ncg"), ("x0", "fprime", "fhess_p", "fhess"))
solves(optimize.fminbound, "func", slope_at, *first_of(6, "fminbound"), ("x1", "x2"))
solves(optimize.brute, "func", slope_at, *first_of(4, "brute"), ("ranges",))
solves(optimize.brent, "func", slope_at, *first_of(4, "brent"), ("brack",))
solves(optimize.golden, "func", slope_at, *first_of(4, "golden"), ("brack",))


def first_alone(said: str) -> tuple[Any, Any]:
    """How the solution is told of a minimizer that always returns a tuple, and its tangent put in; Refusal for a function
    that returns its gradient, too."""

    def told(y: Any, whole: Any, arguments: tuple) -> Any:
        if arguments[2] is None and not arguments[4]:
            raise Refusal(None, f"{said} has no derivative of a function that returns its gradient, too: pass `fprime`")
        if y is not whole:
            require_only(y, (0,), said)
        return y[0]

    def found(y: Any, dot: Any, arguments: tuple) -> Any:
        return (dot, *unknown_tangent(y[1:]))

    return told, found


solves(optimize.fmin_l_bfgs_b, "func", slope_at, *first_alone("fmin_l_bfgs_b"), ("x0", "fprime", "bounds"))
solves(optimize.fmin_tnc, "func", slope_at, *first_alone("fmin_tnc"), ("x0", "fprime", "bounds"))
solves(optimize.fmin_cobyla, "func", slope_at, whole, whole_dot, ("x0", "cons"))
solves(optimize.fmin_slsqp, "func", slope_at, *first_of(15, "fmin_slsqp"), ("x0", "fprime", "bounds"))
