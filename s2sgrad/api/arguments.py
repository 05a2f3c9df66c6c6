"""What a gradient is called with: quick keys, and checks that the arguments can be differentiated.

df(np.ones(3), 2.0)   ->   found by ((float64, (3,)), float);   df(3)   ->   TypeError: ... pass a float
"""

from __future__ import annotations

from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import Unknown, may_carry
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.runtime.checks import Refusal, has_methods_of_its_own
from s2sgrad.runtime.closures import Closure

_LASTING = (np.ndarray, np.generic, float, int, str, type(None), FunctionType, BuiltinFunctionType, np.ufunc)


def require_floats(parameter: str, given: dict[str, Any], function: str, derivative: str) -> None:
    """Raise TypeError where the argument of a differentiated parameter of a function of this name has no floats;
    `derivative` is what was asked for."""
    name, _, place = parameter.partition("[")
    value, asked = given.get(name, ()), f"the {derivative} of `{function}` in `{parameter}` was asked for"
    if place:
        if int(place[:-1]) >= len(value):
            raise TypeError(
                f"{asked}, but `*{name}` has {len(value)} arguments in this call: pass more of them, or change argnums"
            )
        value = value[int(place[:-1])]
    if not has_floats(value):
        raise TypeError(f"{asked}, but its value is {_described(value)}: pass a float, or an array of floats")


def has_floats(value: Any) -> bool:
    """Whether a value is, or holds, floats, or may do so."""
    if isinstance(value, Closure):
        return _holds_floats(value)
    if type(value) is np.ndarray and value.dtype.kind == "f":
        return True
    if type(value) is float or type(value) is np.float64:
        return True
    (kind,) = kinds_of([value])
    if not isinstance(kind, Unknown):
        return may_carry(kind)
    held = attributes_of(value)
    if held is not None:
        return any(map(has_floats, held.values()))
    if isinstance(value, (list, tuple, dict)):
        return any(map(has_floats, value.values() if isinstance(value, dict) else value))
    if not hasattr(value, "__array_ufunc__"):
        return False
    return getattr(getattr(value, "dtype", None), "kind", "f") in "fc"


def _holds_floats(f: Closure) -> bool:
    """Whether what a function value holds carries floats: what it holds now, which a list may not hold later."""
    if f.carries is None:
        found, lasting = f.held_in(_floats_among)
        f.carries = found if lasting else None
        return found
    return f.carries


def _floats_among(holds: tuple) -> tuple[bool, bool]:
    """Whether there are floats among these, and whether that will stay so."""
    found, lasting = False, True
    for value in holds:
        here = has_floats(value)
        stays = value.carries is not None if type(value) is Closure else isinstance(value, _LASTING)
        if here and stays:
            return True, True
        found, lasting = found or here, lasting and stays
    return found, lasting


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return f"a {name} without floats" if isinstance(value, (list, tuple, dict)) else f"of type {name}"


def require_separate(given: dict[str, Any], written: tuple[str, ...], function: Any, outside: dict[str, Any]) -> None:
    """Raise ValueError where an argument that the function writes shares memory with another, or with an array outside.

    So it does where a list or a dict is in that argument twice, or in another one too.

    The function would see its own writes in the other argument; its gradient, which works on copies, would not.
    """
    leaves = {p: list(_mutable(v)) for p, v in {**outside, **given}.items()}
    for p in written:
        for x in leaves[p]:
            if has_methods_of_its_own(x):
                plain = "list" if isinstance(x, list) else "dict"
                what = f"writes its argument `{p}`, a {type(x).__name__} with methods of its own"
                raise Refusal(None, f"`{function.__name__}` {what}: pass a {plain}")
        for other, arrays in leaves.items():
            for k, x in enumerate(leaves[p]):
                for m, y in enumerate(arrays):
                    if (other != p or k < m) and _shared(x, y):
                        raise ValueError(
                            f"`{function.__name__}` writes its argument `{p}`, which shares memory with `{other}`: pass "
                            "a copy of one of them"
                        )


def _mutable(value: Any, depth: int = 6) -> Iterator[Any]:
    """The arrays, lists and dicts that a value is or holds."""
    if isinstance(value, (np.ndarray, list, dict)):
        yield value
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    if held is None and not isinstance(value, np.ndarray):
        held = (attributes_of(value) or {}).values()
    for item in held if depth and held is not None else ():
        yield from _mutable(item, depth - 1)


def _shared(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return np.may_share_memory(x, y)
    return x is y
