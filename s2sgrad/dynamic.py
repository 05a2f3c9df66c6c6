"""The one run-time entry: pairs of functions that are only known when they are called, for `runtime.vjp`.

    y, f_pullback = vjp(f, x)  ->  fwd, bwd, .. = pair_for(f, (x,), {}); y, saved = fwd(x); f_pullback = Pullback(bwd, ..)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from s2sgrad import load, runtime
from s2sgrad.analysis.kinds import Unknown, kinds_of, may_carry
from s2sgrad.compiled import compiling, guards_of
from s2sgrad.errors import NoRule
from s2sgrad.library import plain
from s2sgrad.program import Program
from s2sgrad.transform import written_globals

_LOCK = threading.RLock()
_MOST = 512
_pairs: dict[Any, tuple[Any, ...]] = {}


def pair_for(
    f: Any, primals: tuple, keywords: dict[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...], tuple]:
    """(fwd, bwd, places, receiver): `fwd(*receiver, *primals, **keywords) -> (y, saved)`, and `bwd(saved, y_bar)`, the
    cotangents of the positional arguments at `places`."""
    if f is runtime.vjp:
        return _vjp_forward, _vjp_backward, tuple(range(1, len(primals))), ()
    if f is runtime.call:
        return _call_forward, _call_backward, tuple(range(len(primals))), ()
    function, receiver = plain(f)
    lead = len(receiver)
    fwd, bwd, active = _compiled(function, receiver + primals, keywords, lead)
    return fwd, bwd, tuple(k - lead for k in active), receiver


# --- the pairs of `vjp` and of a pullback: the derivative of a gradient whose callee was looked up at run time ---


def _vjp_forward(f: Any, *args: Any) -> tuple[Any, Any]:
    """`vjp(f, *args)`, with f's `fwd` differentiated in its turn."""
    fwd, bwd, places, receiver = pair_for(f, args, {})
    (y, saved), inner = runtime.vjp(fwd, *receiver, *args)
    pullback = runtime.Pullback(bwd, saved, places, tuple(runtime.zeros(a) for a in args))
    return (y, pullback), (inner, len(receiver))


def _vjp_backward(saved: Any, bars: Any) -> Any:
    inner, lead = saved
    out = inner(bars)[lead:]
    return out[0] if len(out) == 1 else out


def _call_forward(pullback: Any, *args: Any) -> tuple[Any, Any]:
    """`pullback(y_bar)`, with its `bwd` differentiated in its turn; a call of any function that closes over nothing."""
    if not isinstance(pullback, runtime.Pullback):
        if _is_constant(pullback) and not getattr(pullback, "__closure__", None) and not _has_receiver(pullback):
            y, inner = runtime.vjp(pullback, *args)
            return y, (inner, None)
        what = type(pullback).__name__
        raise TypeError(f"a {what} that carries derivatives cannot be called yet: pass its data as arguments")
    bars, inner = runtime.vjp(pullback.bwd, runtime.refilled(pullback.saved, pullback.bwd), *args)
    out = list(pullback.rest)
    for place, bar in zip(pullback.places, (bars,) if len(pullback.places) == 1 else bars, strict=True):
        out[place] = bar
    return tuple(out), (inner, pullback.places)


def _call_backward(saved: Any, bars: Any) -> Any:
    inner, places = saved
    if places is None:
        return (None, *inner(bars))
    given = tuple(bars[k] for k in places)
    return inner(given[0] if len(given) == 1 else given)


def _has_receiver(f: Any) -> bool:
    return not isinstance(getattr(f, "__self__", None), (ModuleType, type(None)))


def _is_constant(value: Any) -> bool:
    """Whether a value of no known kind is looked up in rather than computed with."""
    return callable(value) or isinstance(value, ModuleType)


def _compiled(
    function: FunctionType, args: tuple, keywords: dict[str, Any], lead: int
) -> tuple[Any, Any, tuple[int, ...]]:
    """(fwd, bwd, positions of the arguments whose cotangents bwd gives)."""
    kinds = kinds_of([*args, *keywords.values()])
    count = function.__code__.co_argcount
    active = tuple(
        k for k in range(lead, min(count, len(args)))
        if may_carry(kinds[k]) and not (isinstance(kinds[k], Unknown) and _is_constant(args[k]))
    )
    key = (function, kinds, tuple(keywords), active)
    with _LOCK:
        known = _pairs.get(key)
        if known is None or not all(guard() for guard in known[3]):
            known = _compile(function, kinds[: len(args)], dict(zip(keywords, kinds[len(args) :], strict=True)), active)
            if len(_pairs) >= _MOST:
                _pairs.clear()
            _pairs[key] = known
    return known[:3]


def _compile(
    function: FunctionType, kinds: tuple, keywords: dict[str, Any], active: tuple[int, ...]
) -> tuple[Any, ...]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & 0x04 and len(kinds) > len(names):
        if function is _vjp_forward:
            raise NoRule("third derivatives of a function that is only known at run time are not there yet: call it by name")
        raise NoRule(f"`{function.__name__}` takes `*args`: vjp needs named parameters")
    given = dict(zip(names, kinds, strict=False)) | keywords
    with compiling():
        program = Program()
        pair = program.pair(function, given, {names[k] for k in active}, split=True)
        written_globals.check(program.units, at_run_time=True)
        functions, _ = load.load_all(program, pair.bwd)
    return functions[id(pair.fwd)], functions[id(pair.bwd)], active, guards_of(program)
