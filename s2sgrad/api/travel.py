"""Pickling of gradients and pullbacks: they refer to the user's function, and are compiled again where they arrive.

    @grad                           a gradient that its module binds to the function's name is pickled by name
    def slope(x): ...
    grad(f, "w")                    any other as `f` and the options, and is compiled where it arrives
    y, pullback = vjp(f, x)         a pullback as `f`, the kinds of its arguments, and its record

The sources of functions from notebooks and `__main__`, which the other process cannot read, are included, and those of
functions that are no names of a module.
"""

from __future__ import annotations

import linecache
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from s2sgrad.runtime.asking import its
from s2sgrad.runtime.closures import require_found_again
from s2sgrad.runtime.traits import traits

_MOST = 1000  # functions that are searched for sources


def way(function: Any) -> tuple:
    """A picklable description of a function: a user's, a library's, or a generated one."""
    from s2sgrad.source import GENERATED_TEXTS

    origin = traits(function).origin
    if origin is None:
        if getattr(its(function, "__code__", None), "co_filename", "") in GENERATED_TEXTS:
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
    """The function that `way` described."""
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
    """A hash of a text."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def global_name(thing: Any, function: types.FunctionType) -> str | None:
    """The qualified name of `function`, if its module binds that name to `thing`; else None."""
    owner: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        owner = getattr(owner, part, None)
    return function.__qualname__ if owner is thing else None


def owner_of(thing: Any, function: types.FunctionType) -> type | None:
    """The class whose body binds the name of the function to `thing`; else None."""
    path, _, name = function.__qualname__.rpartition(".")
    owner: Any = sys.modules.get(function.__module__)
    for part in path.split("."):
        owner = getattr(owner, part, None)
    return owner if isinstance(owner, type) and vars(owner).get(name) is thing else None


def in_class(owner: type, name: str) -> Any:
    """The member of a class, as its body defines it."""
    return vars(owner)[name]


class Texts(NamedTuple):
    """Sources for a process that may be unable to read them: by file name, and the file names by a fingerprint of the code,
    because a pickler may drop them."""

    by_name: dict[str, str]
    names: dict[tuple[str, int, bytes], str]


def texts_of(function: Any) -> Texts:
    """The sources of a function and of its callees, where another process may need them."""
    texts = Texts({}, {})
    for f in _functions(function):
        code, space = f.__code__, f.__globals__
        name = code.co_filename
        alone = space.get("__name__") == "__main__" or not os.path.exists(name) or global_name(f, f) is None
        if (
            name not in texts.by_name and alone
        ):  # a pickler takes such a function by value, and may drop the name of its file
            if lines := linecache.getlines(name, space):
                texts.by_name[name] = "".join(lines)
        if name in texts.by_name:
            texts.names[_mark(code)] = name
    return texts


def register(function: Any, texts: Texts) -> None:
    """Enter sources that came with a function into linecache; existing files are left alone."""
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
    """A code object with this file name, nested ones included."""
    consts = tuple(_named(c, name) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=consts)


def _functions(function: Any) -> Iterator[types.FunctionType]:
    """A function and the Python functions that it may call by name."""
    seen: set[int] = set()
    waiting = [function]
    while waiting and len(seen) < _MOST:
        f = waiting.pop()
        f = f._request.function if hasattr(type(f), "compiled_for") else f  # of a gradient
        f = its(f, "__func__", f)
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
