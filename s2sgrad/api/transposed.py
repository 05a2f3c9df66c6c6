"""The transpose of a pullback: its derivative in the cotangent, with the record as a constant.

    y, along = linearize(f, x)      ->      y, pullback = vjp(f, x); _, along = vjp(pullback, zeros(y))

For a function with its own gradient, the pullback that it returned is differentiated: a function of the cotangents with
captures.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.api import brought
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.recorded.pairs import Back
from s2sgrad.rules.helpers import fit
from s2sgrad.rules.picking import picked
from s2sgrad.runtime.handed import require_given
from s2sgrad.runtime.traits import declare, traits

PairIn = Callable[[Any, tuple, tuple[int, ...]], tuple[Any, Any, Any]]  # of function, arguments, positions
Along = Callable[[Any, tuple, tuple, dict[str, Any]], tuple[Any, Any]]  # of function, primals, tangents, keywords


def pair(pullback: runtime.Pullback, pair_in: PairIn) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`fwd(y_bar) -> (bars, saved)`, where `bars` are the results of the pullback, and `bwd(saved, bars_bar)`, the cotangent
    of `y_bar`; `pair_in` makes the pair of a function in some of its arguments."""
    shown = len(pullback.rest) - getattr(pullback, "hidden", 0)

    def fwd(*given: Any) -> tuple[Any, Any]:
        y_bar = pullback.cotangent(given)
        if traits(pullback.bwd).half_of is not None:
            out, back = _of_the_users(pullback, y_bar)
        elif isinstance(pullback.bwd, Back):
            out = pullback.bwd(pullback.saved, y_bar)
            back = pullback.bwd.transpose(pullback.saved)
        else:
            record = runtime.refilled(pullback.saved, pullback.bwd)
            first, second, _ = pair_in(pullback.bwd, (record, y_bar), (1,))
            try:
                out, saved = first(record, y_bar)
                back = functools.partial(_pulled_back, second, saved)
                _require_transpose(pullback, y_bar, out, back)
            except (NameError, IndexError, ValueError) as error:
                raise Unsupported(_REFUSED) from error
        bars = runtime.spread(pullback, out)
        value = bars[:shown] if pullback.like is None else tuple(map(runtime.like, pullback.rest, bars[:shown]))
        return value, (back, y_bar, bars)

    def bwd(saved: Any, cotangents: tuple) -> Any:
        back, y_bar, bars = saved
        given = (*map(fit, cotangents, bars[:shown]), *map(runtime.zeros, bars[shown:]))
        return fit(back(picked(given, pullback.places)), y_bar)

    declare(fwd, transposes=pullback)
    declare(bwd, transposes=pullback)
    return fwd, bwd


def _pulled_back(bwd: Callable[..., Any], saved: Any, bars: Any) -> Any:
    return bwd(runtime.refilled(saved, bwd), bars)


_SCALE = 2.0**-12  # scale of the trial cotangent: a user's pullback may clip
_REFUSED = "this writes what it has on record, which its transpose does not follow yet"


def _require_transpose(pullback: runtime.Pullback, y_bar: Any, out: Any, back: Callable[[Any], Any]) -> None:
    """Refuse a map that is not the transpose of a pullback: tests `<J^T w, v> == <w, J v>` for random w and v.

    It fails if the pullback reads its record under two names: with shadows, and with lists that functions share.
    """
    draws = np.random.default_rng(20)
    w, v = _drawn(y_bar, draws, _SCALE), _drawn(out, draws, 1.0)
    bars = pullback.bwd(runtime.refilled(pullback.saved, pullback.bwd), w)
    pairs = [*_paired(bars, v)], [*_paired(w, back(v))]
    with np.errstate(all="ignore"):
        left, right = (sum(float(np.sum(np.real(a * b))) for a, b in part) for part in pairs)
        size = sum(float(np.sum(np.abs(a * b))) for part in pairs for a, b in part)
    near = 1e-7 if all(np.result_type(a, b) == np.float64 for part in pairs for a, b in part) else 1e-2
    if abs(left - right) > near * size or np.isfinite(left) != np.isfinite(right):
        raise Unsupported(_REFUSED)


