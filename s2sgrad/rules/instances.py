"""Classes of libraries whose instances a function makes of differentiated values, and then calls.

    s = CubicSpline(x, y); s(t)     ->     s_values = np.array(y); s = made(CubicSpline, x, s_values); at(s, x, s_values, t)
    norm(m, s).logpdf(x)            ->     norm.logpdf(x, m, s)

The instance is a constant; what it was made of goes to each call, which has a rule in it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

from s2sgrad.rules import arriving

_KNOWN: dict[Any, tuple[Callable[..., Any], Callable[..., Any]]] = {}
_METHODS: dict[Any, dict[str, Method]] = {}


class Method(NamedTuple):
    """What stands for a method of an object that `maker(*held)` makes: `function(*given, *held)`.

    `function`: None for the method of this name of the maker; `takes`: how many arguments it is given; `copies`: whether the
    object has copies of what it is made of; `make`: makes it, where it is the first argument, before those that are held.
    """

    takes: int
    function: Callable[..., Any] | None = None
    copies: bool = False
    make: Callable[..., Any] | None = None


def write(cls: Callable[..., Any], make: Callable[..., Any], at: Callable[..., Any]) -> None:
    """Say that `make(cls, places, values, ..)` makes instances of a class, and `at(instance, places, values, ..)` calls one;
    the first two arguments of the class are the places and the values."""
    _KNOWN[cls] = make, at


def of(cls: Any) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """What makes and calls the instances of a class; None where this is not known."""
    arriving.read()
    return _KNOWN.get(cls) if isinstance(cls, (type, types.FunctionType)) else None


def write_methods(maker: Any, methods: dict[str, Method]) -> None:
    """Say what stands for the methods of the objects that a function, or an object of a class, makes where it is called."""
    _METHODS[maker] = methods


def methods_of(maker: Any) -> dict[str, Method]:
    """What stands for the methods of what this makes; nothing where this is not known."""
    arriving.read()
    if isinstance(maker, (type, types.FunctionType)):
        return _METHODS.get(maker, {})
    return next((_METHODS[cls] for cls in type(maker).__mro__ if cls in _METHODS), {})
