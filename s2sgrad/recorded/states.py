"""What outlives the calls of a function that it may read: as it was at one time, and whether it is still so.

    def rate(y, t): LOG.append(t); ..      ->      LOG is longer after a call: `rate` is another function each time

It is reached from the function by what this closes over, by its names outside, and by classes, objects and containers.  What
has a state that no one can compare, such as an iterator or a random generator, is refused.
"""

from __future__ import annotations

import abc
import builtins
import collections
import functools
import random
import sys
import types
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.primitives import libraries
from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import bottom, follows, is_handle
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import stored_in

_OF_ABSTRACT_CLASSES = type(vars(abc.ABC)["_abc_impl"])
"""The registry of an abstract class: which classes it counts as its own, and no data."""
_FIXED = (str, bytes, int, float, complex, type(None), type(...), np.generic, np.dtype, np.ufunc, range, slice,
          types.CodeType, _OF_ABSTRACT_CLASSES)  # fmt: skip
_NUMBERING = (id, hash, object.__hash__)
"""What gives the number of an object, which another one with the same contents has not."""
_LISTED = (list, tuple, set, frozenset, collections.deque)
_MOST = 20_000  # things that are looked at
_LONGEST = 200  # of the texts that are taken for names
_OURS = __name__.rpartition(".")[0]


class State:
    """All that is reached from a function, with what each thing holds.

    >>> log = []
    >>> state = State(log.append)
    >>> state.changed() is None, log.append(1.0), state.changed()
    (True, None, [1.0])
    """

    def __init__(self, function: Any, made: frozenset[int] = frozenset()) -> None:
        self.made = made  # by identity: what is made anew for each call, so that it may change
        self.handles: list[Any] = []
        self.held: dict[int, tuple[Any, tuple]] = {}
        self.outside: list[tuple[types.FunctionType, tuple]] = []  # what functions find by names
        self.names: set[str] = set()
        self.texts: set[str] = set()  # by which they may find something, too: `getattr(law, "scale")`, `globals()[name]`
        self.asks_for_numbers, self.is_called = False, True  # by the library's function, and by no derivative yet
        self._contents: list[tuple[np.ndarray, tuple]] = []
        self._followed: list[tuple[np.ndarray, tuple]] = []  # the same of handles, which the run itself may write later
        self._modules: dict[str, types.ModuleType] = {}
        self._seen: set[int] = set()
        todo: list[Any] = [function]
        while todo:
            self._follow(todo)
            found = [m for module in self._modules.values() for m in self._members(module)]
            found += [m for f, _ in self.outside for m in _outside(f, self.texts)]
            todo = [m for m in found if id(m) not in self._seen]
        self.outside = [(f, _outside(f, self.texts)) for f, _ in self.outside]
        self._read = [(module, self._members(module)) for module in self._modules.values()]

    def _follow(self, todo: list[Any]) -> None:
        while todo:
            x = todo.pop()
            if id(x) in self._seen:
                continue
            self._seen.add(id(x))
            if len(self._seen) > _MOST:
                refuse(Refusal(None, "a function that a library calls reads too many objects to follow it"))
            if is_handle(x):
                self.handles.append(x)
                if isinstance(b := bottom(x), np.ndarray):
                    self._followed.append((b, _contents(b)))
                continue
            self.asks_for_numbers |= any(x is function for function in _NUMBERING)
            if isinstance(x, types.ModuleType):
                self._modules[x.__name__] = x
            elif isinstance(x, str):
                self.texts.update(_parts(x))
            elif not isinstance(x, _FIXED):
                holds = held_by(x)
                self.held[id(x)] = x, holds
                todo += [*holds, *_reached(x)]
            if isinstance(x, np.ndarray) and not x.dtype.hasobject:
                self._contents.append((x, _contents(x)))
            if isinstance(x, types.FunctionType) and not libraries.is_installed(x):
                self.names.update(_names(x.__code__))
                self.outside.append((x, ()))
                self.asks_for_numbers |= _asks_for_numbers(x)

    def _members(self, module: types.ModuleType) -> tuple:
        """What the functions may read of a module: of one that is installed, what has a state."""
        found = [vars(module)[name] for name in sorted((self.names | self.texts) & vars(module).keys())]
        self.asks_for_numbers |= any(x is function for x in found for function in _NUMBERING)
        installed = libraries.is_installed_package(libraries.package(module.__name__))
        return tuple(filter(_has_state, found) if installed else found)

    def require_same(self) -> None:
        """Refusal where something holds something else now."""
        if (found := self.changed()) is not None:
            refuse(Refusal(None, f"a function that a library calls changes a {type(found).__name__} that outlives the call, "
                                 "or it was changed since, which cannot be followed"))  # fmt: skip

    def require_unwritten(self) -> None:
        """Refusal where a call wrote an array of the run."""
        if any(_contents(x) != before for x, before in self._followed):
            refuse(Refusal(None, "a function that a library calls writes into an array of `args=`, which cannot be "
                                 "followed: return a new array"))  # fmt: skip

    def require_apart(self, handles: Iterable[Any]) -> None:
        """Refusal where what is made anew for each call, or a handle that is not handed over, is found in another way."""
        known, ways = {*map(id, handles)}, [*self.outside, *self._read]
        for key, (x, holds) in self.held.items():
            if not isinstance(x, type):
                ways.append((x, holds if key not in self.made else tuple(dict.keys(x)) if isinstance(x, dict) else ()))
        found = next((x for x, holds in ways if any(id(h) in self.made for h in holds)), None)
        if found is not None or any(id(h) not in known and follows(h) for h in self.handles):
            refuse(Refusal(None, "a function that a library calls finds what is differentiated in an object that cannot "
                                 "be made anew, as a set or a key: pass it as an argument"))  # fmt: skip

    def require_no_numbers_of_objects(self) -> None:
        """Refusal where a function asks for the `id` of an object: what holds a handle is another object in each call."""
        if self.asks_for_numbers:
            refuse(Refusal(None, "a function that a library calls asks for the `id` of what may be made anew for each call: "
                                 "use another key"))  # fmt: skip

    def changed(self) -> Any:
        """What holds something else now; None where all is as it was."""
        for key, (x, before) in self.held.items():
            if key not in self.made and not are_same(held_by(x), before):
                return x
        for f, before in self.outside:
            if not are_same(_outside(f, self.texts), before):
                return f
        for module, before in self._read:
            if not are_same(self._members(module), before):
                return module
        return next((x for x, before in self._contents if _contents(x) != before), None)


