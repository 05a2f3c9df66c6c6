"""The recursive calls of a memoized function, in an order in which a loop can compute them.

    @cache                                     for n in calls_made(fib, memo, (6,)):     # 1, 0, 2, 3, ..
    def fib(n): return fib(n - 1) + ..    ->       memo[n] = memo[n - 1] + ..

>>> def fib(n, *, fib): return n if n < 2 else fib(n - 1) + fib(n - 2)
>>> calls_made(fib, {}, (4,)), calls_made(fib, {3: 2, 2: 1}, (4,))
([1, 0, 2, 3, 4], [4])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal


def calls_made(function: Callable[..., Any], memo: dict, given: tuple, /, **held: Any) -> list:
    """The arguments (tuples, where there are several parameters) of all recursive calls of a call, in topological order, so
    that each follows those that it needs.  Calls whose values are in `memo` are left out.  `function` calls itself by its
    first keyword."""
    found: dict[Any, Any] = {}
    if type(memo) is not dict:
        raise Refusal(None, f"values are kept in a {type(memo).__name__} here, which cannot be followed: hand over a dict")
    whole = [isinstance(a, (int, np.integer)) for a in given]
    name = function.__code__.co_varnames[function.__code__.co_argcount]

    def value(*args: Any) -> Any:
        key = args[0] if len(args) == 1 else args
        if key in memo:
            return memo[key]
        if key not in found:
            if not _is_constant(key):
                raise Refusal(None, f"`{name}` remembers its values under {key!r}, which may be differentiated: let it "
                                    "remember nothing, or take whole numbers and texts alone")  # fmt: skip
            if any(w and not isinstance(a, (int, np.integer)) for w, a in zip(whole, args, strict=True)):
                raise Refusal(None, f"`{name}` is called with a whole number and calls itself with "
                                    f"{key!r}, which cannot be followed: use `//`")  # fmt: skip
            found[key] = function(*args, **{name: value}, **held)
        return found[key]

    value(*given)
    return list(found)


def _is_constant(key: Any) -> bool:
    """Whether an argument carries no derivative: integers, strings, None, and tuples or frozensets of these."""
    if isinstance(key, (tuple, frozenset)):
        return all(map(_is_constant, key))
    return isinstance(key, (int, np.integer, np.bool_, str, bytes, type(None)))
