"""Which user classes a function and its callees can refer to, and the attributes of their instances, from the source.

def f(x): return Layer(x).w      ->      Layer; its objects have `w`, which a method stores
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.runtime.asking import its

COMPUTED = (types.FunctionType, property, staticmethod, classmethod)
_NAMING = ("LOAD_GLOBAL", "LOAD_NAME")
_ASKING = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")


def is_named_tuple(target: Any) -> bool:
    """Whether a callable is a class of named tuples."""
    return isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields")


def stores_in(code: types.CodeType) -> Iterator[dis.Instruction]:
    """The stores of attributes in the code of a function."""
    return (i for i in dis.get_instructions(code) if i.opname == "STORE_ATTR")


def functions_of(cls: type) -> list[types.FunctionType]:
    """The functions among the members of a class: methods, and those of properties."""
    out: list[Any] = []
    for value in (v for k in cls.__mro__[:-1] for v in vars(k).values()):
        value = getattr(value, "func", value) if isinstance(value, functools.cached_property) else value
        out += [value.fget, value.fset] if isinstance(value, property) else [its(value, "__func__", value)]
    return [f for f in out if isinstance(f, types.FunctionType)]


def asks_class(found: Any) -> bool:
    """Whether a method refers to its class by `super()`."""
    function = found.fget if isinstance(found, property) else found
    return isinstance(function, types.FunctionType) and "__class__" in function.__code__.co_freevars


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from codes_of(part)


def reached(*begin: types.FunctionType | type) -> tuple[list[type], set[str]]:
    """(classes, attributes): the plain classes and named tuples that these and their callees can refer to, and the
    attributes that they access."""
    functions, classes = walked(begin)
    codes = (code for function in functions for code in codes_of(function.__code__))
    return classes, {i.argval for code in codes for i in dis.get_instructions(code) if i.opname in _ASKING}


def walked(begin: tuple[types.FunctionType | type, ...]) -> tuple[list[types.FunctionType], list[type]]:
    """The functions and the classes in reach, each in the order in which they are found."""
    seen: set[Any] = set()
    waiting: list[Any] = list(begin)
    classes: list[type] = []
    functions: list[types.FunctionType] = []
    while waiting:
        target = waiting.pop()
        if target in seen:
            continue
        seen.add(target)
        if isinstance(target, type):
            classes.append(target)
            waiting += functions_of(target)
            continue
        functions.append(target)
        waiting += [v for v in _named(target) if is_plain(v) or is_plain_class(v) or is_named_tuple(v)]
    return functions, classes


def _named(target: types.FunctionType) -> Iterator[Any]:
    """What stands outside of a function under the names in its code, and in that of the functions in it."""
    free = target.__code__.co_freevars  # those of nested functions may be variables of this one
    held = target.__globals__ | {n: content(cell) for n, cell in zip(free, target.__closure__ or (), strict=True)}
    for code in codes_of(target.__code__):
        found = {i.argval for i in dis.get_instructions(code) if i.opname in _NAMING}
        names = filter(str.isidentifier, found)  # not what pytest puts into an `assert`, as `@pytest_ar`
        named = [held[n] for n in (*sorted(names), *(n for n in code.co_freevars if n in free)) if n in held]
        modules = [m for m in named if isinstance(m, types.ModuleType)]
        yield from named
        yield from [vars(m)[n] for m in modules for n in code.co_names if n in vars(m)]


def content(cell: types.CellType, otherwise: Any = None) -> Any:
    """What a closure cell holds; `otherwise` while the variable is unbound."""
    try:
        return cell.cell_contents
    except ValueError:
        return otherwise