def _contents(x: np.ndarray) -> tuple:
    return x.shape, x.strides, x.dtype, np.ndarray.tobytes(x)


def _has_state(x: Any) -> bool:
    """Whether a thing of an installed module may change: a module, a container, an object, or a method of one."""
    if isinstance(x, (types.MethodType, types.BuiltinFunctionType)):
        return not isinstance(x.__self__, (types.ModuleType, type, type(None)))
    if isinstance(x, (types.ModuleType, dict, np.ndarray, *_LISTED)):
        return True
    return not callable(x) and not isinstance(x, (*_FIXED, Iterator)) and stored_in(x) is not None


def are_same(one: tuple, other: tuple) -> bool:
    """Whether these are the same objects."""
    return len(one) == len(other) and all(a is b or _is_equal_key(a, b) for a, b in zip(one, other, strict=True))


def _is_equal_key(a: Any, b: Any) -> bool:
    """Whether two numbers or texts are alike, which may be made anew whenever they are read."""
    return type(a) is type(b) and isinstance(a, _FIXED) and bool(a == b)


def held_by(x: Any) -> tuple:
    """What a function, an object, a class or a container stores itself; Refusal for what has a state of another kind."""
    if (called := _held_by_callable(x)) is not None:
        return called
    if isinstance(x, np.ndarray):
        return *(x.flat if x.dtype.hasobject else ()), *(stored_in(x) or {}).values()
    if isinstance(x, random.Random):
        return (*x.getstate()[1],)
    if isinstance(x, dict):
        return *dict.keys(x), *dict.values(x), *(stored_in(x) or {}).values()
    if isinstance(x, _LISTED):
        return *x, *(stored_in(x) or {}).values()
    if isinstance(x, types.MappingProxyType):
        return tuple(x.values())
    if (cached := its(x, "__wrapped__", None)) is not None:
        return (cached,)
    described = hasattr(type(x), "__get__") and libraries.is_installed(type(x))
    if described or libraries.package_of(type(x)) == libraries.OURS:
        return ()
    stored = None if isinstance(x, (Iterator, types.CoroutineType)) else stored_in(x)
    if stored is None:
        shown = type(x).__name__
        refuse(Refusal(None, f"a function that a library calls reads a {shown}, which may be another one after each call: "
                             "pass what it gives, as a number or an array"))  # fmt: skip
    return type(x), *stored, *stored.values()


