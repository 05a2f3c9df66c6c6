"""Functions that a library calls, and that close over what a run follows: it becomes arguments, which `args=` hands over.

    odeint(lambda y, t: -d.k * y, y0, t)    ->    odeint(over, y0, t, args=(k,)),  over(y, t, k): the function, with k in d

The rule of the library's function gives the gradient in `args`.  What holds a handle is made anew for each call, on the way
to that handle alone; a function that writes into what was made so is refused.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad.recorded.applying import innermost
from s2sgrad.recorded.captures import require_no_captures
from s2sgrad.recorded.runs import below, refuse
from s2sgrad.recorded.values import follows, handles_in, is_handle
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import attributes_of

CALLED: dict[str, Any] = {}
_CONTAINERS = (list, tuple, dict)


def by_args(said: str, functions: dict[str, Any], further: Any, takes: bool) -> tuple[dict[str, Any], tuple] | None:
    """(`functions` by name, what `args=` hands over) where they close over handles; None where they close over none.

    `further`: what `args=` hands over already; `takes`: there is such an argument.  More functions than one are refused.
    """
    found = {name: Held(value) for name, value in functions.items()}
    if not any(follows(handle) for held in found.values() for handle in held.handles):
        return None
    if len(functions) > 1 or not takes:
        for name, value in functions.items():
            require_no_captures(said, f"its argument `{name}`", value, takes)
        return None
    ((name, held),) = found.items()
    given = further if isinstance(further, tuple) else () if further is None else (further,)
    return {name: held.over()}, (*given, *held.handles)


class Held:
    """What a function or an object holds, as deep as functions, objects and containers go."""

    def __init__(self, value: Any) -> None:
        self.value, self.handles = value, list[Any]()
        self._above: dict[int, list[Any]] = {}  # by identity: what holds this
        self._seen: dict[int, Any] = {}
        self._look(value)
        self._open = set[int]()  # what leads to a handle
        todo = [*map(id, self.handles)]
        while todo:
            above = [id(x) for x in self._above.get(todo.pop(), ()) if id(x) not in self._open]
            self._open.update(above)
            todo += above

    def _look(self, x: Any) -> None:
        todo = [x]
        while todo:
            x = todo.pop()
            if id(x) in self._seen:
                continue
            self._seen[id(x)] = x
            if is_handle(x):
                self.handles.append(x)
                continue
            for part in _parts(x):
                self._above.setdefault(id(part), []).append(x)
                todo.append(part)

    def over(self) -> Callable[..., Any]:
        """The function, which takes what it closes over behind its arguments."""

        run = innermost(self.handles)

        def handed_over(*given: Any) -> Any:
            count = len(given) - len(self.handles)
            made = _Made(self._open, dict(zip(map(id, self.handles), given[count:], strict=True)))
            plainly = run is not None and run.open and not any(h.run is run for h in handles_in(given, []))
            with below(run) if plainly else contextlib.nullcontext():
                y = CALLED["call"](made.of(self.value), *given[:count])
            made.require_unwritten()
            return y

        return handed_over


class _Made:
    """The same functions, objects and containers with other values in the place of handles."""

    def __init__(self, opened: set[int], values: dict[int, Any]) -> None:
        self.opened, self.values = opened, values
        self.made: dict[int, Any] = {}
        self.parts: list[tuple[Any, Sequence[Any]]] = []

    def of(self, x: Any) -> Any:
        """What stands for a function, an object, a container or a handle."""
        if id(x) in self.values:
            return self.values[id(x)]
        if id(x) not in self.opened:
            return x
        if id(x) not in self.made:
            self._make(x)
        return self.made[id(x)]

    def _make(self, x: Any) -> None:
        if isinstance(x, types.FunctionType):
            cells = tuple(types.CellType() for _ in x.__closure__ or ())
            made: Any = types.FunctionType(x.__code__, x.__globals__, x.__name__, None, cells)
            self.made[id(x)] = made
            made.__defaults__, made.__kwdefaults__ = self._all(x.__defaults__), self._all(x.__kwdefaults__)
            made.__module__, made.__qualname__ = x.__module__, x.__qualname__
            for cell, old in zip(cells, x.__closure__ or (), strict=True):
                if old != types.CellType():
                    cell.cell_contents = self.of(old.cell_contents)
        elif isinstance(x, types.MethodType):
            made = types.MethodType(self.of(x.__func__), self.of(x.__self__))
        elif isinstance(x, functools.partial):
            made = functools.partial(self.of(x.func), *map(self.of, x.args), **{k: self.of(v) for k, v in x.keywords.items()})
        elif type(x) is tuple:
            made = tuple(map(self.of, x))
        elif type(x) is list:
            made = self.made[id(x)] = []
            made.extend(map(self.of, x))
        elif type(x) is dict:
            made = self.made[id(x)] = {}
            made.update((k, self.of(v)) for k, v in x.items())
        else:
            made = self.made[id(x)] = object.__new__(type(x))
            for name, value in (attributes_of(x) or {}).items():
                object.__setattr__(made, name, self.of(value))
        self.made[id(x)] = made
        self.parts.append((made, _parts(made)))

    def _all(self, given: Any) -> Any:
        """Defaults, by place or by name."""
        if isinstance(given, dict):
            return {name: self.of(value) for name, value in given.items()}
        return None if given is None else tuple(map(self.of, given))

    def require_unwritten(self) -> None:
        """Refuse a function that changed what was made for a call alone."""
        for made, before in self.parts:
            after = _parts(made)
            if len(after) != len(before) or any(a is not b for a, b in zip(after, before, strict=True)):
                refuse(Refusal(None, f"a function that a library calls writes into a {type(made).__name__} that holds what is "
                                     "differentiated, which cannot be followed"))  # fmt: skip


def _parts(x: Any) -> Sequence[Any]:
    """What a function, an object or a container holds at once."""
    if isinstance(x, types.FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or () if cell != types.CellType()]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if type(x) in _CONTAINERS:
        return list(x.values() if isinstance(x, dict) else x)
    return [] if isinstance(x, type) else list((attributes_of(x) or {}).values())
