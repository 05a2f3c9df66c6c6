"""What running some functions may use: other functions, which are given by their code, and objects.

    def f(x): return g(x)                                       ->      f may run h
    def g(x): return TABLE["h"](x)       TABLE = {"h": h}

Names are looked up where they stand for objects now; a method is met wherever its name is.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dis
import functools
import importlib
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.analysis.reached_classes import codes_of
from s2sgrad.errors import GENERATED
from s2sgrad.primitives import libraries
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.structure import attributes_of, stored_in

_MOST = 20_000  # objects that are looked at
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)
_LEAVES = (int, float, complex, str, bytes, type(None), np.ndarray, np.generic, np.ufunc)


def may_run(functions: Iterable[Any], codes: frozenset[types.CodeType]) -> bool:
    """Whether running these functions may run one of these codes; True where there is too much to look at."""
    wanted = set(map(id, codes))
    methods = {code.co_name for code in codes if "." in code.co_qualname.rpartition("<locals>.")[2]}
    for found in reached(functions) if codes else ():
        if isinstance(found, types.FunctionType):
            inside = list(codes_of(found.__code__))
            named = any(not methods.isdisjoint(code.co_names) for code in inside)
            if named or not wanted.isdisjoint(map(id, inside)):
                return True
        elif found is TOO_MUCH:
            return True
    return False


def refer_to(values: Iterable[Any], objects: Iterable[Any]) -> bool:
    """Whether running these functions, or methods of these objects, may use one of `objects`; True where there is too much
    to look at, and where names are looked up unseen."""
    wanted = {id(TOO_MUCH), *map(id, _UNSEEN), *map(id, objects)}
    return any(id(found) in wanted for found in reached(values))


def of_libraries(functions: Iterable[Any]) -> Iterator[Any]:
    """What running these functions may use of libraries' modules, by the names in them; `TOO_MUCH` as `reached` does.

    >>> from s2sgrad.driver.pipeline import defined
    >>> saved = defined("def saved(y): np.save('y.npy', y)")
    >>> any(found is np.save for found in of_libraries([saved]))
    True
    """
    for found in reached(functions):
        yield found
        if isinstance(found, types.FunctionType) and not libraries.is_installed(found):
            names, free, imported = _named(found.__code__)
            modules = [found.__globals__.get(n) for n in free] + [sys.modules.get(n) for n in imported]
            for module in modules:
                if isinstance(module, types.ModuleType) and libraries.is_installed(module):
                    yield from (vars(module)[n] for n in names & vars(module).keys())


def may_hold(value: Any) -> bool:
    """Whether a value may hold arrays: one itself, a container, or an object or a class of the user's.

    >>> may_hold(([1.0], 2.0)), may_hold(2.0), may_hold(len)
    (True, False, False)
    """
    holding = (np.ndarray, dict, functools.partial, types.MethodType, *_CONTAINERS)
    of_users = isinstance(value, type) and not libraries.is_installed(value)
    return isinstance(value, holding) or of_users or attributes_of(value) is not None


def functions_in(values: Iterable[Any]) -> Iterator[Any]:
    """The functions, and what else can be called, in nested values, and the classes of the objects in them.

    >>> [f.__name__ for f in functions_in([1.0, [abs, {"a": len}]])]
    ['len', 'abs']
    """
    waiting, seen, kept = list(values), set(), []
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _LEAVES):
            continue
        seen.add(id(found))
        kept.append(found)
        if callable(found):
            yield found
        elif isinstance(found, (dict, *_CONTAINERS)):
            waiting += found.values() if isinstance(found, dict) else found
        elif (held := attributes_of(found)) is not None:
            yield type(found)
            waiting += held.values()


def memory_behind(functions: list[Any]) -> Iterator[Any]:
    """The arrays, lists and dicts to which functions refer, but for the defaults of the first one."""
    first = functions[0]
    defaults = (*(its(first, "__defaults__", None) or ()), *(its(first, "__kwdefaults__", None) or {}).values())
    for found in reached(functions):
        if isinstance(found, (np.ndarray, list, dict)) and not any(found is d for d in defaults):
            yield found


def refers_to_itself(function: types.FunctionType) -> bool:
    """Whether a function may call itself, by what it refers to as it stands."""
    return any(found is function or found is TOO_MUCH for found in reached(_behind(function)))


TOO_MUCH = object()
_UNSEEN = (eval, exec, globals, vars, locals, __import__, importlib.import_module)


def reached(values: Iterable[Any]) -> Iterator[Any]:
    """These functions and objects, and all that they refer to, each once; `TOO_MUCH` at the end of the patience."""
    waiting, seen, kept = list(values), set(), []
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _LEAVES):
            if isinstance(found, np.ndarray):
                yield found
            continue
        seen.add(id(found))
        kept.append(found)  # what is made on the way, such as a bound method, keeps its number
        if len(seen) > _MOST:
            yield TOO_MUCH
            return
        yield found
        waiting += _behind(found) if isinstance(found, types.FunctionType) else _parts(found)


def _behind(function: types.FunctionType) -> Iterator[Any]:
    """What a function refers to; of a library's, what the user may have put there."""
    is_generated = function.__code__.co_filename.startswith(GENERATED)
    yield from function.__closure__ or ()
    yield from () if is_generated else vars(function).values()  # where a generated function keeps its pairs
    if libraries.is_installed(function) and not is_generated:
        return
    names, free, imported = _named(function.__code__)
    space = function.__globals__
    waiting = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    waiting += [space[n] if n in space else getattr(builtins, n, None) for n in free]
    waiting += [sys.modules.get(n) for n in imported]
    modules: set[int] = set()
    while waiting:
        value = waiting.pop()
        if not isinstance(value, types.ModuleType):
            yield value
        elif id(value) not in modules and not libraries.is_installed(value):  # its attributes that the function names
            modules.add(id(value))
            waiting += [vars(value)[n] for n in names & vars(value).keys()]


