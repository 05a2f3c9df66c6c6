"""Which user classes a function and its callees can refer to, and the attributes of their instances, from the source.

def f(x): return Layer(x).w      ->      Layer; its objects have `w`, which a method stores
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from s2sgrad.analysis.plain_classes import is_plain_class, lineage, own_protocols
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.primitives import spellings

COMPUTED = (types.FunctionType, property, staticmethod, classmethod)
_BINARY = [operation.__name__.strip("_") for _, operation in spellings.OPERATORS.values()]
OPERATORS_FOLLOWED = {f"__{kind}{word}__" for kind in ("", "r", "i") for word in _BINARY} | {
    "__neg__", "__pos__", "__invert__", "__abs__", "__len__", "__getitem__", "__setitem__", "__eq__", "__ne__", "__lt__",
    "__le__", "__gt__", "__ge__", "__iter__",
    "__contains__", "__bool__"}  # fmt: skip
_CHECKED = {"__hash__"}  # a reference raises where it is asked for them
RESULT, RESULTS = "(result)", "(in the result)"  # of a function, where the classes of objects are found by name
_NAMING = ("LOAD_GLOBAL", "LOAD_NAME")
_ASKING = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")


def is_followed(cls: Any, operators: bool = False) -> bool:
    """Whether objects of a class may become references: they support only attribute access and calls."""
    followed = OPERATORS_FOLLOWED | _CHECKED if operators else set()
    return is_plain_class(cls) and own_protocols(cls) <= followed and type(cls).__call__ is type.__call__


def is_named_tuple(target: Any) -> bool:
    """Whether a callable is a class of named tuples."""
    return isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields")


def fields_of(cls: type) -> list[str]:
    """The attributes of instances of a class: its fields, and those that its methods store."""
    stored = {i.argval for m in functions_of(cls) for c in codes_of(m.__code__) for i in stores_in(c)}
    computed = {a for k in lineage(cls) for a, f in vars(k).items() if isinstance(f, COMPUTED)}
    return sorted((stored | cached_in(cls) | set(getattr(cls, "__dataclass_fields__", ()))) - computed)


def cached_in(cls: type) -> set[str]:
    """The attributes of a class that are computed when they are first read, and kept in the object."""
    return {a for a in dir(cls) if isinstance(inspect.getattr_static(cls, a, None), functools.cached_property)}


def stores_in(code: types.CodeType) -> Iterator[dis.Instruction]:
    """The stores of attributes in the code of a function."""
    return (i for i in dis.get_instructions(code) if i.opname == "STORE_ATTR")


def functions_of(cls: type) -> list[types.FunctionType]:
    """The functions among the members of a class: methods, and those of properties."""
    out: list[Any] = []
    for value in (v for k in lineage(cls)[:-1] for v in vars(k).values()):
        value = getattr(value, "func", value) if isinstance(value, functools.cached_property) else value
        out += [value.fget, value.fset] if isinstance(value, property) else [getattr(value, "__func__", value)]
    return [f for f in out if isinstance(f, types.FunctionType)]


def methods_of(cls: type) -> set[str]:
    """The names of the methods and class attributes of a class, including the special methods that a text calls by name."""
    held = {a for k in lineage(cls)[:-1] for a in vars(k)}
    return {a for a in held if a[:2] != "__" or a in ("__call__", "__enter__", "__exit__")}


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


def reached(
    *begin: types.FunctionType | type, also: Callable[[types.FunctionType], Iterable[type]] = lambda function: ()
) -> tuple[list[type], set[str]]:
    """(classes, attributes): the plain classes and named tuples that these and their callees can refer to, and the
    attributes that they access; `also`: further classes of a function."""
    functions, classes = walked(begin, also)
    codes = (code for function in functions for code in codes_of(function.__code__))
    return classes, {i.argval for code in codes for i in dis.get_instructions(code) if i.opname in _ASKING}


def reached_by_name(begin: set[Any], words: set[str], classes: list[type]) -> tuple[set[type], set[str]]:
    """As `reached`, from functions, classes and attributes; the methods asked for may be those of all these classes."""
    asked: set[Any] = set()
    while not begin | words <= asked:
        asked |= begin | words
        found, more = reached(*begin)
        words = words | more
        begin = begin | {*found} | {f for c in classes for f in functions_of(c) if f.__name__ in words}
    return {c for c in begin if isinstance(c, type)}, words


def walked(
    begin: tuple[types.FunctionType | type, ...], also: Callable[[types.FunctionType], Iterable[type]] = lambda function: ()
) -> tuple[list[types.FunctionType], list[type]]:
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
        waiting += also(target)
        waiting += [v for v in _named(target) if is_plain(v) or is_plain_class(v) or is_named_tuple(v)]
    return functions, classes


def _named(target: types.FunctionType) -> Iterator[Any]:
    """What stands outside of a function under the names in its code, and in that of the functions in it."""
    free = target.__code__.co_freevars  # those of nested functions may be variables of this one
    held = target.__globals__ | {n: content(cell) for n, cell in zip(free, target.__closure__ or (), strict=True)}
    for code in codes_of(target.__code__):
        names = {i.argval for i in dis.get_instructions(code) if i.opname in _NAMING}
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


def families(classes: list[type], members: dict[str, list[type]]) -> dict[type, str]:
    """A family for each class: classes that share the name of a member are in one family."""
    out = {c: c.__qualname__ + str(k) for k, c in enumerate(classes)}
    for held in members.values():
        joined = {out[c] for c in held}
        out = {c: min(joined) if family in joined else family for c, family in out.items()}
    return out
