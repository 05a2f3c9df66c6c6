"""Derivatives of `jvp`, and tangents of `vjp` and of pullbacks, for functions that are known only at run time.

y, y_dot = jvp(f, (x, n), (x_dot, None))      ->      a function with source that calls `f_jvp(x, n, x_dot=x_dot)`
y, pullback = vjp(f, x)      ->      f's `fwd` with its tangent: that of y, and of the record, which is the pullback's
x_bar = pullback(y_bar)      ->      f's `bwd` with its tangent, along those of the record and of `y_bar`
"""

from __future__ import annotations

import functools
import types
from typing import Any

from s2sgrad import pullbacks, runtime
from s2sgrad.api import transposed
from s2sgrad.api.higher import Along, holds_data, pair_again, taken_apart
from s2sgrad.recorded.pairs import Back, Forth
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.copies import copied
from s2sgrad.runtime.handed import ungiven_alike
from s2sgrad.runtime.traits import traits
from s2sgrad.source import defined


def of_vjp(vjp: Any, arguments: tuple, dots: tuple, options: dict[str, Any], along: Along) -> tuple[Any, Any]:
    """The value of `vjp(f, *primals)` and its tangent: of the value, and of the record of the pullback.

    `along(f, primals, tangents, keywords)` gives the value and the tangent of a function.
    """
    first = 1 if vjp is pullbacks.vjp_of_closure else 0
    f, *args = arguments[first:]
    held_dot, dots = dots[first] if holds_data(f) else None, dots[first + 1 :]
    f, (fwd, bwd, places, receiver, keywords) = pair_again(f, tuple(args), options)
    primals, tangents = (*receiver, *args), (*(held_dot or (None,) * len(receiver)), *dots)
    recorded = isinstance(fwd, Forth)
    (y, record), (y_dot, record_dot) = (fwd.along if recorded else functools.partial(along, fwd))(
        primals, tangents, keywords
    )
    pullback = runtime.Pullback(bwd, record, places, tuple(map(runtime.zeros, args)))
    if vjp is not runtime.vjp:
        pullbacks.require_result(f, y, pullback)
        pullback.saved = pullbacks.apart(record, (args, keywords, y, pullbacks.bound_to(f)))
        record_dot = copied(record_dot)
        pullback.like = runtime.zeros(y)
    if first:
        pullback = pullbacks.closed(arguments[0], pullback)
    return (y, pullback), (y_dot, record_dot)


def of_pullback(pullback: Any, record_dot: Any, bars: tuple, dots: tuple, along: Along) -> tuple[Any, Any]:
    """The cotangents from a pullback and their tangents, along that of its record (None for zero) and of its arguments.
    For a closure, its result and tangent, along that of its captures."""
    if isinstance(pullback, Closure):
        primals, tangents = taken_apart(pullback, record_dot, bars, dots)
        return along(pullback.function, primals, tangents, {})
    if not isinstance(pullback, runtime.Pullback) and record_dot is None:
        return along(pullback, bars, dots, {})
    if not isinstance(pullback, runtime.Pullback):
        what = type(pullback).__name__
        raise TypeError(f"a {what} that carries derivatives cannot be called yet: pass its data as arguments")
    if record_dot is None and traits(pullback.bwd).half_of is not None:
        (dot,) = dots
        out = transposed.along_users(pullback, pullback.cotangent(bars), dot, along)
    else:
        record = runtime.refilled(pullback.saved, pullback.bwd)
        if record_dot is not None:
            record_dot = runtime.refilled(record_dot, pullback.bwd)
        bar = pullback.cotangent(bars)
        if isinstance(pullback.bwd, Back):
            out = pullback.bwd.along(record, bar, record_dot, *dots)
        else:
            out = along(pullback.bwd, (record, bar), (record_dot, *dots), {})
    shown = len(pullback.rest) - getattr(pullback, "hidden", 0)
    value, tangent = (runtime.spread(pullback, part)[:shown] for part in out)
    if pullback.like is None:
        return value, tuple(map(ungiven_alike, tangent, value))
    return tuple(map(runtime.like, pullback.rest, value)), tuple(map(runtime.like, pullback.rest, tangent))


def of_jvp(
    f_jvp: types.FunctionType, words: dict[str, int | tuple[int, ...]], args: tuple, count: int, active: tuple[int, ...],
    keywords: dict[str, Any],
) -> types.FunctionType:  # fmt: skip
    """A function with source that computes `jvp` for the last `count` of the `args`; the others are bound.

    def along(_, primals, tangents):
        x0, x1, = primals
        d0, d1, = tangents
        return f_jvp(x0, x1, x_dot=d0)
    """
    lead = len(args) - count
    variants: dict[Any, types.FunctionType] = vars(f_jvp).setdefault("unfolded", {})
    pattern = count, active, *map(id, (*args[:lead], *keywords.values()))
    if pattern in variants:
        return variants[pattern]

    def tangent(place: int | tuple[int, ...]) -> str:
        if isinstance(place, tuple):
            return f"({''.join(f'{tangent(k)}, ' for k in place)})"
        return f"d{place}" if place - lead in active else f"zeros(x{place})"

    space: dict[str, Any] = {"f_jvp": f_jvp, "zeros": runtime.zeros, "__name__": __name__}
    space |= {f"x{k}": value for k, value in enumerate(args[:lead])} | {f"w_{n}": v for n, v in keywords.items()}
    own = range(lead, len(args))
    passed = [f"x{k}" for k in range(len(args))] + [f"{n}=w_{n}" for n in keywords]
    passed += [f"{word}={tangent(place)}" for word, place in words.items()]
    text = (
        "def along(_, primals, tangents):\n"
        f"    {''.join(f'x{k}, ' for k in own)}= primals\n    {''.join(f'd{k}, ' for k in own)}= tangents\n"
        f"    return f_jvp({', '.join(passed)})\n"
    )
    variants[pattern] = defined(text, "along", f"<s2sgrad jvp {f_jvp.__name__} {id(space)}>", space)
    return variants[pattern]
