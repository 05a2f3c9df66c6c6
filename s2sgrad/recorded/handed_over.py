"""Functions that a library calls, and that close over what a run follows: it becomes arguments, which `args=` hands over.

    odeint(lambda y, t: -d.k * y, y0, t)    ->    odeint(over, y0, t, args=(k,)),  over(y, t, k): the function, with k in d

The rule of the library's function gives the gradient in `args`.  What holds a handle is made anew for each call, on the way
to that handle alone, as it was when it was handed over.  A function that changes what outlives its calls is refused.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.recorded.applying import innermost
from s2sgrad.recorded.captures import require_no_captures
from s2sgrad.recorded.runs import below, refuse
from s2sgrad.recorded.states import State, are_same, held_by
from s2sgrad.recorded.values import bottom, follows, handles_in, is_handle, plain
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import attributes_of

CALLED: dict[str, Any] = {}
_TRIED = 3  # calls whose result is compared with that of the function itself


def by_args(said: str, functions: dict[str, Any], further: Any, takes: bool) -> tuple[dict[str, Any], tuple, State] | None:
    """(`functions` by name, what `args=` hands over, what they read) where they close over handles; else None.

    `further`: what `args=` hands over already; `takes`: there is such an argument.  More functions than one are refused.
    """
    found = {name: HandedOver(value) for name, value in functions.items()}
    if not any(follows(handle) for held in found.values() for handle in held.handles):
        return None
    if len(functions) > 1 or not takes:
        for name, value in functions.items():
            require_no_captures(said, f"its argument `{name}`", value, takes)
    ((name, held),) = found.items()
    given = further if isinstance(further, tuple) else () if further is None else (further,)
    state = State(held.value, frozenset(held.opened))
    state.require_apart(held.handles)
    return {name: held.function(state)}, (*given, *held.handles), state


def as_it_is(function: Any) -> Any:
    """The function as it is now: what it closes over may be bound anew, or be an array of the run that is written."""
    held = HandedOver(function)
    held.opened.update(key for key in held.parts if isinstance(held.thing(key), types.FunctionType))
    return _Made(held, {id(handle): _copied(bottom(handle)) for handle in held.handles}).of(function)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


class HandedOver:
    """A function, with the handles that it closes over, and what leads to them."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.parts: dict[int, list[tuple[Any, Any]]] = {}  # by identity: what holds handles, in the form of `_parts`
        self.handles: list[Any] = []
        self.kinds: dict[int, type] = {}
        above: dict[int, list[int]] = {}
        todo, seen = [value], dict[int, Any]()
        while todo:
            x = todo.pop()
            if id(x) in seen:
                continue
            seen[id(x)] = x
            if is_handle(x):
                self.handles.append(x)
                continue
            self.parts[id(x)], self.kinds[id(x)] = _parts(x), type(x)
            for _, part in self.parts[id(x)]:
                above.setdefault(id(part), []).append(id(x))
                todo.append(part)
        self.opened: set[int] = set()
        waiting = [*map(id, self.handles)]
        while waiting:
            new = set(above.get(waiting.pop(), ())) - self.opened
            self.opened |= new
            waiting += new
        self._seen = seen  # which keeps the identities

    def thing(self, key: int) -> Any:
        """What has this identity."""
        return self._seen[key]

    def function(self, state: State) -> Callable[..., Any]:
        """The function, which takes what it closes over behind its arguments; `state`: what else it reads."""
        run, tried = innermost(self.handles), itertools.count()

        def handed_over(*given: Any) -> Any:
            count = len(given) - len(self.handles)
            plainly = run is not None and run.open and not any(h.run is run for h in handles_in(given, []))
            values = map(_fixed, given[count:]) if plainly else given[count:]
            made = _Made(self, dict(zip(map(id, self.handles), values, strict=True)))
            state.require_same()
            judged = plainly and state.is_called and next(tried) < _TRIED
            try:
                with below(run) if run is not None and plainly else contextlib.nullcontext(), _unwritten():
                    y = CALLED["call"](made.of(self.value), *given[:count])
            except Exception as error:
                if judged and not isinstance(error, Refusal):  # raises the same, if it is the same function
                    _require_alike(None, CALLED["call"](self.value, *given[:count]))
                raise
            if judged:
                _require_alike(y, CALLED["call"](self.value, *given[:count]))
            made.require_unwritten()
            return y

        return handed_over


def _require_alike(y: Any, wanted: Any) -> None:
    """Refuse a function that gives something else where it is made anew: it asks which object it is, or a text shows it."""
    if not _are_alike(plain(y), plain(wanted)):
        refuse(Refusal(None, "a function that a library calls asks for the `id` or the `hash` of what is made anew for each "
                             "call, or prints it: use another key"))  # fmt: skip


