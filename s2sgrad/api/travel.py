"""How gradients and pullbacks travel to other processes: as the way to the user's function, never as compiled code.

    @grad                           a gradient that a module knows by its function's name goes by that name
    def slope(x): ...
    grad(f, "w")                    any other goes as `f` and what was asked of it, and is compiled where it arrives
    y, pullback = vjp(f, x)         a pullback goes as `f`, the kinds of its arguments, and its record

The texts of functions from notebooks and `__main__`, which the other process cannot read, go with them.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from s2sgrad.runtime.closures import require_found_again

_MOST = 1000  # functions that are looked at for texts


def way(function: Any) -> tuple:
    """How another process finds a function: a user's own, that of a library, or one that is generated."""
    from s2sgrad.source import GENERATED_TEXTS

    origin = getattr(function, "origin", None)
    if origin is None:
        if getattr(getattr(function, "__code__", None), "co_filename", "") in GENERATED_TEXTS:
            require_found_again(function)
        return "plain", function, texts_of(function)
    if origin[0] == "library":
        return origin
    if origin[0] == "grad":
        _, gradient, key, recipe = origin
        return "grad", gradient, key.items, digest(recipe.plan.text)
    half, inner, key, recipe = origin
    return half, way(inner), key.items, digest(recipe.plan.text)


def found(there: tuple) -> Any:
    """The function that `way` led to."""
    from s2sgrad.analysis.kinds_key import Kinds
    from s2sgrad.api import dynamic, library

    how, what, *more = there
    if how == "plain":
        register(what, more[0])
        return what
    if how == "library":
        return library.spelled_out(what)
    items, expected = more
    if how == "grad":
        compiled = what._of_kinds(Kinds(items))
        name = compiled.function.__name__
    else:
        function = found(what)
        compiled = dynamic.compiled_pair(function, Kinds(items))
        name = function.__name__
    if digest(compiled.recipe.plan.text) != expected:
        raise RuntimeError(f"the pullback of `{name}` was made by another version of `{name}` than the one here")
    return compiled.made[how == "bwd"]


def digest(text: str) -> str:
    """A short name of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def global_name(thing: Any, function: types.FunctionType) -> str | None:
    """The name under which a function's own module holds `thing` in the function's place; None where it does not."""
    owner: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        owner = getattr(owner, part, None)
    return function.__qualname__ if owner is thing else None


def owner_of(thing: Any, function: types.FunctionType) -> type | None:
    """The class whose body has `thing` in the place of the function; None where there is none."""
    path, _, name = function.__qualname__.rpartition(".")
    owner: Any = sys.modules.get(function.__module__)
    for part in path.split("."):
        owner = getattr(owner, part, None)
    return owner if isinstance(owner, type) and vars(owner).get(name) is thing else None


def in_class(owner: type, name: str) -> Any:
    """What stands in the body of a class."""
    return vars(owner)[name]


class Texts(NamedTuple):
    """What a process that a function is sent to may not be able to read: texts by file name, and the names by what is known
    of a code, for a pickler may leave them out."""

    by_name: dict[str, str]
    names: dict[tuple[str, int, bytes], str]


def texts_of(function: Any) -> Texts:
    """The texts of a function and of its callees."""
    found = Texts({}, {})
    for f in _functions(function):
        code, space = f.__code__, f.__globals__
        name = code.co_filename
        if name not in found.by_name and (space.get("__name__") == "__main__" or not os.path.exists(name)):
            if lines := linecache.getlines(name, space):
                found.by_name[name] = "".join(lines)
        if name in found.by_name:
            found.names[_mark(code)] = name
    return found


def register(function: Any, texts: Texts) -> None:
    """Let linecache know texts that came with a function; files that are here are read as they are."""
    for name, text in texts.by_name.items():
        if name not in linecache.cache and not os.path.exists(name):
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    for f in _functions(function) if texts.names else ():
        name = texts.names.get(_mark(f.__code__), f.__code__.co_filename)
        if f.__code__.co_filename != name:
            f.__code__ = _named(f.__code__, name)


def _mark(code: types.CodeType) -> tuple[str, int, bytes]:
    return code.co_name, code.co_firstlineno, code.co_code


def _named(code: types.CodeType, name: str) -> types.CodeType:
    """A code of a file of this name, with those within it."""
    consts = tuple(_named(c, name) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=consts)


def _functions(function: Any) -> Iterator[types.FunctionType]:
    """A function and the Python functions that it may call by a name."""
    waiting, seen = [function], set()
    while waiting and len(seen) < _MOST:
        f = waiting.pop()
        f = getattr(f, "_function", f)
        f = getattr(f, "__func__", f)
        if not isinstance(f, types.FunctionType) or id(f) in seen:
            continue
        seen.add(id(f))
        yield f
        for cell in f.__closure__ or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:
                continue
        waiting += [f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__]
