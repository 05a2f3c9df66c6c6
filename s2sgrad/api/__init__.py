"""The public functions `grad` and `value_and_grad`; `vjp` and `jvp` come from `pullbacks`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypedDict, Unpack, overload

from s2sgrad import runtime
from s2sgrad.api import travel
from s2sgrad.api.argnums import Argnums, checked
from s2sgrad.api.gradient import Gradient, differentiated
from s2sgrad.driver.options import DEFAULT, PREFERRED, Options
from s2sgrad.errors.raised import entry, located
from s2sgrad.pullbacks import jvp, vjp  # noqa: F401

Outputs = str | tuple[str, ...] | None


class _Keywords(TypedDict, total=False):
    """What both take by keyword alone, for those who check types."""

    output_gradients: Any
    unconnected_gradients: str
    outputs: Outputs
    lists: bool
    has_aux: bool
    debug: bool
    strict: bool
    holomorphic: bool
    conjugate: bool
    mode: str | None


def _gradient_of(
    function: Any,
    argnums: Argnums,
    value: bool,
    output_gradients: Any,
    unconnected_gradients: str,
    outputs: Outputs,
    lists: bool,
    has_aux: bool,
    debug: bool,
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
    argnums = checked(argnums)
    if isinstance(outputs, list):
        outputs = tuple(outputs)
    several = isinstance(argnums, tuple)
    options = Options(value, several, unconnected_gradients, outputs, has_aux=bool(has_aux), debug=bool(debug),
                      strict=bool(strict), holomorphic=bool(holomorphic), conjugate=bool(conjugate), mode=mode,
                      backend=PREFERRED if lists and not debug else DEFAULT)  # fmt: skip
    if function is None:
        return functools.partial(_applied, argnums, options, output_gradients)
    return differentiated(function, argnums, options, output_gradients)


@entry
def _applied(argnums: Argnums, options: Options, seed: Any, function: Any) -> Gradient:
    return differentiated(function, argnums, options, seed)


@overload
def grad(function: Callable[..., Any], argnums: Argnums = ..., **keywords: Unpack[_Keywords]) -> Gradient: ...
@overload
def grad(
    function: None = None, argnums: Argnums = ..., **keywords: Unpack[_Keywords]
) -> Callable[[Callable[..., Any]], Gradient]: ...
@entry
def grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
    lists: bool = True,
    has_aux: bool = False,
    debug: bool = False,
    strict: bool = False,
    holomorphic: bool = False,
    conjugate: bool = False,
    mode: str | None = None,
) -> Any:
    """The gradient of a function of numbers and arrays, as a function of the same arguments.

    `argnums` selects the arguments: a position, a parameter's name, or a tuple of these (then the result is a tuple).
    The gradient has the shape and dtype of its argument.  If the function returns arrays or containers, the result is
    the gradient of the sum over all their elements, each weighted by `output_gradients` (or, for one call, by the
    keyword `seed`), which has the structure and shape of the result.  An argument that does not affect the result has a
    gradient of zeros, or None with `unconnected_gradients="none"`.

    With `outputs`, the names of arguments that the function writes, it is the gradient of their final values (of one name,
    or of a tuple of them), whatever the function returns.  The caller's arrays are never changed.

    Loops over single elements (`for i in range(n): y[i] = x[i] ...`) run on lists of Python numbers, several times as fast
    and with the same results.  With `lists=False` the text uses arrays throughout: for a compiler that does not know lists.

    With `debug=True` it raises NotFinite, a FloatingPointError, if the gradient or the value of the function is nan or
    infinite: it names the statement where the first such value arose, the variable and the element, and whether that was
    in the function or in its derivative.  This text, which checks each value, takes several times as long.

    A function that cannot be settled before it runs has no text: it is recorded as it runs, and swept backwards from its
    record, several times slower (`.source` says which, and why).  With `strict=True` it is refused instead.

    The gradient of a gradient is computed as the tangent of a gradient, forward over reverse mode, for mixed derivatives
    commute; as a gradient of its text (`mode="rev"`) where they do not, for you say what a derivative is, and where forward
    mode is refused.  With `mode="fwd"` the latter raises.

    In a complex argument `z` it is `dL/dRe(z) - i dL/dIm(z)`, as in JAX: descend along its conjugate, which `conjugate=True`
    returns.  A complex result has no gradient, but with `holomorphic=True` the derivative of a holomorphic function.

    Use it as a call, `grad(f)`, as a decorator, `@grad`, or as a decorator with options, `@grad(argnums="w")`.  Of methods,
    as with all that makes a derivative: `self` is argument 0 of a function of a class, `grad(Net.loss)(net, x)`, and a bound
    method has none, `grad(net.loss)(x)`; decorated in the class, `net.loss(x)` is the gradient of the bound method.  The
    name `"self"` asks for the receiver in each case.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number;
    TypeError for an integer argument; ValueError for a seed of the wrong structure or shape.

    >>> @grad
    ... def area(r):
    ...     return 3.0 * r ** 2
    >>> area(2.0)
    12.0
    """
    return _gradient_of(function, argnums, False, output_gradients, unconnected_gradients, outputs, lists, has_aux, debug,
                        strict, holomorphic, conjugate, mode)  # fmt: skip


@overload
def value_and_grad(function: Callable[..., Any], argnums: Argnums = ..., **keywords: Unpack[_Keywords]) -> Gradient: ...
@overload
def value_and_grad(
    function: None = None, argnums: Argnums = ..., **keywords: Unpack[_Keywords]
) -> Callable[[Callable[..., Any]], Gradient]: ...
@entry
def value_and_grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
    lists: bool = True,
    has_aux: bool = False,
    debug: bool = False,
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
                        strict, holomorphic, conjugate, mode)  # fmt: skip


def _text_of_run(*request: Any) -> str | None:
    """The text of a run, as `source_for` asks for it."""
    from s2sgrad.api import run_shown

    return run_shown.of(*request)


def _load() -> None:
    """Register what is imported when it is first called, so that `import s2sgrad` stays quick."""
    from s2sgrad.analysis import reached_codes
    from s2sgrad.api import debugging, dynamic, forward, products, recording

    runtime.provide(refer_to=reached_codes.refer_to)
    runtime.provide(derivative=dynamic.pair_for, called=dynamic.called, begun_again=dynamic.begun_again)
    runtime.provide(tangent=forward.tangent_for, unfolded=forward.unfolded, jvp=forward.jvp)
    runtime.provide(recorded_gradient=recording.gradient, recorded_tangent=recording.along, text_of_run=_text_of_run)
    runtime.provide(hvp=products.hvp, linearize=products.linearize, watched_vjp=debugging.vjp)


runtime.provide(grad=grad, way=travel.way, found=travel.found, located=located, load=_load)
