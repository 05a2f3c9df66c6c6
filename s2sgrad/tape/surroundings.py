"""The data that generated code reads by name: it is read again for the gradient, and must not change in between.

@differentiable
def f(x): return np.sum(SCALE * x)      y = f(x); SCALE[:] = 0.0; t.gradient(y, x)      ->      RuntimeError
"""

from __future__ import annotations

import dis
import functools
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from s2sgrad.runtime.structure import reachable

_WHOLE = 1 << 16  # larger arrays are compared at about this many elements
_MOST = 64  # items of a container that are compared
_DEEPEST = 3
_ITEMS = (list, tuple, deque, Mapping, np.ndarray)
_FIXED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, np.ufunc)

Same = Callable[[], bool]
Datum = tuple[str, Callable[[], Any], Any, frozenset[str] | None]
"""A name, a function that reads it, its value, and the attributes that the code reads (None: unknown, any of them)."""


def data_of(function: types.FunctionType) -> list[Datum]:
    """The data that a generated function, or a function that it closes over, reads by name."""
    return list(_data(function, set()))


def objects_among(function: types.FunctionType, arguments: list[Any]) -> list[Datum]:
    """Arguments that a record does not copy, and defaults, as data that the generated function reads."""
    names = function.__code__.co_varnames
    data = [(names[k], a) for k, a in enumerate(arguments) if _is_shared(a)]
    defaults = function.__defaults__ or ()
    first = function.__code__.co_argcount - len(defaults)
    data += [(names[first + k], d) for k, d in enumerate(defaults) if first + k >= len(arguments)]
    data += (function.__kwdefaults__ or {}).items()
    return [(name, functools.partial(_itself, value), value, None) for name, value in data]


def _itself(value: Any) -> Any:
    return value


def _is_shared(value: Any, depth: int = 0) -> bool:
    """Whether a part of a value that `kept` does not copy is mutable: an object, or a container of another type."""
    if type(value) in (list, tuple, dict) and depth < _DEEPEST:
        return any(_is_shared(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))
    return not isinstance(value, (*_FIXED, int, float, str)) and reachable(value) is not None


def arrays_in(data: list[Datum]) -> list[np.ndarray]:
    """The arrays in these data."""
    return [a for _, _, value, attributes in data for a in _arrays(value, attributes, 0)]


def unchanged(data: list[Datum]) -> list[tuple[str, Same]]:
    """For each name a function that tells whether its data is still as it is now."""
    return [(name, _same(read, value, attributes)) for name, read, value, attributes in data]


def require_unchanged(what: list[tuple[str, Same]], function: types.FunctionType) -> None:
    """Raise RuntimeError if data that was read by name has changed."""
    for name, same in what:
        if not same():
            raise RuntimeError(
                f"`{name}`, which `{function.__name__.removesuffix('_bwd')}` reads, was changed after the call whose "
                "gradient is asked for: pass its arrays as arguments, or change it later"
            )


def _data(function: types.FunctionType, seen: set[int]) -> Iterator[Datum]:
    """As `data_of`; functions, classes and modules are skipped."""
    if id(function) in seen:
        return
    seen.add(id(function))
    names, attributes = _names(function.__code__)
    space = function.__globals__
    for name in names:
        value = space.get(name)
        if value is not None and not isinstance(value, _FIXED):
            yield name, functools.partial(space.get, name), value, attributes
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, types.FunctionType):
            if value.__code__.co_filename.startswith("<s2sgrad"):
                yield from _data(value, seen)
        elif not isinstance(value, _FIXED):
            yield name, functools.partial(getattr, cell, "cell_contents", None), value, attributes


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[tuple[str, ...], frozenset[str]]:
    """The globals and the attributes that a code object reads."""
    codes = [code, *(c for c in code.co_consts if isinstance(c, types.CodeType))]
    read = [(i.opname, i.argval) for c in codes for i in dis.get_instructions(c) if isinstance(i.argval, str)]
    globals_ = dict.fromkeys(name for how, name in read if how in ("LOAD_GLOBAL", "LOAD_NAME"))
    return tuple(globals_), frozenset(name for how, name in read if how.startswith(("LOAD_ATTR", "LOAD_METHOD")))


def _parts(value: Any, attributes: frozenset[str] | None) -> dict[Any, Any] | None:
    """The items of a small container, or the attributes of an object that are read."""
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value[:_MOST]))
    size: Any = np.size  # of any container
    if isinstance(value, _ITEMS) and size(value) > _MOST:
        return {}
    return reachable(value, attributes)


def _arrays(value: Any, attributes: frozenset[str] | None, depth: int) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    if depth < _DEEPEST:
        for part in (_parts(value, attributes) or {}).values():
            yield from _arrays(part, attributes, depth + 1)


def _same(read: Callable[[], Any], value: Any, attributes: frozenset[str] | None, depth: int = 0) -> Same:
    """A function that tells whether `read()` is still the `value` of now; large arrays are sampled."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        step = -(-value.size // _WHOLE) or 1
        then, shape = value.reshape(-1)[::step].copy() if value.flags.c_contiguous else value.ravel()[::step], value.shape

        def same_array() -> bool:
            now = read()
            if not isinstance(now, np.ndarray) or now.shape != shape or now.dtype != then.dtype:
                return False
            return bool(np.array_equal(now.reshape(-1)[::step], then, equal_nan=then.dtype.kind in "fc"))

        return same_array
    parts = _parts(value, attributes) if depth < _DEEPEST else None
    if parts is None:
        return lambda: _equal(read(), value)
    kind, size = type(value), len(value) if isinstance(value, _ITEMS) else None
    into = _attribute if size is None else _item
    inner = [_same(functools.partial(into, read, key), part, attributes, depth + 1) for key, part in parts.items()]
    return lambda: type(read()) is kind and (size is None or len(read()) == size) and all(same() for same in inner)


def _item(read: Callable[[], Any], key: Any) -> Any:
    try:
        container = read()
        return container.flat[key] if isinstance(container, np.ndarray) else container[key]
    except LookupError:
        return None


def _attribute(read: Callable[[], Any], name: str) -> Any:
    return getattr(read(), name, None)


def _equal(now: Any, then: Any) -> bool:
    if now is then:
        return True
    return isinstance(then, (int, float, str, np.generic)) and type(now) is type(then) and now == then