_Names = tuple[frozenset[str], frozenset[str], frozenset[str]]
_names: weakref.WeakKeyDictionary[types.CodeType, _Names] = weakref.WeakKeyDictionary()


def _named(code: types.CodeType) -> _Names:
    """The names of attributes and globals in a code and those of the functions in it; those of globals alone; and the
    modules that they import."""
    known = _names.get(code)
    if known is None:
        known = _names[code] = _names_in(code)
    return known


def _names_in(code: types.CodeType) -> _Names:
    inside = list(codes_of(code))
    found = [i for part in inside for i in dis.get_instructions(part) if i.opcode in dis.hasname]
    free = frozenset(i.argval for i in found if not any(word in i.opname for word in ("ATTR", "METHOD", "IMPORT")))
    names = frozenset(n for part in inside for n in part.co_names)
    return names, free, frozenset(i.argval for i in found if i.opname == "IMPORT_NAME")


_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    types.MethodType: lambda f: (f.__func__, f.__self__),
    types.BuiltinMethodType: lambda f: (f.__self__,),
    functools.partial: lambda f: (f.func, *f.args, *f.keywords.values()),
    staticmethod: lambda f: (f.__func__,),
    classmethod: lambda f: (f.__func__,),
    property: lambda f: (f.fget, f.fset),
    Closure: lambda f: (f.function, *f.holds),
}


def _parts(found: Any) -> Iterable[Any]:
    """What running an object that is no function may run."""
    if isinstance(found, types.CellType):
        with contextlib.suppress(ValueError):  # not bound yet
            return (found.cell_contents,)
        return ()
    for cls, parts in _PARTS.items():
        if isinstance(found, cls):
            return parts(found)
    if isinstance(found, types.ModuleType):
        return () if libraries.is_installed(found) else vars(found).values()
    if isinstance(found, type):
        return () if libraries.is_installed(found) else (*vars(found).values(), *found.__bases__)
    if libraries.package_of(type(found)) == libraries.OURS:
        return (its(found, "primal", None),)  # of a gradient
    held = [*(found.values() if isinstance(found, dict) else found if isinstance(found, _CONTAINERS) else ())]
    held += (stored_in(found) or {}).values()
    return held if libraries.is_installed(type(found)) else (type(found), *held)
