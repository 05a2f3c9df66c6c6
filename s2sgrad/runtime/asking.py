"""What an object says of itself: its attribute as its class and its own `__dict__` have it.  Its `__getattr__`, which may
answer to any name or raise anything, is asked for what the program reads, and for nothing else.

    hasattr(options, "_fields")      ->      True, of options that answer to every name
    has(options, "_fields")          ->      False
"""

from __future__ import annotations

import types
from typing import Any

_MISSING = object()


def its(x: Any, name: str, default: Any = None) -> Any:
    """The attribute of an object, without asking its `__getattr__`, or a `__getattribute__` of the user's.

    >>> class Options:
    ...     width = 2.0
    ...     def __getattr__(self, name):
    ...         return None
    >>> its(Options(), "width"), its(Options(), "_fields", "none"), hasattr(Options(), "_fields")
    (2.0, 'none', True)
    """
    homes = type(x).__mro__
    if _is_plain(type(x)) or not any(map(_answers, homes)):
        return getattr(x, name, default)
    found = (vars(cls).get("__getattribute__") for cls in homes)
    lookup = next(way for way in found if way is not None and type(way) is not types.FunctionType)
    try:
        return lookup(x, name)
    except AttributeError:
        return default


def _is_plain(cls: type) -> bool:
    """Whether the attributes of the objects of a class are found as Python's own classes find them, told at once."""
    own = type(cls) is type and type(cls.__getattribute__) is types.WrapperDescriptorType
    return own and getattr(cls, "__getattr__", _MISSING) is _MISSING


def _answers(cls: type) -> bool:
    return "__getattr__" in vars(cls) or type(vars(cls).get("__getattribute__")) is types.FunctionType


def has(x: Any, name: str) -> bool:
    """Whether an object has an attribute, without asking its `__getattr__`."""
    return its(x, name, _MISSING) is not _MISSING