def _drawn(like: Any, draws: np.random.Generator, scale: float) -> Any:
    """Random numbers with the structure of a cotangent."""
    if isinstance(like, (list, tuple, dict)):
        return runtime.rebuilt(like, lambda part: _drawn(part, draws, scale))
    if isinstance(like, np.ndarray):
        return np.multiply(scale, draws.uniform(0.5, 1.5, like.shape)).astype(like.dtype)
    return None if like is None else type(like)(scale * draws.uniform(0.5, 1.5))


def _paired(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves at the same places of two cotangents; None and missing leaves are zero and skipped."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() & b.keys():
            yield from _paired(a[key], b[key])
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        for x, y in zip(a, b, strict=len(a) > 0 < len(b)):
            yield from _paired(x, y)
    elif a is not None and b is not None:
        yield a, b


def tangent(f: Any, primals: tuple, dots: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
    """The value and the tangent of a function with its own gradient, along tangents `dots`, None for zero."""
    y, pullback = runtime.vjp(f, *primals, **keywords)
    try:
        _, transpose = runtime.vjp(pullback, runtime.zeros(y))
    except S2SGradError as error:
        raise Unsupported(f"`{f.__name__}` brings its own gradient, and its tangent is made of the text of its pullback: "
                          f"{error.message}", error.place) from None  # fmt: skip
    bars = tuple(zero if dot is None else dot for zero, dot in zip(pullback.rest, dots, strict=True))
    return y, runtime.like(y, transpose(bars)[0])


def _of_the_users(pullback: runtime.Pullback, y_bar: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The results of the pullback that a function with its own gradient returned, and the transpose."""
    written, own, zeros = pullback.saved
    given = y_bar if isinstance(y_bar, tuple) else (y_bar,)
    with brought.taking(traits(pullback.bwd).half_of.__name__, written, given):
        returned, transpose = runtime.vjp(written, *given)
    bars = _checked(pullback, returned)

    def back(cotangents: Any) -> Any:
        cotangents = cotangents if len(bars) + own != 1 else (cotangents,)
        for bar, zero, dot in zip(_each(returned), zeros, cotangents[own:], strict=True):
            require_given(bar, zero, dot)
        parts = [fit(c, b) for c, b in zip(cotangents[own:], _each(returned), strict=True)]
        out = transpose(type(returned)(parts) if isinstance(returned, (list, tuple)) else parts[0])
        return out if isinstance(y_bar, tuple) else out[0]

    out = (None,) * own + bars
    return (out[0] if len(out) == 1 else out), back


def along_users(pullback: runtime.Pullback, y_bar: Any, y_bar_dot: Any, along: Along) -> tuple[Any, Any]:
    """The results of the `bwd` of a function with its own gradient, and their tangents along that of the cotangent."""
    written, own, _ = pullback.saved
    several = isinstance(y_bar, tuple)
    bars, dots = (y_bar, y_bar_dot or (None,) * len(y_bar)) if several else ((y_bar,), (y_bar_dot,))
    with brought.taking(traits(pullback.bwd).half_of.__name__, written, bars):
        parts = along(written, bars, dots, {})
    value, tangent = ((None,) * own + _checked(pullback, part) for part in parts)
    return (value[0], tangent[0]) if len(value) == 1 else (value, tangent)


def _checked(pullback: runtime.Pullback, returned: Any) -> tuple:
    """The results of a pullback, one cotangent per argument, with its structure and shape."""
    _, own, zeros = pullback.saved
    return brought.cotangents_of(traits(pullback.bwd).half_of, returned, zeros, own)


def _each(returned: Any) -> tuple:
    return tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
