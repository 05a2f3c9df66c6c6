"""The public functions `grad` and `value_and_grad`; `vjp` and `jvp` come from `pullbacks`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from s2sgrad import runtime
from s2sgrad.api import travel
from s2sgrad.api.argnums import Argnums, Asked, checked
from s2sgrad.api.gradient import Gradient, differentiated
from s2sgrad.api.loops import backend_for
from s2sgrad.driver.options import Options
from s2sgrad.errors.raised import entry, leaving, located
from s2sgrad.pullbacks import jvp, vjp  # noqa: F401

P = ParamSpec("P")
R = TypeVar("R")
Outputs = str | tuple[str, ...] | None


class _Keywords(TypedDict, total=False):
    """What both take by keyword alone, for those who check types."""

    output_gradients: Any
    unconnected_gradients: Literal["zero", "none"]
    lists: bool
    has_aux: bool
    debug: bool
    compile: bool
    threads: bool
    strict: bool
    holomorphic: bool
    conjugate: bool
    mode: Literal["fwd", "rev"] | None


class _Decorates(Protocol):
    """What `@grad(..)` makes of a function."""

    def __call__(self, function: Callable[P, Any], /) -> Gradient[P, Any]: ...


class _DecoratesWithValue(Protocol):
    """What `@value_and_grad(..)` makes of a function."""

    def __call__(self, function: Callable[P, R], /) -> Gradient[P, tuple[R, Any]]: ...


def _gradient_of(
    function: Any,
    argnums: Asked,
    value: bool,
    output_gradients: Any,
    unconnected_gradients: str,
    outputs: Outputs,
    lists: bool,
    has_aux: bool,
    debug: bool,
    compile: bool,
    threads: bool,
    strict: bool,
    holomorphic: bool,
    conjugate: bool,
    mode: str | None,
) -> Any:
    if unconnected_gradients not in ("zero", "none"):
        raise ValueError(f"unconnected_gradients must be 'zero' or 'none', not {unconnected_gradients!r}")
    if has_aux and outputs is not None:
        raise ValueError("has_aux=True is about what a function returns, outputs= about what it writes: give one of them")
    if mode not in (None, "fwd", "rev"):
        raise ValueError(f"mode must be 'fwd' or 'rev', not {mode!r}")
    places = checked(argnums)
    if isinstance(outputs, list):
        outputs = tuple(outputs)
    several = isinstance(places, tuple)
    options = Options(value, several, unconnected_gradients, outputs, has_aux=bool(has_aux), debug=bool(debug),
                      strict=bool(strict), holomorphic=bool(holomorphic), conjugate=bool(conjugate), mode=mode,
                      backend=backend_for(compile, lists, debug, threads))  # fmt: skip
    if function is None:
        return functools.partial(_applied, places, options, output_gradients)
    return differentiated(function, places, options, output_gradients)


@entry
def _applied(argnums: Argnums, options: Options, seed: Any, function: Any) -> Gradient:
    return differentiated(function, argnums, options, seed)


@overload
def grad(
    function: Callable[P, Any], argnums: Asked = ..., *, outputs: Outputs = ..., **keywords: Unpack[_Keywords]
) -> Gradient[P, Any]: ...
@overload
def grad(
    function: None = None, argnums: Asked = ..., *, outputs: Outputs = ..., **keywords: Unpack[_Keywords]
) -> _Decorates: ...
@entry
def grad(
    function: Callable[..., Any] | None = None,
    argnums: Asked = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
    lists: bool = True,
    has_aux: bool = False,
    debug: bool = False,
    compile: bool = False,
    threads: bool = False,
    strict: bool = False,
    holomorphic: bool = False,
    conjugate: bool = False,
    mode: str | None = None,
) -> Any:
    """The gradient of a function of numbers and arrays, as a function of the same arguments.

    Use it as a call, `grad(f)`, as a decorator, `@grad`, or as one with options, `@grad(argnums="w")`.

    - `argnums`: the arguments to differentiate in: a position, a name, or a tuple of these (the result is then a tuple).
    - `output_gradients`, or `seed` at a call: weights with the structure of the result.  The gradient is that of the
      weighted sum of all its elements; without weights, of the sum.
    - `unconnected_gradients="none"`: None, and not zeros, for an argument that does not affect the result.
    - `outputs`: the names of arguments that the function writes.  Their final values are the result.
    - `has_aux=True`: the function returns `(value, aux)`; so the gradient comes with `aux`.
    - `debug=True`: raise NotFinite at the statement where the first nan or infinity arose.
    - `strict=True`: refuse a function without a text, which is otherwise recorded as it runs, several times slower.
    - `lists=False`: no lists of Python's numbers in loops over single elements.
    - `compile=True`: run the text as loops that numba compiles (docs/compiled.md), as far as it has any.  With
      `threads=True`, large ones over independent elements run in several threads.
    - `mode`: of the gradient of a gradient.  "fwd" takes its tangent, "rev" differentiates its text; by default "fwd",
      where the order does not matter and forward mode has no limit.
    - `holomorphic`, `conjugate`: for complex arguments.  The gradient in `z` is `dL/dRe(z) - i dL/dIm(z)`, as in JAX;
      `conjugate=True` returns the direction of ascent, `holomorphic=True` the derivative of a holomorphic function.

    Of methods, `grad(Net.loss)(net, x)` is the gradient in `net`, `grad(net.loss)(x)` that in `x`.  The arrays of the caller
    never change.  Unsupported, NoRule or NoSource name the place where there is no gradient.

    >>> grad(lambda r: 3.0 * r ** 2)(2.0)
    12.0
    >>> grad(lambda w, x: (w * x - 1.0) ** 2, ("w", "x"))(2.0, 3.0)
    (30.0, 20.0)
    >>> @grad(argnums="k")
    ... def decay(x, k):
    ...     for _ in range(2):
    ...         x = x - k * x
    ...     return x
    >>> decay(1.0, 0.5), grad(decay, "k")(1.0, 0.5)
    (-1.0, 2.0)
    """
    return _gradient_of(function, argnums, False, output_gradients, unconnected_gradients, outputs, lists, has_aux, debug,
                        compile, threads, strict, holomorphic, conjugate, mode)  # fmt: skip


@overload
def value_and_grad(
    function: Callable[P, R], argnums: Asked = ..., *, outputs: None = ..., **keywords: Unpack[_Keywords]
) -> Gradient[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    function: Callable[P, Any], argnums: Asked = ..., *, outputs: str | tuple[str, ...], **keywords: Unpack[_Keywords]
) -> Gradient[P, tuple[Any, Any]]: ...
@overload
def value_and_grad(
    function: None = None, argnums: Asked = ..., *, outputs: Outputs = ..., **keywords: Unpack[_Keywords]
) -> _DecoratesWithValue: ...
@entry
def value_and_grad(
    function: Callable[..., Any] | None = None,
    argnums: Asked = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
    lists: bool = True,
    has_aux: bool = False,
    debug: bool = False,
    compile: bool = False,
    threads: bool = False,
    strict: bool = False,
    holomorphic: bool = False,
    conjugate: bool = False,
    mode: str | None = None,
) -> Any:
    """Like `grad`, but returns `(value, gradient)`, as `scipy.optimize.minimize(..., jac=True)` expects.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _gradient_of(function, argnums, True, output_gradients, unconnected_gradients, outputs, lists, has_aux, debug,
                        compile, threads, strict, holomorphic, conjugate, mode)  # fmt: skip


def _text_of_run(*request: Any) -> str | None:
    """The text of a run, as `source_for` asks for it."""
    from s2sgrad.api import run_shown

    return run_shown.of(*request)


def _load() -> None:
    """Register what is imported when it is first called, so that `import s2sgrad` stays quick."""
    from s2sgrad.analysis import reached_codes
    from s2sgrad.api import debugging, dynamic, forward, products, recording
    from s2sgrad.api.arguments import require_followed_leaves, require_unreferred

    runtime.provide(refer_to=reached_codes.refer_to, unreferred=require_unreferred, followed_leaves=require_followed_leaves)
    runtime.provide(
        derivative=dynamic.pair_for,
        called=dynamic.called,
        begun_again=dynamic.begun_again,
        pair_in_turn=dynamic.pair_in_turn,
    )
    runtime.provide(tangent=forward.tangent_for, unfolded=forward.unfolded, jvp=forward.jvp)
    runtime.provide(recorded_gradient=recording.gradient, recorded_tangent=recording.along, text_of_run=_text_of_run)
    runtime.provide(hvp=products.hvp, linearize=products.linearize, watched_vjp=debugging.vjp)


runtime.provide(grad=grad, way=travel.way, found=travel.found, located=located, leaving=leaving, load=_load)
