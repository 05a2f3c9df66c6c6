"""The transpose of a pullback: its derivative in the cotangent alone, what it has on record being constant.

    y, along = linearize(f, x)      ->      y, pullback = vjp(f, x); _, along = vjp(pullback, zeros(y))

Of a function with a gradient of its own it is the pullback that the function returned which is differentiated, as it stands
there: a function of the cotangents that closes over values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad import runtime
from s2sgrad.api import brought
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.rules.helpers import fit
from s2sgrad.rules.picking import picked

PairIn = Callable[[Any, tuple, tuple[int, ...]], tuple[Any, Any, Any]]  # of function, arguments, positions
Along = Callable[[Any, tuple, tuple, dict[str, Any]], tuple[Any, Any]]  # of function, primals, tangents, keywords


def pair(pullback: runtime.Pullback, pair_in: PairIn) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`fwd(y_bar) -> (bars, saved)`, where `bars` is what the pullback gives, and `bwd(saved, bars_bar)`, the cotangent of
    `y_bar`; `pair_in` gives the pair of a function in some of its arguments."""
    shown = len(pullback.rest) - getattr(pullback, "hidden", 0)
    hidden = pullback.rest[shown:]

    def fwd(*given: Any) -> tuple[Any, Any]:
        y_bar = pullback.cotangent(given)
        if hasattr(pullback.bwd, "half_of"):
            out, back = _of_the_users(pullback, y_bar)
        else:
            record = runtime.refilled(pullback.saved, pullback.bwd)
            first, second, _ = pair_in(pullback.bwd, (record, y_bar), (1,))
            out, saved = first(record, y_bar)
            back = lambda bars: second(runtime.refilled(saved, second), bars)  # noqa: E731
        bars = runtime.spread(pullback, out)[:shown]
        return bars if pullback.like is None else tuple(map(runtime.like, pullback.rest, bars)), (back, y_bar)

    def bwd(saved: Any, bars: tuple) -> Any:
        back, y_bar = saved
        given = tuple(map(fit, (*bars, *hidden), pullback.rest))
        return fit(back(picked(given, pullback.places)), y_bar)

    fwd.transposes = bwd.transposes = pullback  # type: ignore[attr-defined]
    return fwd, bwd


def tangent(f: Any, primals: tuple, dots: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
    """The value of a function with a gradient of its own and its tangent, along tangents of which None is 0."""
    y, pullback = runtime.vjp(f, *primals, **keywords)
    try:
        _, transpose = runtime.vjp(pullback, runtime.zeros(y))
    except S2SGradError as error:
        raise Unsupported(f"`{f.__name__}` brings its own gradient, and its tangent is made of the text of its pullback: "
                          f"{error.message}", error.place) from None  # fmt: skip
    given = tuple(zero if dot is None else dot for zero, dot in zip(pullback.rest, dots, strict=True))
    return y, runtime.like(y, transpose(given)[0])


def _of_the_users(pullback: runtime.Pullback, y_bar: Any) -> tuple[Any, Callable[[Any], Any]]:
    """What the pullback that a function with a gradient of its own returned gives, and the transpose of that."""
    written, own, _ = pullback.saved
    given = y_bar if isinstance(y_bar, tuple) else (y_bar,)
    returned, transpose = runtime.vjp(written, *given)
    bars = _checked(pullback, returned)

    def back(cotangents: Any) -> Any:
        cotangents = cotangents if len(bars) + own != 1 else (cotangents,)
        parts = [fit(c, b) for c, b in zip(cotangents[own:], _each(returned), strict=True)]
        out = transpose(type(returned)(parts) if isinstance(returned, (list, tuple)) else parts[0])
        return out if isinstance(y_bar, tuple) else out[0]

    out = (None,) * own + bars
    return (out[0] if len(out) == 1 else out), back


def along_users(pullback: runtime.Pullback, y_bar: Any, y_bar_dot: Any, along: Along) -> tuple[Any, Any]:
    """What the `bwd` of a function with a gradient of its own gives, and its tangent along that of the cotangent."""
    written, own, _ = pullback.saved
    several = isinstance(y_bar, tuple)
    given, dots = (y_bar, y_bar_dot or (None,) * len(y_bar)) if several else ((y_bar,), (y_bar_dot,))
    parts = along(written, given, dots, {})
    value, tangent = ((None,) * own + _checked(pullback, part) for part in parts)
    return (value[0], tangent[0]) if len(value) == 1 else (value, tangent)


def _checked(pullback: runtime.Pullback, returned: Any) -> tuple:
    """What a pullback returned, one cotangent for each argument, of its structure and shape."""
    _, _, zeros = pullback.saved
    return brought.cotangents_of(pullback.bwd.half_of.__name__, returned, zeros)


def _each(returned: Any) -> tuple:
    return tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
