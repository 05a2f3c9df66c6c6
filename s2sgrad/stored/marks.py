"""What tells an object of one process from an object of another: its content, as text.

    def f(x): return helper(x) * k      ->      the code of `f` and of `helper`, their defaults, the type of `k`

Shallow marks are strict: what they cannot tell raises `Unmarked`.  Deep ones follow every name that a function may read, and
take what they cannot tell by its type.  Nothing depends on the order of a set, nor on where an object lives.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.plain_classes import LONGEST, attributes_of
from s2sgrad.analysis.reached_classes import codes_of, content
from s2sgrad.analysis.results import object_kind
from s2sgrad.analysis.sizes import Size
from s2sgrad.errors import is_written
from s2sgrad.primitives import libraries
from s2sgrad.rules import table
from s2sgrad.runtime.traits import traits
from s2sgrad.source import brings_gradient

_MOST = 4000  # objects behind one function
_LARGEST = 1 << 20  # bytes of an array that is told by its content
_EXACT = (type(None), str, bytes, type(Ellipsis), np.dtype)
_NUMBERS = (bool, int, float, complex, np.generic)
CONSTANTS = (*_EXACT, *_NUMBERS)
_KEPT_ELSEWHERE = {"traits", "pairs"}  # what a generated function keeps of its own
_OF_EVERY_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__",
                   "__annotate_func__", "__annotations_cache__", "__static_attributes__", "_abc_impl",
                   "__abstractmethods__"}  # fmt: skip


class Unmarked(Exception):
    """An object that nothing here tells from others."""


def address(value: Any) -> tuple[str, str] | None:
    """Module and qualified name of an object of a library; None where it has none.

    >>> address(np.add), address(np.linalg.norm), address(list.append), address(lambda x: x)
    (('numpy', 'add'), ('numpy.linalg', 'norm'), ('builtins', 'list.append'), None)
    """
    for module, name in _addresses(value):
        if isinstance(module, str) and isinstance(name, str) and libraries.is_installed_package(module.partition(".")[0]):
            try:
                if at(module, name) is value:
                    return module, name
            except (ImportError, AttributeError):
                continue
    return None


def _addresses(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, types.ModuleType):
        yield value.__name__, ""
    elif isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType)):
        yield value.__objclass__.__module__, f"{value.__objclass__.__qualname__}.{value.__name__}"
    elif isinstance(value, np.ufunc):
        yield from ((module, value.__name__) for module in ("numpy", "scipy.special"))
    elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)) or type(value) is type(np.sum):
        yield getattr(value, "__module__", None), value.__qualname__
        yield getattr(value, "__module__", None), value.__name__


def at(module: str, name: str) -> Any:
    """The object of a library at an address."""
    found = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


def mark(value: Any, exact: bool) -> str:
    """The mark of one object, without what it refers to by name; `exact`: a number by its value, not by its type."""
    return Marks(deep=False).told(value, exact)


class Marks:
    """The marks of one function, or of one value: each object once, by a number from then on."""

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self._numbers: dict[Any, str] = {}
        self._alive: list[Any] = []
        self._waiting: collections.deque[tuple[str, Any, bool, frozenset[str]]] = collections.deque()

    def told(self, value: Any, exact: bool) -> str:
        """The mark of a value, with all that it consists of, as a digest."""
        digest = hashlib.sha256(self.of(value, exact).encode())
        while self._waiting:
            number, found, exactly, names = self._waiting.popleft()
            digest.update(f"{number}={self._inside(found, exactly, names)}\n".encode(errors="surrogatepass"))
        return digest.hexdigest()

    def of(self, value: Any, exact: bool = False, names: frozenset[str] = frozenset()) -> str:
        """The mark of a value; what it consists of follows."""
        if isinstance(value, _EXACT):
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, _NUMBERS):
            return f"{type(value).__module__}.{type(value).__qualname__} {value!r}" if exact else self.of(type(value))
        if callable(value) and table.given_before(value) is not None:
            raise Unmarked
        if (found := address(value)) is not None:
            return ".".join(found)
        key = (id(value), exact, names if isinstance(value, types.ModuleType) else None)
        if key not in self._numbers:
            if len(self._numbers) > _MOST:
                raise Unmarked
            self._numbers[key] = f"#{len(self._numbers)}"
            self._alive.append(value)
            self._waiting.append((self._numbers[key], value, exact, names))
        return self._numbers[key]

    def kind(self, kind: Any) -> str:
        """The mark of a kind."""
        if isinstance(kind, Kind):
            fields: tuple[dataclasses.Field, ...] = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
            return f"{type(kind).__name__}({', '.join(self.kind(getattr(kind, f.name)) for f in fields)})"
        if isinstance(kind, tuple):
            return f"({', '.join(map(self.kind, kind))})"
        if isinstance(kind, frozenset):
            return f"{{{', '.join(sorted(map(self.kind, kind)))}}}"
        if isinstance(kind, (Size, slice, range)):
            return repr(kind)
        return self.of(kind, True)

    def _inside(self, value: Any, exact: bool, names: frozenset[str]) -> str:
        """What a value consists of."""
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.ModuleType):
            found = sorted(names & vars(value).keys()) if self.deep else []
            return f"module {value.__name__} {[(n, self.of(vars(value)[n], False, names)) for n in found]}"
        if isinstance(value, type):
            return self._class(value)
        if type(value) is np.ndarray:
            return self._array(value, exact)
        for cls, parts in _PARTS.items():
            if type(value) is cls:
                return f"{cls.__name__} {[self.of(part, exact) for part in parts(value)]}"
        if type(value) in (tuple, list, dict, set, frozenset) and len(value) <= LONGEST:
            return self._container(value, exact)
        held = attributes_of(value)
        if held is not None and not hasattr(type(value), "compiled_for"):
            return f"{self.of(type(value))} {[(n, self.of(held[n], exact)) for n in sorted(held)]}"
        return self._other(value, exact)

    def _function(self, function: types.FunctionType) -> str:
        if brings_gradient(function):
            raise Unmarked
        own = {n: v for n, v in vars(function).items() if n not in _KEPT_ELSEWHERE}
        defaults = [self.of(v, True) for v in function.__defaults__ or ()]
        named = [(n, self.of(v, True)) for n, v in sorted((function.__kwdefaults__ or {}).items())]
        out = f"{_of_code(function.__code__)} {function.__name__} {defaults} {named}"
        out += f" {[(n, self.of(own[n], True)) for n in sorted(own)]}"
        if is_written(function.__code__.co_filename):
            out += _said(function)
        return f"{out} {self._behind(function)}" if self.deep else out

    def _behind(self, function: types.FunctionType) -> str:
        """What a function may read by a name."""
        codes = list(codes_of(function.__code__))
        names = frozenset(n for code in codes for n in (*code.co_names, *filter(_is_name, code.co_consts)))
        space = function.__globals__
        read = [(n, self.of(space[n], False, names)) for n in sorted(names & space.keys())]
        other = [(n, self.of(sys.modules[n], False, names)) for n in sorted(names & sys.modules.keys() - space.keys())]
        cells = [self.of(content(cell), False, names) for cell in function.__closure__ or ()]
        builtins = getattr(function, "__builtins__")  # noqa: B009  (typeshed lacks it)
        absent = [n for n in sorted(names - space.keys()) if n in builtins]
        return f"{space.get('__name__')} {read} {other} {cells} {absent}"

    def _class(self, cls: type) -> str:
        out = f"class {cls.__module__}.{cls.__qualname__} {[self.of(k) for k in (type(cls), *cls.__mro__[1:])]}"
        members = [n for n in sorted(vars(cls)) if n not in _OF_EVERY_CLASS] if self.deep else []
        return f"{out} {[(n, self.of(vars(cls)[n])) for n in members]}"

    def _array(self, value: np.ndarray, exact: bool) -> str:
        if not exact:
            return self.kind(object_kind(value))
        if value.dtype.hasobject or value.nbytes > _LARGEST:
            raise Unmarked
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"

    def _container(self, value: Any, exact: bool) -> str:
        items: list[Any]
        if isinstance(value, dict):
            items = [(self.of(key, True), self.of(item, exact)) for key, item in value.items()]
        else:
            items = [self.of(item, exact) for item in value]
            items = sorted(items) if isinstance(value, (set, frozenset)) else items
        return f"{type(value).__name__} {items}"

    def _other(self, value: Any, exact: bool) -> str:
        """What is told by its type at most."""
        if self.deep:
            primal = getattr(value, "primal", None) if hasattr(type(value), "compiled_for") else None
            return f"object {self.of(type(value))} {self.of(primal)}"
        if exact or callable(value):
            raise Unmarked
        return f"{self.of(type(value))} {self.kind(object_kind(value))}"


_PARTS: dict[Any, Any] = {
    types.MethodType: lambda v: (v.__func__, v.__self__),
    staticmethod: lambda v: (v.__func__,),
    classmethod: lambda v: (v.__func__,),
    property: lambda v: (v.fget, v.fset, v.fdel),
    functools.cached_property: lambda v: (v.func,),
    functools.partial: lambda v: (v.func, v.args, v.keywords),
    type(functools.cache(len)): lambda v: (v.__wrapped__,),
}


def _said(function: types.FunctionType) -> str:
    """What a function of ours says of itself."""
    said = traits(function)._replace(origin=None)
    if any(v is not None for v in (said.half_of, said.transposes, said.stands_for)):
        raise Unmarked
    stacks: Any = sorted(said.slots.stacks)
    shared: Any = sorted(said.slots.shared)
    return repr(said._replace(slots=said.slots._replace(stacks=stacks, shared=shared)))


def _is_name(constant: Any) -> bool:
    return isinstance(constant, str) and constant.isidentifier()


def _of_code(code: types.CodeType) -> str:
    """All of a code that a derivative follows from, with where it stands: errors name that."""
    constants = [_of_code(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    lines = hashlib.sha256(code.co_linetable + code.co_exceptiontable).hexdigest()
    where = code.co_filename, code.co_firstlineno, code.co_qualname
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return f"code {where} {names} {counts} {hashlib.sha256(code.co_code).hexdigest()} {lines} {constants}"


def _constant(value: Any) -> str:
    if isinstance(value, (tuple, frozenset)):
        parts = map(_constant, value)
        return f"{type(value).__name__} {sorted(parts) if isinstance(value, frozenset) else [*parts]}"
    return f"{type(value).__name__} {value!r}"
