"""Least squares between bounds, monotone regression, and assignments: what is found is a result with named parts.

    x = optimize.lsq_linear(A, b, bounds).x    ->    w = inv(P.T @ P) @ x_bar on the free numbers, b_bar = P @ w,
                                                     A_bar = outer(b - A @ x, w) - outer(P @ w, x)

What a bound holds stays there; P has the columns of the others (Nocedal and Wright, *Numerical Optimization*, 2006, 16.5).
In a block of a monotone regression all numbers are the weighted mean of the data (Barlow and others, 1972).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, require_only, unknown_tangent

# --- least squares between bounds -------------------------------------------------------------------------------------


def free(y: Any, A: Any) -> np.ndarray:
    """1 for each number that no bound holds; Refusal where the others do not determine it, and for other matrices."""
    if not isinstance(A, (np.ndarray, list)):
        raise Refusal(None, "lsq_linear has a derivative where its matrix is an array")
    held: np.ndarray = (y["active_mask"] == 0) * 1.0
    columns = np.asarray(A)[:, held > 0.0]
    if not y["success"] or np.linalg.matrix_rank(columns) < np.shape(columns)[1]:
        raise Refusal(None, "lsq_linear has a derivative where it finds the only solution")
    return held


flat(free)


def normal_solution(A, v, held):
    """The numbers that are free, of normal equations with this right side; 0 for the others."""
    columns = A * held
    return held * np.linalg.solve(columns.T @ columns + np.diag(1.0 - held), held * v)


def lsq_linear_bars(g: Any, y: Any, A: Any, b: Any) -> tuple[Any, Any]:
    """The cotangents of the matrix and of the right side."""
    require_only(g, ("x", "cost", "fun"), "lsq_linear")
    held, matrix, x = free(y, A), np.asarray(A), y["x"]
    rest = matrix @ x - np.asarray(b)
    by_rest = g["fun"] + np.sum(g["cost"]) * rest
    w = normal_solution(matrix, g["x"] + matrix.T @ by_rest, held)
    moved = matrix @ w
    return np.outer(by_rest - moved, x) - np.outer(rest, w), moved - by_rest


def as_given(bar: Any, given: Any) -> Any:
    """A cotangent as a list where a list was given."""
    return bar.tolist() if isinstance(given, list) else bar


def lsq_A_vjp(g: Any, y: Any, A: Any, b: Any, *rest: Any) -> Any:
    return as_given(lsq_linear_bars(g, y, A, b)[0], A)


def lsq_b_vjp(g: Any, y: Any, A: Any, b: Any, *rest: Any) -> Any:
    return as_given(lsq_linear_bars(g, y, A, b)[1], b)


def lsq_linear_dot(y: Any, A: Any, b: Any, A_dot: Any, b_dot: Any) -> Any:
    """The tangent of the result, for that of the matrix, or of the right side."""
    held, matrix = free(y, A), np.asarray(A)
    rest = matrix @ y["x"] - np.asarray(b)
    moved = b_dot - A_dot @ y["x"]
    x_dot = normal_solution(matrix, matrix.T @ moved - A_dot.T @ rest, held)
    fun_dot = matrix @ x_dot - moved
    return {**unknown_tangent(y), "x": x_dot, "fun": fun_dot, "cost": np.sum(rest * fun_dot)}


def lsq_A_jvp(t: Any, y: Any, A: Any, b: Any, *rest: Any) -> Any:
    return lsq_linear_dot(y, A, b, np.asarray(t), np.zeros(np.shape(b)))


def lsq_b_jvp(t: Any, y: Any, A: Any, b: Any, *rest: Any) -> Any:
    return lsq_linear_dot(y, A, b, np.zeros(np.shape(A)), np.asarray(t))


enter(optimize.lsq_linear, {"A": lsq_A_vjp, "b": lsq_b_vjp}, {"A": lsq_A_jvp, "b": lsq_b_jvp}, (), True, once=True)

# --- monotone regression ----------------------------------------------------------------------------------------------


def in_blocks(v: Any, blocks: Any) -> Any:
    """The sum over each block, at each of its places."""
    return np.repeat(np.add.reduceat(v, blocks[:-1]), np.diff(blocks))


def shares(y: Any, weights: Any) -> Any:
    """How much each datum counts in its block."""
    own = np.ones(len(y["x"])) if weights is None else np.asarray(weights, float)
    return own / in_blocks(own, y["blocks"])


def plain_list(values: Any) -> None:
    """Refuse data that are no array."""
    if not isinstance(values, np.ndarray):
        raise Refusal(None, "isotonic_regression has a derivative in an array of data")


flat(plain_list)


def y_vjp(g: Any, found: Any, y: Any, *, weights: Any, increasing: Any) -> Any:
    plain_list(y)
    require_only(g, ("x",), "isotonic_regression")
    return shares(found, weights) * in_blocks(g["x"], found["blocks"])


def y_jvp(t: Any, found: Any, y: Any, *, weights: Any, increasing: Any) -> Any:
    plain_list(y)
    return {**unknown_tangent(found), "x": in_blocks(shares(found, weights) * t, found["blocks"])}


def weights_vjp(g: Any, found: Any, y: Any, *, weights: Any, increasing: Any) -> Any:
    plain_list(weights)
    require_only(g, ("x",), "isotonic_regression")
    return in_blocks(g["x"], found["blocks"]) * shares(found, weights) / weights * (y - found["x"])


def weights_jvp(t: Any, found: Any, y: Any, *, weights: Any, increasing: Any) -> Any:
    plain_list(weights)
    moved = in_blocks(shares(found, weights) / weights * (y - found["x"]) * t, found["blocks"])
    return {**unknown_tangent(found), "x": moved}


enter(
    optimize.isotonic_regression,
    {"y": y_vjp, "weights": weights_vjp},
    {"y": y_jvp, "weights": weights_jvp},
    (),
    True,
    once=True,
)

# --- programs and assignments in whole numbers: what is chosen is constant between jumps ---------------------------------


def found_one(y: Any) -> None:
    """Refuse a program without a solution."""
    if not y["success"]:
        raise Refusal(None, f"milp found no solution, so that there is no derivative: {y['message']}")


def straight(A: Any, B: Any) -> None:
    """Refuse matrices that are no arrays."""
    if not isinstance(A, np.ndarray) or not isinstance(B, np.ndarray):
        raise Refusal(None, "quadratic_assignment has a derivative in arrays")


flat(found_one, straight)


def c_vjp(g: Any, y: Any, c: Any, *, integrality: Any, bounds: Any, constraints: Any, options: Any) -> Any:
    found_one(y)
    require_only(g, ("fun", "x"), "milp")
    return as_given(np.sum(g["fun"]) * y["x"], c)


def c_jvp(t: Any, y: Any, c: Any, *, integrality: Any, bounds: Any, constraints: Any, options: Any) -> Any:
    found_one(y)
    return {**unknown_tangent(y), "fun": np.dot(t, y["x"]), "x": np.zeros(len(y["x"]))}


def A_vjp(g: Any, y: Any, A: Any, B: Any, *rest: Any) -> Any:
    straight(A, B)
    require_only(g, ("fun",), "quadratic_assignment")
    return np.sum(g["fun"]) * B[y["col_ind"]][:, y["col_ind"]]


def B_vjp(g: Any, y: Any, A: Any, B: Any, *rest: Any) -> Any:
    straight(A, B)
    require_only(g, ("fun",), "quadratic_assignment")
    places = np.argsort(y["col_ind"])
    return np.sum(g["fun"]) * A[places][:, places]


def A_jvp(t: Any, y: Any, A: Any, B: Any, *rest: Any) -> Any:
    return {**unknown_tangent(y), "fun": np.sum(t * B[y["col_ind"]][:, y["col_ind"]])}


def B_jvp(t: Any, y: Any, A: Any, B: Any, *rest: Any) -> Any:
    return {**unknown_tangent(y), "fun": np.sum(A * t[y["col_ind"]][:, y["col_ind"]])}


enter(optimize.milp, {"c": c_vjp}, {"c": c_jvp}, (), True, once=True)
enter(optimize.quadratic_assignment, {"A": A_vjp, "B": B_vjp}, {"A": A_jvp, "B": B_jvp}, (), True, once=True)
