"""Checks of functions that only the run knows: they write nothing that the text reads, and read nothing that it writes.

y = g(x)                             y = reads_only(g, "g", 7)(x)
layer.h = x; y = g(x)      ->        unreached(8, (layer,), g); ..
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.hooks import hook


def unreached(line: int, written: tuple, *others: Any) -> None:
    """Check that functions and objects that run as they are refer to none of the objects that are `written`, of which they
    would read a value without its derivative; TypeError where one may.

    >>> import s2sgrad
    >>> unreached(7, ([1.0],), np.sin, lambda x: x * 2.0)
    """
    if hook("refer_to")(others, written):
        names = " or ".join(sorted({f"the {type(w).__name__}" for w in written}))
        raise Refusal(line, f"a function that is only known at run time may read {names} that is written here, without "
                            "the derivative of what is written: pass it the value instead")  # fmt: skip


def unreferred(written: str, x: Any, *others: Any) -> None:
    """Check that the argument `x`, of which a gradient writes a copy, shares no memory with the others, and that
    no function among them refers to it; ValueError if one does.

    >>> import s2sgrad
    >>> kept = [1.0]
    >>> unreferred("acc", kept, 2.0, {"a": kept})
    Traceback (most recent call last):
    ValueError: the argument `acc` is written, and something else may refer to it: pass a copy of it
    """
    hook("unreferred")(written, x, others)


def reads_only(f: Callable[..., Any], name: str, line: int | None, *objects: Any) -> Callable[..., Any]:
    """`f`, wrapped so that it raises TypeError if it changes arrays, lists or dicts among its arguments, or attributes of
    `objects`, which the caller has loaded.

    >>> reads_only(list.pop, "take", 7)([1.0, 2.0])
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `take` writes its argument, which only its run shows: return a new value from it
    """

    def called(*args: Any, **keywords: Any) -> Any:
        before = [(x, x.copy()) for x in _writable([*args, *keywords.values()])]
        loaded = [(x, x.copy()) for x in _writable(map(vars, objects))]
        result = f(*args, **keywords)
        if not all(_same(now, then) for now, then in loaded):
            raise Refusal(line, f"`{name}` writes an attribute of an object that is given, which only its run shows: return "
                                "a new value from it")  # fmt: skip
        if not all(_same(now, then) for now, then in before):
            raise Refusal(line, f"`{name}` writes its argument, which only its run shows: return a new value from it")
        return result

    return called


def _writable(values: Any) -> list[Any]:
    """The arrays, lists and dicts in these values, each before its own content."""
    out: list[Any] = []
    for v in values:
        if isinstance(v, (list, tuple, dict)):
            inside = _writable(v.values() if isinstance(v, dict) else v)
            out += inside if isinstance(v, tuple) else [v, *inside]
        elif isinstance(v, np.ndarray):
            out.append(v)
    return out


def _same(now: Any, before: Any) -> bool:
    """Whether an array, list or dict is unchanged since the copy `before`."""
    if isinstance(now, np.ndarray):
        return bool(now.shape == before.shape and now.tobytes() == before.tobytes())
    parts = (now.items(), before.items()) if isinstance(now, dict) else (enumerate(now), enumerate(before))
    return len(now) == len(before) and all(a is b and x is y for (a, x), (b, y) in zip(*parts, strict=True))
