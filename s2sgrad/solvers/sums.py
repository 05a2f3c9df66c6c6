"""Sums over whole numbers and double-exponential integrals, of which the function is elementwise: `nsum` and `tanhsinh`.

y = integrate.tanhsinh(f, a, b, args=(k,)).integral    ->    k_bar = y_bar * the integral of df/dk,  b_bar = y_bar * f(b)
y = integrate.nsum(f, a, b, args=(k,)).sum             ->    k_bar = y_bar * the sum of df/dk
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sgrad import runtime
from s2sgrad.api import jvp
from s2sgrad.rules.table import existing, flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, flattened, require_only, tupled, unflattened, unknown_tangent
from s2sgrad.solvers.quadrature import at_limit, called, integral_of_bars

# --- integrals -------------------------------------------------------------------------------------------------------


def one_number(y: Any, key: str, log: Any, said: str) -> None:
    """Refuse several integrals or sums at once, and logarithms of them."""
    if log or np.ndim(y[key]) > 0:
        raise Refusal(None, f"{said} has a derivative for one number at a time, and without log=: call it in a loop")
    if not np.all(y["success"]):
        raise Refusal(None, f"{said} did not converge, so that there is no derivative")


flat(one_number)


def tanhsinh_bars(g: Any, y: Any, f: Any, a: Any, b: Any, args: Any, log: Any) -> Any:
    """The cotangents of the function and of `args`."""
    require_only(g, ("integral",), "tanhsinh")
    one_number(y, "integral", log, "tanhsinh")
    bars = integral_of_bars(np.sum(g["integral"]), f, a, b, tupled(args), 1e-12, 1e-10, 200, None)
    return bars[0], bars[1] if isinstance(args, tuple) else bars[1][0]


def f_vjp(g, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    return tanhsinh_bars(g, y, f, a, b, args, log)[0]


def args_vjp(g, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    return tanhsinh_bars(g, y, f, a, b, args, log)[1]


def a_vjp(g, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")
    require_only(g, ("integral",), "tanhsinh")
    return -np.sum(g["integral"]) * at_limit(f, a, tupled(args))


def b_vjp(g, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")
    require_only(g, ("integral",), "tanhsinh")
    return np.sum(g["integral"]) * at_limit(f, b, tupled(args))


def along(y: Any, dot: Any) -> Any:
    """The tangent of the result."""
    return {**unknown_tangent(y), "integral": dot}


def f_jvp(t, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")

    def dot(s):
        return jvp(lambda f: called(f, s, tupled(args)), (f,), (t,))[1]

    return along(y, integrate.quad(dot, a, b, (), 0, 1e-12, 1e-10, 200)[0])


def args_jvp(t, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")

    def dot(s):
        return jvp(lambda args: called(f, s, tupled(args)), (args,), (t,))[1]

    return along(y, integrate.quad(dot, a, b, (), 0, 1e-12, 1e-10, 200)[0])


def a_jvp(t, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")
    return along(y, -t * at_limit(f, a, tupled(args)))


def b_jvp(t, y, f, a, b, *, args, log, maxlevel, minlevel, atol, rtol, preserve_shape, callback):
    one_number(y, "integral", log, "tanhsinh")
    return along(y, t * at_limit(f, b, tupled(args)))


for _solver in existing(integrate, "tanhsinh"):
    enter(
        _solver,
        {"f": f_vjp, "a": a_vjp, "b": b_vjp, "args": args_vjp},
        {"f": f_jvp, "a": a_jvp, "b": b_jvp, "args": args_jvp},
        (),
        True,
    )

# --- sums ------------------------------------------------------------------------------------------------------------


def total(f: Any, a: Any, b: Any, step: Any) -> Any:
    """The sum of a function that is told at arrays."""
    return integrate.nsum(f, a, b, step=step)["sum"][()]


def sum_bars(g: Any, y: Any, f: Any, a: Any, b: Any, step: Any, args: Any, log: Any) -> Any:
    """The cotangents of the function and of `args`: a sum for each number in them."""
    require_only(g, ("sum",), "nsum")
    one_number(y, "sum", log, "nsum")
    given, g = tupled(args), np.sum(g["sum"])
    of_f, of_given = runtime.zeros(f), runtime.zeros(given)
    in_f = [sum_f_along(unflattened(e, of_f), f, a, b, step, given) for e in np.eye(len(flattened(of_f, of_f)))]
    in_given = [
        sum_given_along(unflattened(e, of_given), f, a, b, step, given) for e in np.eye(len(flattened(of_given, of_given)))
    ]
    given_bar = unflattened(g * np.array(in_given), of_given)
    return unflattened(g * np.array(in_f), of_f), given_bar if isinstance(args, tuple) else given_bar[0]


def sum_f_along(f_dot: Any, f: Any, a: Any, b: Any, step: Any, given: Any) -> Any:
    """The tangent of a sum along that of the function."""
    return total(lambda n: jvp(lambda f: called(f, n, given), (f,), (f_dot,))[1] * np.ones_like(n), a, b, step)


def sum_given_along(dot: Any, f: Any, a: Any, b: Any, step: Any, given: Any) -> Any:
    """The same along that of `args`."""
    return total(lambda n: jvp(lambda given: called(f, n, given), (given,), (dot,))[1] * np.ones_like(n), a, b, step)


def sum_f_vjp(g, y, f, a, b, *, step, args, log, maxterms, tolerances):
    return sum_bars(g, y, f, a, b, step, args, log)[0]


def sum_args_vjp(g, y, f, a, b, *, step, args, log, maxterms, tolerances):
    return sum_bars(g, y, f, a, b, step, args, log)[1]


def sum_f_jvp(t, y, f, a, b, *, step, args, log, maxterms, tolerances):
    one_number(y, "sum", log, "nsum")
    return {**unknown_tangent(y), "sum": sum_f_along(t, f, a, b, step, tupled(args))}


def sum_args_jvp(t, y, f, a, b, *, step, args, log, maxterms, tolerances):
    one_number(y, "sum", log, "nsum")
    return {**unknown_tangent(y), "sum": sum_given_along(tupled(t), f, a, b, step, tupled(args))}


for _solver in existing(integrate, "nsum"):
    enter(_solver, {"f": sum_f_vjp, "args": sum_args_vjp}, {"f": sum_f_jvp, "args": sum_args_jvp}, (), True)
