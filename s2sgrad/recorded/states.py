"""What outlives the calls of a function that it may read: as it was at one time, and whether it is still so.

    def rate(y, t): LOG.append(t); ..      ->      LOG is longer after a call: `rate` is another function each time

It is reached from the function by what this closes over, by its names outside, and by classes, objects and containers.  What
has a state that no one can compare, such as an iterator or a random generator, is refused.
"""

from __future__ import annotations

import collections
import functools
import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.primitives import libraries
from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import is_handle
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import stored_in

_FIXED = (
    str,
    bytes,
    int,
    float,
    complex,
    type(None),
    type(...),
    np.generic,
    np.dtype,
    np.ufunc,
    range,
    slice,
    types.CodeType,
)
_LISTED = (list, tuple, set, frozenset, collections.deque)
_MOST = 20_000  # things that are looked at
_OURS = __name__.rpartition(".")[0]


class State:
    """All that is reached from a function, with what each thing holds.

    >>> log = []
    >>> state = State(log.append)
    >>> state.changed() is None, log.append(1.0), state.changed()
    (True, None, [1.0])
    """

    def __init__(self, function: Any) -> None:
        self.handles: list[Any] = []
        self.held: dict[int, tuple[Any, tuple]] = {}
        self._contents: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        todo, seen = [function], set[int]()
        while todo:
            x = todo.pop()
            if id(x) in seen:
                continue
            seen.add(id(x))
            if is_handle(x):
                self.handles.append(x)
            elif isinstance(x, np.ndarray):
                self._contents[id(x)] = x, x.copy()
            elif not isinstance(x, _FIXED):
                holds = held_by(x)
                self.held[id(x)] = x, holds
                todo += [*holds, *_reached(x)]
        if len(seen) > _MOST:
            refuse(Refusal(None, "a function that a library calls reads too many objects to follow it"))

    def require_same(self, but: frozenset[int] = frozenset()) -> None:
        """Refusal where something holds something else now."""
        if (found := self.changed(but)) is not None:
            refuse(Refusal(None, f"a function that a library calls changes a {type(found).__name__} that outlives the call, "
                                 "or it was changed since, which cannot be followed"))  # fmt: skip

    def changed(self, but: frozenset[int] = frozenset()) -> Any:
        """What holds something else now, apart from what has these identities; None where all is as it was."""
        for key, (x, before) in self.held.items():
            if key not in but and not are_same(held_by(x), before):
                return x
        return next((x for x, before in self._contents.values() if not _is_equal(x, before)), None)


def are_same(one: tuple, other: tuple) -> bool:
    """Whether these are the same objects."""
    return len(one) == len(other) and all(a is b or _is_equal_key(a, b) for a, b in zip(one, other, strict=True))


def _is_equal_key(a: Any, b: Any) -> bool:
    """Whether two numbers or texts are alike, which may be made anew whenever they are read."""
    return type(a) is type(b) and isinstance(a, _FIXED) and bool(a == b)


def _is_equal(x: np.ndarray, before: np.ndarray) -> bool:
    return np.array_equal(x, before, equal_nan=x.dtype.kind in "fc")


def held_by(x: Any) -> tuple:
    """What a function, an object, a class or a container stores itself; Refusal for what has a state of another kind."""
    if (called := _held_by_callable(x)) is not None:
        return called
    if isinstance(x, dict):
        return *dict.keys(x), *dict.values(x), *(stored_in(x) or {}).values()
    if isinstance(x, _LISTED):
        return *x, *(stored_in(x) or {}).values()
    if isinstance(x, types.MappingProxyType):
        return tuple(x.values())
    described = hasattr(type(x), "__get__") and libraries.is_installed(type(x))
    if described or isinstance(x, types.ModuleType) or libraries.package_of(type(x)) == libraries.OURS:
        return ()
    if (cached := its(x, "__wrapped__", None)) is not None:
        return (cached,)
    stored = None if isinstance(x, (Iterator, types.CoroutineType)) else stored_in(x)
    if stored is None:
        shown = type(x).__name__
        refuse(Refusal(None, f"a function that a library calls reads a {shown}, which may be another one after each call: "
                             "pass what it gives, as a number or an array"))  # fmt: skip
    return *stored, *stored.values()


def _held_by_callable(x: Any) -> tuple | None:
    """The same for functions, methods, partials and classes; None for what is none of these."""
    if isinstance(x, types.FunctionType):
        if (x.__module__ or "").startswith(_OURS):
            return ()
        return (*_cells(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(), *x.__dict__.values(), *_outside(x))
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    if isinstance(x, types.BuiltinFunctionType):
        return () if isinstance(x.__self__, (types.ModuleType, type, type(None))) else (x.__self__,)
    if isinstance(x, functools.partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, type):
        members = () if libraries.is_installed(x) else tuple(vars(x).values())
        return tuple(m for m in members if not callable(m) and not hasattr(type(m), "__get__"))
    return None


def _cells(f: types.FunctionType) -> Iterator[Any]:
    return (cell.cell_contents for cell in f.__closure__ or () if cell != types.CellType())


def _outside(f: types.FunctionType) -> list[Any]:
    """What a function of the user's finds by its names outside, and those of modules of the user's there."""
    if libraries.is_installed(f):
        return []
    names = dict.fromkeys(itertools.chain.from_iterable(code.co_names for code in _codes(f.__code__)))
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    own = [
        m for m in found if isinstance(m, types.ModuleType) and not libraries.is_installed_package(m.__name__.split(".")[0])
    ]
    return [*found, *(vars(module)[name] for module in own for name in names if name in vars(module))]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def _reached(x: Any) -> list[Any]:
    """What may run when an object is used: the class, its methods, and what descriptors call."""
    if isinstance(x, type):
        return [] if libraries.is_installed(x) else [*x.__mro__, *vars(x).values()]
    if isinstance(x, (staticmethod, classmethod)):
        return [x.__func__]
    if isinstance(x, property):
        return [f for f in (x.fget, x.fset, x.fdel) if f is not None]
    if isinstance(x, functools.cached_property):
        return [x.func]
    return [type(x)]
