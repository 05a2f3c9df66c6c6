"""Quick keys of what a function is called with: values with one key have one kind each.

(np.ones(3), 2.0)   ->   ((12, (3,)), float)
"""

from __future__ import annotations

import itertools
import types
import weakref
from typing import Any

import numpy as np

from s2sgrad.analysis.plain_classes import attributes_of

NUMBERS = {float, int, bool, np.float64}
_OF_KINDS = (float, int, complex, str, tuple, np.generic)  # what has a kind of its own; other objects are of unknown kind
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)
_LONGEST = 64
_DEEPEST = 3  # instances within instances, lists within lists
_CLASSES: weakref.WeakKeyDictionary[type, int] = weakref.WeakKeyDictionary()  # of plain instances a number, of others 0
_numbers = itertools.count(1)


def shapes_of(args: tuple, depth: int = 0) -> Any:
    """A quick key: arguments with one key have one kind each.  None where there is no quick one."""
    if depth > _DEEPEST:
        return None
    key: list[Any] = []
    for a in args:
        kind = type(a)
        if kind is np.ndarray:
            key.append((a.dtype.num, a.shape))
        elif kind in NUMBERS or a is None or kind is str:
            key.append(kind)
        elif kind is list or kind is tuple:
            inner = shapes_of(a, depth + 1) if len(a) <= _LONGEST else None
            if inner is None:
                return None
            key.append((kind, inner))
        elif kind is dict:
            inner = shapes_of(tuple(a.values()), depth + 1) if len(a) <= _LONGEST else None
            if inner is None or not all(type(k) is str for k in a):
                return None
            key.append((kind, tuple(a), inner))
        elif isinstance(a, _FUNCTIONS):
            key.append((object, getattr(a, "__closure__", None) is None))
        elif isinstance(a, _OF_KINDS):
            return None
        else:
            number = _CLASSES.get(kind)
            if number is None:
                number = _CLASSES[kind] = next(_numbers) if attributes_of(a) is not None else 0
            inner = shapes_of(tuple(vars(a).values()), depth + 1) if number else ()
            if inner is None:
                return None
            key.append((number, tuple(vars(a)), inner) if number else object)
    return tuple(key)
