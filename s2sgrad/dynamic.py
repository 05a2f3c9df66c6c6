"""The one run-time entry: pairs of functions that are only known when they are called, for `runtime.vjp`.

    y, f_pullback = vjp(f, x)  ->  fwd, bwd, .. = pair_for(f, (x,), {}); y, saved = fwd(x); f_pullback = Pullback(bwd, ..)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from s2sgrad import load
from s2sgrad.analysis.kinds import Unknown, kinds_of, may_carry
from s2sgrad.compiled import compiling, guards_of
from s2sgrad.errors import NoRule
from s2sgrad.library import plain
from s2sgrad.program import Program

_LOCK = threading.RLock()
_MOST = 512
_pairs: dict[Any, tuple[Any, ...]] = {}


def pair_for(
    f: Any, primals: tuple, keywords: dict[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...], tuple]:
    """(fwd, bwd, places, receiver): `fwd(*receiver, *primals, **keywords) -> (y, saved)`, and `bwd(saved, y_bar)`, the
    cotangents of the positional arguments at `places`."""
    function, receiver = plain(f)
    lead = len(receiver)
    fwd, bwd, active = _compiled(function, receiver + primals, keywords, lead)
    return fwd, bwd, tuple(k - lead for k in active), receiver


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
        raise NoRule(f"`{function.__name__}` takes `*args`: vjp needs named parameters")
    given = dict(zip(names, kinds, strict=False)) | keywords
    with compiling():
        program = Program()
        pair = program.pair(function, given, {names[k] for k in active}, split=True)
        fwd, bwd = load.load(program, pair.fwd)[0], load.load(program, pair.bwd)[0]
    return fwd, bwd, active, guards_of(program)
