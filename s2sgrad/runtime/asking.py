"""What an object says of itself: its attribute as its class and its own `__dict__` have it.  Its `__getattr__`, which may
answer to any name or raise anything, is asked for what the program reads, and for nothing else.

    hasattr(options, "_fields")      ->      True, of options that answer to every name
    has(options, "_fields")          ->      False
"""

from __future__ import annotations

import types
from typing import Any

_MISSING = object()
_FORWARDING = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


def its(x: Any, name: str, default: Any = None) -> Any:
    """The attribute of an object, without asking its `__getattr__`, or a `__getattribute__` of the user's.

    >>> class Options:
    ...     width = 2.0
    ...     def __getattr__(self, name):
    ...         return None
    >>> its(Options(), "width"), its(Options(), "_fields", "none"), hasattr(Options(), "_fields")
    (2.0, 'none', True)
    """
    if type(x) in _FORWARDING:
        return getattr(x, name, default)
    for cls in type(x).__mro__:
        lookup = cls.__dict__.get("__getattribute__")
        if lookup is not None and type(lookup) is not types.FunctionType:
            try:
                return lookup(x, name)
            except AttributeError:
                return default
    return default


def has(x: Any, name: str) -> bool:
    """Whether an object has an attribute, without asking its `__getattr__`."""
    return its(x, name, _MISSING) is not _MISSING
