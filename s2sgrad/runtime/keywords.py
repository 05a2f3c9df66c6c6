"""What the parameters of functions get that only the running program knows, from calls with `*`, `**` or keywords.

>>> given(lambda t, c=0.3, w=2.0, z=1.0: t, 1, 0, ["w"])
[('first', 0), ('default', 0.3), ('words', 'w')]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from s2sgrad.runtime import call
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.closures import Closure

_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def given(
    f: Callable[..., Any], first: int, rest: int, words: Iterable[str], more: Iterable[str] = ()
) -> list[tuple[str, Any]]:
    """What each parameter of the function behind `f` gets, and where from: "captured", "first" and "rest" with a number,
    "words" and "more" with a name, or "default" with its value.  It goes up to the last parameter that is given.

    TypeError as Python raises it; Refusal where `f` takes one of these by keyword only, or does not tell its parameters."""
    words, held = [*words], len(f.holds) if isinstance(f, Closure) else 0
    named = [*words, *more]
    if isinstance(f, Closure) and f.is_read:
        order = f.order(first + rest, named)
    else:
        order = [*range(held + first + rest), *(_in_order(f, first + rest, named) if named else ())]
    return [k if isinstance(k, tuple) else _source(k, held, first, words) for k in order]


def _source(k: int | str, held: int, first: int, words: list[str]) -> tuple[str, Any]:
    """Where the argument comes from that is the number `k`, or has this name."""
    if isinstance(k, str):
        return "words" if k in words else "more", k
    if k < held:
        return "captured", k
    return ("first", k - held) if k < held + first else ("rest", k - held - first)


def _in_order(f: Callable[..., Any], filled: int, words: list[str]) -> list[Any]:
    """The parameters after the first `filled`, up to the last of `words`: their names, or their defaults."""
    said = f.said if isinstance(f, Closure) else f"`{its(f, '__name__', type(f).__name__)}`"
    places = _places(f, said)
    left = {p.name: p for p in places[filled:]}
    for k, word in enumerate(words):
        if word in words[:k] or (word not in left and word in {p.name for p in places}):
            raise TypeError(f"{said} got multiple values for argument {word!r}")
        if word not in left or left[word].kind is inspect.Parameter.POSITIONAL_ONLY:
            raise Refusal(None, f"{said}, which only the running program knows, is given `{word}` as a keyword, and has no "
                                "such parameter besides those for keywords only: pass it by position")  # fmt: skip
    out: list[Any] = []
    for name in list(left)[: 1 + max(map(list(left).index, words))]:
        if name not in words and left[name].default is inspect.Parameter.empty:
            raise TypeError(f"{said} is missing the argument {name!r}")
        out.append(name if name in words else ("default", left[name].default))
    return out


def _places(f: Callable[..., Any], said: str) -> list[inspect.Parameter]:
    """The parameters of a function that are filled by position; the defaults of one with captures, which may carry
    derivatives, are not known here."""
    if isinstance(f, Closure) and f.function is call:
        return _places(f.holds[0], said)[len(f.holds) - 1 :]
    try:
        places = inspect.signature(f.function if isinstance(f, Closure) else f).parameters.values()
    except (TypeError, ValueError):
        raise Refusal(None, f"{said} does not tell the names of its parameters: pass keywords by position") from None
    known = [p for p in places if p.kind in _PLACES]
    if not isinstance(f, Closure):
        return known
    return known[len(f.holds) :] + known[len(f.holds) - f.usual : len(f.holds)]


def code(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind a function value, which takes what that captures first; the cells of any other are constants."""
    return Closure(f.function if isinstance(f, Closure) else f, ())


def held(f: Callable[..., Any]) -> tuple:
    """What a function value captures."""
    return f.holds if isinstance(f, Closure) else ()
