"""Handles that outlive their run: what the caller sees holds plain values afterwards.

    def f(net, x): net.last = x * x; ..     after the run     ->     net.last is the number, and no handle

Nothing is searched where nothing is left: every handle refers to its run, so the count of references tells.  What is not
found, a local of a closure that was kept, stays a handle, which stands for its value outside of runs.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable
from sys import getrefcount
from typing import Any

import numpy as np

from s2sgrad.recorded.memory import given_away
from s2sgrad.recorded.runs import Run
from s2sgrad.recorded.values import is_handle
from s2sgrad.runtime.structure import stored_in

_OWN = 3  # references to a run that is over: of the caller, of the argument, and of the question
_LEAVES = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic, type, types.ModuleType, types.CodeType)
_MOST = 20_000  # objects that are looked at


def are_left(run: Run) -> bool:
    """Whether handles of a run that is over are alive."""
    return getrefcount(run) > _OWN


def mend(run: Run, roots: Iterable[Any]) -> None:
    """Put values in the place of the handles of a run, in whatever these objects hold."""
    seen: set[int] = set()
    todo: deque[Any] = deque(roots)
    while todo and len(seen) < _MOST:
        x = todo.popleft()
        if isinstance(x, _LEAVES) or id(x) in seen or is_handle(x):
            continue
        seen.add(id(x))
        todo.extend(_mended(run, x))


def _mended(run: Run, x: Any) -> list[Any]:
    """What an object holds, after its own handles were replaced."""

    def settled(value: Any) -> Any:
        return given_away(value) if is_handle(value) and value.run is run else value

    if isinstance(x, dict):
        for key, value in list(x.items()):
            if settled(value) is not value:
                x[key] = settled(value)
        return list(x.values())
    if isinstance(x, (list, deque)):
        for k, value in enumerate(x):
            if settled(value) is not value:
                x[k] = settled(value)
        return list(x)
    if isinstance(x, (tuple, set, frozenset)):
        return list(x)
    if isinstance(x, types.CellType):
        return [_cell(x, settled)]
    if isinstance(x, types.FunctionType):
        return [*(x.__closure__ or ()), *(x.__defaults__ or ()), x.__dict__]
    if isinstance(x, types.MethodType):
        return [x.__self__]
    held = stored_in(x) or {}
    for name, value in list(held.items()):
        if settled(value) is not value:
            object.__setattr__(x, name, settled(value))
    return list((stored_in(x) or {}).values())


def _cell(cell: types.CellType, settled: Any) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:  # empty
        return None
    if settled(value) is not value:
        cell.cell_contents = settled(value)
    return cell.cell_contents
