"""Classes of libraries whose instances a function makes of differentiated values, and then calls.

    s = CubicSpline(x, y); s(t)     ->     s_values = np.array(y); s = made(CubicSpline, x, s_values); at(s, x, s_values, t)

The instance is a constant; what it was made of goes to each call, which has a rule in it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from s2sgrad.rules import arriving

_KNOWN: dict[Any, tuple[Callable[..., Any], Callable[..., Any]]] = {}


def write(cls: Callable[..., Any], make: Callable[..., Any], at: Callable[..., Any]) -> None:
    """Say that `make(cls, places, values, ..)` makes instances of a class, and `at(instance, places, values, ..)` calls one;
    the first two arguments of the class are the places and the values."""
    _KNOWN[cls] = make, at


def of(cls: Any) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """What makes and calls the instances of a class; None where this is not known."""
    arriving.read()
    return _KNOWN.get(cls) if isinstance(cls, (type, types.FunctionType)) else None
