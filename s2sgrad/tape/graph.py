"""TensorFlow's graph mode: inside a `function` every operation is recorded, and `gradients` differentiates the record.

@function
def slopes(x):
    y = 2 * x ** 2
    return gradients(y, x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.api.partials import partials
from s2sgrad.errors import raised
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.source import stands_for
from s2sgrad.tape.array import Array, numeric
from s2sgrad.tape.recording import STATE, Tape
from s2sgrad.tape.targets import gradients_of
from s2sgrad.tape.unconnected import UnconnectedGradients, checked


def function(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` in graph mode: all operations inside it are recorded on one graph, which `gradients` differentiates.

    Floats and arrays among the arguments, also in nested lists, tuples and dicts, become Arrays; ints remain constants.  The
    graph is freed when the call returns.

    >>> from s2sgrad import function, gradients
    >>> function(lambda x: gradients(x * x, x))(3.0)
    [Array(6.0)]
    """

    @functools.wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        graph = Tape(everything=True)
        STATE.tapes.append(graph)
        try:
            return f(*map(_placed, args), **{k: _placed(v) for k, v in keywords.items()})
        except Exception as error:
            __tracebackhide__ = True
            raised.trim_ours(error)
            raise
        finally:
            STATE.tapes[:] = [tape for tape in STATE.tapes if tape is not graph]
            graph.clear()

    stands_for(decorated, "differentiated", f)  # for the compiler, which unwraps it
    return decorated


def _placed(v: Any) -> Any:
    if isinstance(v, (list, tuple, dict)):
        return rebuilt(v, _placed)
    return Array(v) if isinstance(v, (float, np.ndarray, np.inexact)) else v


def gradients(
    ys: Any,
    xs: Any = None,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:
    """The derivatives of the sum of `ys` with respect to each of `xs`: a list with one Array for each.

    If `ys` is a plain *function*, the result is a function of the same arguments that returns the list, compiled from source
    (its text is `.source`).  `xs` and `stop_gradients` are then positions or names of parameters, or names of local
    variables that are assigned once and outside of loops (else ValueError); by default `xs` is all parameters.  `grad_ys`
    has the structure of the result.

    >>> from s2sgrad import gradients
    >>> def f(a):
    ...     b = 2.0 * a
    ...     return a + b
    >>> gradients(f, xs=["a", "b"])(0.0), gradients(f, xs=["a", "b"], stop_gradients="b")(0.0)
    ([3.0, 1.0], [1.0, 1.0])

    Otherwise the call must be inside a `function`.  `ys`, `xs`: an Array or a Variable, or a list of them.  `grad_ys`:
    weights with the shapes of `ys`, None for ones.  `stop_gradients`: values that count as constants; their own gradients
    are still returned.  If ys does not depend on an x, its entry is None, or zeros with `unconnected_gradients="zero"`.
    `name` and the three options after it are TensorFlow's and have no effect.

    Raises RuntimeError outside of a `function`; ValueError where `grad_ys` differs from `ys` in length or shapes; NoRule, a
    LookupError, where an operation between them has no derivative rule.

    >>> from s2sgrad import constant, function, gradients
    >>> @function
    ... def partials(a):
    ...     b = 2 * a
    ...     return gradients(a + b, [a, b], stop_gradients=[a, b])
    >>> partials(0.0)
    [Array(1.0), Array(1.0)]
    """
    if callable(ys):
        return partials(ys, xs, grad_ys, stop_gradients, checked(unconnected_gradients))
    unconnected = checked(unconnected_gradients)
    if xs is None:
        raise ValueError("`gradients` of Arrays needs `xs`, the Arrays and Variables that they are differentiated in")
    graph = next((tape for tape in reversed(STATE.tapes) if tape.everything), None)
    if graph is None:
        raise RuntimeError("`gradients` of Arrays belongs into a `function`: elsewhere use a GradientTape, or `grad`")
    targets = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    weights = None
    if grad_ys is not None:
        several = isinstance(ys, (list, tuple))
        weights = list(grad_ys) if several and isinstance(grad_ys, (list, tuple)) else [_single(grad_ys)]
        if len(weights) != len(targets):
            raise ValueError(f"grad_ys has {len(weights)} entries for {len(targets)} ys: pass one for each, or None")
        weights = [w if w is None else numeric(w) for w in weights]
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    stopped = [] if stop_gradients is None else stop_gradients
    stopped = list(stopped) if isinstance(stopped, (list, tuple)) else [stopped]
    return gradients_of(graph, targets, sources, weights, unconnected, stopped)


def _single(weight: Any) -> Any:
    return weight[0] if isinstance(weight, (list, tuple)) and len(weight) == 1 else weight
