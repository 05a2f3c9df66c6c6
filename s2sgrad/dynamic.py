"""The one run-time entry: pairs of functions that are only known when they are called, for `runtime.vjp`.

    y, f_pullback = vjp(f, x)  ->  fwd, bwd, .. = pair_for(f, (x,), {}); y, saved = fwd(x); f_pullback = Pullback(bwd, ..)
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from s2sgrad import cache, runtime
from s2sgrad.analysis.kinds import Kind, Unknown, kinds_of, may_carry
from s2sgrad.arguments import shapes_of
from s2sgrad.compiled import Compiled, compile_pair
from s2sgrad.errors import NoRule
from s2sgrad.library import plain


def pair_for(
    f: Any, primals: tuple, keywords: dict[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...], tuple, dict[str, Any]]:
    """(fwd, bwd, places, lead, keywords): `fwd(*lead, *primals, **keywords) -> (y, saved)`, and `bwd(saved, y_bar)`, the
    cotangents of the positional arguments at `places`."""
    if f is runtime.vjp:
        return _vjp_forward, _vjp_backward, tuple(range(1, len(primals))), (), keywords
    if f is runtime.call:
        return _call_forward, _call_backward, tuple(range(len(primals))), (), keywords
    function, receiver, bound = plain(f)
    lead = len(receiver)
    keywords = {**bound, **keywords} if bound else keywords
    fwd, bwd, active = _compiled(function, receiver + primals, keywords, lead)
    return fwd, bwd, tuple(k - lead for k in active), receiver, keywords


# --- the pairs of `vjp` and of a pullback: the derivative of a gradient whose callee was looked up at run time ---


def _vjp_forward(f: Any, *args: Any) -> tuple[Any, Any]:
    """`vjp(f, *args)`, with f's `fwd` differentiated in its turn."""
    fwd, bwd, places, receiver, keywords = pair_for(f, args, {})
    (y, saved), inner = runtime.vjp(fwd, *receiver, *args, **keywords)
    pullback = runtime.Pullback(bwd, saved, places, tuple(runtime.zeros(a) for a in args))
    return (y, pullback), (inner, len(receiver))


def _vjp_backward(saved: Any, bars: Any) -> Any:
    inner, lead = saved
    out = inner(bars)[lead:]
    return out[0] if len(out) == 1 else out


def _call_forward(pullback: Any, y_bar: Any) -> tuple[Any, Any]:
    """`pullback(y_bar)`, with its `bwd` differentiated in its turn."""
    if not isinstance(pullback, runtime.Pullback):
        what = type(pullback).__name__
        raise TypeError(f"a {what} that carries derivatives cannot be called yet: pass its data as arguments")
    bars, inner = runtime.vjp(pullback.bwd, runtime.refilled(pullback.saved, pullback.bwd), y_bar)
    out = list(pullback.rest)
    for place, bar in zip(pullback.places, (bars,) if len(pullback.places) == 1 else bars, strict=True):
        out[place] = bar
    return tuple(out), (inner, pullback.places)


def _call_backward(saved: Any, bars: Any) -> Any:
    inner, places = saved
    given = tuple(bars[k] for k in places)
    return inner(given[0] if len(given) == 1 else given)


def _is_constant(value: Any) -> bool:
    """Whether a value of no known kind is looked up in rather than computed with."""
    return callable(value) or isinstance(value, ModuleType)


def _compiled(
    function: FunctionType, args: tuple, keywords: dict[str, Any], lead: int
) -> tuple[Any, Any, tuple[int, ...]]:
    """(fwd, bwd, positions of the arguments whose cotangents bwd gives)."""
    family = cache.of(function.__code__).family(("pair", lead))
    quick = shapes_of((*args, *keywords.values()))
    if quick is not None:
        quick = len(args), tuple(keywords), quick
    key = family.quick.get(quick)
    if key is None:
        kinds = kinds_of([*args, *keywords.values()])
        count = function.__code__.co_argcount
        active = tuple(
            k for k in range(lead, min(count, len(args)))
            if may_carry(kinds[k]) and not (isinstance(kinds[k], Unknown) and _is_constant(args[k]))
        )  # fmt: skip
        key = cache.Kinds((kinds, tuple(keywords), active))
        if quick is not None and not any(isinstance(kind, Unknown) for kind in kinds[lead:]):
            family.remember(quick, key)
    compiled = cache.compiled(family, key, function, lambda: _compile(function, len(args), *key.items))
    return (*compiled.made[:2], key.items[2])


def _compile(
    function: FunctionType, given: int, kinds: tuple[Kind, ...], keywords: tuple[str, ...], active: tuple[int, ...]
) -> Compiled:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & 0x04 and given > len(names):
        if function is _vjp_forward:
            raise NoRule("third derivatives of a function that is only known at run time are not there yet: call it by name")
        raise NoRule(f"`{function.__name__}` takes `*args`: vjp needs named parameters")
    known = dict(zip(names, kinds[:given], strict=False)) | dict(zip(keywords, kinds[given:], strict=True))
    return compile_pair(function, known, {names[k] for k in active})
