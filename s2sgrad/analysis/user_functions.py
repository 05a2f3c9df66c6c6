"""Which callables are Python functions of the user's, to be read.

>>> from s2sgrad.standard import islice
>>> is_plain(islice), is_plain(len), is_generator(islice)
(True, False, False)
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from s2sgrad.analysis import effects


def is_plain(target: Any) -> bool:
    """Whether a callable is a Python function of the user's, to be read."""
    return isinstance(target, types.FunctionType) and not effects.is_library(target) and not is_ours(target)


def is_ours(target: Any) -> bool:
    """Whether a function, or an object, is of this package, but for the tools that are read like functions of the user's."""
    home = getattr(target, "__module__", None) if isinstance(target, types.FunctionType) else type(target).__module__
    return isinstance(home, str) and home.startswith("s2sgrad.") and home != "s2sgrad.standard"


def is_generator(target: Any) -> bool:
    """Whether a callable is a generator function of the user's."""
    return is_plain(target) and bool(target.__code__.co_flags & inspect.CO_GENERATOR)
