"""Keywords for functions that only the running program knows, in the order of their parameters.

>>> unfilled(lambda t, c=0.3, w=2.0, z=1.0: t, 1, ["w"])
[('c', 0.3), ('w', 2.0)]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from s2sgrad.runtime import call
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.closures import Closure

_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def unfilled(f: Callable[..., Any], filled: int, *named: Iterable[str]) -> list[tuple[str, Any]]:
    """The parameters after the first `filled`, up to the last that is `named`, and their defaults; TypeError as Python
    raises it, Refusal where `f` takes one of these by keyword only, or does not tell its parameters."""
    words = [word for part in named for word in part]
    if not words:
        return []
    said = f.said if isinstance(f, Closure) else f"`{getattr(f, '__name__', type(f).__name__)}`"
    places = _places(f, said)
    left = {p.name: p for p in places[filled:]}
    for k, word in enumerate(words):
        if word in words[:k] or (word not in left and word in {p.name for p in places}):
            raise TypeError(f"{said} got multiple values for argument {word!r}")
        if word not in left or left[word].kind is inspect.Parameter.POSITIONAL_ONLY:
            raise Refusal(None, f"{said}, which only the running program knows, is given `{word}` as a keyword, and has no "
                                "such parameter besides those with defaults or for keywords only: pass it by "
                                "position")  # fmt: skip
    out: list[tuple[str, Any]] = []
    for name in list(left)[: 1 + max(map(list(left).index, words))]:
        if name not in words and left[name].default is inspect.Parameter.empty:
            raise TypeError(f"{said} is missing the argument {name!r}")
        out.append((name, left[name].default))
    return out


def _places(f: Callable[..., Any], said: str) -> list[inspect.Parameter]:
    """The parameters of a function that are filled by position."""
    if isinstance(f, Closure):
        inner, ahead = (f.holds[0], len(f.holds) - 1) if f.function is call else (f.function, len(f.holds))
        return _places(inner, said)[ahead:]
    try:
        return [p for p in inspect.signature(f).parameters.values() if p.kind in _PLACES]
    except (TypeError, ValueError):
        raise Refusal(None, f"{said} does not tell the names of its parameters: pass keywords by position") from None
