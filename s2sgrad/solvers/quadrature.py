"""Integrals of functions: what these close over, `args=`, and the limits carry derivatives.

y = integrate.quad(f, a, b)[0]    ->    b_bar = y_bar * f(b),  a_bar = -y_bar * f(a),  k_bar = y_bar * the integral of df/dk

(Leibniz.)  The integral of the derivatives is computed as that of the function is: one vector of them, by `quad_vec`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sgrad import runtime
from s2sgrad.api import jvp, vjp
from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter, flattened, require_only, tupled, unflattened, unknown_tangent

# --- one number ------------------------------------------------------------------------------------------------------


def called(f, t, args):
    """The integrand."""
    return f(t, *args)


def require_plain(weight: Any, complex_func: Any) -> None:
    """Refuse integrals with a weight, or of complex numbers."""
    if weight is not None or complex_func:
        raise Refusal(None, "integrate.quad has no derivative with weight= or complex_func=: write it in the function")


def at_limit(f, t, args):
    """The integrand at a limit: 0 where that is infinite."""
    return 0.0 if is_infinite(t, f) else np.sum(f(t, *args))


def is_infinite(t: Any, f: Any = None) -> bool:
    """Whether a limit is infinite; Refusal where `f` is no function, which SciPy takes as long as it does not call it."""
    if f is not None and not callable(f):
        raise Refusal(None, f"an integral of {type(f).__name__} has no derivative: it is no function")
    return bool(np.isinf(t))


flat(require_plain, is_infinite)


def is_infinite_at_an_end(whole: Any, a: Any, b: Any) -> bool:
    """Whether an integral between numbers has not been found, since the integrand is infinite at one of them."""
    return bool(np.isfinite(a) and np.isfinite(b) and not np.all(np.isfinite(whole)))


flat(is_infinite_at_an_end)


def quad_bars(g, y, f, a, b, args, epsabs, epsrel, limit, points, weight, complex_func):
    """The cotangents of the function and of `args`."""
    require_only(g, (0,), "quad")
    require_plain(weight, complex_func)
    is_infinite(0.0, f)
    given = tupled(args)
    bars = integral_of_bars(g[0], f, a, b, given, epsabs, epsrel, limit, points)
    return bars[0], bars[1] if isinstance(args, tuple) else bars[1][0]


def integral_of_bars(g, f, a, b, args, epsabs, epsrel, limit, points):
    """The integral of the cotangents of the integrand, of those of its values that are `g`."""
    like = runtime.zeros((f, args))

    def bars(t):
        _, pull = vjp(called, f, t, args)
        f_bar, _, args_bar = pull(g)
        return flattened((f_bar, args_bar), like)

    def slowed(s):  # t = a + (b - a) s^2 (3 - 2 s), which rests at both ends: 1 / sqrt(t - a) is smooth in s
        return bars(a + (b - a) * s * s * (3.0 - 2.0 * s)) * (6.0 * (b - a) * s * (1.0 - s))

    whole = integrate.quad_vec(bars, a, b, epsabs, epsrel, limit=limit, points=points)[0]
    if is_infinite_at_an_end(whole, a, b):
        whole = integrate.quad_vec(slowed, 0.0, 1.0, epsabs, epsrel, limit=limit)[0]
    return unflattened(whole, like)


def quad_f_vjp(g, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    return quad_bars(g, y, f, a, b, args, epsabs, epsrel, limit, points, weight, rest[4])[0]


def quad_args_vjp(g, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    return quad_bars(g, y, f, a, b, args, epsabs, epsrel, limit, points, weight, rest[4])[1]


def quad_a_vjp(g, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    require_only(g, (0,), "quad")
    require_plain(weight, rest[4])
    return -g[0] * at_limit(f, a, tupled(args))


def quad_b_vjp(g, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    require_only(g, (0,), "quad")
    require_plain(weight, rest[4])
    return g[0] * at_limit(f, b, tupled(args))


def beside(y, dot):
    """The tangent of a result that is a tuple, of which the first part is the integral."""
    return (dot, *unknown_tangent(y[1:]))


def quad_f_jvp(t, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    require_plain(weight, rest[4])

    def dot(s):
        return jvp(lambda f: called(f, s, tupled(args)), (f,), (t,))[1]

    return beside(y, integrate.quad(dot, a, b, (), 0, epsabs, epsrel, limit, points)[0])


def quad_args_jvp(t, y, f, a, b, args, full, epsabs, epsrel, limit, points, weight, *rest):
    require_plain(weight, rest[4])

    def dot(s):
        return jvp(lambda args: called(f, s, tupled(args)), (args,), (t,))[1]

    return beside(y, integrate.quad(dot, a, b, (), 0, epsabs, epsrel, limit, points)[0])


def quad_a_jvp(t, y, f, a, b, args, *rest):
    return beside(y, at_limit(f, a, tupled(args)) * -t)


def quad_b_jvp(t, y, f, a, b, args, *rest):
    return beside(y, at_limit(f, b, tupled(args)) * t)


enter(
    integrate.quad,
    {"func": quad_f_vjp, "a": quad_a_vjp, "b": quad_b_vjp, "args": quad_args_vjp},
    {"func": quad_f_jvp, "a": quad_a_jvp, "b": quad_b_jvp, "args": quad_args_jvp},
    ("points",),
)

# --- arrays ----------------------------------------------------------------------------------------------------------


def vec_f_vjp(g, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    require_only(g, (0,), "quad_vec")
    return integral_of_bars(g[0], f, a, b, args, epsabs, epsrel, limit, points)[0]


def vec_args_vjp(g, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    require_only(g, (0,), "quad_vec")
    return integral_of_bars(g[0], f, a, b, args, epsabs, epsrel, limit, points)[1]


def vec_a_vjp(g, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    require_only(g, (0,), "quad_vec")
    return 0.0 if is_infinite(a) else -np.sum(g[0] * f(a, *args))


def vec_b_vjp(g, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    require_only(g, (0,), "quad_vec")
    return 0.0 if is_infinite(b) else np.sum(g[0] * f(b, *args))


def vec_f_jvp(t, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    def dot(s):
        return jvp(lambda f: called(f, s, args), (f,), (t,))[1]

    return beside(y, integrate.quad_vec(dot, a, b, epsabs, epsrel, norm, limit=limit, points=points)[0])


def vec_args_jvp(t, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    def dot(s):
        return jvp(lambda args: called(f, s, args), (args,), (t,))[1]

    return beside(y, integrate.quad_vec(dot, a, b, epsabs, epsrel, norm, limit=limit, points=points)[0])


def vec_a_jvp(t, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    return beside(y, runtime.zeros(y[0]) if is_infinite(a) else -t * f(a, *args))


def vec_b_jvp(t, y, f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output, args=()):
    return beside(y, runtime.zeros(y[0]) if is_infinite(b) else t * f(b, *args))


enter(
    integrate.quad_vec,
    {"f": vec_f_vjp, "a": vec_a_vjp, "b": vec_b_vjp, "args": vec_args_vjp},
    {"f": vec_f_jvp, "a": vec_a_jvp, "b": vec_b_jvp, "args": vec_args_jvp},
    ("points",),
)

# --- Gauss and Legendre ----------------------------------------------------------------------------------------------


def gauss(f, a, b, args, n):
    """The sum that `fixed_quad` gives, as a text that can be differentiated."""
    x, w = legendre(n)
    return 0.5 * (b - a) * np.sum(w * f(0.5 * (b - a) * (x + 1.0) + a, *args), axis=-1)


def legendre(n: Any) -> tuple[np.ndarray, np.ndarray]:
    """The places and weights of the quadrature of Gauss and Legendre."""
    return np.polynomial.legendre.leggauss(int(n))


flat(legendre)


def fixed_bars(g, f, a, b, args, n):
    """The cotangents of all arguments of `fixed_quad`."""
    require_only(g, (0,), "fixed_quad")
    _, pull = vjp(gauss, f, a, b, args, n)
    return pull(g[0])


enter(
    integrate.fixed_quad,
    {
        "func": lambda g, y, f, a, b, args, n: fixed_bars(g, f, a, b, args, n)[0],
        "a": lambda g, y, f, a, b, args, n: fixed_bars(g, f, a, b, args, n)[1],
        "b": lambda g, y, f, a, b, args, n: fixed_bars(g, f, a, b, args, n)[2],
        "args": lambda g, y, f, a, b, args, n: fixed_bars(g, f, a, b, args, n)[3],
    },
    {
        "func": lambda t, y, f, a, b, args, n: (jvp(lambda f: gauss(f, a, b, args, n), (f,), (t,))[1], None),
        "a": lambda t, y, f, a, b, args, n: (jvp(lambda a: gauss(f, a, b, args, n), (a,), (t,))[1], None),
        "b": lambda t, y, f, a, b, args, n: (jvp(lambda b: gauss(f, a, b, args, n), (b,), (t,))[1], None),
        "args": lambda t, y, f, a, b, args, n: (jvp(lambda args: gauss(f, a, b, args, n), (args,), (t,))[1], None),
    },
    (),
)
