"""Function values that read variables which are reassigned later: they take these as arguments instead of capturing them.

    f = lambda t: w * t              f = late(lambda_, ())       def lambda_(variables, t):
    w = 2.0                   ->     w = 2.0                         w = variables[0]
    y = f(x)                         y = now(f, (w,))(x)             return w * t

`now` binds the current values of the variables.  Applied to its own result, or to a container of function values, it rebinds
them to the new values.

>>> g = late(lambda variables, t: variables[0] * t, ())
>>> now(g, (2.0,))(3.0), now([now(g, (2.0,))], (5.0,))[0](3.0)
(6.0, 15.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from s2sgrad.runtime import add, zeros
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.structure import attributes_of, rebuilt

_HOLDING = (Closure, list, tuple, dict)


def late(function: Callable[..., Any], holds: tuple, usual: int = 0) -> Closure:
    """The function value that calls `function` with the variables from `now`, the captured values, then its arguments."""
    return Closure(function, holds, usual, is_late=True)


def now(value: Any, variables: tuple) -> Any:
    """A function value, or a container of some, with the variables that it reads bound to these values."""
    try:
        return _now(value, variables)
    except RecursionError:
        pass
    raise Refusal(None, "a list or a dict of functions holds itself, which cannot be differentiated")


def _now(value: Any, variables: tuple) -> Any:
    """`now`, without the check for cyclic containers; values that do not change keep their identity."""
    if type(value) is Closure:
        value = value if value.of is None else value.of
        if value.is_late:
            return Closure(value.function, (variables, *value.holds), value.usual, of=value)
        holds = tuple([_now(item, variables) for item in value.holds])
        return value if _are(holds, value.holds) else Closure(value.function, holds, value.usual)
    if isinstance(value, (list, tuple, dict)):
        items = rebuilt(value, lambda item: _now(item, variables))
        kept = _are(items.values(), value.values()) if isinstance(value, dict) else _are(items, value)
        return value if kept else items
    return value


def _are(made: Iterable[Any], given: Iterable[Any]) -> bool:
    return all(a is b for a, b in zip(made, given, strict=True))


def _reads(value: Any) -> bool:
    """Whether the variables come first in the captured values of `now(value, ..)`."""
    return isinstance(value, Closure) and (value.is_late or value.of is not None)


def held_part(g: Any, value: Any) -> Any:
    """The cotangent of `value`, extracted from that of `now(value, ..)`."""
    if g is None or not isinstance(value, _HOLDING):
        return g
    if not isinstance(value, Closure):
        return rebuilt(value, lambda item, part: held_part(part, item), g) if len(g) == len(value) else None
    if _reads(value):
        return g[1:] if value.of is None else (None, *g[1:])
    return tuple([held_part(part, item) for part, item in zip(g, value.holds, strict=True)])


def variables_part(g: Any, value: Any, variables: tuple) -> Any:
    """The cotangents of the variables, extracted from that of `now(value, variables)`; each has its variable's structure."""
    found = _variables_part(g, value)
    return zeros(variables) if found is None else tuple(map(_or_zeros, found, variables))


def _or_zeros(g: Any, x: Any) -> Any:
    return zeros(x) if g is None else g


def _variables_part(g: Any, value: Any) -> Any:
    """As `variables_part`; None is a zero."""
    if g is None or not isinstance(value, _HOLDING):
        return None
    if _reads(value):
        return g[0]
    items = value.holds if isinstance(value, Closure) else value
    out = None
    for k in () if len(g) != len(items) else items if isinstance(items, dict) else range(len(items)):
        out = add(out, _variables_part(g[k], items[k]))
    return out


def moved_with(held: Any, variables: Any, value: Any) -> Any:
    """The tangent of `now(value, ..)`, assembled from those of `value` and of the variables; None is a zero."""
    if isinstance(value, Closure):
        parts = (None,) * len(value.holds) if held is None else held
        if _reads(value):
            return (variables, *(parts if value.of is None else parts[1:]))
        return tuple([moved_with(part, variables, item) for part, item in zip(parts, value.holds, strict=True)])
    if isinstance(value, (list, tuple, dict)):
        parts = rebuilt(value, lambda item: None) if held is None else held
        return rebuilt(value, lambda item, part: moved_with(part, variables, item), parts)
    return held


def settled(value: Any) -> Any:
    """The result of a function that reads late variables, if no function is in it, which might read them later; else
    Refusal.

    >>> settled((2.0, [3.0]))
    (2.0, [3.0])
    """
    if _holds_functions(value):
        raise Refusal(None, "a function that reads variables which are bound anew returns a function, which cannot be "
                            "followed: give it their values as defaults")  # fmt: skip
    return value


def _holds_functions(value: Any) -> bool:
    """Whether there is, or may be, a function in a value."""
    if isinstance(value, np.ndarray):
        return value.dtype.hasobject
    if isinstance(value, (np.generic, float, int, str, bytes, type(None))):
        return False
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    held = attributes_of(value) if items is None else None
    items = items if held is None else held.values()
    return items is None or any(map(_holds_functions, items))
