"""Handles that outlive their run: what the caller sees holds plain values afterwards.

    def f(net, x): net.last = x * x; ..     after the run     ->     net.last is the number, and no handle
    def f(x): MEMO["y"] = x * x; ..         after the run     ->     so is MEMO["y"]; a run that reads it is refused

Nothing is searched where nothing is left: every handle refers to its run, so the count of references tells.  What is not
found, a local of a closure that was kept, stays a handle, which stands for its value outside of runs.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable
from sys import getrefcount
from typing import Any

import numpy as np

from s2sgrad.recorded.memory import given_away
from s2sgrad.recorded.runs import Root, Run
from s2sgrad.recorded.values import Array, Number, is_handle
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.structure import stored_in

_LEAVES = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic, types.ModuleType, types.CodeType)
_OURS = __name__.partition(".")[0]
_MOST = 20_000  # objects that are looked at
_DEFINED = 1 << 9  # the flag of such a class
_IMPORTED = ("__loader__", "__spec__")  # names of a module that Python binds, for what imported it
_PLACES = 64  # places outside of all arguments that are looked after

OVER = Run()
"""The run of what earlier calls left in such places."""

_LEFT: dict[int, tuple[Any, dict[int, Any]]] = {}  # by identity: the place, and the values that were left there


def _references(run: Run) -> int:
    return getrefcount(run)


def _own() -> int:
    """References to a run that is over: of the caller, of the argument, and of the question.  Python 3.14 counts fewer."""
    run = Run()
    return _references(run)


_OWN = _own()


def are_left(run: Run) -> bool:
    """Whether handles of a run that is over are alive; the caller refers to it by one local variable."""
    return getrefcount(run) > _OWN


def mend(run: Run, given: Iterable[Any], f: Any, space: dict[str, Any] | None) -> None:
    """Put values in the place of the handles of a run: in whatever the arguments hold, and the function, and its names."""
    seen = {id(space[name]) for name in _IMPORTED if space and name in space}  # in reach of these may be a whole process

    def settled(value: Any) -> Any:
        return given_away(value) if is_handle(value) and value.run in (run, OVER) else value

    _walk(given, seen, lambda x: _mended(x, settled))

    def noted(x: Any) -> list[Any]:
        left: dict[int, Any] = {}

        def noted(value: Any) -> Any:
            new = settled(value)
            if new is not value:
                left[id(new)] = new
            return new

        held = _mended(x, noted)
        if left and run.level == 0:
            _LEFT.setdefault(id(x), (x, {}))[1].update(left)
        return held

    _walk((f, space), seen, noted)


def _walk(roots: Iterable[Any], seen: set[int], visit: Callable[[Any], list[Any]]) -> None:
    """Visit all that can be reached, once; a visit gives what an object holds.  In an object of this package only the
    function is looked for that the user wrote."""
    todo: deque[Any] = deque(roots)
    while todo and len(seen) < _MOST:
        x = todo.popleft()
        if isinstance(x, _LEAVES) or id(x) in seen or is_handle(x) or (isinstance(x, type) and not _is_open(x)):
            continue
        seen.add(id(x))
        ours = _home(x).partition(".")[0] == _OURS
        todo.extend([its(x, "__wrapped__", None)] if ours else visit(x))


def recall() -> None:
    """Before a run: make what earlier calls left outside of their arguments handles again, of a run that is over.

    A function that finds its own result of an earlier call there is told, for the derivative of that is gone."""
    for key, (x, values) in list(_LEFT.items()):
        found: dict[int, Any] = {}

        def marked(value: Any, values: dict[int, Any] = values, found: dict[int, Any] = found) -> Any:
            if id(value) not in values:
                return value
            found[id(value)] = value
            return Array(value, Root(value), OVER) if isinstance(value, np.ndarray) else Number(value, 0, OVER)

        _mended(x, marked)
        if found:
            _LEFT[key] = x, found
        else:
            del _LEFT[key]


def release() -> None:
    """After the run: what was left there is plain again; of many places, the first keep their handles."""
    if not _LEFT:
        return
    for key in list(_LEFT)[: max(0, len(_LEFT) - _PLACES)]:
        del _LEFT[key]
    for x, _ in list(_LEFT.values()):
        _mended(x, lambda value: value.value if is_handle(value) and value.run is OVER else value)


def _mended(x: Any, settled: Callable[[Any], Any]) -> list[Any]:
    """What an object holds, after its own handles were replaced."""
    if isinstance(x, dict):
        for key, value in list(x.items()):
            if (new := settled(value)) is not value:
                x[key] = new
        return list(x.values())
    if isinstance(x, (list, deque)):
        for k, value in enumerate(x):
            if (new := settled(value)) is not value:
                x[k] = new
        return list(x)
    if isinstance(x, (tuple, set, frozenset)):
        return list(x)
    if isinstance(x, type):
        for name, value in list(vars(x).items()):
            if (new := settled(value)) is not value:
                type.__setattr__(x, name, new)
        return list(vars(x).values())
    if isinstance(x, types.CellType):
        return [_cell(x, settled)]
    if isinstance(x, types.FunctionType):
        return [x.__closure__, x.__defaults__, x.__kwdefaults__, x.__dict__]
    if isinstance(x, types.MethodType):
        return [x.__self__]
    held = stored_in(x) or {}
    for name, value in list(held.items()):
        if (new := settled(value)) is not value:
            object.__setattr__(x, name, new)
    return list((stored_in(x) or {}).values())


def _home(x: Any) -> str:
    """The module of a function, or of the class of an object."""
    named = x.__module__ if isinstance(x, types.FunctionType) else type(x).__module__
    return named if isinstance(named, str) else ""


def _is_open(cls: type) -> bool:
    """Whether attributes of a class may be written: of one that Python code defines."""
    return bool(cls.__flags__ & _DEFINED)


def _cell(cell: types.CellType, settled: Any) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:  # empty
        return None
    if (new := settled(value)) is not value:
        cell.cell_contents = new
    return cell.cell_contents
