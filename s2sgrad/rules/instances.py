"""Classes of libraries whose instances a function makes of differentiated values, and then calls.

    s = CubicSpline(x, y); s(t)     ->     s_values = np.array(y); s = made(CubicSpline, s_values, x); at(s, s_values, t)
    norm(m, s).logpdf(x)            ->     norm.logpdf(x, m, s)

The instance is a constant; what it was made of goes to each call, which has a rule in it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from s2sgrad.rules import arriving
from s2sgrad.rules.table import general, of_complex_numbers
from s2sgrad.runtime.copies import data_of

_KNOWN: dict[Any, Maker] = {}
_METHODS: dict[Any, dict[str, Method]] = {}


class Method(NamedTuple):
    """What stands for a method of an object that `maker(*held)` makes: `function(*given, *held)`.

    `function`: None for the method of this name of the maker. `takes`: how many arguments it is given. `make`: makes it,
    where it is the first argument, before those that are held. `options`: how many more arguments it may be given.
    `arranged(maker, held, words)`: what is held as keywords, those of a tuple as a list; None where it does not fit.
    """

    takes: int
    function: Callable[..., Any] | None = None
    make: Callable[..., Any] | None = None
    options: int = 0
    arranged: Callable[[Any, list[Any], dict[str, Any]], dict[str, Any] | None] | None = None


class Maker(NamedTuple):
    """What stands for the making of an object of data, and for calls of it.

    `make(cls, data, ..)`: makes it. `at(instance, data, ..)`: calls it. `least`: how many arguments of the class have to be
    there. `data`: which of these carry derivatives (several are stacked). `methods`: `function(instance, data, ..)` by the
    name of a method. `orders`: the methods that make a derivative of it, whose order `nu=` tells the others.
    """

    make: Callable[..., Any]
    at: Callable[..., Any]
    least: int = 2
    data: tuple[int, ...] = (1,)
    methods: Mapping[str, Callable[..., Any]] = types.MappingProxyType({})
    orders: Mapping[str, int] = types.MappingProxyType({})


@general(data_of)
def _data_of(g, y, values, constants):
    return g, None


_data_of.linear_in("values")
of_complex_numbers(data_of)
_data_of.constant(
    "constants",
    "what is made of data has a derivative in these alone, not in their places nor in options: pass constants",
)


def write(cls: Callable[..., Any], maker: Maker) -> None:
    """Say what stands for the making of instances of a class, and for their calls."""
    _KNOWN[cls] = maker


def of(cls: Any) -> Maker | None:
    """What stands for the making and the calls of instances of a class; None where this is not known."""
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


def is_of_method(function: Any) -> bool:
    """Whether a function stands for a method of an object that a library's callable makes: it takes what that was made of.

    >>> is_of_method(len)
    False
    """
    return any(function is method.function for methods in _METHODS.values() for method in methods.values())
