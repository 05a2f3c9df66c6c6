"""What generated code reads by name: it is read again when the gradient is asked for, and must be the same then.

    @differentiable
    def f(x): return np.sum(SCALE * x)      y = f(x); SCALE[:] = 0.0; t.gradient(y, x)      ->      RuntimeError
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.analysis.instances import attributes_of

_WHOLE = 1 << 16  # larger arrays are compared in as many places
_MOST = 64  # items of a container
_DEEPEST = 3
_FIXED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, np.ufunc)

Same = Callable[[], bool]
Datum = tuple[str, Callable[[], Any], Any, frozenset[str]]
"""A name, how it is read, its value, and all attributes that are read."""


def data_of(function: types.FunctionType) -> list[Datum]:
    """The data that a generated function reads by name, itself or by its parts."""
    return list(_data(function, set()))


def arrays_in(data: list[Datum]) -> list[np.ndarray]:
    """The arrays in it."""
    return [a for _, _, value, attributes in data for a in _arrays(value, attributes, 0)]


def unchanged(data: list[Datum]) -> list[tuple[str, Same]]:
    """For every name: whether it is still as it is now."""
    return [(name, _same(read, value, attributes)) for name, read, value, attributes in data]


def require_unchanged(what: list[tuple[str, Same]], function: types.FunctionType) -> None:
    """Raise RuntimeError where data that was read by name has changed."""
    for name, same in what:
        if not same():
            raise RuntimeError(
                f"`{name}`, which `{function.__name__.removesuffix('_bwd')}` reads by name, was changed after the call "
                "whose gradient is asked for: pass it as an argument, or change it later"
            )


def _data(function: types.FunctionType, seen: set[int]) -> Iterator[Datum]:
    """What is neither function, class nor module."""
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
    """The globals and the attributes that a code reads."""
    codes = [code, *(c for c in code.co_consts if isinstance(c, types.CodeType))]
    read = [(i.opname, i.argval) for c in codes for i in dis.get_instructions(c) if isinstance(i.argval, str)]
    found = dict.fromkeys(name for how, name in read if how in ("LOAD_GLOBAL", "LOAD_NAME"))
    return tuple(found), frozenset(name for how, name in read if how.startswith(("LOAD_ATTR", "LOAD_METHOD")))


def _parts(value: Any, attributes: frozenset[str]) -> dict[Any, Any] | None:
    """The items of a small container, the attributes of an object that are read."""
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value[:_MOST]))
    if isinstance(value, dict):
        return value if len(value) <= _MOST else {}
    held = attributes_of(value)
    return None if held is None else {name: held[name] for name in attributes & held.keys()}


def _arrays(value: Any, attributes: frozenset[str], depth: int) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif depth < _DEEPEST:
        for part in (_parts(value, attributes) or {}).values():
            yield from _arrays(part, attributes, depth + 1)


def _same(read: Callable[[], Any], value: Any, attributes: frozenset[str], depth: int = 0) -> Same:
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
    kind = type(value)
    into = _item if isinstance(value, (list, tuple, dict)) else _attribute
    inner = [_same(functools.partial(into, read, key), part, attributes, depth + 1) for key, part in parts.items()]
    return lambda: type(read()) is kind and all(same() for same in inner)


def _item(read: Callable[[], Any], key: Any) -> Any:
    try:
        return read()[key]
    except LookupError:
        return None


def _attribute(read: Callable[[], Any], name: str) -> Any:
    return getattr(read(), name, None)


def _equal(now: Any, then: Any) -> bool:
    if now is then:
        return True
    return isinstance(then, (int, float, str, np.generic)) and type(now) is type(then) and now == then
