"""TensorFlow's graph mode: inside a `function` everything is recorded, and `gradients` asks the record.

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
    """`f` in graph mode: all that is computed inside it is on one graph, of which `gradients` gives derivatives.

    Numbers and arrays among the arguments (nested lists, tuples and dicts too) become Arrays; ints remain constants.  The
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

    stands_for(decorated, "differentiated", f)  # the compiler looks through
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
    """The derivatives of the sum of `ys` in each of `xs`: a list of as many Arrays.

    With a plain *function* as `ys` it is a function of the same arguments that returns the list, compiled from source (the
    text is in `.source`): `xs` and `stop_gradients` are positions and names of parameters, or names of local variables
    that are assigned once and outside of every loop (ValueError otherwise); without `xs`, it is all parameters.  `grad_ys`
    has the structure of the result.

    >>> from s2sgrad import gradients
    >>> def f(a):
    ...     b = 2.0 * a
    ...     return a + b
    >>> gradients(f, xs=["a", "b"])(0.0), gradients(f, xs=["a", "b"], stop_gradients="b")(0.0)
    ([3.0, 1.0], [1.0, 1.0])

    Otherwise, inside a `function`.  `ys`, `xs`: an Array or a Variable, or a list.  `grad_ys`: weights in the shapes of
    `ys`, None for ones.  `stop_gradients`: values that count as constants; their own gradients are given all the same.
    An x that does not reach ys gives None, or zeros with `unconnected_gradients="zero"`.  `name` and the three options
    after it are TensorFlow's and have no effect.

    Raises RuntimeError outside a `function`; ValueError where `grad_ys` has another length than `ys`, or another shape;
    NoRule, a LookupError, where an operation on the way has no derivative rule.

    >>> from s2sgrad import constant, function, gradients
    >>> @function
    ... def partials(a):
    ...     b = 2 * a
    ...     return gradients(a + b, [a, b], stop_gradients=[a, b])
    >>> partials(0.0)
    [Array(1.0), Array(1.0)]
    """
    if callable(ys):
        return partials(ys, xs, grad_ys, stop_gradients, checked(unconnected_gradients).value)
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


