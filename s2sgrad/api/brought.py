"""What a function brings with a gradient of its own: the value and the pullback, and what this one returns.

    @custom_gradient
    def f(x, y): return x * y      ->      TypeError: `f` has a gradient of its own and must return (value, pullback), ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad.ir.signatures import signature
from s2sgrad.runtime.given import called, fitted, new
from s2sgrad.runtime.results import described


def pair_of(
    f: Callable[..., Any], args: tuple, keywords: dict[str, Any], lends: bool = False
) -> tuple[Any, Callable[..., Any]]:
    """The value and the pullback that `f` returns; TypeError where it returns anything else.

    `lends`: `f` cannot write its arguments, and its value shares no memory with them.
    """
    pair = called(f"`{f.__name__}`", f, *args, **keywords) if lends else f(*args, **keywords)
    if isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1]):
        return (new(pair[0]), pair[1]) if lends else pair
    what = described(pair)
    if isinstance(pair, tuple):
        what = f"a tuple of {len(pair)}" if len(pair) != 2 else f"a value and {described(pair[1])}"
    raise TypeError(
        f"`{f.__name__}` has a gradient of its own and must return its value and a function, the pullback: "
        f"`return y, pullback`; it returns {what}"
    )


def cotangents(name: str, pullback: Callable[..., Any], y_bar: Any, zeros: tuple) -> tuple:
    """What the pullback of a function returns for a cotangent of its value: one for each argument, of which `zeros` are
    zero cotangents; TypeError and ValueError where it is something else."""
    given = y_bar if isinstance(y_bar, tuple) else (y_bar,)
    try:
        bars = called(f"the pullback of `{name}`", pullback, *given)
    except TypeError as error:
        _require_fit(name, pullback, given, error)
        raise
    return cotangents_of(name, bars, zeros)


def cotangents_of(name: str, bars: Any, zeros: tuple) -> tuple:
    """What the pullback of a function returned, one cotangent for each argument, as `cotangents` says."""
    require_some(name, bars)
    bars = tuple(bars) if isinstance(bars, (list, tuple)) else (bars,)
    if len(bars) != len(zeros):
        raise ValueError(
            f"the pullback of `{name}` returned {len(bars)} gradients for {len(zeros)} arguments: return one for each, None "
            "where there is none"
        )
    said = f"the pullback of `{name}`"
    return tuple(zero if zero is None else fitted(new(bar), zero, said) for bar, zero in zip(bars, zeros, strict=True))


def require_some(name: str, bars: Any) -> None:
    """Raise TypeError where a pullback returned None alone: it has no `return`."""
    if bars is None:
        raise TypeError(
            f"the pullback of `{name}` returned None: `return` a gradient for each argument, (None,) where there is none"
        )


def _require_fit(name: str, pullback: Callable[..., Any], given: tuple, error: Exception) -> None:
    try:
        signature(pullback).bind(*given)
    except TypeError as misfit:
        raise TypeError(
            f"the pullback of `{name}` must take one cotangent for each value that it returns, {len(given)} here: {misfit}"
        ) from error
    except ValueError:  # it does not say what it takes
        pass
