"""The way into loops as one function that is written for the arguments of a call.

    run(x)      ->      def front(args):
                            try:
                                [_x0] = args
                                if not (type(_x0) is ndarray and _x0.dtype is .. and _x0.flags.carray and np is .. and ..):
                                    return NOT_HERE
                            except Exception:
                                return NOT_HERE
                            values = loops(_x0)
                            return (values[0], values[1],)

It asks what `Loops` asks of any call, and is written for arrays and numbers alone.  Other calls it leaves to `Loops`.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.compiled.lowered import Lowered, Part
from s2sgrad.driver.front import Bound
from s2sgrad.source import look_up

NOT_HERE = object()
Entry = Callable[[tuple], Any]
_NUMBERS = (float, bool, np.float64, np.float32, np.int64, np.bool_)


def nowhere(args: tuple) -> Any:
    """The entry of loops of which none ran yet."""
    return NOT_HERE


def written(
    function: types.FunctionType, args: tuple, tests: Callable[[Bound], list[str]], lowered: Lowered, **named: Any
) -> Entry:
    """The entry of the loops of a function for arguments like these, which are given by position.

    `tests`: what holds besides.  Of the names, `_loops` is called, and `_made` and `_all` are told that it ran.
    """
    bound, rest = Bound(function), function.__kwdefaults__ or {}
    given, free = [f"_x{k}" for k in range(len(args))], [f"_y{k}" for k in range(len(lowered.outside))]
    outside = [look_up(*read) for read in lowered.outside]
    asked = [_of_argument(n, a, bound) for n, a in zip(given, args, strict=True)]
    asked += [_of_argument(n, b and b.value, bound) for n, b in zip(free, outside, strict=True)]
    for name, value in rest.items():
        own = f"{bound(function)}.__kwdefaults__[{name!r}]"
        asked.append(f"{own} is {bound(value)}" if type(value) in (*_NUMBERS, type(None)) else None)
    if None in asked:
        return nowhere
    taken = [n for n, a in zip(given, args, strict=True) if a is not None]
    taken += [bound(v) for v in rest.values() if v is not None] + free
    reads = [f"        {n} = {_free(*read, bound)}\n" for n, read in zip(free, lowered.outside, strict=True)]
    result = _of_result(lowered.result, map("_values[{}]".format, itertools.count()), bound)
    asked += [f"len({bound(function)}.__kwdefaults__ or ()) == {len(rest)}", *tests(bound)]
    text = f"""
def front(args):
    try:
        [{", ".join(given)}] = args
{"".join(reads)}        if not ({" and ".join(map(str, asked))}):
            return _not_here
    except Exception:
        return _not_here
    _values = _loops({", ".join(taken)})
    _made.raised, _all.latest = 0, _made
    return {result}
"""
    return bound.written(text, _not_here=NOT_HERE, **named)


def _free(function: types.FunctionType, name: str, bound: Bound) -> str:
    """What a function reads under a free name, as an expression."""
    names = function.__code__.co_freevars
    return (
        f"{bound((function.__closure__ or ())[names.index(name)])}.cell_contents"
        if name in names
        else bound.read(function, name)
    )


def _of_argument(name: str, value: Any, bound: Bound) -> str | None:
    """What holds of arguments that the same loops take as they are; None where that is not known here."""
    kind = type(value)
    if kind is np.ndarray:
        ones = f"{name}.ndim == {value.ndim} and 1 not in {name}.shape"
        if 1 in value.shape:
            ones = f"[n == 1 for n in {name}.shape] == {[n == 1 for n in value.shape]}"
        return f"type({name}) is {bound(kind)} and {name}.dtype is {bound(value.dtype)} and {ones} and {name}.flags.carray"
    if kind is int:
        return f"type({name}) is {bound(kind)} and {-(2**63)} < {name} < {2**63}"
    return f"type({name}) is {bound(kind)}" if kind in _NUMBERS else f"{name} is None" if value is None else None


def _of_result(structure: Any, values: Iterator[str], bound: Bound) -> str:
    """A result as an expression of its leaves.

    >>> _of_result((tuple, (Part(None), None, (list, (Part(None),)))), iter("abc"), Bound(_of_result))
    '(a, None, [b])'
    """
    if structure is None:
        return "None"
    if isinstance(structure, Part):
        return next(values) if structure.make is None else f"{bound(structure.make)}({next(values)})"
    kind, parts = structure
    made = [_of_result(part, values, bound) for part in parts]
    if kind is tuple:
        return f"({', '.join(made)}{',' * (len(made) == 1)})"
    return f"[{', '.join(made)}]" if kind is list else f"{bound(kind)}([{', '.join(made)}])"
