"""What must hold in the user's world for a text to be right, and which functions it then runs over.

    def make(batch):
        def predict(w): ...                      the text for one `loss` is right for the next one: its cells hold a function
        def loss(w): return predict(w) - batch   of the same code, and a batch of the same kind
        return loss

Functions are known by their places: 0 is the differentiated function, then what is found from closure cells (`inner`: a
new closure brings new ones of the same code), then all others, which must stay the very objects that they are.  Nothing
here keeps a user's object alive.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.analysis.results import object_kind
from s2sgrad.driver.inner import Defaults, fit, is_gradient, steps
from s2sgrad.ir.lookups import Lookups, member_of
from s2sgrad.ir.unit import MISSING, Derived
from s2sgrad.primitives import libraries

_GONE: Any = type("GONE", (), {})()
_LASTING = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type(Ellipsis))
Functions = list[Any]  # and the gradients of some of them


def held(value: Any) -> tuple[Callable[[], Any], bool]:
    """A way back to an object that does not keep it alive, and whether there is one."""
    if isinstance(value, _LASTING) or _is_library(value):
        return (lambda: value), True
    try:
        return weakref.ref(value), True
    except TypeError:
        return (lambda: value), False


class Guards:
    """The conditions under which a text is right."""

    def __init__(
        self,
        entry: types.FunctionType,
        lookups: Lookups,
        strict: set[tuple[int, str]],
        derived: list[Derived],
        generated: list[tuple[Any, Kinds, Any]],
    ) -> None:
        self.functions: Functions = [entry]  # while the text is written; forgotten by `sealed`
        self.shareable = True
        self._lookups, self._strict = lookups, strict
        self._place: dict[int, int] = {id(entry): 0}
        self._theirs = set(map(id, _user_values(lookups)))
        self._refs: list[Callable[[], Any]] = []
        cells = [
            (function, name, binding.value)
            for (_, name), (function, _, binding) in lookups.names.items()
            if binding is not None and binding.where == "cell"
        ]
        self._steps = steps(cells, derived, generated, self._place, self._add, self._defaults)
        for _, kinds, compiled in generated:  # a key without the classes of the arguments cannot be asked for again
            self.shareable &= id(compiled.function) not in self._place or kinds.kept() is kinds

    def _add(self, function: Any) -> int:
        self._place[id(function)] = len(self.functions)
        self.functions.append(function)
        return self._place[id(function)]

    def place(self, function: Any) -> int:
        """The place of a function; one that is nowhere in a cell is known by its identity."""
        function = getattr(function, "__func__", function)
        known = self._place.get(id(function))
        if known is not None:
            return known
        if id(function) in self._theirs or _is_library(function):
            self._refs.append(weakref.ref(function))
        else:  # made while the text was written, and held by nobody else
            self._refs.append(lambda: function)
        return self._add(function)

    def known(self, function: Any) -> int | None:
        """The place of a function that has one."""
        return self._place.get(id(function))

    def held(self, value: Any) -> Callable[[], Any]:
        """A way back to an object; where that keeps it alive, this text is for the one gradient alone."""
        back, ok = held(value)
        self.shareable &= ok
        return back

    def helper(self, value: Any) -> Callable[[], Any] | None:
        """A way back to an object that the text reaches, if it is the user's; None for one of ours, to be kept."""
        if id(value) in self._theirs and not isinstance(value, _LASTING) and not _is_library(value):
            return self.held(value)
        ours = isinstance(value, types.FunctionType) or (
            _is_library(type(value)) and not isinstance(value, (types.MethodType, partial))
        )
        if not isinstance(value, _LASTING) and not _is_library(value) and not ours:
            self.shareable = False
        return None

    def sealed(self) -> Functions:
        """Turn the lookups into conditions, and let go of the functions, which are returned."""
        spaces: dict[int, _Space] = {}
        self._cells: list[tuple[int, int, int | None, Any]] = []
        for (owner, name), (function, _, binding) in self._lookups.names.items():
            place = self.place(function)
            code = function.__code__
            if name in code.co_freevars:
                index = code.co_freevars.index(name)
                accepts = None if binding is None else self._accepts(binding.value, (owner, name) in self._strict)
                self._cells.append((place, index, *(accepts or (None, None))))
                continue
            if name in code.co_varnames or name in code.co_cellvars:
                continue
            space = spaces.setdefault(id(function.__globals__), _Space(place))
            space.add(name, binding, lambda b, o=owner, n=name: self._accepts(b.value, (o, n) in self._strict))
        self._spaces = [(s.place, s.same, s.others, s.builtins, s.absent) for s in spaces.values()]
        plain = [(k, f) for k, f in enumerate(self.functions) if not is_gradient(f)]
        places = {id(f.__globals__): k for k, f in reversed(plain)}
        self._together = [(k, places[id(f.__globals__)]) for k, f in plain if places[id(f.__globals__)] != k]
        self._paths = [
            (self.held(owner), name, *self._accepts(value, False))
            for owner, name, value in self._lookups.attributes.values()
            if not _is_library(owner) and value is not MISSING
        ]
        self._missing = [
            (self.held(owner), name)
            for owner, name, value in self._lookups.attributes.values()
            if not _is_library(owner) and value is MISSING
        ]
        self._members = [(self.held(cls), name, self._member(value)) for cls, name, value in self._lookups.members.values()]
        modules = self._lookups.modules.items()
        self._modules = [(name, self.held(module)) for name, module in modules if not _is_library(module)]
        entry = self.functions[0]
        self._space, self._name = id(entry.__globals__), entry.__name__
        self._codes = [(k, weakref.ref(f.__code__)) for k, f in plain]
        called = any(b is not None and b.value is entry for _, _, b in self._lookups.names.values())
        self._entry = self._defaults(entry) if called else None
        self._others = [(k, self._defaults(f)) for k, f in plain if k and (f.__defaults__ or f.__kwdefaults__)]
        functions = self.functions
        del self.functions, self._lookups, self._place, self._strict
        return functions

    def _accepts(self, value: Any, strict: bool) -> tuple[int | None, Any]:
        """Either the place of the function that a name must stand for, or a predicate."""
        known = self._place.get(id(value))
        if known is not None:
            return known, None
        return None, self._predicate(value, strict)

    def _predicate(self, value: Any, strict: bool) -> Callable[[Any], bool]:
        if isinstance(value, types.MethodType):  # a new one at every access
            function, receiver = self.held(value.__func__), self.held(value.__self__)
            return lambda v: type(v) is types.MethodType and v.__func__ is function() and v.__self__ is receiver()
        if attributes_of(value) is not None:
            return of_kind(value)
        if strict or callable(value) or isinstance(value, (types.ModuleType, property)):
            back = self.held(value)
            return lambda v: v is back()
        return of_kind(value)

    def _defaults(self, function: types.FunctionType) -> Defaults:
        """What must hold of the defaults of a function that is called by its name."""
        positional, named = function.__defaults__ or (), function.__kwdefaults__ or {}
        return tuple(map(self._constant, positional)), {name: self._constant(v) for name, v in named.items()}

    def _constant(self, value: Any) -> Callable[[Any], bool]:
        if isinstance(value, (float, int, str, type(None))):  # the text holds it
            kind, shown = type(value), repr(value)
            return lambda v: type(v) is kind and repr(v) == shown
        back = self.held(value)
        return lambda v: v is back()

    def _member(self, value: Any) -> Callable[[Any], bool]:
        if isinstance(value, (staticmethod, classmethod)):
            kind, inner = type(value), self._member(value.__func__)
            return lambda v: type(v) is kind and inner(v.__func__)
        if isinstance(value, property):
            parts = [self._member(part) for part in (value.fget, value.fset)]
            return lambda v: type(v) is property and parts[0](v.fget) and parts[1](v.fset)
        return self._predicate(value, hasattr(type(value), "__get__"))

    # --- asking ---

    def fitting(self, entry: types.FunctionType) -> tuple[Functions, list[Any]] | None:
        """The functions by their places, and the gradients among them, compiled, if the text is right for this function."""
        if id(entry.__globals__) != self._space or entry.__name__ != self._name:
            return None
        functions: Functions = [entry]
        inside: list[Any] = []
        for step in self._steps:
            value = step.found(functions, inside)
            if value is None:
                return None
            functions.append(value)
        functions += [ref() for ref in self._refs]
        return (functions, inside) if None not in functions and self.hold(functions) else None

    def hold(self, functions: Functions) -> bool:
        """Whether the text is right over these functions."""
        if self._entry is not None and not fit(functions[0], self._entry):
            return False
        if not all(fit(functions[k], expected) for k, expected in self._others):
            return False
        for k, code in self._codes:
            if functions[k].__code__ is not code():  # reloaded in place
                return False
        for place, index, k, accepts in self._cells:
            try:
                value = functions[place].__closure__[index].cell_contents
            except ValueError:
                if k is not None or accepts is not None:
                    return False
                continue
            if value is not functions[k] if k is not None else accepts is None or not accepts(value):
                return False
        for place, other in self._together:
            if functions[place].__globals__ is not functions[other].__globals__:
                return False
        for place, same, others, builtins, absent in self._spaces:
            function = functions[place]
            space = function.__globals__
            for name, k in same:
                if space.get(name, _GONE) is not functions[k]:
                    return False
            for name, accepts in others:
                if name not in space or not accepts(space[name]):
                    return False
            for name, value in builtins:
                if name in space or function.__builtins__.get(name, _GONE) is not value:
                    return False
            for name in absent:
                if name in space or name in function.__builtins__:
                    return False
        for owner, name, k, accepts in self._paths:
            value = getattr(owner(), name, _GONE)
            if value is not functions[k] if k is not None else not accepts(value):
                return False
        for cls, name, accepts in self._members:
            owner = cls()
            if owner is None or not accepts(member_of(owner, name)):
                return False
        for name, module in self._modules:
            if sys.modules.get(name) is not module():
                return False
        return not any(hasattr(owner(), name) for owner, name in self._missing)


