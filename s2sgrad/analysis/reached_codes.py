"""Whether running some functions may run others, which are given by their code.

    def f(x): return g(x)                                       ->      f may run h
    def g(x): return TABLE["h"](x)       TABLE = {"h": h}

Names are looked up where they stand for objects now; a method is met wherever its name is.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

from s2sgrad.errors import GENERATED
from s2sgrad.primitives import libraries

_MOST = 20_000  # objects that are looked at
_CONTAINERS = (list, tuple, set, frozenset)


def may_run(functions: Iterable[Any], codes: frozenset[types.CodeType]) -> bool:
    """Whether running these functions may run one of these codes; True where there is too much to look at."""
    wanted = set(map(id, codes))
    methods = {code.co_name for code in codes if "." in code.co_qualname.rpartition("<locals>.")[2]}
    waiting, seen = list(functions) if codes else [], set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if len(seen) > _MOST:
            return True
        if isinstance(found, types.FunctionType):
            inside = list(_codes(found.__code__))
            names = {n for code in inside for n in code.co_names}
            if not wanted.isdisjoint(map(id, inside)) or not methods.isdisjoint(names):
                return True
            waiting += _behind(found, names)
        else:
            waiting += _parts(found)
    return False


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code and those of the functions in it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)


def _behind(function: types.FunctionType, names: set[str]) -> Iterator[Any]:
    """What a function refers to."""
    if libraries.is_installed(function) and not function.__code__.co_filename.startswith(GENERATED):
        return
    waiting = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    waiting += [function.__globals__[n] for n in _free(function.__code__) & function.__globals__.keys()]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not bound yet
            waiting.append(cell.cell_contents)
    modules: set[int] = set()
    while waiting:
        value = waiting.pop()
        if not isinstance(value, types.ModuleType):
            yield value
        elif id(value) not in modules and not libraries.is_installed(value):  # its attributes that the function names
            modules.add(id(value))
            waiting += [vars(value)[n] for n in names & vars(value).keys()]


def _free(code: types.CodeType) -> set[str]:
    """The global names in a code and those of the functions in it; `co_names` has those of attributes as well."""
    named = (i for part in _codes(code) for i in dis.get_instructions(part) if i.opcode in dis.hasname)
    return {i.argval for i in named if "ATTR" not in i.opname and "METHOD" not in i.opname}


def _parts(found: Any) -> Iterable[Any]:
    """What running an object that is no function may run."""
    if isinstance(found, types.MethodType):
        return found.__func__, found.__self__
    if isinstance(found, functools.partial):
        return found.func, *found.args, *found.keywords.values()
    if isinstance(found, (staticmethod, classmethod)):
        return (found.__func__,)
    if isinstance(found, property):
        return found.fget, found.fset
    if type(found) is dict:
        return found.values()
    if type(found) in _CONTAINERS:
        return found
    if isinstance(found, type):
        return () if libraries.is_installed(found) else (*vars(found).values(), *found.__bases__)
    if isinstance(found, types.ModuleType):
        return () if libraries.is_installed(found) else vars(found).values()
    if libraries.is_installed(type(found)):
        return ()
    return type(found), *getattr(found, "__dict__", {}).values()
