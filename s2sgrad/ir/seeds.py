"""The keyword for the cotangent of a call: `seed`, or `seed_` for a function with a parameter `seed`.

grad(f)(x, seed=g)             of   def f(x): ...             the cotangent is `g`
grad(f)(x, seed=3, seed_=g)    of   def f(x, seed): ...       f's own seed is 3, the cotangent is `g`
grad(f)(x, seed=3)             of   def f(x, **options): ...  might mean either: TypeError
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from s2sgrad.ir.signatures import Parameters


class Word:
    """The keyword for the cotangent, for a differentiated function with these parameters."""

    def __init__(self, function: str, parameters: Parameters) -> None:
        self.function = function
        self.name = word(parameters.names, parameters.keyworded is not None)
        self.ambiguous = parameters.keyworded is not None and "seed" not in parameters.names

    def taken(self, keywords: dict[str, Any]) -> Any:
        """Remove the cotangent from the keywords of a call; None if there is none.  TypeError if `seed` is ambiguous."""
        if self.ambiguous and "seed" in keywords:
            raise TypeError(
                f"`{self.function}` takes any keyword, so that `seed=` might be its own or the cotangent: write "
                f"`{self.name}=` for the cotangent, or bind its own with functools.partial"
            )
        return keywords.pop(self.name, None)


def tangent_words(function: types.FunctionType, parameters: Iterable[str]) -> dict[str, str]:
    """The keywords for the tangents of these parameters, distinct from all names in the function.

    >>> def f(x, y): x_dot = y; return x * x_dot
    >>> tangent_words(f, ("x", "y"))
    {'x': 'x_dot_', 'y': 'y_dot'}
    """
    code = function.__code__
    known = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
    out: dict[str, str] = {}
    for parameter in parameters:
        out[parameter] = f"{parameter}_dot"
        while out[parameter] in known:
            out[parameter] += "_"
    return out


def word(names: tuple[str, ...], takes_any: bool = False) -> str:
    """`seed` with as many `_` as necessary to differ from each parameter.

    >>> word(("x",)), word(("x", "seed")), word(("x", "options"), takes_any=True)
    ('seed', 'seed_', 'seed_')
    """
    found = "seed_" if takes_any else "seed"
    while found in names:
        found += "_"
    return found
