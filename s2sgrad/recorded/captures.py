"""What a function or an object that is handed over holds, by name, where a run follows it.

midpoint(lambda s: -k * s, 2.0)     ->      `k`             odeint(Decay(k), y, t)      ->      `k`, its attribute
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from s2sgrad.errors import Captured
from s2sgrad.ir.signatures import signature
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import follows, handles_in, is_handle
from s2sgrad.runtime.structure import attributes_of


def require_no_captures(said: str, holder: str, value: Any, by_args: bool = False) -> None:
    """Refuse what carries a derivative within a function or an object: no pullback is asked for it.

    `said`: that there is none; `holder`: the argument that closes over it; `by_args`: `args=` may hand it over instead.
    """
    if held := dict.fromkeys(captures(value)):
        are, them, own = ("is", "it", "an argument of its own") if len(held) < 2 else ("are", "them", "arguments")
        what = f"{' and '.join(f'`{n}`' for n in held)}, which {holder} closes over and which {are} differentiated"
        way = f"by `args=({', '.join(held)},)`" if by_args else f"as {own}"
        refuse(Captured(f"{said} of {what}: pass {them} {way}", user_place().place()))


def captures(value: Any, seen: set[int] | None = None) -> Iterator[str]:
    """The names of what carries a derivative within functions and objects."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    for name, held in _held(value):
        if any(map(follows, handles_in(held, []))):
            yield name
        elif not is_handle(held):
            yield from captures(held, seen)


def _held(value: Any) -> list[tuple[str, Any]]:
    """What a function or an object holds, by name."""
    if isinstance(value, types.MethodType):
        return [*_held(value.__func__), *_held(value.__self__)]
    if isinstance(value, functools.partial):
        bound = zip(signature(value.func).parameters, value.args, strict=False) if value.args else ()
        return [*bound, *value.keywords.items(), *_held(value.func)]
    if isinstance(value, types.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        full = [(name, cell.cell_contents) for name, cell in cells if cell != types.CellType()]
        defaults = zip(reversed([*signature(value).parameters]), reversed(value.__defaults__ or ()), strict=False)
        return [*full, *defaults, *(value.__kwdefaults__ or {}).items()]
    held = attributes_of(value)
    own = [] if held is None else [m for m in vars(type(value)).values() if isinstance(m, types.FunctionType)]
    return [*(held or {}).items(), *(pair for member in own for pair in _held(member))]
