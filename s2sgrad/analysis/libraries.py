"""What belongs to a library: functions and classes that its modules define, but not wrappers that it makes of the user's.

>>> import functools, numpy as np
>>> @functools.singledispatch
... def area(shape): return 1.0
>>> is_library(np.linalg.norm), is_library(functools.reduce), is_library(area)  # which runs a function of functools
(True, True, False)
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import numpy as np

from s2sgrad.primitives.libraries import FOLLOWED, library, package
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.source import brings_gradient

CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__
"""The code object that all functions made by `contextlib.contextmanager` share."""


def is_ours(target: Any) -> bool:
    """Whether a function, or the class of an object, belongs to this package; those in `FOLLOWED` are treated like user
    code."""
    home = its(target, "__module__", None) if isinstance(target, types.FunctionType) else type(target).__module__
    return isinstance(home, str) and home.startswith("s2sgrad.") and not home.startswith(FOLLOWED)


def is_library(target: Any) -> bool:
    """Whether a callable belongs to a library, which is assumed not to write its arguments unless it is listed."""
    if isinstance(target, (types.BuiltinFunctionType, np.ufunc, type)) or is_given(target):
        return True
    if its(target, "__code__", None) is CONTEXT_MANAGER:
        return True
    if not isinstance(target, types.FunctionType):
        return _is_of_library(its(target, "__module__", None))
    if not _is_of_library(target.__globals__.get("__name__")):
        return False
    return _is_of_library(target.__module__) and ("<locals>" not in target.__qualname__ or _is_module_level(target))


def is_given(target: Any) -> bool:
    """Whether the user has given a callable a derivative, or declared that it has none: it is called, but its source not
    read."""
    return brings_gradient(target) or table.given(target) is not None


def _is_of_library(home: Any) -> bool:
    return isinstance(home, str) and library(package(home)).by_record


def _is_module_level(function: types.FunctionType) -> bool:
    """Whether a nested function is stored in its module under its name."""
    return getattr(sys.modules.get(function.__module__), function.__name__, None) is function
