"""Boundary value problems: the states at the mesh are where the collocation of the solver holds.

    y = integrate.solve_bvp(f, bc, x, guess).y    ->    the implicit function theorem of `handed`, for the equations
                                                        y[k+1] - y[k] = h / 6 * (f[k] + 4 * f[between] + f[k+1]),  bc = 0

(Kierzenka and Shampine, "A BVP solver based on residual control and the MATLAB PSE", 2001.)  The mesh is as it was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, implicit, implicit_dot, in_f, require_only, unknown_tangent


def collocated(f, z, mesh):
    """What the states and parameters `z` leave of the equations of a function and its boundary conditions."""
    rate_of, conditions = f
    x, n, parameters = mesh
    y = np.reshape(z[: n * len(x)], (n, len(x)))
    more = (z[n * len(x) :],) if parameters else ()
    h = np.diff(x)
    rate = np.asarray(rate_of(x, y, *more))
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (rate[:, 1:] - rate[:, :-1])
    between = np.asarray(rate_of(x[:-1] + 0.5 * h, middle, *more))
    rest = y[:, 1:] - y[:, :-1] - h / 6.0 * (rate[:, :-1] + rate[:, 1:] + 4.0 * between)
    return np.concatenate((np.ravel(rest), np.ravel(np.asarray(conditions(y[:, 0], y[:, -1], *more)))))


def require_found(y: Any, S: Any) -> None:
    """Refuse a solution that was not found, and singular terms."""
    if not y["success"]:
        raise Refusal(None, f"solve_bvp found no solution, so that there is no derivative: {y['message']}")
    if S is not None:
        raise Refusal(None, "solve_bvp has no derivative with S=: write the term in the function")


flat(require_found)


def unknowns(y: Any) -> tuple[Any, Any]:
    """The states and parameters as one line, and what they are told on."""
    states, p = y["y"], y["p"]
    line = np.ravel(states) if p is None else np.concatenate((np.ravel(states), p))
    return line, (y["x"], len(states), p is not None)


def bars(g: Any, y: Any, fun: Any, bc: Any, S: Any) -> Any:
    """The cotangents of both functions."""
    require_found(y, S)
    require_only(g, ("y", "p"), "solve_bvp")
    z, mesh = unknowns(y)
    z_bar = np.ravel(g["y"]) if y["p"] is None else np.concatenate((np.ravel(g["y"]), g["p"]))
    return implicit(collocated, z_bar, z, (fun, bc), mesh, "solve_bvp")[0]


def dots(f_dot: Any, y: Any, fun: Any, bc: Any, S: Any) -> Any:
    """The tangent of the result."""
    require_found(y, S)
    z, mesh = unknowns(y)
    change = in_f(collocated, f_dot, z, (fun, bc), mesh)
    dot = implicit_dot(collocated, z, change, (fun, bc), mesh, "solve_bvp")
    n = np.size(y["y"])
    found = {**unknown_tangent({k: v for k, v in y.items() if k != "sol"}), "sol": None}
    p_dot = None if y["p"] is None else dot[n:]
    return {**found, "y": np.reshape(dot[:n], np.shape(y["y"])), "p": p_dot, "x": np.zeros(len(y["x"]))}


def fun_vjp(g, y, fun, bc, x, guess, p, S, *rest):
    return bars(g, y, fun, bc, S)[0]


def bc_vjp(g, y, fun, bc, x, guess, p, S, *rest):
    return bars(g, y, fun, bc, S)[1]


def fun_jvp(t, y, fun, bc, x, guess, p, S, *rest):
    return dots((t, None), y, fun, bc, S)


def bc_jvp(t, y, fun, bc, x, guess, p, S, *rest):
    return dots((None, t), y, fun, bc, S)


enter(
    integrate.solve_bvp,
    {"fun": fun_vjp, "bc": bc_vjp},
    {"fun": fun_jvp, "bc": bc_jvp},
    ("y", "p", "fun_jac", "bc_jac"),
    frozenset({"sol"}),
    once=True,
)
