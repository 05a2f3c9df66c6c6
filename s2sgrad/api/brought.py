"""The results of functions with a gradient of their own: (value, pullback), and what the pullback returns.

@custom_gradient
def f(x, y): return x * y      ->      TypeError: `f` has a gradient of its own and must return (value, pullback), ...
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from s2sgrad.ir.signatures import signature
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.given import called, fitted, new, require_real
from s2sgrad.runtime.handed import ungiven
from s2sgrad.runtime.results import described


def pair_of(
    f: Callable[..., Any], args: tuple, keywords: dict[str, Any], lends: bool = False, of_complex: bool = False
) -> tuple[Any, Callable[..., Any]]:
    """The value and the pullback that `f` returns; raises TypeError for any other result.

    `lends`: `f` may not write its arguments, and its value must not alias them.  `of_complex`: the value may be complex; so
    it may if all arguments are, for only a text for complex numbers differentiates one.
    """
    pair = called(f"`{f.__name__}`", f, *args, **keywords) if lends else f(*args, **keywords)
    if isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1]):
        if not of_complex and not (args and all(map(_is_complex_or_none, args))):
            require_real(pair[0], f"`{f.__name__}`")
        return (new(pair[0]), pair[1]) if lends else pair
    what = described(pair)
    if isinstance(pair, tuple):
        what = f"a tuple of {len(pair)}" if len(pair) != 2 else f"a value and {described(pair[1])}"
    raise TypeError(
        f"`{f.__name__}` has a gradient of its own and must return its value and a function, the pullback: "
        f"`return y, pullback`; it returns {what}"
    )


def _is_complex_or_none(x: Any) -> bool:
    """Whether all numbers that may carry derivatives in an argument are complex."""
    if isinstance(x, (list, tuple, dict)):
        return all(map(_is_complex_or_none, x.values() if isinstance(x, dict) else x))
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in "cbiuSU"
    return x is None or isinstance(x, (complex, int, str))


def zeros_of(f: Callable[..., Any], args: tuple, own: int) -> tuple:
    """The zero cotangents of the arguments of `f` but the first `own`."""
    return tuple(ungiven(a, f"`{f.__name__}`", argument(f, k)) for k, a in enumerate(args[own:], own))


def cotangents(f: Callable[..., Any], pullback: Callable[..., Any], y_bar: Any, zeros: tuple, own: int = 0) -> tuple:
    """The results of a pullback for a cotangent of the value: one for each argument but the first `own`; `zeros` are the
    zero cotangents of these.  Raises TypeError or ValueError for any other result."""
    bars_in = y_bar if isinstance(y_bar, tuple) else (y_bar,)
    with taking(f.__name__, pullback, bars_in):
        bars = called(f"the pullback of `{f.__name__}`", pullback, *bars_in)
    return cotangents_of(f, bars, zeros, own)


def cotangents_of(f: Callable[..., Any], bars: Any, zeros: tuple, own: int = 0) -> tuple:
    """The results of a pullback, checked and one for each argument, as for `cotangents`."""
    name = f.__name__
    require_some(name, bars)
    bars = tuple(bars) if isinstance(bars, (list, tuple)) else (bars,)
    if len(bars) != len(zeros):
        raise ValueError(
            f"the pullback of `{name}` returned {len(bars)} gradients for {len(zeros)} arguments: return one for each, None "
            "where there is none"
        )
    pairs = enumerate(zip(bars, zeros, strict=True), own)
    return tuple(zero if zero is None else _fitted(f, k, new(bar), zero) for k, (bar, zero) in pairs)


def _fitted(f: Callable[..., Any], place: int, bar: Any, zero: Any) -> Any:
    said = f"the pullback of `{f.__name__}`"
    try:
        return fitted(bar, zero, said)
    except ValueError:
        return fitted(bar, zero, said, argument(f, place))


def argument(f: Callable[..., Any], place: int) -> str:
    """The name of the argument of a function at a position.

    >>> argument(lambda x, *ys: x, 0), argument(lambda x, *ys: x, 2)
    ('x', 'ys[1]')
    """
    names: list[str] = []
    for parameter in signature(its(f, "custom_gradient", f)).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return names[place] if place < len(names) else f"{parameter.name}[{place - len(names)}]"
        names.append(parameter.name)
    return names[place] if place < len(names) else f"number {place}"


def require_some(name: str, bars: Any) -> None:
    """Raise TypeError if a pullback returned None instead of a tuple: it has no `return`."""
    if bars is None:
        raise TypeError(
            f"the pullback of `{name}` returned None: `return` a gradient for each argument, (None,) where there is none"
        )


@contextlib.contextmanager
def taking(name: str, pullback: Callable[..., Any], bars: Sequence[Any], **keywords: Any) -> Iterator[None]:
    """Name the function in the error if its pullback does not accept these cotangents."""
    try:
        yield
    except TypeError as error:
        try:
            signature(pullback).bind(*bars, **keywords)
        except TypeError as misfit:
            raise TypeError(
                f"the pullback of `{name}` must take one cotangent for each value that it returns, {len(bars)} here: "
                f"{misfit}"
            ) from error
        except ValueError:  # no signature available
            pass
        raise
