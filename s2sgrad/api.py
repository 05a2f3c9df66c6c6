"""`grad`, `value_and_grad` and `vjp`: what a user calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from s2sgrad import pullbacks, runtime, travel
from s2sgrad.gradient import Argnums, Gradient, differentiated
from s2sgrad.options import Options

Outputs = str | tuple[str, ...] | None


def _made(
    function: Any, argnums: Argnums, value: bool, output_gradients: Any, unconnected_gradients: str, outputs: Outputs
) -> Any:
    if unconnected_gradients not in ("zero", "none"):
        raise ValueError(f"unconnected_gradients must be 'zero' or 'none', not {unconnected_gradients!r}")
    if isinstance(argnums, list):
        argnums = tuple(argnums)
    if isinstance(outputs, list):
        outputs = tuple(outputs)
    options = Options(value, isinstance(argnums, tuple), unconnected_gradients, outputs)
    if function is None:
        return functools.partial(_applied, argnums, options, output_gradients)
    return differentiated(function, argnums, options, output_gradients)


def _applied(argnums: Argnums, options: Options, seed: Any, function: Any) -> Gradient:
    return differentiated(function, argnums, options, seed)


@overload
def grad(
    function: Callable[..., Any],
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Gradient: ...
@overload
def grad(
    function: None = None,
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...
def grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
) -> Any:
    """The gradient of a function of numbers and arrays, as a function of the same arguments.

    `argnums` says in which arguments: a position, a parameter's name, or a tuple of them (then the result is a tuple).
    The gradient has the shape and dtype of its argument.  If the function returns arrays or containers, the result is
    the gradient of the sum over all their elements, each weighted by `output_gradients` (or, for one call, by the
    keyword `seed`), which has the structure and shape of the result.  An argument that does not reach the result has a
    gradient of zeros, or None with `unconnected_gradients="none"`.

    With `outputs`, the names of arguments that the function writes, it is the gradient of what these hold at the end (of one
    name, or of a tuple of them), whatever the function returns.  The caller's arrays are never changed.

    Use it as a call, `grad(f)`, as a decorator, `@grad`, or as a decorator with options, `@grad(argnums="w")`.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number;
    TypeError for an integer argument; ValueError for a seed of the wrong structure or shape.

    >>> @grad
    ... def area(r):
    ...     return 3.0 * r ** 2
    >>> area(2.0)
    12.0
    """
    return _made(function, argnums, False, output_gradients, unconnected_gradients, outputs)


@overload
def value_and_grad(
    function: Callable[..., Any],
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Gradient: ...
@overload
def value_and_grad(
    function: None = None,
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...
def value_and_grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
) -> Any:
    """Like `grad`, but returns `(value, gradient)`: what `scipy.optimize.minimize(..., jac=True)` wants.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _made(function, argnums, True, output_gradients, unconnected_gradients, outputs)


def vjp(f: Callable[..., Any], *primals: Any, **keywords: Any) -> tuple[Any, runtime.Pullback]:
    """The value of `f` at the primals, and its pullback: from a cotangent of the value to a tuple of cotangents.

    `f` runs once.  `pullback(y_bar)` takes a cotangent of the structure and shape of the value and gives a tuple with one
    cotangent for every primal (of one primal too), of the structure, shape and dtype of that primal: zeros for what does
    not reach the value and for ints, None for what has no arithmetic (a text, a function).  It may be called many times,
    copied and pickled; it holds data alone.  Keywords are passed on to `f` and are constants.

    `f` is a function, lambda, method or other callable with Python source, a function of NumPy or `math`, a partial or
    a gradient.  The primals are never changed, and may be changed before the pullback is called.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number;
    TypeError for arguments that `f` does not take; the pullback raises ValueError for another structure or shape.

    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pullback(1.0), pullback(10.0)
    (6.0, (3.0, 2.0), (30.0, 20.0))
    """
    value, pullback = runtime.vjp(f, *primals, **keywords)
    pullback.saved = pullbacks.apart(pullback.saved, (primals, keywords, value))
    pullback.like = runtime.zeros(value)
    return value, pullback


def _pair_for(f: Any, primals: tuple, keywords: dict[str, Any]) -> Any:
    from s2sgrad.dynamic import pair_for

    return pair_for(f, primals, keywords)


runtime.provide(derivative=_pair_for, way=travel.way, found=travel.found)
