"""Least squares: the gradient of half the sum of squares is 0 at the fit.

p = optimize.curve_fit(f, x, y)[0]      ->      y_bar, by the implicit function theorem of `handed`

The second derivatives of the residuals are part of it: it is the derivative of the fit itself, and not of one step of the
method of Gauss and Newton.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import optimize

from s2sgrad import runtime
from s2sgrad.api import jvp, vjp
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

# --- residuals of a function -----------------------------------------------------------------------------------------


def residuals_at(f, x, args):
    """The residuals at the fit, which may be a list or one number."""
    return np.asarray(f(x, *tupled(args)))


def half_at(f, x, args):
    """Half the sum of their squares."""
    return 0.5 * np.sum(residuals_at(f, x, args) ** 2)


def slope_at(f, x, args):
    """Its gradient."""
    _, pull = vjp(half_at, f, x, args)
    return pull(1.0)[1]


def first(y: Any, of: Any, arguments: tuple) -> Any:
    """The fit in a result that is a tuple."""
    if y is not of:
        require_only(y, (0,), "leastsq")
    return y[0]


def first_dot(y: Any, dot: Any, arguments: tuple) -> Any:
    """Its tangent."""
    return (dot, *unknown_tangent(y[1:]))


solves(optimize.leastsq, "func", slope_at, first, first_dot, ("x0", "Dfun"))

_LOSS, _ARGS, _WORDS = ([*inspect.signature(optimize.least_squares).parameters].index(n) for n in ("loss", "args", "kwargs"))


def require_squares(arguments: tuple) -> None:
    """Refuse another loss than the squares, and keywords for the function."""
    if arguments[_LOSS] != "linear":
        raise Refusal(None, "least_squares has a derivative with loss='linear' alone")
    if arguments[_WORDS]:
        raise Refusal(None, "least_squares has no derivative with kwargs=: let the function close over them")


flat(require_squares)


def least_squares_bars(g: Any, y: Any, arguments: tuple) -> Any:
    """The cotangents of the function and of `args`, for those of the parts of the result."""
    require_squares(arguments)
    require_only(g, ("x", "cost", "fun"), "least_squares")
    f, x, args = arguments[0], y["x"], arguments[_ARGS]
    _, pull_all = vjp(residuals_at, f, x, args)
    _, pull = vjp(half_at, f, x, args)
    one, two = pull_all(g["fun"]), pull(np.sum(g["cost"]))
    f_bar, args_bar = implicit(slope_at, g["x"] + one[1], x, f, args, "least_squares")
    return runtime.add(runtime.add(f_bar, one[0]), two[0]), runtime.add(runtime.add(args_bar, one[2]), two[2])


def f_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    return least_squares_bars(g, y, arguments)[0]


def args_vjp(g: Any, y: Any, *arguments: Any) -> Any:
    return least_squares_bars(g, y, arguments)[1]


def least_squares_dots(change: Any, direct: Any, y: Any, arguments: tuple) -> Any:
    """The tangent of the result, for the changes of the gradient and of the residuals at a fixed fit."""
    require_squares(arguments)
    f, x, args = arguments[0], y["x"], arguments[_ARGS]
    dot = implicit_dot(slope_at, x, change, f, args, "least_squares")
    moved = direct + jvp(lambda x: residuals_at(f, x, args), (x,), (dot,))[1]
    return {**unknown_tangent(y), "x": dot, "fun": moved, "cost": np.sum(y["fun"] * moved)}


def f_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    f, x, args = arguments[0], y["x"], arguments[_ARGS]
    return least_squares_dots(in_f(slope_at, t, x, f, args), in_f(residuals_at, t, x, f, args), y, arguments)


def args_jvp(t: Any, y: Any, *arguments: Any) -> Any:
    f, x, args = arguments[0], y["x"], arguments[_ARGS]
    return least_squares_dots(in_given(slope_at, t, x, f, args), in_given(residuals_at, t, x, f, args), y, arguments)


enter(
    optimize.least_squares,
    {"fun": f_vjp, "args": args_vjp},
    {"fun": f_jvp, "args": args_jvp},
    ("x0", "jac"),
    True,
    once=True,
)

# --- curves ----------------------------------------------------------------------------------------------------------


def misfit_at(f, p, data):
    """Half the sum of the squares of what a curve misses, in units of `sigma`."""
    x, y, sigma = data
    places = np.asarray(x) * 1.0 if isinstance(x, (list, tuple)) else x  # as SciPy hands them on
    return 0.5 * np.sum(((f(places, *p) - np.asarray(y)) / sigma) ** 2)


def misfit_slope(f, p, data):
    """Its gradient in the parameters."""
    _, pull = vjp(misfit_at, f, p, data)
    return pull(1.0)[1]


def require_curve(g: Any, y: Any, sigma: Any, words: dict[str, Any]) -> None:
    """Refuse what has no derivative: matrices of covariances."""
    require_only(g, (0,), "curve_fit")
    if sigma is not None and np.ndim(sigma) > 1:
        raise Refusal(None, "curve_fit has no derivative with a matrix for sigma")


flat(require_curve)


def data_of(xdata, ydata, sigma):
    """The data, with deviations of 1 where there are none."""
    return xdata, ydata, 1.0 if sigma is None else sigma


def curve_bars(g, y, f, xdata, ydata, sigma):
    """The cotangents of the curve and of the data."""
    require_curve(g, y, sigma, {})
    return implicit(misfit_slope, g[0], y[0], f, data_of(xdata, ydata, sigma), "curve_fit")


def curve_dot(change, y, f, xdata, ydata, sigma):
    """The tangent of the result."""
    dot = implicit_dot(misfit_slope, y[0], change, f, data_of(xdata, ydata, sigma), "curve_fit")
    return (dot, *unknown_tangent(y[1:]))


def curve_f_vjp(g, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    return curve_bars(g, y, f, xdata, ydata, sigma)[0]


def curve_x_vjp(g, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    return curve_bars(g, y, f, xdata, ydata, sigma)[1][0]


def curve_y_vjp(g, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    return curve_bars(g, y, f, xdata, ydata, sigma)[1][1]


def curve_sigma_vjp(g, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    return curve_bars(g, y, f, xdata, ydata, sigma)[1][2]


def curve_f_jvp(t, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    return curve_dot(in_f(misfit_slope, t, y[0], f, data_of(xdata, ydata, sigma)), y, f, xdata, ydata, sigma)


def curve_x_jvp(t, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    data = data_of(xdata, ydata, sigma)
    return curve_dot(in_given(misfit_slope, (t, None, None), y[0], f, data), y, f, xdata, ydata, sigma)


def curve_y_jvp(t, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    data = data_of(xdata, ydata, sigma)
    return curve_dot(in_given(misfit_slope, (None, t, None), y[0], f, data), y, f, xdata, ydata, sigma)


def curve_sigma_jvp(t, y, f, xdata, ydata, p0, sigma, *rest, full_output, nan_policy, ftol, xtol, gtol, maxfev):
    data = data_of(xdata, ydata, sigma)
    return curve_dot(in_given(misfit_slope, (None, None, t), y[0], f, data), y, f, xdata, ydata, sigma)


enter(
    optimize.curve_fit,
    {"f": curve_f_vjp, "xdata": curve_x_vjp, "ydata": curve_y_vjp, "sigma": curve_sigma_vjp},
    {"f": curve_f_jvp, "xdata": curve_x_jvp, "ydata": curve_y_jvp, "sigma": curve_sigma_jvp},
    ("p0", "jac"),
    words=("ftol", "xtol", "gtol", "maxfev"),
    once=True,
)
