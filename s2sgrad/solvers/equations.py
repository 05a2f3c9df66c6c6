"""Ordinary differential equations: initial states, what the right-hand side closes over, `args=`, and the times.

    y' = f(y, t, p)      ->      adj' = -(df/dy)^T adj,  p_bar' = -(df/dp)^T adj        from the last time back to the first
                                 y_dot' = df/dy y_dot + df/dp p_dot                     beside the states

(Pontryagin's adjoint; Hairer, Norsett and Wanner, *Solving Ordinary Differential Equations I*, 1993, section I.14.)  Both
are solved by the method of the call and to its tolerances: they are as accurate as the states are, and are not the
derivatives of the steps that were taken.  Backwards, each interval starts from the state that was found at its end.
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

# --- both directions -------------------------------------------------------------------------------------------------


def rate_of(f, y, t, args, time_first):
    """The right-hand side, which may be a list or a number, as an array."""
    return np.ravel(np.asarray(f(t, y, *tupled(args)) if time_first else f(y, t, *tupled(args))))


def part_of(held, k, y):
    """The states (0) or their cotangents (1) in a vector of all numbers: real ones where the states are."""
    n = np.shape(y)[1]
    part = held[k * n : (k + 1) * n]
    return part if np.iscomplexobj(y) else part.real


def swept(solve, g, y, f, t, args, time_first):
    """The cotangents of the function and `args`, and that of the state at the first time before its own cotangent is added;
    `y` and `g` have a row for each time."""
    like, n = runtime.zeros((f, args)), np.shape(y)[1]

    def backwards(s, held):
        state, adjoint = part_of(held, 0, y), part_of(held, 1, y)
        rate, pull = vjp(rate_of, f, state, -s, args, time_first)
        f_bar, state_bar, _, args_bar, _ = pull(adjoint)
        return np.concatenate((-rate, state_bar, flattened((f_bar, args_bar), like)))

    adjoint, bars = np.zeros(n), flattened(like, like)
    for k in range(len(t) - 1, 0, -1):
        adjoint = adjoint + g[k]
        if t[k] != t[k - 1]:
            end = solve(backwards, np.concatenate((y[k], adjoint, bars)), np.array([-t[k], -t[k - 1]]))[1]
            adjoint, bars = part_of(end, 1, y), end[2 * n :]
    return unflattened(bars, like), adjoint


def times_bar(g, adjoint, y, f, t, args, time_first):
    """The cotangents of the times: a later one moves its state along the solution; the first moves all others."""
    bars = [-np.sum(adjoint * rate_of(f, y[0], t[0], args, time_first))]
    for k in range(1, len(t)):
        bars = [*bars, np.sum(g[k] * rate_of(f, y[k], t[k], args, time_first))]
    return np.stack(bars)


def pushed(solve, start, start_dot, f_dot, args_dot, f, t, args, time_first):
    """The tangents of the states, a row for each time."""
    n = np.size(start)

    def beside(s, held):
        rate, dot = jvp(
            lambda f, state, args: rate_of(f, state, s, args, time_first),
            (f, held[:n], args), (f_dot, held[n:], args_dot),
        )  # fmt: skip
        return np.concatenate((rate, dot))

    return solve(beside, np.concatenate((start, start_dot)), t)[:, n:]


def like_start(bar, y0):
    """The cotangent of the initial states as these were given: a number, a list, an array."""
    if isinstance(y0, (list, tuple)):
        return unflattened(bar, y0)
    return np.reshape(bar, np.shape(y0)) if np.ndim(y0) else np.sum(bar)


def as_start(dot, y0):
    """The tangent of the initial states as a line."""
    return flattened(dot, y0) if isinstance(y0, (list, tuple)) else np.ravel(np.asarray(dot))


def like_times(bars, t):
    """The cotangents of the times, in a list or an array."""
    return unflattened(bars, t) if isinstance(t, (list, tuple)) else bars


# --- odeint ----------------------------------------------------------------------------------------------------------


def require_states(y: Any, g: Any, full: Any) -> None:
    """Refuse states that were not found, and what else odeint tells."""
    if full and g is not None:
        require_only(g, (0,), "odeint")
    if not np.all(np.isfinite(y[0] if full else y)):
        raise Refusal(None, "odeint found no solution, so that there is no derivative")


flat(require_states)


def states(y, full):
    """The states in the result."""
    return y[0] if full else y


def tightest(tolerance):
    """One tolerance, for equations of other sizes than those that each have their own.

    >>> tightest([1e-6, 1e-8])
    1e-08
    """
    return None if tolerance is None else float(np.min(tolerance))


flat(tightest)


def paired(z):
    """Complex numbers as twice as many real ones, which is what `odeint` takes."""
    return np.concatenate((np.real(z), np.imag(z)))


def odeint_states(rate, start, t, rtol, atol, mxstep):
    """The states at these times, a row for each."""
    if not np.iscomplexobj(start):
        return integrate.odeint(rate, start, t, rtol=rtol, atol=atol, mxstep=mxstep, tfirst=True)
    n = np.size(start)
    pairs = integrate.odeint(
        lambda s, held: paired(rate(s, held[:n] + 1j * held[n:])),
        paired(start), t, rtol=rtol, atol=atol, mxstep=mxstep, tfirst=True,
    )  # fmt: skip
    return pairs[:, :n] + 1j * pairs[:, n:]


def odeint_solver(rtol, atol, mxstep):
    """What solves the equations of the derivatives."""
    rtol, atol = tightest(rtol), tightest(atol)
    return lambda rate, start, t: odeint_states(rate, start, t, rtol, atol, mxstep)


def odeint_bars(g, y, f, t, args, full, rtol, atol, mxstep, time_first):
    require_states(y, g, full)
    found = swept(odeint_solver(rtol, atol, mxstep), states(g, full), states(y, full), f, np.asarray(t), args, time_first)
    return found[0][0], found[0][1], found[1]


def odeint_f_vjp(g, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    return odeint_bars(g, y, f, t, args, full, rtol, atol, rest[5], rest[-1])[0]


def odeint_args_vjp(g, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    return odeint_bars(g, y, f, t, args, full, rtol, atol, rest[5], rest[-1])[1]


def odeint_y0_vjp(g, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    bar = odeint_bars(g, y, f, t, args, full, rtol, atol, rest[5], rest[-1])[2]
    return like_start(bar + states(g, full)[0], y0)


def odeint_t_vjp(g, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    adjoint = odeint_bars(g, y, f, t, args, full, rtol, atol, rest[5], rest[-1])[2]
    return like_times(times_bar(states(g, full), adjoint, states(y, full), f, t, args, rest[-1]), t)


def odeint_dot(start_dot, f_dot, args_dot, y, f, t, args, full, rtol, atol, mxstep, time_first):
    require_states(y, None, full)
    found = states(y, full)
    solve = odeint_solver(rtol, atol, mxstep)
    return pushed(solve, found[0], start_dot, f_dot, args_dot, f, np.asarray(t), args, time_first)


def beside(y, dot, full):
    """The tangent of the result."""
    return (dot, unknown_tangent(y[1])) if full else dot


def odeint_f_jvp(d, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    still = np.zeros(np.shape(states(y, full))[1])
    dot = odeint_dot(still, d, None, y, f, t, args, full, rtol, atol, rest[5], rest[-1])
    return beside(y, dot, full)


def odeint_args_jvp(d, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    still = np.zeros(np.shape(states(y, full))[1])
    dot = odeint_dot(still, None, d, y, f, t, args, full, rtol, atol, rest[5], rest[-1])
    return beside(y, dot, full)


def odeint_y0_jvp(d, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    start = as_start(d, y0)
    dot = odeint_dot(start, None, None, y, f, t, args, full, rtol, atol, rest[5], rest[-1])
    return beside(y, dot, full)


def odeint_t_jvp(d, y, f, y0, t, args, Dfun, col_deriv, full, ml, mu, rtol, atol, *rest):
    found = states(y, full)
    start = -rate_of(f, found[0], t[0], args, rest[-1]) * d[0]
    dot = odeint_dot(start, None, None, y, f, t, args, full, rtol, atol, rest[5], rest[-1])
    return beside(y, dot + along(d, found, f, t, args, rest[-1]), full)


def along(d, y, f, t, args, time_first):
    """How the states move with their times."""
    return np.stack([d[k] * rate_of(f, y[k], t[k], args, time_first) for k in range(len(t))])


enter(
    integrate.odeint,
    {"func": odeint_f_vjp, "y0": odeint_y0_vjp, "t": odeint_t_vjp, "args": odeint_args_vjp},
    {"func": odeint_f_jvp, "y0": odeint_y0_jvp, "t": odeint_t_jvp, "args": odeint_args_jvp},
    ("Dfun",),
)

# --- solve_ivp -------------------------------------------------------------------------------------------------------


def require_path(y: Any, g: Any, dense: Any, events: Any, vectorized: Any) -> None:
    """Refuse solutions that stopped early, and what has no derivative."""
    for asked, word in ((dense, "dense_output"), (events is not None, "events")):
        if asked:
            raise Refusal(None, f"solve_ivp has no derivative with {word}=: ask for the states at times, by t_eval")
    if g is not None:
        require_only(g, ("y", "t"), "solve_ivp")
    if y["status"] != 0:
        raise Refusal(None, f"solve_ivp did not reach the end, so that there is no derivative: {y['message']}")


def tolerances(rtol: Any, atol: Any, max_step: Any) -> tuple[float, float, float]:
    """The options of the call that the equations of the derivatives share."""
    atol = 1e-6 if atol is None else tightest(atol)
    return 1e-3 if rtol is None else tightest(rtol), atol, np.inf if max_step is None else float(max_step)


def takes_pairs(start: Any, method: Any) -> bool:
    """Whether states are complex and a method takes real ones alone, as `Radau` and `LSODA` do.

    >>> takes_pairs(np.array([1j]), "LSODA"), takes_pairs(np.array([1j]), "BDF"), takes_pairs(np.ones(1), "Radau")
    (True, False, False)
    """
    named = method if isinstance(method, str) else getattr(method, "__name__", "")
    return np.iscomplexobj(start) and named not in ("RK45", "RK23", "DOP853", "BDF")


flat(require_path, tolerances, takes_pairs)


def path_states(rate, start, first, t, method, rtol, atol, max_step):
    """The states at the times `t`, a row for each."""
    if takes_pairs(start, method):
        n = np.size(start)
        pairs = integrate.solve_ivp(
            lambda s, held: paired(rate(s, held[:n] + 1j * held[n:])),
            (first, t[-1]), paired(start), method, t, rtol=rtol, atol=atol, max_step=max_step,
        )["y"].T  # fmt: skip
        return pairs[:, :n] + 1j * pairs[:, n:]
    path = integrate.solve_ivp(rate, (first, t[-1]), start, method, t, rtol=rtol, atol=atol, max_step=max_step)
    return path["y"].T


def ivp_solver(method, rtol, atol, max_step):
    """What solves the equations of the derivatives."""
    return lambda rate, start, t: path_states(rate, start, t[0], t, method, rtol, atol, max_step)


def require_times(g: Any, y: Any, t_eval: Any) -> None:
    """Refuse what depends on the steps that were chosen, but the first and the last: they move with everything."""
    if t_eval is None and (np.any(g["y"][:, 1:-1]) or np.any(g["t"][1:-1])):
        raise Refusal(
            None, "solve_ivp has no derivative in the steps that it chooses: ask for the states at times, by t_eval"
        )


def between(y: Any, t_eval: Any) -> np.ndarray:
    """What is added to a tangent: nan for the steps that were chosen."""
    n = len(y["t"])
    return np.zeros(n) if t_eval is not None else np.array([0.0, *[np.nan] * (n - 2), 0.0][:n])


def steps(y: Any) -> np.ndarray:
    """The steps that were chosen between the first and the last, which count as times that do not move."""
    return np.array(y["t"][1:-1])


flat(require_times, between, steps)


def path_of(y, f, t_span, y0, method, t_eval, args, options):
    """The states that were found and their times, as functions of all that they depend on at times that do not move."""
    if t_eval is not None:
        return y["y"], y["t"]
    ends, (rtol, atol, max_step) = np.asarray(t_span) * 1.0, options
    times = np.concatenate((ends[:1], steps(y), ends[1:]))
    path = integrate.solve_ivp(f, t_span, y0, method, times, args=args, rtol=rtol, atol=atol, max_step=max_step)
    return path["y"], times


def given_args(args):
    """The further arguments of the right-hand side; None: there are none."""
    return () if args is None else args


def ivp_bars(g, y, f, t_span, y0, method, t_eval, dense, events, vectorized, args, options):
    """What `swept` gives, of the initial state and those at the times."""
    require_path(y, g, dense, events, vectorized)
    require_times(g, y, t_eval)
    found, at = path_of(y, f, t_span, y0, method, t_eval, args, options)
    states, times = np.vstack((as_line(y0), found.T)), np.concatenate((np.array([t_span[0]]), at))
    g_states = np.vstack((np.zeros(np.size(as_line(y0))), g["y"].T))
    return swept(ivp_solver(method, options[0], options[1], options[2]), g_states, states, f, times, given_args(args), True)


def as_line(y0):
    """The initial states as an array of floats."""
    return np.ravel(np.asarray(y0)) * 1.0


def ivp_f_vjp(g, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    return ivp_bars(g, y, f, span, y0, method, t_eval, dense, events, vector, args, tolerances(rtol, atol, max_step))[0][0]


def ivp_args_vjp(g, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    bars = ivp_bars(g, y, f, span, y0, method, t_eval, dense, events, vector, args, tolerances(rtol, atol, max_step))[0][1]
    return None if args is None else bars


def ivp_y0_vjp(g, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    bars = ivp_bars(g, y, f, span, y0, method, t_eval, dense, events, vector, args, tolerances(rtol, atol, max_step))
    return like_start(bars[1], y0)


def ivp_span_vjp(g, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    bars = ivp_bars(g, y, f, span, y0, method, t_eval, dense, events, vector, args, tolerances(rtol, atol, max_step))
    first = -np.sum(bars[1] * rate_of(f, as_line(y0), span[0], given_args(args), True))
    if t_eval is not None:
        return like_times(np.stack([first, 0.0]), span)
    moved = moving(g, y, f, args)
    return like_times(np.stack([first + moved[0], moved[-1]]), span)


def ivp_eval_vjp(g, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    require_path(y, g, dense, events, vector)
    return like_times(moving(g, y, f, args), t_eval)


def moving(g, y, f, args):
    """The cotangents of the times at which there are states: these move along the solution."""
    rates = [np.sum(g["y"][:, k] * rate_of(f, y["y"][:, k], y["t"][k], given_args(args), True)) for k in range(len(y["t"]))]
    return np.stack(rates) + g["t"]


def ivp_dot(start_dot, f_dot, args_dot, y, f, span, y0, method, dense, events, vector, args, options):
    """The tangents of the states, a column for each time."""
    require_path(y, None, dense, events, vector)

    rtol, atol, max_step = options

    def solve(rate, start, t):
        return path_states(rate, start, span[0], t, method, rtol, atol, max_step)

    return pushed(solve, as_line(y0), start_dot, f_dot, args_dot, f, y["t"], given_args(args), True).T


def of_path(y, dot, t_dot, t_eval):
    """The tangent of the result."""
    return {**unknown_tangent(y), "y": dot + between(y, t_eval), "t": t_dot + between(y, t_eval)}


def ivp_f_jvp(d, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    options, still = tolerances(rtol, atol, max_step), 0.0 * as_line(y0)
    dot = ivp_dot(still, d, None, y, f, span, y0, method, dense, events, vector, args, options)
    return of_path(y, dot, 0.0 * y["t"], t_eval)


def ivp_args_jvp(d, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    options, still = tolerances(rtol, atol, max_step), 0.0 * as_line(y0)
    dot = ivp_dot(still, None, d, y, f, span, y0, method, dense, events, vector, args, options)
    return of_path(y, dot, 0.0 * y["t"], t_eval)


def ivp_y0_jvp(d, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    options = tolerances(rtol, atol, max_step)
    dot = ivp_dot(as_start(d, y0), None, None, y, f, span, y0, method, dense, events, vector, args, options)
    return of_path(y, dot, 0.0 * y["t"], t_eval)


def ivp_span_jvp(d, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    ends, options = as_start(d, span), tolerances(rtol, atol, max_step)
    start = -ends[0] * rate_of(f, as_line(y0), span[0], given_args(args), True)
    dot = ivp_dot(start, None, None, y, f, span, y0, method, dense, events, vector, args, options)
    if t_eval is not None:
        return of_path(y, dot, 0.0 * y["t"], t_eval)
    t_dot = np.concatenate((ends[:1], np.zeros(len(y["t"]) - 2), ends[1:]))
    return of_path(y, dot + along(t_dot, y["y"].T, f, y["t"], given_args(args), True).T, t_dot, t_eval)


def ivp_eval_jvp(d, y, f, span, y0, method, t_eval, dense, events, vector, args, *, rtol, atol, max_step, first_step, jac):
    require_path(y, None, dense, events, vector)
    t_dot = as_start(d, t_eval)
    return of_path(y, along(t_dot, y["y"].T, f, y["t"], given_args(args), True).T, t_dot, t_eval)


enter(
    integrate.solve_ivp,
    {"fun": ivp_f_vjp, "t_span": ivp_span_vjp, "y0": ivp_y0_vjp, "t_eval": ivp_eval_vjp, "args": ivp_args_vjp},
    {"fun": ivp_f_jvp, "t_span": ivp_span_jvp, "y0": ivp_y0_jvp, "t_eval": ivp_eval_jvp, "args": ivp_args_jvp},
    (),
    named=True,
    words=("rtol", "atol", "max_step", "first_step", "jac"),
)