def _held_by_callable(x: Any) -> tuple | None:
    """The same for functions, methods, partials and classes; None for what is none of these."""
    if isinstance(x, types.FunctionType):
        if (x.__module__ or "").startswith(_OURS):
            return ()
        return (x.__code__, *_cells(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(), *x.__dict__.values())
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    if isinstance(x, types.BuiltinFunctionType):
        return () if isinstance(x.__self__, (types.ModuleType, type, type(None))) else (x.__self__,)
    if isinstance(x, functools.partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, type):
        return () if libraries.is_installed(x) else tuple(m for name, m in vars(x).items() if _may_be_bound(name, m))
    return None


def _may_be_bound(name: str, member: Any) -> bool:
    """Whether a program may bind a member of a class anew: a run replaces the special ones, and properties, itself."""
    if isinstance(member, (types.FunctionType, staticmethod, classmethod)):
        return not name.startswith("__")
    return not hasattr(type(member), "__get__")


def _cells(f: types.FunctionType) -> Iterator[Any]:
    return (cell.cell_contents for cell in f.__closure__ or () if cell != types.CellType())


def _outside(f: types.FunctionType, texts: Collection[str]) -> tuple:
    """What a function of the user's finds by its names outside, or may find by texts."""
    names = dict.fromkeys((*_names(f.__code__), *sorted(texts)))
    return tuple([f.__globals__[name] for name in names if name in f.__globals__])


def _asks_for_numbers(f: types.FunctionType) -> bool:
    """Whether a function, or one in it, reads `id` or `hash` of Python's; the text of a data class does, in Python's own."""
    if f.__globals__.get("__name__") in sys.stdlib_module_names:
        return False
    names = (name for name in _names(f.__code__) if name not in f.__globals__)
    return any(getattr(builtins, name, None) is function for name in names for function in _NUMBERING)


@functools.lru_cache(maxsize=4096)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function and those in it read outside, or may read by their texts."""
    found = [*code.co_names]
    for part in _constants(code.co_consts):
        found += _names(part) if isinstance(part, types.CodeType) else _parts(part)
    return tuple(dict.fromkeys(found))


def _constants(parts: Iterable[Any]) -> Iterator[Any]:
    """The texts and the code among the constants of a function."""
    for part in parts:
        if isinstance(part, (str, types.CodeType)):
            yield part
        elif isinstance(part, (tuple, frozenset)):
            yield from _constants(part)


def _parts(text: str) -> list[str]:
    """The names that a text may stand for.

    >>> _parts("law.scale"), _parts("no name"), _parts("k")
    (['law', 'scale'], [], ['k'])
    """
    parts = text.split(".") if len(text) < _LONGEST else []
    return parts if all(map(str.isidentifier, parts)) else []


def _reached(x: Any) -> list[Any]:
    """What may run when an object is used: the class, its methods, and what descriptors call."""
    if isinstance(x, type):
        return [] if libraries.is_installed(x) else [type(x), *x.__mro__, *vars(x).values()]
    if isinstance(x, (staticmethod, classmethod)):
        return [x.__func__]
    if isinstance(x, property):
        return [f for f in (x.fget, x.fset, x.fdel) if f is not None]
    if isinstance(x, functools.cached_property):
        return [x.func]
    return [type(x)]