def _user_values(lookups: Lookups) -> Iterator[Any]:
    """The objects that are found by a name in the user's world, now and later."""
    yield from lookups.modules.values()
    values = [binding.value for _, _, binding in lookups.names.values() if binding is not None]
    values += [value for _, _, value in [*lookups.attributes.values(), *lookups.members.values()]]
    values += [cls for cls, _, _ in lookups.members.values()]
    for value in values:
        yield value
        if isinstance(value, (staticmethod, classmethod, types.MethodType)):
            yield value.__func__
        elif isinstance(value, property):
            yield from (value.fget, value.fset, value.fdel)


class _Space:
    """The names looked up in one module."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.seen: dict[str, bool] = {}
        self.same: list[tuple[str, int]] = []
        self.others: list[tuple[str, Any]] = []
        self.builtins: list[tuple[str, Any]] = []
        self.absent: list[str] = []

    def add(self, name: str, binding: Any, accepts: Callable[[Any], tuple[int | None, Any]]) -> None:
        if name in self.seen:
            return
        self.seen[name] = True
        if binding is None:
            self.absent.append(name)
        elif binding.where == "builtin":
            self.builtins.append((name, binding.value))
        else:
            k, predicate = accepts(binding)
            if k is not None:
                self.same.append((name, k))
            else:
                self.others.append((name, predicate))


def of_kind(value: Any) -> Callable[[Any], bool]:
    """Whether data are of the same kind as `value`: the text reads them anew at every call.

    What a text knows of data under a free name is their type and `object_kind`.
    """
    if value is None:
        return lambda v: v is None
    kind = object_kind(value)
    if type(value) is np.ndarray:
        dtype, shape = value.dtype, value.shape
        return lambda v: type(v) is np.ndarray and (
            (v.shape == shape and v.dtype == dtype) or object_kind(v) == kind
        )
    back, _ = held(type(value))
    if attributes_of(value) is not None and (quick := shapes_of((value,))) is not None:
        return lambda v: type(v) is back() and (shapes_of((v,)) == quick or object_kind(v) == kind)
    if type(value) in (float, int, bool, np.float64):
        return lambda v: type(v) is back()
    return lambda v: type(v) is back() and object_kind(v) == kind


def _is_library(value: Any) -> bool:
    """Whether a module, a class or a function belongs to a library, which nobody changes."""
    if not isinstance(value, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, type(np.sum))):
        return isinstance(value, np.ufunc)
    return libraries.is_installed(value)
