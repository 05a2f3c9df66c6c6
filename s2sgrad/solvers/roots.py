"""Roots and fixed points: what a function closes over, and `args=`, move them.

x = optimize.brentq(f, a, b, args)      ->      args_bar = -x_bar / (df/dx) * (df/dargs)       at x; a and b do not
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import require_only, solves, tupled, unknown_tangent

# --- what a solver returns ------------------------------------------------------------------------------------------


def first_of(place: int, said: str) -> tuple[Any, Any]:
    """How the solution is told, and its tangent put in, where the argument at `place` asks for a tuple."""

    def told(y: Any, whole: Any, arguments: tuple) -> Any:
        if not arguments[place]:
            return y
        if y is not whole:
            require_only(y, (0,), said)
        return y[0]

    def found(y: Any, dot: Any, arguments: tuple) -> Any:
        return (dot, *unknown_tangent(y[1:])) if arguments[place] else dot

    return told, found


def field(key: str, said: str, slope: int) -> tuple[Any, Any]:
    """The same of a result with named parts; Refusal where the argument at `slope` says that the function returns its
    derivative, too."""

    def told(y: Any, whole: Any, arguments: tuple) -> Any:
        if arguments[slope] is True:
            raise Refusal(None, f"{said} has no derivative of a function that returns its own, too: give the two apart")
        if y is not whole:
            require_only(y, (key,), said)
        return y[key]

    def found(y: Any, dot: Any, arguments: tuple) -> Any:
        return {**unknown_tangent(y), key: dot}

    return told, found


def whole(y: Any, of: Any, arguments: tuple) -> Any:
    """The same of a result that is the solution."""
    return y


def whole_dot(y: Any, dot: Any, arguments: tuple) -> Any:
    """Its tangent."""
    return dot


# --- of one number --------------------------------------------------------------------------------------------------


def at(f, x, args):
    """The function at its root."""
    return f(x, *tupled(args))


for _solver, _place in (
    (optimize.brentq, 7), (optimize.brenth, 7), (optimize.bisect, 7), (optimize.ridder, 7), (optimize.toms748, 8),
):  # fmt: skip
    solves(_solver, "f", at, *first_of(_place, _solver.__name__), ("a", "b"))

# --- of several numbers ---------------------------------------------------------------------------------------------


def all_at(f, x, args):
    """The equations, which may be a list, at their root."""
    return np.reshape(np.asarray(f(x, *tupled(args))), np.shape(x))


def moved_at(f, x, args):
    """How far a function moves its fixed point."""
    return np.asarray(f(x, *args)) - x


solves(optimize.newton, "func", all_at, *first_of(9, "newton"), ("x0", "fprime", "fprime2", "x1"))
solves(optimize.fsolve, "func", all_at, *first_of(4, "fsolve"), ("x0", "fprime"))
solves(optimize.fixed_point, "func", moved_at, whole, whole_dot, ("x0",))
solves(
    optimize.root_scalar, "f", all_at, *field("root", "root_scalar", 4), ("bracket", "x0", "x1", "fprime", "fprime2"), True
)
solves(optimize.root, "fun", all_at, *field("x", "root", 4), ("x0", "jac"), True)
for _solver in (
    optimize.broyden1, optimize.broyden2, optimize.anderson, optimize.diagbroyden, optimize.linearmixing,
    optimize.excitingmixing, optimize.newton_krylov,
):  # fmt: skip
    solves(_solver, "F", all_at, whole, whole_dot, ("xin",))
