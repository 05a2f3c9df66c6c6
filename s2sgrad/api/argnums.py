"""From the user's `argnums`, positions and names, to the names of parameters.

grad(f, 1), grad(f, "y"), grad(f, (0, -1))      of   def f(x, y): ...     ->     ("y",), ("y",), ("x", "y")
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sgrad.driver import cache

Argnums = int | str | tuple[int | str, ...]
Asked = int | str | Sequence[int | str]  # as a user may write them


def checked(argnums: Any) -> Argnums:
    """`argnums` as an int, a name, or a tuple of them; TypeError for anything else.

    >>> checked([np.int64(1), "w"])
    (1, 'w')
    >>> checked(1.0)
    Traceback (most recent call last):
    TypeError: argnums is a position (an int), a parameter's name, or a tuple of these, not 1.0
    """
    if isinstance(argnums, (list, tuple)):
        return tuple(_one(number, argnums) for number in argnums)
    return _one(argnums, argnums)


def _one(number: Any, argnums: Any) -> int | str:
    if isinstance(number, str):
        return number
    if isinstance(number, (int, np.integer)) and not isinstance(number, bool):
        return int(number)
    way = "; the arguments are for the function that is returned, `grad(f)(x)`" if isinstance(argnums, np.ndarray) else ""
    raise TypeError(f"argnums is a position (an int), a parameter's name, or a tuple of these, not {argnums!r}{way}")


def parameter_named(function: types.FunctionType, number: int | str, bound: int, by_name: dict[str, Any]) -> str:
    """The name of the parameter at a position, or with a name; elements of `*args` as `args[k]`.

    The first `bound` arguments are already bound, or are not counted, and those in `by_name` are bound by name.
    Raises TypeError if there is no such parameter.
    """
    parameters = cache.of(function.__code__).parameters
    name = function.__name__
    if isinstance(number, str):
        if number not in parameters.names:
            raise TypeError(f"{name} has no parameter named {number!r}, which argnums names{_names_note(parameters.names)}")
        return number
    positional = parameters.positional[bound:]
    variadic = parameters.variadic
    for k, positional_name in enumerate(positional):
        if positional_name in by_name:  # from here on keyword only
            positional, variadic = positional[:k], None
            break
    place = number + len(positional) if number < 0 else number
    if 0 <= place < len(positional):
        return positional[place]
    if variadic is not None and place >= len(positional):
        return f"{variadic}[{place - len(positional) + max(0, bound - len(parameters.positional))}]"
    count = f"{len(positional)} argument{'s' * (len(positional) != 1)}"
    note = _names_note(positional)
    if parameters.named:
        note += f"; of those by keyword it has {', '.join(parameters.named)}: `argnums={parameters.named[0]!r}`"
    if not positional and parameters.positional[:bound] == ("self",):
        own = function.__qualname__.rpartition("<locals>.")[2]
        note = f"; for the gradient in the object, pass it to the function of its class, `grad({own})(object)`"
    raise TypeError(f"argnums={number} is out of range: {name} has {count} by position{note}")


def _names_note(names: tuple[str, ...]) -> str:
    return f"; it has {', '.join(names)}" if names else ""
