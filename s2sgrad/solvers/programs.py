"""Linear programs: the solution is a corner, at which as many constraints hold with equality as there are variables.

x = optimize.linprog(c, A, b).x    ->    w = inv(M).T @ (x_bar + fun_bar * c); b_bar = w; A_bar = -outer(w, x)

and c_bar = fun_bar * x.  M has the rows of these constraints, the bounds among them, which are constants; rows that are
slack have the derivative 0.  Where more constraints meet in the corner, or the solution is no corner, it has no derivative
(Gal, *Postoptimal Analyses, Parametric Programming, and Related Topics*, 1995).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, require_only, unknown_tangent

_CLOSE = 1e-9  # a constraint that is slack by no more, relative to its terms, holds with equality


def corner(y: Any, upper: Any, equal: Any, integrality: Any) -> tuple[Any, Any]:
    """The places of the constraints at the corner among the rows of `A_ub`, and the rows of the bounds there."""
    n = len(y["x"])
    if not y["success"] or integrality is not None:
        raise Refusal(None, "linprog has a derivative where it finds a solution, in real numbers alone")
    size = 1.0 + np.max(np.abs(y["x"]), initial=0.0)
    tight = np.flatnonzero(np.abs(y["slack"]) <= _CLOSE * size)
    nearest = np.minimum(np.abs(y["lower"]["residual"]), np.abs(y["upper"]["residual"]))
    bounds = np.eye(n)[nearest <= _CLOSE * size]
    meeting = rows(upper, equal, tight, bounds)
    if np.shape(meeting) != (n, n) or np.linalg.matrix_rank(meeting) < n:
        raise Refusal(None, "linprog: the solution is no corner in which as many constraints meet as there are variables, "
                            "so that it has no derivative")  # fmt: skip
    return tight, bounds


def rows(upper, equal, tight, bounds):
    """The rows of all constraints at the corner."""
    none = np.zeros((0, np.shape(bounds)[1]))
    first = none if upper is None else np.asarray(upper)[tight]
    return np.concatenate((first, none if equal is None else np.asarray(equal), bounds))


flat(corner)


def weights(g, y, c, upper, equal, integrality):
    """The cotangents of the right sides of `A_ub` and `A_eq`."""
    require_only(g, ("x", "fun"), "linprog")
    tight, bounds = corner(y, upper, equal, integrality)
    w = np.linalg.solve(rows(upper, equal, tight, bounds).T, g["x"] + np.sum(g["fun"]) * np.asarray(c))
    side = np.zeros(len(y["slack"]))
    side[tight] = w[: len(tight)]
    return side, w[len(tight) : len(w) - len(bounds)], y["x"]


def like_given(bar, given):
    """A cotangent as a list where a list was given."""
    return bar.tolist() if isinstance(given, list) else bar


def c_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    corner(y, arguments[1], arguments[3], arguments[10])
    require_only(g, ("x", "fun"), "linprog")
    return like_given(np.sum(g["fun"]) * y["x"], arguments[0])


def upper_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    w = weights(g, y, arguments[0], arguments[1], arguments[3], arguments[10])
    return like_given(-np.outer(w[0], w[2]), arguments[1])


def upper_side_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    return like_given(weights(g, y, arguments[0], arguments[1], arguments[3], arguments[10])[0], arguments[2])


def equal_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    w = weights(g, y, arguments[0], arguments[1], arguments[3], arguments[10])
    return like_given(-np.outer(w[1], w[2]), arguments[3])


def equal_side_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    return like_given(weights(g, y, arguments[0], arguments[1], arguments[3], arguments[10])[1], arguments[4])


def moved(y: Any, change_upper: Any, change_equal: Any, arguments: tuple) -> Any:
    """The tangent of the result, for the changes of the right sides less those of the left ones."""
    tight, bounds = corner(y, arguments[1], arguments[3], arguments[10])
    matrix = rows(arguments[1], arguments[3], tight, bounds)
    change = np.zeros(len(y["x"]))
    if change_upper is not None:
        change[: len(tight)] = np.asarray(change_upper)[tight]
    if change_equal is not None:
        change[len(tight) : len(tight) + len(change_equal)] = change_equal
    dot = np.linalg.solve(matrix, change)
    return {**unknown_tangent(y), "x": dot, "fun": np.dot(np.asarray(arguments[0], float), dot)}


def c_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    corner(y, arguments[1], arguments[3], arguments[10])
    return {**unknown_tangent(y), "x": np.zeros(len(y["x"])), "fun": np.dot(t, y["x"])}


def upper_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    return moved(y, -np.asarray(t) @ y["x"], None, arguments)


def upper_side_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    return moved(y, t, None, arguments)


def equal_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    return moved(y, None, -np.asarray(t) @ y["x"], arguments)


def equal_side_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    return moved(y, None, t, arguments)


enter(
    optimize.linprog,
    {"c": c_vjp, "A_ub": upper_vjp, "b_ub": upper_side_vjp, "A_eq": equal_vjp, "b_eq": equal_side_vjp},
    {"c": c_jvp, "A_ub": upper_jvp, "b_ub": upper_side_jvp, "A_eq": equal_jvp, "b_eq": equal_side_jvp},
    ("x0",), True, once=True,
)  # fmt: skip