def _are_alike(y: Any, wanted: Any) -> bool:
    if y is None or wanted is None:
        return y is wanted
    if isinstance(y, (list, tuple, dict)):
        parts = zip(_listed(y), _listed(wanted), strict=False)
        return len(y) == len(wanted) and all(_are_alike(plain(a), plain(b)) for a, b in parts)
    same = np.shape(y) == np.shape(wanted) and np.array_equal(y, wanted)
    return same or bool(np.all((y == wanted) | ((y != y) & (wanted != wanted))))


def _listed(parts: Any) -> list[Any]:
    return [*parts.values()] if isinstance(parts, dict) else [*parts]


def _fixed(value: Any) -> Any:
    """An array that nobody may write."""
    if type(value) is not np.ndarray:
        return value
    view = value.view()
    view.flags.writeable = False
    return view


@contextlib.contextmanager
def _unwritten() -> Iterator[None]:
    """Refuse a function that writes into an array of `_fixed`."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        refuse(Refusal(None, "a function that a library calls writes into an array that it closes over, which cannot be "
                             "followed: return a new array"))  # fmt: skip


class _Made:
    """The same functions, objects and containers with other values in the place of handles."""

    def __init__(self, of: HandedOver, values: dict[int, Any]) -> None:
        self.source, self.values = of, values
        self.made: dict[int, Any] = {}
        self.holding: list[tuple[Any, tuple]] = []

    def of(self, x: Any) -> Any:
        """What stands for a function, an object, a container or a handle."""
        if id(x) in self.values:
            return self.values[id(x)]
        if id(x) not in self.source.opened:
            return x
        if id(x) not in self.made:
            made = self._make(x, self.source.parts[id(x)], self.source.kinds[id(x)])
            self.made[id(x)] = made
            self.holding.append((made, held_by(made)))
        return self.made[id(x)]

    def _make(self, x: Any, parts: list[tuple[Any, Any]], kind: type) -> Any:
        made: Any
        if isinstance(x, types.FunctionType):
            return self._function(x, dict(parts))
        if isinstance(x, types.MethodType):
            return types.MethodType(*(self.of(part) for _, part in parts))
        if isinstance(x, functools.partial):
            whole = [(place, self.of(part)) for place, part in parts]
            named = {place: part for place, part in whole if isinstance(place, str)}
            function, *rest = (part for place, part in whole if not isinstance(place, str))
            return functools.partial(function, *rest, **named)
        if type(x) is tuple:
            return tuple([self.of(part) for _, part in parts])
        if type(x) is list:
            made = self.made[id(x)] = []
            made.extend(self.of(part) for _, part in parts)
        elif type(x) is dict:
            made = self.made[id(x)] = {}
            made.update((key, self.of(part)) for key, part in parts)
        else:
            made = self.made[id(x)] = object.__new__(kind)
            for name, part in parts:
                object.__setattr__(made, name, self.of(part))
        return made

    def _function(self, x: types.FunctionType, parts: dict[Any, Any]) -> types.FunctionType:
        cells = tuple(types.CellType() for _ in x.__closure__ or ())
        made = self.made[id(x)] = types.FunctionType(parts["code", 0], x.__globals__, x.__name__, None, cells)
        made.__dict__.update((name, self.of(part)) for (what, name), part in parts.items() if what == "attribute")
        made.__module__, made.__qualname__ = x.__module__, x.__qualname__
        for k, cell in enumerate(cells):
            if ("cell", k) in parts:
                cell.cell_contents = self.of(parts["cell", k])
        made.__defaults__ = tuple([self.of(part) for (what, _), part in parts.items() if what == "default"]) or None
        made.__kwdefaults__ = {name: self.of(part) for (what, name), part in parts.items() if what == "named"} or None
        return made

    def require_unwritten(self) -> None:
        """Refuse a function that changed what was made for a call alone."""
        for made, before in self.holding:
            if not are_same(held_by(made), before):
                refuse(Refusal(None, f"a function that a library calls writes into a {type(made).__name__} that holds what "
                                     "is differentiated, which cannot be followed"))  # fmt: skip


def _parts(x: Any) -> list[tuple[Any, Any]]:
    """What a function, an object or a container holds at once, with its place: what may be made anew with other values."""
    if isinstance(x, types.FunctionType):
        cells = [(("cell", k), cell.cell_contents) for k, cell in enumerate(x.__closure__ or ()) if cell != types.CellType()]
        defaults: Iterable[Any] = ((("default", k), v) for k, v in enumerate(x.__defaults__ or ()))
        named = ((("named", name), v) for name, v in (x.__kwdefaults__ or {}).items())
        attributes = ((("attribute", name), v) for name, v in x.__dict__.items())
        return [(("code", 0), x.__code__), *cells, *defaults, *named, *attributes]
    if isinstance(x, types.MethodType):
        return [(0, x.__func__), (1, x.__self__)]
    if isinstance(x, functools.partial):
        return [(-1, x.func), *enumerate(x.args), *x.keywords.items()]
    if type(x) is dict:
        return [*x.items()]
    if type(x) in (list, tuple):
        return [*enumerate(x)]
    return [] if isinstance(x, type) else [*(attributes_of(x) or {}).items()]
