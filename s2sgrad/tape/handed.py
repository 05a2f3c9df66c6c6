"""Functions that are handed to a derivative rule on a tape: a rule says nothing of the Arrays that they close over.

midpoint(lambda s: -k * s, 2.0)      ->      TypeError, where `midpoint` has a gradient of its own and a tape follows `k`
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from s2sgrad.runtime.structure import attributes_of
from s2sgrad.tape.recording import STATE, tracked
from s2sgrad.tape.values import Operand

_CONTAINERS = (list, tuple, set, frozenset)


def require_none_held(called: str, args: tuple, keywords: dict[str, Any]) -> None:
    """Raise TypeError if a function or an object among the arguments of a function with a rule holds an Array that a tape
    follows."""
    if not STATE.tapes:
        return
    for value in (*args, *keywords.values()):
        name = next(_followed(value, "", set()), None)
        if name is not None:
            refuse(called, f"`{name}`")


def refuse(called: str, what: str) -> None:
    """Raise TypeError for an Array that reaches a rule by a function."""
    raise TypeError(f"`{called}` is handed a function or an object that holds {what}, an Array that a tape follows, and its "
                    "rule gives no gradient for that: pass it as an argument of its own")  # fmt: skip


def _followed(value: Any, name: str, seen: set[int]) -> Iterator[str]:
    """The names of Arrays that functions and objects in a value hold, and that a tape follows."""
    if isinstance(value, Operand):
        if name and tracked(value.uid):
            yield name
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, _CONTAINERS):
        parts = [(name, item) for item in value]
    elif isinstance(value, types.FunctionType):
        parts = _of_function(value)
    elif isinstance(value, types.MethodType):
        parts = [("", value.__func__), ("self", value.__self__)]
    elif isinstance(value, functools.partial):
        parts = [("", value.func), *(("an argument of a partial", a) for a in value.args), *value.keywords.items()]
    else:
        parts = [*(attributes_of(value) or {}).items()]
    for inner, item in parts:
        yield from _followed(item, inner, seen)


def _of_function(f: types.FunctionType) -> list[tuple[str, Any]]:
    """What a function closes over, and its defaults, by name."""
    cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    defaults, count = f.__defaults__ or (), f.__code__.co_argcount
    names = f.__code__.co_varnames[count - len(defaults) : count]
    return [*((n, _content(cell)) for n, cell in cells), *zip(names, defaults, strict=True),
            *(f.__kwdefaults__ or {}).items()]  # fmt: skip


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
