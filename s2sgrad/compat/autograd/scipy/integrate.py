"""Autograd's `odeint`: SciPy's, differentiated in the initial state, the times and the arguments by its adjoint equation.

    y' = f(y, t, a)      ->      adj' = -(df/dy)^T adj,  a_bar' = -(df/da)^T adj,  from the last time back to the first

What `f` closes over counts as one more argument.

(Griewank and Walther, *Evaluating Derivatives*, 2008; Pontryagin's adjoint.)

>>> import numpy as np
>>> def decay(y, t, rate):
...     return -rate * y
>>> odeint(decay, np.array([2.0]), np.array([0.0, 1.0]), (0.5,)).round(4)[:, 0]
array([2.    , 1.2131])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import api, runtime, tape
from s2sgrad.compat.autograd.misc.flatten import flatten

Rate = Callable[..., Any]


@tape.primitive
def odeint(
    func: Rate, y0: Any, t: Any, args: tuple = (), rtol: float | None = None, atol: float | None = None, mxstep: int = 0
) -> np.ndarray:
    """The states at the times `t` of `y' = func(y, t, *args)`, which is `y0` at the first."""
    from scipy.integrate import odeint as solved

    states: np.ndarray = solved(func, y0, t, args=tuple(args), rtol=rtol, atol=atol, mxstep=mxstep)
    return states


def _adjoint(
    g: np.ndarray, y: np.ndarray, func: Rate, t: np.ndarray, args: tuple, options: dict[str, Any]
) -> tuple[Any, np.ndarray, np.ndarray, Any]:
    """The cotangents of what the function closes over, of the initial state, the times and the arguments."""
    rest = runtime.zeros((func, *args))
    vector, unflatten = flatten(rest)
    count = y.shape[1]

    def backwards(s: float, held: np.ndarray) -> np.ndarray:
        """The rates of the state, its adjoint and the cotangent of the arguments, in the time -s."""
        state, adjoint = held[:count], held[count : 2 * count]
        rate, pull = api.vjp(lambda func, state, *given: func(state, -s, *given), func, state, *args)
        func_bar, state_bar, *bars = pull(adjoint)
        return np.concatenate([-np.asarray(rate), state_bar, flatten((func_bar, *bars))[0]])

    from scipy.integrate import odeint as solved

    t_bar = np.zeros(len(t))
    adjoint, args_bar = g[-1].copy(), np.zeros(vector.size)
    for k in range(len(t) - 1, 0, -1):
        t_bar[k] = np.dot(func(y[k], t[k], *args), g[k])
        start = np.concatenate([y[k], adjoint, args_bar])
        end = solved(backwards, start, np.array([-t[k], -t[k - 1]]), tfirst=True, **options)[1]
        adjoint, args_bar = end[count : 2 * count] + g[k - 1], end[2 * count :]
    t_bar[0] = -np.dot(func(y[0], t[0], *args), adjoint - g[0])
    func_bar, *bars = unflatten(args_bar)
    return func_bar, adjoint, t_bar, tuple(bars)


def _in(place: int) -> Callable[..., Any]:
    def pullback(
        g: Any, y: Any, func: Rate, y0: Any, t: Any, args: tuple, rtol: float | None, atol: float | None, mxstep: int
    ) -> Any:
        return _adjoint(g, y, func, np.asarray(t), args, {"rtol": rtol, "atol": atol, "mxstep": mxstep})[place]

    return pullback


tape.defvjp(odeint, *map(_in, range(4)))
