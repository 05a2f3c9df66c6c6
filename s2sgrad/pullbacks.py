"""Pullbacks and tangents for users: checked, and independent of later changes of the arguments.

y, pullback = vjp(f, x); x[:] = 0.0      ->      pullback(1.0) uses the old x
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from s2sgrad import runtime
from s2sgrad.errors.raised import behind_call, entry
from s2sgrad.runtime import Pullback, like, structure, zeros
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.guests import is_array_of_others, refused_guest
from s2sgrad.runtime.records import array_of_its_own
from s2sgrad.runtime.results import NoResult, pair, without_floats
from s2sgrad.runtime.structure import WithAux, reachable, rebuilt
from s2sgrad.runtime.traits import traits

_DEEPEST = 50  # nesting of objects
P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result", covariant=True)


@overload
def vjp(  # type: ignore[overload-overlap]  # a keyword `has_aux` is no argument of `f`
    f: Callable[..., tuple[R, Any]], /, *primals: Any, has_aux: Literal[True], debug: bool = ..., **keywords: Any
) -> tuple[R, Pullback, Any]: ...
@overload
def vjp(
    f: Callable[..., R], /, *primals: Any, debug: bool, has_aux: Literal[False] = ..., **keywords: Any
) -> tuple[R, Pullback]: ...
@overload
def vjp(f: Callable[P, R], /, *primals: P.args, **keywords: P.kwargs) -> tuple[R, Pullback]: ...
@entry
def vjp(f: Callable[..., Any], /, *primals: Any, **keywords: Any) -> tuple[Any, ...]:
    """The value of `f` at the primals, and its pullback: from a cotangent of the value to a tuple of cotangents.

    `f` runs once.  `pullback(y_bar)` takes a cotangent with the structure and shape of the value.  It returns a tuple with
    one cotangent per primal (also for one primal), with the structure, shape and dtype of that primal.  These are zeros for
    a primal that does not affect the value and for ints, None for a string or a function.  The pullback may be called many
    times, copied and pickled; it contains only data.  Keywords are passed to `f` and are constants.

    `f` is a function, lambda, method or other callable with Python source, a function of NumPy or `math`, a partial or
    a gradient.  The primals are never changed.  They may be changed before the pullback is called, and so may the numbers
    and arrays that `f` reads by free names.

    With `has_aux=True`, for an `f` that returns a pair, it returns `(value, pullback, aux)`, with the pullback of the value.

    With `debug=True` it raises NotFinite if the value, or later a result of the pullback, is not finite: it names the
    statement where the first such value arose, as `grad` does.  An `f` with a parameter `debug` or `has_aux` receives it.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number.  Raises
    TypeError for structured arrays (pass them by keyword), for arguments that `f` does not take, and if `f`
    returns nothing that can be differentiated; the pullback raises ValueError for another structure or shape.

    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pullback(1.0), pullback(10.0)
    (6.0, (3.0, 2.0), (30.0, 20.0))
    """
    function_given(f, "vjp")
    debug, has_aux = (n in keywords and not takes(f, n) and keywords.pop(n) for n in ("debug", "has_aux"))
    value, pullback = pulled_back(f, primals, keywords, debug, has_aux=has_aux)
    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


def pulled_back(
    f: Callable[..., Any], primals: tuple, keywords: dict[str, Any], debug: bool = False, again: bool = False,
    has_aux: bool = False, wanted: tuple[int, ...] | None = None,
    writes: Callable[[], bool] = lambda: False,
) -> tuple[Any, Pullback]:  # fmt: skip
    """The value and the pullback. `again`: it will be differentiated in turn, and keeps records of all trips. `has_aux`:
    the value is a pair, and the pullback takes a cotangent of its first part. `wanted`: the primals that are no constants,
    by position, if these are not all. `writes`: whether a function that is recorded may write its
    arguments, of which it gets copies."""
    given = range(len(primals)) if wanted is None else wanted  # a constant may have no zeros of its structure
    for k in given:
        runtime.hook("followed_leaves")(primals[k], f"primals[{k}]")
    own = runtime.vjp if wanted is None and not again else functools.partial(_recorded, again, wanted, writes)
    if debug:
        value, pullback = runtime.hook("watched_vjp")(own, f, primals, keywords)
    else:
        value, pullback = _run_or_recorded(own, f, primals, keywords, writes)
    if has_aux:
        pair(value, its(behind_call(f), "__name__", type(f).__name__))
    require_result(f, value[0] if has_aux else value, pullback)
    pullback.saved = apart(pullback.saved, (primals, keywords, value, bound_to(f)))
    pullback.like = WithAux(*map(zeros, value)) if has_aux else zeros(value)
    pullback.rest = tuple(like(x, None) if k in given else None for k, x in enumerate(primals))
    if wanted is None:
        require_a_cotangent(f, primals, pullback.rest)
    return value, pullback


def require_a_cotangent(f: Callable[..., Any], primals: tuple, cotangents: tuple) -> None:
    """Raise TypeError where no primal has a cotangent, and one is an array of another library."""
    found = next((k for k, x in enumerate(primals) if is_array_of_others(type(x))), None)
    if found is not None and all(bar is None for bar in cotangents):
        name = its(behind_call(f), "__name__", type(f).__name__)
        why = refused_guest(type(primals[found]), f"`primals[{found}]`")
        raise TypeError(f"the pullback of `{name}` was asked for, but {why}")


def _run_or_recorded(
    own: Callable[..., Any], f: Callable[..., Any], primals: tuple, keywords: dict[str, Any], writes: Callable[[], bool]
) -> tuple[Any, Pullback]:
    """The value and the pullback: by its text, or by a second run, which is recorded, where that was refused as it ran."""
    found: tuple[Any, Pullback]
    try:
        found = own(f, *primals, **keywords)
    except Refusal as error:
        found = runtime.hook("begun_again")(error, f, primals, keywords, writes())
        if found is None:
            raise
    return found


def _recorded(
    again: bool,
    wanted: tuple[int, ...] | None,
    writes: Callable[[], bool],
    f: Callable[..., Any],
    /,
    *primals: Any,
    **keywords: Any,
) -> tuple[Any, Pullback]:
    fwd, bwd, places, lead, keywords = runtime.hook("derivative")(f, primals, keywords, again, wanted)
    of_copies = its(fwd, "of_copies", None)
    y, saved = (of_copies if of_copies is not None and writes() else fwd)(*lead, *primals, **keywords)
    return y, Pullback(bwd, saved, places, (None,) * len(primals))  # `pulled_back` says what is in their place


def function_given(function: Any, name: str) -> Any:
    """The function argument of `name`; raises TypeError if it is no function."""
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"{name} needs a function, not {type(function).__name__}: pass `f`, and not what `f(x)` returns")
    return function


def takes(f: Any, option: str) -> bool:
    """Whether a function has a parameter of this name."""
    try:
        return option in inspect.signature(f).parameters
    except (TypeError, ValueError):  # no signature available
        return False


class Tangent(Protocol[Result]):
    """The value of a function with its tangent, as a function of primals and tangents."""

    source: str

    def __call__(self, /, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any) -> Result: ...
    def source_for(self, /, *primals: Any, **keywords: Any) -> str:
        """The text for primals of these kinds."""
        ...

    def save(self, path: Any, standalone: bool = False, lines: bool = False) -> None:
        """Write a module with the text."""
        ...


@overload
def jvp(
    function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], *, outputs: None = ...,
    has_aux: Literal[False] = ..., debug: bool = ..., compile: bool = ...,
) -> tuple[R, R]: ...  # fmt: skip
@overload
def jvp(
    function: Callable[..., tuple[R, Any]], primals: Sequence[Any], tangents: Sequence[Any], *, outputs: None = ...,
    has_aux: Literal[True], debug: bool = ..., compile: bool = ...,
) -> tuple[R, R, Any]: ...  # fmt: skip
@overload
def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, outputs: str | Sequence[str],
    debug: bool = ..., compile: bool = ...,
) -> tuple[Any, Any]: ...  # fmt: skip
@overload
def jvp(
    function: Callable[..., R], primals: None = ..., tangents: None = ..., *, outputs: None = ...,
    has_aux: Literal[False] = ..., debug: bool = ..., compile: bool = ...,
) -> Tangent[tuple[R, R]]: ...  # fmt: skip
@overload
def jvp(
    function: Callable[..., Any] | None = ..., primals: None = ..., tangents: None = ..., *,
    outputs: str | Sequence[str] | None = ..., has_aux: bool = ..., debug: bool = ..., compile: bool = ...,
) -> Any: ...  # fmt: skip
@entry
def jvp(
    function: Callable[..., Any] | None = None, primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None, *,
    outputs: str | Sequence[str] | None = None, has_aux: bool = False, debug: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The value of a function at the primals, and its tangent along the tangents: the directional derivative.

    Each tangent has the structure and shape of its primal; None stands for zero, and is required for a primal without
    floats. The tangent of the value has the structure and shape of the value.  Forward mode: the generated function, in
    `jvp(f).source`, computes each tangent beside its variable, and records nothing.

    With the function alone it returns a function of primals and tangents (and keywords of the function), compiled once.
    With `outputs`, names of arguments that the function writes, the value is their final contents.  With `has_aux`, for a
    function that returns a pair, it returns `(value, tangent, aux)`.  With `debug=True` it raises NotFinite if the value or
    the tangent is not finite, as `grad` does; with `compile=True` it runs as loops, as `grad` does.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number.  Raises
    TypeError for an integer primal with a tangent; ValueError for a tangent of another structure or shape.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    if function is None:
        return functools.partial(jvp, outputs=outputs, has_aux=has_aux, debug=debug, compile=compile)
    return runtime.hook("jvp")(function, primals, tangents, outputs, has_aux, debug, compile=compile)


def jvp_again(
    function: Callable[..., Any], primals: Sequence[Any] | None = None, tangents: Sequence[Any] | None = None
) -> Any:
    """`jvp` of a function that also runs elsewhere with the same primals, as for other columns: Unsupported where a second
    run may do something else."""
    return runtime.hook("jvp")(function, primals, tangents, None, False, False, True)


@entry
def hvp(
    function: Callable[..., Any] | None = None, primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None, *,
    has_aux: bool = False, debug: bool = False,
) -> Any:  # fmt: skip
    """The product of the Hessian of a function that returns a number with a vector, without the matrix.

    It is the tangent of the gradient: forward over reverse mode.  For one primal with a tangent it is a single product, for
    several a tuple.  With the function alone it returns a function of primals and tangents.  With `has_aux`, for a function
    that returns a pair, it returns `(product, aux)`.  With `debug=True` it raises NotFinite if the product is not finite.

    >>> hvp(lambda x: x[0] ** 2 * x[1], (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([4., 2.])
    """
    if function is None:
        return functools.partial(hvp, has_aux=has_aux, debug=debug)
    return runtime.hook("hvp")(function, primals, tangents, has_aux, debug)


@entry
def linearize(function: Callable[P, R], /, *primals: P.args, **keywords: P.kwargs) -> tuple[R, Callable[..., Any]]:
    """The value at the primals, and the linear map from tangents of the primals to that of the value.

    The function runs once, here; the map may be called many times, with a tangent for each primal, None for zero.  It is the
    transpose of the pullback, which is linear.  The primals may be changed afterwards.  Raises Unsupported if the pullback
    cannot be differentiated, such as a user's own pullback without source.

    >>> y, along = linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> y, along(1.0, 0.0), along(1.0, 10.0)
    (6.0, 3.0, 23.0)
    """
    out: tuple[R, Callable[..., Any]] = runtime.hook("linearize")(function, primals, keywords)
    return out


def require_result(f: Any, value: Any, pullback: Pullback) -> None:
    """Raise TypeError if the value of `f` has nothing to differentiate, or no primal has floats."""
    if what := without_floats(value, numbers=not traits(pullback.bwd).flat):
        name = its(behind_call(f), "__name__", type(f).__name__)
        if not pullback.places:
            raise TypeError(f"`{name}` is given no floats by position, and returns {what}: pass a float")
        raise NoResult(what, name)


class OfClosure(Pullback):
    """The pullback of a function whose last `hidden` arguments are captures: it returns no cotangents for them."""

    __slots__ = ("hidden",)
    hidden: int

    def __call__(self, /, *bars: Any) -> tuple:
        out = super().__call__(*bars)
        return out[: len(out) - self.hidden]


def vjp_of_closure(hidden: int, f: Callable[..., Any], *args: Any) -> tuple[Any, Pullback]:
    """`vjp` of a function whose last `hidden` arguments are captures.

    >>> y, pullback = vjp_of_closure(1, lambda x, w: x * w, 2.0, 3.0)
    >>> y, pullback(1.0)
    (6.0, (3.0,))
    """
    value, pullback = vjp(f, *args)
    return value, closed(hidden, pullback)


def closed(hidden: int, pullback: Pullback) -> OfClosure:
    """The pullback without the cotangents of the last arguments."""
    out = OfClosure(pullback.bwd, pullback.saved, pullback.places, pullback.rest, pullback.like)
    out.hidden = hidden
    return out


def apart(saved: Any, others: Any) -> Any:
    """The record with copies of everything that shares memory with `others`, in new containers."""
    taken = list(_arrays(others))
    kept = {id(x) for x in _arrays(saved) if not any(np.may_share_memory(x, y) for y in taken)}
    return _mine(kept, {}, saved)


def _mine(kept: set[int], own: dict[int, Any], item: Any) -> Any:
    """A part of the record; `own` maps arrays and containers to their copies, so that shared ones stay shared."""
    if isinstance(item, np.ndarray) and not item.dtype.hasobject:
        return item if id(item) in kept else array_of_its_own(item, own)
    if isinstance(item, Pullback):
        return Pullback(item.bwd, _mine(kept, own, item.saved), item.places, item.rest, item.like)
    if isinstance(item, tuple):
        return rebuilt(item, functools.partial(_mine, kept, own))
    if type(item) not in (list, dict):
        return structure.kept(item)
    if id(item) not in own:
        made = own[id(item)] = type(item)()
        if isinstance(made, dict):
            made.update((k, _mine(kept, own, v)) for k, v in item.items())
        else:
            made.extend(_mine(kept, own, v) for v in item)
    return own[id(item)]


def bound_to(f: Any) -> list[Any]:
    """The arguments that are bound to a callable: those of a partial, the receiver of a method, the defaults of a
    function."""
    if isinstance(f, functools.partial):
        return [f.args, f.keywords, *bound_to(f.func)]
    if isinstance(f, types.MethodType):
        return [f.__self__, *bound_to(f.__func__)]
    if isinstance(f, types.FunctionType):
        return [f.__defaults__, f.__kwdefaults__]
    return [f]


def _arrays(value: Any, seen: set[int] | None = None, depth: int = 0) -> Iterator[np.ndarray]:
    """The arrays that are reachable from a value."""
    seen = set() if seen is None else seen
    if isinstance(value, np.ndarray):
        yield value
    parts = {0: value.saved} if isinstance(value, Pullback) else reachable(value)
    if not parts or id(value) in seen or depth > _DEEPEST:
        return
    seen.add(id(value))
    for item in parts.values():
        yield from _arrays(item, seen, depth + 1)
