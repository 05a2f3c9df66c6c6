"""Checks that a result can be differentiated, and descriptions of results that cannot.

grad(lambda x: print(x))(2.0)     ->     TypeError: `<lambda>` returns None, which has no derivative: `return` ...
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.guests import is_array_of_others
from s2sgrad.runtime.structure import attributes_of


class NoResult(Refusal):
    """A result without floats: `what` it is, and the arguments that the function has `written`."""

    def __init__(self, what: str, function: str = "", written: Iterable[str] = ()) -> None:
        self.what, self.named = what, bool(function)
        shown = f"`{function}`" if function else "the function"
        names = [f'"{name}"' for name in written]
        way = "`return` a float, or an array of floats"
        if names:
            named = names[0] if len(names) == 1 else f"({', '.join(names)})"
            way = f"`return` the value, or differentiate what it writes: `outputs={named}`"
        elif what == "a coroutine":
            way = "write it without `async`"
        elif what == "a generator":
            way = "write a function around it that sums what it yields"
        elif what == "None":
            way = "`return` the value (of a function that writes its arguments, name them in `outputs=`)"
        super().__init__(None, f"{shown} returns {what}, which has no derivative: {way}")


class ComplexResult(Refusal):
    """A complex result, of which no gradient is asked for but that of a holomorphic function."""

    def __init__(self) -> None:
        super().__init__(None, "the function returns complex numbers, which have no gradient: return a real number made of "
                               "them, say that it is holomorphic with `holomorphic=True`, or use `vjp`")  # fmt: skip


def without_floats(v: Any, numbers: bool = False) -> str:
    """A description of a value that contains no floats; empty where it contains some.

    With `numbers` integers count too: a function may return the int 0 on one path and floats on others.

    >>> without_floats((None, [2, "a"])), without_floats((None, [2, "a"]), numbers=True), without_floats({})
    ('a tuple without floats', '', 'an empty dict')
    """
    if v is None:
        return "None"
    if isinstance(v, (np.ndarray, np.generic)) and v.dtype != object:
        plain = isinstance(v, (np.str_, np.bytes_)) or v.dtype.kind not in ("fciub" if numbers else "fc")
        return described(v) if plain else ""
    if isinstance(v, (float, complex)) or (numbers and isinstance(v, int)):
        return ""
    items = _items(v)
    if items is None:
        is_array = has(v, "__array_ufunc__") and not is_array_of_others(type(v))
        return "" if is_array else described(v)
    if any(item is not v and not without_floats(item, numbers) for item in items):
        return ""
    return f"an empty {type(v).__name__}" if len(items) == 0 else f"{described(v)} without floats"


def _items(v: Any) -> Any:
    """The items of a container, an object array or an instance; None for anything else."""
    held: Any = attributes_of(v)
    held = v if held is None and isinstance(v, (list, tuple, dict, np.ndarray)) else held
    return held.ravel() if isinstance(held, np.ndarray) else held.values() if isinstance(held, dict) else held


def described(v: Any) -> str:
    """A description of a value for error messages.

    >>> described(None), described(3), described(np.arange(3)), described("a")
    ('None', 'an int', 'an array of int64', 'a str')
    """
    if v is None:
        return "None"
    if isinstance(v, np.ndarray):
        return f"an array of {v.dtype}"
    return described_type(type(v))


def described_type(kind: type) -> str:
    """A description of a value of this type: its name with an article."""
    return f"{'an' if kind.__name__[0] in 'aeiouA' else 'a'} {kind.__name__}"


def require_floats(result: Any, function: str) -> None:
    """Check that a result which depends on no differentiated argument contains floats; TypeError if it does not.

    >>> require_floats([1, 2], "f")
    Traceback (most recent call last):
    s2sgrad.runtime.results.NoResult: `f` returns a list without floats, which has no derivative: `return` a ...
    """
    if what := without_floats(result):
        raise NoResult(what, function)


def pair(result: Any, function: str) -> None:
    """Check that a function with `has_aux=True` returned a pair of a value and auxiliary data; TypeError if not.

    >>> pair(3.0, "f")
    Traceback (most recent call last):
    s2sgrad.runtime.results.NoPair: with has_aux=True `f` must return (value, aux), but it returns a float
    """
    if not isinstance(result, (tuple, list)):
        raise NoPair(described(result), function)
    if len(result) != 2:
        raise NoPair(f"{described(result)} of {len(result)}", function)


class NoPair(Refusal):
    """With `has_aux` the function must return a pair, but it returned `what`."""

    def __init__(self, what: str, function: str) -> None:
        super().__init__(None, f"with has_aux=True `{function}` must return (value, aux), but it returns {what}")


class NotWritten(Refusal):
    """An argument that `outputs` names but the function does not write."""

    def __init__(self, argument: str, what: str, function: str) -> None:
        way = "pass an array" if not what.startswith("an array") else "`return` what it computes"
        message = f"`{function}` does not write its argument `{argument}`, {what}, which `outputs` names: {way}"
        super().__init__(None, message)
