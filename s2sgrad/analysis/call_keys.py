"""Fast keys for the arguments of a call: equal keys imply equal kinds.

(np.ones(3), 2.0)   ->   ((12, (3,)), float)
"""

from __future__ import annotations

import itertools
import types
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sgrad.analysis.module_functions import is_function_of_module
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.guests import is_array_of_others
from s2sgrad.runtime.structure import stored_in

NUMBERS = {float, int, bool, np.float64}
_OF_KINDS = (float, int, complex, str, tuple, np.generic)  # these have kinds of their own; other objects have unknown kind
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))
_LONGEST = 64
_DEEPEST = 3  # nesting of instances and lists
_CLASSES: weakref.WeakKeyDictionary[type, int] = weakref.WeakKeyDictionary()  # see `_key`
_numbers = itertools.count(1)


def shapes_of(args: tuple, depth: int = 0) -> tuple | None:
    """A fast key: arguments with equal keys have equal kinds.  None where computing one would be slow."""
    if depth > _DEEPEST or len(args) > _LONGEST:
        return None
    keys = [_key(a, depth) for a in args]
    return None if None in keys else tuple(keys)


def _key(a: Any, depth: int) -> Any:
    kind = type(a)
    if kind is np.ndarray:
        return a.dtype.num, a.shape
    if kind in NUMBERS or a is None or kind is str:
        return kind
    if kind is list or kind is tuple:
        return _with_inner(a, depth, kind)
    if kind is dict:
        return _with_inner(a.values(), depth, kind, tuple(a)) if all(type(k) is str for k in a) else None
    if kind is Closure:  # of unknown kind; it says itself whether it carries floats
        return None if a.carries is None else (kind, a.carries)
    if isinstance(a, _FUNCTIONS):
        return _of_function(a, depth)
    if isinstance(a, _OF_KINDS):
        return None
    number = _CLASSES.get(kind)  # of plain instances above, of arrays of other libraries below, and of all else 0
    if number is None:
        number = next(_numbers) if attributes_of(a) is not None else -next(_numbers) * is_array_of_others(kind)
        _CLASSES[kind] = number
    if number < 1:
        return number or object
    held = stored_in(a) or {}
    return _with_inner(held.values(), depth, number, tuple(held))


def _of_function(a: Any, depth: int) -> Any:
    """The key of a function: an argument that is one of a library is known."""
    known = not depth and is_function_of_module(a)
    return a if known else (object, getattr(a, "__closure__", None) is None)


def _with_inner(items: Iterable[Any], depth: int, *key: Any) -> tuple | None:
    """The key of a container or an instance, with the keys of its parts."""
    inner = shapes_of(tuple(items), depth + 1)
    return None if inner is None else (*key, inner)
